"""Flatten a filter and fold its constants."""

from collections.abc import Iterable, Iterator
from typing import Any, assert_never

from soev_retrieval.domain._filters import (
    NOTHING,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Filter,
    Not,
    Nothing,
)

EVERYTHING = AllOf(())
"""The filter that matches everything, as `simplify` writes it."""


def simplify(filter: Filter) -> Filter:
    """The same filter without what it does not need, in time linear in its size.

    `AllOf` in `AllOf` and `AnyOf` in `AnyOf` are flattened, single ones unwrapped, double negation
    removed. `in []` and `contains_any []` are NOTHING, `not_in []` and `contains_all []` are
    everything, and both fold through what is around them. So the result is NOTHING, `AllOf(())`,
    or an expression that holds neither.
    """
    match filter:
        case DeclaredFilter(op="in" | "contains_any", value=()):
            return NOTHING
        case DeclaredFilter(op="not_in" | "contains_all", value=()):
            return EVERYTHING
        case DeclaredFilter() | Nothing():
            return filter
        case AllOf(filters):
            return _all_of(filters)
        case AnyOf(filters):
            return _any_of(filters)
        case Not(inner):
            return _not(simplify(inner))
        case _:
            assert_never(filter)


def join_equals(filters: Iterable[Filter]) -> list[Filter]:
    """Alternatives with `a = 1 or a = 2 or …` as one `a in [1, 2, …]`, which servers do fast.

    Args:
        filters: The filters of an `AnyOf`. What is joined comes last.
    """
    kept: list[Filter] = []
    equals: dict[str, list[Any]] = {}
    for one in filters:
        if isinstance(one, DeclaredFilter) and one.op in {"eq", "in"}:
            joined = equals.setdefault(one.field, [])
            joined.extend(one.value if isinstance(one.value, tuple) else [one.value])
        else:
            kept.append(one)
    for name, values in equals.items():
        single = len(values) == 1
        kept.append(DeclaredFilter(name, "eq" if single else "in", values[0] if single else values))
    return kept


def _all_of(filters: tuple[Filter, ...]) -> Filter:
    kept: list[Filter] = []
    for one in map(simplify, _flat(filters, AllOf)):
        if one is NOTHING:
            return NOTHING
        kept.extend(one.filters if isinstance(one, AllOf) else (one,))
    return kept[0] if len(kept) == 1 else AllOf(kept)


def _any_of(filters: tuple[Filter, ...]) -> Filter:
    kept: list[Filter] = []
    for one in map(simplify, _flat(filters, AnyOf)):
        if isinstance(one, AllOf) and not one.filters:
            return EVERYTHING
        if one is not NOTHING:
            kept.extend(one.filters if isinstance(one, AnyOf) else (one,))
    if not kept:
        return NOTHING
    return kept[0] if len(kept) == 1 else AnyOf(kept)


def _flat(filters: tuple[Filter, ...], kind: type[AllOf] | type[AnyOf]) -> Iterator[Filter]:
    """The filters, those inside nested ones of the same kind in their place."""
    waiting = [iter(filters)]
    while waiting:
        one = next(waiting[-1], None)
        if one is None:
            waiting.pop()
        elif isinstance(one, kind):
            waiting.append(iter(one.filters))
        else:
            yield one


def _not(inner: Filter) -> Filter:
    match inner:
        case Nothing():
            return EVERYTHING
        case AllOf(()):
            return NOTHING
        case Not(twice):
            return twice
        case _:
            return Not(inner)
