"""Fields that are keys of one JSONB object. A value of another type than its field's is missing."""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import attrs

from soev_retrieval.domain import DeclaredFilter, Field, InvalidQueryError
from soev_retrieval_pgvector._sql import (
    SIGNS,
    Parameters,
    after,
    as_float,
    json_text,
    literal,
    neighbours,
    quoted,
)

_TYPES = {"text": "text", "int": "numeric", "float": "float8", "datetime": "timestamptz"}
_KINDS = {
    "text": "string",
    "int": "number",
    "float": "number",
    "bool": "boolean",
    "datetime": "string",
}
_FEW = 16  # values that are asked for one by one, which a GIN index serves

_YEAR = "(?!0000)[0-9]{4}"
_LEAP = "(?!0000)([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)"
_DAY = (
    f"({_YEAR}-(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|{_YEAR}-(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    f"|{_YEAR}-02-(0[1-9]|1[0-9]|2[0-8])|{_LEAP}-02-29)"
)
_TIME = _DAY + (
    "([T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?"
    "(Z|[+-](0[0-9]|1[0-5]):[0-5][0-9])?)?"
)
"""The datetimes that PostgreSQL and Python read alike, both without raising: there is no 30th of
February. Those without an offset are in UTC."""
_IS_TIME = re.compile(_TIME)


def loaded(payload: str | None) -> dict[str, Any]:
    """The object of a payload, its numbers with every digit that they were written with.

    Raises:
        InvalidQueryError: It nests deeper than Python reads.
    """
    try:
        found = json.loads(payload or "null", parse_float=Decimal, parse_int=Decimal)
    except RecursionError:
        raise InvalidQueryError("its payload nests too deep") from None
    return found if isinstance(found, dict) else {}


def _read_one(value: Any, type: str) -> Any:
    match type:
        case "text":
            return value if isinstance(value, str) else None
        case "bool":
            return value if isinstance(value, bool) else None
        case "datetime":
            return _read_time(value)
        case _ if not isinstance(value, Decimal):
            return None
        case "float":
            return float(value)
        case _:
            return int(value) if value == value.to_integral_value() else None


def _read_time(value: Any) -> datetime | None:
    if not isinstance(value, str) or not _IS_TIME.fullmatch(value):
        return None
    time = datetime.fromisoformat(value)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


@attrs.frozen
class PayloadSource:
    """A field that is a key of the payload.

    What JSONB compares as the algebra does is asked of it as it stands, and served by a GIN index.
    Floats and datetimes are made of the JSON first: numbers there have any number of digits.
    """

    field: Field
    payload: str

    @property
    def _payload(self) -> str:
        return f"t.{quoted(self.payload)}"

    @property
    def _json(self) -> str:
        return f"({self._payload} -> {literal(self.field.name)})"

    @property
    def _text(self) -> str:
        return f"({self._payload} ->> {literal(self.field.name)})"

    def read(self, value: Mapping[str, Any]) -> Any:
        """What the field holds of a payload."""
        held, type = value.get(self.field.name), self.field.type
        if not self.field.many:
            return _read_one(held, type)
        each = held if isinstance(held, list) else []
        return [one for one in (_read_one(each, type) for each in each) if one is not None]

    def sort_key(self) -> str:
        """The expression that the field's order is that of."""
        return self._value(self._json, self._text)

    def predicate(self, op: str, term: DeclaredFilter, to: Parameters) -> str:
        """`term`, by an operator that is no negation: true, or false or NULL."""
        value: Any = term.value
        if self.field.many:
            return self._of_list(op, value, to)
        match op:
            case "exists":
                return self._is()
            case "eq" if self._as_it_stands:
                return self._holds(value, to)
            case "in":
                return self._one_of(list(term.members), to)
            case "prefix":
                return self._prefix(value, to)
            case _:
                return self._compared(op, value, to)

    def _is(self) -> str:
        if self.field.type in {"int", "datetime"}:
            return f"({self.sort_key()}) IS NOT NULL"
        return f"jsonb_typeof({self._json}) = '{_KINDS[self.field.type]}'"

    def _prefix(self, value: str, to: Parameters) -> str:
        text = f'{self._text} COLLATE "C"'
        each = [self._is(), f"starts_with({self._text}, {to(value)}::text)"]
        if (end := after(value)) is not None:
            each += [f"{text} >= {to(value)}::text", f"{text} < {to(end)}::text"]
        return f"({' AND '.join(each)})"

    def _compared(self, op: str, value: Any, to: Parameters) -> str:
        """As the payload has it, which an index on the expression serves, then as the field does."""
        sign, exactly = SIGNS[op], f"({self.sort_key()})"
        match self.field.type:
            case "text":
                compared = f'{self._text} COLLATE "C" {sign} {to(value)}::text'
                return f"({compared} AND {self._is()})"
            case "int":
                return f"({self._json} {sign} {to(json_text(value))}::jsonb AND {self._is()})"
            case "float":
                near = [
                    f"{self._json} {each} {to(json_text(one))}::jsonb"
                    for each, one in neighbours(op, value)
                ]
                return f"({' AND '.join([*near, f'{exactly} {sign} {to(value)}::float8'])})"
            case _:
                return f"{exactly} {sign} {to(value)}::{self._type}"

    @property
    def _as_it_stands(self) -> bool:
        return self.field.type not in {"float", "datetime"}

    @property
    def _type(self) -> str:
        return _TYPES[self.field.type]

    def _value(self, json: str, text: str) -> str:
        """The value as the field has it; NULL for one of another type."""
        match self.field.type:
            case "text":
                value = f'{text} COLLATE "C"'
            case "bool":
                value = f"{json}::bool"
            case "datetime":
                value = _time(text)
            case "float":
                value = as_float(f"{json}::numeric")
            case _:
                value = f"CASE {json}::numeric % 1 WHEN 0 THEN {json}::numeric END"
        return f"CASE jsonb_typeof({json}) WHEN '{_KINDS[self.field.type]}' THEN {value} END"

    def _holds(self, value: Any, to: Parameters) -> str:
        return f"{self._payload} @> {to(json_text({self.field.name: value}))}::jsonb"

    def _one_of(self, values: list[Any], to: Parameters) -> str:
        if not self._as_it_stands:
            return f"({self.sort_key()}) = ANY({self._values(values, to)})"
        if len(values) <= _FEW:
            return f"({' OR '.join(self._holds(one, to) for one in values)})"
        return self._among(self._json, self._text, values, to)

    def _among(self, json: str, text: str, values: list[Any], to: Parameters) -> str:
        if self.field.type == "text":
            return f"({text} = ANY({to(values)}::text[]) AND jsonb_typeof({json}) = 'string')"
        return f"{json} = ANY({to([json_text(one) for one in values])}::text[]::jsonb[])"

    def _values(self, values: Iterable[Any], to: Parameters) -> str:
        sent = map(float, values) if self.field.type == "float" else values
        return f"{to(list(sent))}::{self._type}[]"

    def _of_list(self, op: str, value: Any, to: Parameters) -> str:
        element = f"({self._value('e.value', _ELEMENT)})"
        match op:
            case "exists":
                return self._some(f"{element} IS NOT NULL")
            case "contains_any":
                return self._some_of(element, list(value), to)
            case _ if self._as_it_stands:
                return self._holds([value] if op == "contains" else list(value), to)
            case _:
                values = [value] if op == "contains" else value
                each = (self._some(f"{element} = {to(one)}::{self._type}") for one in values)
                return f"({' AND '.join(each)})"

    def _some_of(self, element: str, values: list[Any], to: Parameters) -> str:
        if not self._as_it_stands:
            return self._some(f"{element} = ANY({self._values(values, to)})")
        if len(values) <= _FEW:
            return f"({' OR '.join(self._holds([one], to) for one in values)})"
        return self._some(self._among("e.value", _ELEMENT, values, to))

    def _some(self, condition: str) -> str:
        """Whether some element fulfils `condition`. What is no list has no elements."""
        elements = f"CASE jsonb_typeof({self._json}) WHEN 'array' THEN {self._json} END"
        return (
            f"EXISTS (SELECT FROM jsonb_array_elements({elements}) AS e(value) WHERE {condition})"
        )


_ELEMENT = "(e.value #>> '{}')"


def _time(text: str) -> str:
    return f"CASE WHEN {text} ~ '^{_TIME}$' THEN {text}::timestamptz END"
