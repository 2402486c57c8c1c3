"""The operators, and what each takes."""

from typing import Any

from soev_retrieval.domain._errors import InvalidQueryError
from soev_retrieval.domain._paths import normal_path
from soev_retrieval.domain._values import Value, kind_of, portable

OPERATORS = (
    "eq",
    "ne",
    "gt",
    "gte",
    "lt",
    "lte",
    "in",
    "not_in",
    "contains",
    "contains_any",
    "contains_all",
    "exists",
    "missing",
    "prefix",
    "under",
)
"""Every operator of the algebra."""

WITHOUT_VALUE = frozenset({"exists", "missing"})
WITH_SEQUENCE = frozenset({"in", "not_in", "contains_any", "contains_all"})
WITH_TEXT = frozenset({"prefix", "under"})
WITH_ORDER = frozenset({"gt", "gte", "lt", "lte"})


def value_for(field: str, op: str, value: object) -> Value | None:
    """`value` as `op` takes it.

    Raises:
        InvalidQueryError: There is no such operator, or it takes no such value.
    """
    if op not in OPERATORS:
        raise InvalidQueryError(
            f"there is no operator {op!r} (field {field!r});"
            f" the operators are {', '.join(OPERATORS)}"
        )
    what = f"the value of {field!r} {op}"
    if op in WITHOUT_VALUE:
        if value is not None:
            raise InvalidQueryError(f"{what}: {op} takes no value; leave it out")
        return None
    if value is None:
        raise InvalidQueryError(f"{what} is None; use the operator 'missing' (or 'exists')")
    if op in WITH_SEQUENCE:
        if not isinstance(value, tuple):
            raise InvalidQueryError(f"{what} must be a list of values, not {type(value).__name__}")
        return _of_one_kind(tuple(portable(one, what) for one in value), what)
    if isinstance(value, tuple):
        raise InvalidQueryError(
            f"{what} is a list, and {op} takes one value;"
            " use 'in' for one of several, 'contains_any' or 'contains_all' for list fields"
        )
    one = portable(value, what)
    if op in WITH_TEXT and not isinstance(one, str):
        raise InvalidQueryError(f"{what} must be text, not {type(value).__name__}")
    if op == "under":
        return normal_path(str(one))
    if op in WITH_ORDER and isinstance(one, bool):
        raise InvalidQueryError(f"{what} is a bool, which has no order; use 'eq'")
    return one


def _of_one_kind(values: tuple[Any, ...], what: str) -> tuple[Any, ...]:
    kinds = sorted({str(kind_of(value)) for value in values})
    if len(kinds) > 1:
        raise InvalidQueryError(f"{what} mixes {' and '.join(kinds)}; give values of one type")
    return values
