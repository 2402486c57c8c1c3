"""A filter as one of Qdrant's: what each predicate is, is its source's business, the rest is here."""

from collections.abc import Mapping
from typing import assert_never

from qdrant_client import models

from soev_retrieval.domain import (
    AllOf,
    AnyOf,
    DeclaredFilter,
    Filter,
    InvalidQueryError,
    Not,
    Nothing,
    join_equals,
)
from soev_retrieval_qdrant._conditions import Condition
from soev_retrieval_qdrant._sources import Source

MAX_LEVELS = 40
"""gRPC carries 48 levels of filters, within a prefetch fewer, and REST 61."""

_NEGATIONS = {"ne": "eq", "not_in": "in", "missing": "exists"}


def native(where: Filter, sources: Mapping[str, Source]) -> models.Filter:
    """A filter that has been checked and simplified, as Qdrant's.

    Negations are moved inwards, to where Qdrant has must_not, so that a level of the filter is
    one of Qdrant's.

    Raises:
        InvalidQueryError: It nests deeper than Qdrant carries, or a predicate has no exact form.
    """
    made = _filter(where, sources, negated=False)
    if made.must and made.must_not:
        # Under an index the server forgets a must_not next to the same condition as a must.
        made = models.Filter(must=[*_listed(made.must), models.Filter(must_not=made.must_not)])
    if (levels := _levels(made)) > MAX_LEVELS:
        raise InvalidQueryError(
            f"the filter nests {levels} levels of 'and' and 'or' in turn, and Qdrant carries"
            f" {MAX_LEVELS}; write it flatter"
        )
    return made


def _filter(where: Filter, sources: Mapping[str, Source], *, negated: bool) -> models.Filter:
    match where:
        case DeclaredFilter() | Nothing():
            return _all([where], sources, negated=negated)
        case Not(inner):
            return _filter(inner, sources, negated=not negated)
        case AllOf(filters):
            build = _any if negated else _all
            return build(filters, sources, negated=negated)
        case AnyOf(filters):
            build = _all if negated else _any
            return build(join_equals(filters), sources, negated=negated)
        case _:
            assert_never(where)


def _all(
    filters: "tuple[Filter, ...] | list[Filter]", sources: Mapping[str, Source], *, negated: bool
) -> models.Filter:
    """All of them hold, or all of their negations."""
    must: list[Condition] = []
    must_not: list[Condition] = []
    for one in filters:
        condition, against = _condition(one, sources, negated=negated)
        if against:
            must_not.append(condition)
        elif isinstance(condition, models.Filter) and condition.should is None:
            must += _listed(condition.must)
            must_not += _listed(condition.must_not)
        else:
            must.append(condition)
    return models.Filter(must=must or None, must_not=must_not or None)


def _any(
    filters: "tuple[Filter, ...] | list[Filter]", sources: Mapping[str, Source], *, negated: bool
) -> models.Filter:
    """One of them holds, or one of their negations."""
    should: list[Condition] = []
    for one in filters:
        condition, against = _condition(one, sources, negated=negated)
        if not against and isinstance(condition, models.Filter) and _is_or(condition):
            should += _listed(condition.should)
        else:
            should.append(models.Filter(must_not=[condition]) if against else condition)
    return models.Filter(should=should or [models.HasIdCondition(has_id=[])])


def _is_or(filter: models.Filter) -> bool:
    return filter.must is None and filter.must_not is None


def _condition(
    where: Filter, sources: Mapping[str, Source], *, negated: bool
) -> tuple[Condition, bool]:
    """A condition, and whether it is its negation that is meant."""
    match where:
        case Nothing():
            return models.HasIdCondition(has_id=[]), negated
        case DeclaredFilter():
            op = _NEGATIONS.get(where.op, where.op)
            against = negated is not (where.op in _NEGATIONS)
            return sources[where.field].condition(op, where), against
        case Not(inner):
            return _condition(inner, sources, negated=not negated)
        case _:
            return _filter(where, sources, negated=negated), False


def _levels(condition: Condition) -> int:
    if not isinstance(condition, models.Filter):
        return 0
    deepest = 0
    for clause in (condition.must, condition.must_not, condition.should):
        deepest = max(deepest, *map(_levels, _listed(clause)), 0)
    return deepest + 1


def _listed(clause: list[Condition] | Condition | None) -> list[Condition]:
    if clause is None:
        return []
    return clause if isinstance(clause, list) else [clause]
