"""A filter as one of Weaviate's: what each predicate is, is its source's business, the rest is here."""

from collections.abc import Callable, Collection, Iterator, Mapping
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
    made = _native(_inward(where), sources, has_not=has_not)
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


def superset(where: Filter, is_rough: Callable[[DeclaredFilter], bool]) -> Filter:
    """A filter that holds wherever `where` does.

    Args:
        where: A filter.
        is_rough: Of which predicates the server finds more than matches, if it is asked for
            equality, and can be asked for nothing else.
    """
    return simplify(_wider(_inward(where), is_rough))


def unequal(where: Filter, rough: Collection[str]) -> str | None:
    """One of these fields that `where` asks for what it does not equal, or None."""
    return next((name for name in _denied(_inward(where)) if name in rough), None)


def _inward(where: Filter, *, negated: bool = False) -> Filter:
    """The same filter, of which every negation is around a predicate that is none by itself."""
    match where:
        case DeclaredFilter():
            term = DeclaredFilter(where.field, _NEGATIONS.get(where.op, where.op), where.value)
            return Not(term) if negated is not (where.op in _NEGATIONS) else term
        case Nothing():
            return EVERYTHING if negated else where
        case Not(inner):
            return _inward(inner, negated=not negated)
        case AllOf(filters):
            parts = [_inward(one, negated=negated) for one in filters]
            return AnyOf(parts) if negated else AllOf(parts)
        case AnyOf(filters):
            parts = [_inward(one, negated=negated) for one in join_equals(filters)]
            return AllOf(parts) if negated else AnyOf(parts)
        case _:
            assert_never(where)


def _denied(where: Filter) -> Iterator[str]:
    """The fields of the predicates under a negation, but those that ask whether one exists."""
    match where:
        case Not(DeclaredFilter(field=name, op=op)) if op != "exists":
            yield name
        case AllOf(filters) | AnyOf(filters):
            for one in filters:
                yield from _denied(one)
        case _:
            return


def _wider(where: Filter, is_rough: Callable[[DeclaredFilter], bool]) -> Filter:
    match where:
        case Not(DeclaredFilter() as term) if is_rough(term):
            return EVERYTHING
        case DeclaredFilter() if is_rough(where) and where.op not in _EQUALITIES:
            return EVERYTHING
        case AllOf(filters):
            return AllOf([_wider(one, is_rough) for one in filters])
        case AnyOf(filters):
            return AnyOf([_wider(one, is_rough) for one in filters])
        case _:
            return where


def _native(where: Filter, sources: Mapping[str, Source], *, has_not: bool) -> Condition:
    """A filter whose negations are moved inwards."""
    match where:
        case Nothing():
            return NEVER
        case DeclaredFilter():
            return _predicate(where, sources[where.field])
        case Not(inner):
            if not has_not:
                raise InvalidQueryError(
                    "the filter needs a negation, which Weaviate has from"
                    f" {'.'.join(map(str, NOT))} on; update the server, or write it without"
                )
            return Native.not_(_native(inner, sources, has_not=has_not))
        case AllOf(filters):
            return _all([_native(one, sources, has_not=has_not) for one in filters])
        case AnyOf(filters):
            return _any([_native(one, sources, has_not=has_not) for one in filters])
        case _:
            assert_never(where)


def _predicate(term: DeclaredFilter, source: Source) -> Condition:
    op, value = term.op, term.value
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
