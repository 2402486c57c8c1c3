"""The JSON form of a filter: what json.dumps takes and json.loads gives."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, assert_never

from soev_retrieval.domain._errors import InvalidQueryError
from soev_retrieval.domain._filters import (
    MAX_DEPTH,
    NOTHING,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Filter,
    Not,
    Nothing,
)

_FORMS = (
    '{"field": …, "op": …, "value": …}, {"all": […]}, {"any": […]}, {"not": …} or {"nothing": true}'
)


def to_json(filter: Filter) -> dict[str, Any]:
    """`filter` as plain dicts, lists and scalars, which `from_json` reads back to the same value.

    `{"field": "year", "op": "gte", "value": 2020}`, `{"all": [...]}`, `{"any": [...]}`,
    `{"not": ...}`, `{"nothing": true}`; a datetime is `{"datetime": "2024-01-31T00:00:00+00:00"}`.
    """
    match filter:
        case DeclaredFilter(field, op, None):
            return {"field": field, "op": op}
        case DeclaredFilter(field, op, tuple() as values):
            return {"field": field, "op": op, "value": [_value(one) for one in values]}
        case DeclaredFilter(field, op, value):
            return {"field": field, "op": op, "value": _value(value)}
        case AllOf(filters):
            return {"all": [to_json(one) for one in filters]}
        case AnyOf(filters):
            return {"any": [to_json(one) for one in filters]}
        case Not(inner):
            return {"not": to_json(inner)}
        case Nothing():
            return {"nothing": True}
        case _:
            assert_never(filter)


def _value(value: Any) -> Any:
    return {"datetime": value.isoformat()} if isinstance(value, datetime) else value


def from_json(form: object) -> Filter:
    """The filter that `to_json` wrote.

    Raises:
        InvalidQueryError: It is none of the forms, holds a value that is not portable, or nests
            deeper than filters do.
    """
    return _read(form, MAX_DEPTH)


def _read(form: object, levels: int) -> Filter:
    if not levels:
        raise InvalidQueryError(f"the filter nests more than {MAX_DEPTH} deep; flatten it")
    match form:
        case {"field": field, "op": op, "value": value, **more} if not more:
            return DeclaredFilter(field, op, _read_value(value))
        case {"field": field, "op": op, **more} if not more:
            return DeclaredFilter(field, op)
        case {"all": list() | tuple() as forms, **more} if not more:
            return AllOf([_read(one, levels - 1) for one in forms])
        case {"any": list() | tuple() as forms, **more} if not more:
            return AnyOf([_read(one, levels - 1) for one in forms])
        case {"not": inner, **more} if not more:
            return Not(_read(inner, levels - 1))
        case {"nothing": True, **more} if not more:
            return NOTHING
    told = f"keys {sorted(map(str, form))}" if isinstance(form, Mapping) else type(form).__name__
    raise InvalidQueryError(f"no filter is written as {told}; write {_FORMS}")


def _read_value(value: Any) -> Any:
    match value:
        case list() | tuple():
            return [_read_scalar(one) for one in value]
    return _read_scalar(value)


def _read_scalar(value: Any) -> Any:
    match value:
        case {"datetime": str() as text, **more} if not more:
            return read_datetime(text)
    return value


def read_datetime(text: str) -> datetime:
    """A datetime in ISO 8601.

    Raises:
        InvalidQueryError: It is none.
    """
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidQueryError(
            f"{text!r} is no datetime; write it as 2024-01-31T00:00:00+00:00"
        ) from None
