"""A filter as a condition of SQL: what each leaf says is its source's business, the rest is here."""

from collections.abc import Container, Mapping
from typing import Any, Protocol, assert_never

from soev_retrieval.domain import (
    AllOf,
    AnyOf,
    DeclaredFilter,
    Field,
    Filter,
    InvalidQueryError,
    Not,
    Nothing,
    join_equals,
)
from soev_retrieval_pgvector._sql import Parameters

MAX_PARAMETERS = 65_000
"""PostgreSQL's protocol counts parameters in 16 bits."""

_NEGATIONS = {"ne": "eq", "not_in": "in", "missing": "exists"}


class Source(Protocol):
    """Where a field's values are, and how they compare."""

    @property
    def field(self) -> Field:
        """The field."""
        ...

    def predicate(self, op: str, term: DeclaredFilter, to: Parameters) -> str:
        """`term` by `op`, which is no negation: true, or false or NULL."""
        ...

    def read(self, value: Any) -> Any:
        """What the field holds of its column's value, or of the payload: None where it is missing.

        Raises:
            InvalidQueryError: The field holds what Python cannot.
        """
        ...

    def sort_key(self) -> str:
        """The expression that the field's order is that of."""
        ...


def condition(where: Filter, sources: Mapping[str, Source], to: Parameters) -> str:
    """A filter that has been checked and simplified, as a condition.

    It is true for the rows that match, and false or NULL for all others: AND and OR keep that, and
    only NOT has to ask. So the comparisons stand bare, as an index wants them.

    Raises:
        InvalidQueryError: It holds more values than one statement can carry.
    """
    sql = _condition(where, sources, to)
    if len(to.values) > MAX_PARAMETERS:
        raise InvalidQueryError(
            f"the filter holds more than {MAX_PARAMETERS:,} predicates, more than one statement of"
            " PostgreSQL can carry; ask for many values of a field with 'in', which takes any number"
        )
    return sql


def narrows(where: Filter, fields: Container[str]) -> bool:
    """Whether every row that matches fulfils a comparison of one of these fields."""
    terms = where.filters if isinstance(where, AllOf) else (where,)
    return any(
        isinstance(term, DeclaredFilter) and term.op not in _NEGATIONS and term.field in fields
        for term in terms
    )


def _condition(where: Filter, sources: Mapping[str, Source], to: Parameters) -> str:
    match where:
        case DeclaredFilter():
            return _term(where.op, where, sources, to)
        case AllOf(filters):
            each = [_condition(one, sources, to) for one in filters]
            return f"({' AND '.join(each)})" if each else "true"
        case AnyOf(filters):
            each = [_condition(one, sources, to) for one in join_equals(filters)]
            return f"({' OR '.join(each)})" if each else "false"
        case Not(inner):
            return _negated(_condition(inner, sources, to))
        case Nothing():
            return "false"
        case _:
            assert_never(where)


def _term(op: str, term: DeclaredFilter, sources: Mapping[str, Source], to: Parameters) -> str:
    if op in _NEGATIONS:
        return _negated(_term(_NEGATIONS[op], term, sources, to))
    if op == "contains_all" and not term.value:
        return "true"
    if op in {"in", "contains_any"} and not term.value:
        return "false"
    return sources[term.field].predicate(op, term, to)


def _negated(sql: str) -> str:
    """True where `sql` is not, on rows that lack its fields too."""
    return f"(({sql}) IS NOT TRUE)"
