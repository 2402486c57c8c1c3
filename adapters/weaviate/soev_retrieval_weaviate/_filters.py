"""A filter as one of Weaviate's: what each predicate is, is its source's business, the rest is here."""

from collections.abc import Collection, Iterator, Mapping
from typing import assert_never

from weaviate.classes.query import Filter as Native
from weaviate.collections.classes.filters import _FilterAnd, _FilterOr
from weaviate.collections.classes.filters import _Filters as Condition

from soev_retrieval.domain import (
    EVERYTHING,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Filter,
    InvalidQueryError,
    Not,
    Nothing,
    join_equals,
    simplify,
)
from soev_retrieval_weaviate._sources import NEVER, Source, any_of
from soev_retrieval_weaviate._versions import NOT

MAX_LEVELS = 80
"""The protocol carries 98 levels of filters."""

_NEGATIONS = {"ne": "eq", "not_in": "in", "missing": "exists"}
_ORDERED = {"gt", "gte", "lt", "lte"}
_EQUALITIES = {"eq", "in", "contains", "contains_any", "contains_all"}


def native(where: Filter, sources: Mapping[str, Source], *, has_not: bool = True) -> Condition:
    """A filter that has been checked and simplified, as Weaviate's.

    Negations are moved inwards, so that a server without one is asked for all that needs none.

    Raises:
        InvalidQueryError: It nests deeper than the protocol carries, a predicate has no exact form,
            or the server has no negation and it needs one.
    """
    made = _native(where, sources, negated=False, has_not=has_not)
    if (levels := _levels(made)) > MAX_LEVELS:
        raise InvalidQueryError(
            f"the filter nests {levels} levels of 'and' and 'or' in turn, and Weaviate carries"
            f" {MAX_LEVELS}; write it flatter"
        )
    return made


def rooted(condition: Condition) -> Condition:
    """The same, as a fetch takes it: a lone comparison stops there at the limit, before it sorts."""
    if isinstance(condition, _FilterAnd | _FilterOr):
        return condition
    return Native.all_of([condition, condition])


def superset(where: Filter, roughly: Collection[str], rough: Collection[str]) -> Filter:
    """A filter that holds wherever `where` does, and asks of these fields only for equality.

    Args:
        where: A filter.
        roughly: The fields of which the server tells no more than what may be equal.
        rough: Those of which it also tells whether they exist.
    """
    return simplify(_wider(where, frozenset(roughly), frozenset(rough), negated=False))


def unequal(where: Filter, rough: Collection[str]) -> str | None:
    """One of these fields that `where` asks for what it does not equal, or None."""
    return next((name for name in _against(where, negated=False) if name in rough), None)


def _against(where: Filter, *, negated: bool) -> Iterator[str]:
    match where:
        case DeclaredFilter(op="exists" | "missing") | Nothing():
            return
        case DeclaredFilter():
            if negated is not (where.op in _NEGATIONS):
                yield where.field
        case Not(inner):
            yield from _against(inner, negated=not negated)
        case AllOf(filters) | AnyOf(filters):
            for one in filters:
                yield from _against(one, negated=negated)
        case _:
            assert_never(where)


def _wider(
    where: Filter, roughly: frozenset[str], rough: frozenset[str], *, negated: bool
) -> Filter:
    match where:
        case DeclaredFilter(field=name) if name in roughly or (name in rough and _is_equal(where)):
            op = _NEGATIONS.get(where.op, where.op)
            if negated is not (where.op in _NEGATIONS) or op not in _EQUALITIES:
                return EVERYTHING
            return DeclaredFilter(name, op, where.value)
        case DeclaredFilter() | Nothing():
            return Not(where) if negated else where
        case Not(inner):
            return _wider(inner, roughly, rough, negated=not negated)
        case AllOf(filters):
            parts = [_wider(one, roughly, rough, negated=negated) for one in filters]
            return AnyOf(parts) if negated else AllOf(parts)
        case AnyOf(filters):
            parts = [_wider(one, roughly, rough, negated=negated) for one in filters]
            return AllOf(parts) if negated else AnyOf(parts)
        case _:
            assert_never(where)


def _is_equal(term: DeclaredFilter) -> bool:
    return term.op not in {"exists", "missing"}


def _native(
    where: Filter, sources: Mapping[str, Source], *, negated: bool, has_not: bool
) -> Condition:
    match where:
        case Nothing():
            return _turned(NEVER, negated=negated, has_not=has_not)
        case DeclaredFilter():
            against = negated is not (where.op in _NEGATIONS)
            condition = _predicate(where, sources[where.field])
            return _turned(condition, negated=against, has_not=has_not)
        case Not(inner):
            return _native(inner, sources, negated=not negated, has_not=has_not)
        case AllOf(filters):
            build = _any if negated else _all
            return build(
                [_native(one, sources, negated=negated, has_not=has_not) for one in filters]
            )
        case AnyOf(filters):
            build = _all if negated else _any
            return build(
                [
                    _native(one, sources, negated=negated, has_not=has_not)
                    for one in join_equals(filters)
                ]
            )
        case _:
            assert_never(where)


def _predicate(term: DeclaredFilter, source: Source) -> Condition:
    """A predicate without its negation."""
    op, value = _NEGATIONS.get(term.op, term.op), term.value
    if op in _ORDERED:
        return source.compares(op, value)
    match op:
        case "eq" | "contains":
            return source.equals([value])
        case "in" | "contains_any" if isinstance(value, tuple):
            return source.equals(list(dict.fromkeys(value)))
        case "contains_all" if isinstance(value, tuple):
            return _all([source.equals([one]) for one in dict.fromkeys(value)])
        case "prefix":
            return source.begins(str(value))
        case "exists":
            return source.exists
        case _:
            raise InvalidQueryError(f"Weaviate cannot be asked {op!r}", field=term.field)


def _turned(condition: Condition, *, negated: bool, has_not: bool) -> Condition:
    if not negated:
        return condition
    if not has_not:
        raise InvalidQueryError(
            "the filter needs a negation, which Weaviate has from"
            f" {'.'.join(map(str, NOT))} on; update the server, or write it without"
        )
    return Native.not_(condition)


def _all(conditions: list[Condition]) -> Condition:
    return Native.all_of(_flat(conditions, _FilterAnd))


def _any(conditions: list[Condition]) -> Condition:
    return any_of(_flat(conditions, _FilterOr))


def _flat(conditions: list[Condition], kind: type[_FilterAnd] | type[_FilterOr]) -> list[Condition]:
    flat: list[Condition] = []
    for each in conditions:
        flat += each.filters if isinstance(each, kind) else [each]
    return flat


def _levels(condition: Condition) -> int:
    inner: list[Condition] = getattr(condition, "filters", [])
    return 1 + max(map(_levels, inner), default=0)
