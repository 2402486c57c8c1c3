"""What every operator means, decided in one place."""

from collections.abc import Callable, Mapping
from datetime import datetime
from operator import ge, gt, le, lt
from typing import Any, assert_never

from soev_retrieval.domain._filters import AllOf, AnyOf, DeclaredFilter, Filter, Not, Nothing
from soev_retrieval.domain._paths import lies_under
from soev_retrieval.domain._values import in_utc, kind_of


def matches(filter: Filter, properties: Mapping[str, object]) -> bool:
    """Whether a chunk with these properties passes `filter`.

    Two-valued: every predicate is true or false for every chunk, and `Not` is the exact
    complement. A field that is missing, None or an empty list is one and the same. Every store's
    translation of an operator is tested against this function.

    Args:
        filter: The filter.
        properties: The properties of one chunk, as in `Chunk` or as plain Python values.
    """
    match filter:
        case DeclaredFilter():
            return _holds(filter, _there(properties.get(filter.field)))
        case AllOf(filters):
            return all(matches(one, properties) for one in filters)
        case AnyOf(filters):
            return any(matches(one, properties) for one in filters)
        case Not(inner):
            return not matches(inner, properties)
        case Nothing():
            return False
        case _:
            assert_never(filter)


def _there(value: Any) -> Any:
    """The value as it compares, or None where there is none."""
    if isinstance(value, list | tuple):
        return tuple(_there(one) for one in value if one is not None) or None
    if isinstance(value, datetime) and value.tzinfo is not None:
        return in_utc(value)
    return value


def _holds(term: DeclaredFilter, value: Any) -> bool:
    match term.op:
        case "missing":
            return value is None
        case "ne":
            return not _equal(value, term.value)
        case "not_in":
            return not _one_of(value, term)
        case "contains_all":
            # The empty list holds all of nothing, and so does a missing one, which is the same.
            return all(_holds_one(value, wanted) for wanted in term.members)
        case op:
            return value is not None and _OPERATORS[op](value, term)


def _equal(value: Any, wanted: Any) -> bool:
    kind = kind_of(value)
    return kind is not None and kind == kind_of(wanted) and bool(value == wanted)


def _one_of(value: Any, term: DeclaredFilter) -> bool:
    values: Any = term.value
    return bool(values) and kind_of(value) == kind_of(values[0]) and value in term.members


def _holds_one(value: Any, wanted: Any) -> bool:
    return isinstance(value, tuple) and any(_equal(one, wanted) for one in value)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, DeclaredFilter], bool]:
    """Numbers by value, datetimes by instant, text by code point: Python's order within a kind."""

    def holds(value: Any, term: DeclaredFilter) -> bool:
        kind = kind_of(value)
        if kind is None or kind == "bool" or kind != kind_of(term.value):
            return False
        return bool(compare(value, term.value))

    return holds


def _starts(value: Any, term: DeclaredFilter) -> bool:
    return isinstance(value, str) and value.startswith(str(term.value))


def _under(value: Any, term: DeclaredFilter) -> bool:
    """A path, or one of the paths of a list."""
    paths = value if isinstance(value, tuple) else (value,)
    return any(isinstance(path, str) and lies_under(path, str(term.value)) for path in paths)


_OPERATORS: dict[str, Callable[[Any, DeclaredFilter], bool]] = {
    "eq": lambda value, term: _equal(value, term.value),
    "gt": _ordered(gt),
    "gte": _ordered(ge),
    "lt": _ordered(lt),
    "lte": _ordered(le),
    "in": _one_of,
    "contains": lambda value, term: _holds_one(value, term.value),
    "contains_any": lambda value, term: (
        isinstance(value, tuple) and any(_one_of(one, term) for one in value)
    ),
    "exists": lambda value, term: True,
    "prefix": _starts,
    "under": _under,
}
