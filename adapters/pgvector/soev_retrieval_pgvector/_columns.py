"""Typed columns: how the values of each PostgreSQL type compare as the algebra's do, or do not."""

import re
import struct
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import attrs

from soev_retrieval.domain import DeclaredFilter, Field, InvalidQueryError
from soev_retrieval_pgvector._catalog import Column
from soev_retrieval_pgvector._sql import SIGNS, Parameters, after, as_float, neighbours, quoted

# The extension intarray has operators of the same names, which raise on NULL.
_OVERLAPS, _HOLDS = "OPERATOR(pg_catalog.&&)", "OPERATOR(pg_catalog.@>)"
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_EXACT_DIGITS = 15  # so many decimal digits survive the way through a float,
_EXACT_SCALE = 290  # where they do not stand too far behind the point


def _same(value: Any) -> Any:
    return value


def _int_of(bits: int) -> Callable[[int], int | None]:
    """A value that no column of so many bits can hold equals none of its elements."""
    return lambda value: value if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1) else None


def _float32(value: float) -> float | None:
    try:
        return float(value) if struct.unpack("f", struct.pack("f", value))[0] == value else None
    except OverflowError:
        return None


def _naive(value: datetime) -> datetime:
    return value.replace(tzinfo=None)


def _date(value: datetime) -> date | None:
    """A moment within a day equals no date."""
    return value.date() if value.time() == time() else None


def _time(text: str) -> datetime:
    try:
        value = datetime.fromisoformat(text)
    except ValueError:  # Python's datetimes have no infinity and end with the year 9999
        raise InvalidQueryError(f"{text} is not within the years 1 to 9999") from None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _uuid(value: str) -> str | None:
    return value if _UUID.fullmatch(value) else None


@attrs.frozen
class Kind:
    """How one type compares. `{}` stands for the column.

    Args:
        type: The type of the field that it serves.
        one: A scalar column as it is compared.
        given: The type that a parameter is compared as.
        many: An array column as it is compared.
        elements: The type of the elements that an array is compared with.
        read: A scalar column as it is read.
        read_many: An array column as it is read.
        sent: A value as it is sent.
        member: A value as an element is sent; None where no element can equal it.
        equal: Where equality can use the column's own type, and so its index: that type. A value
            for which `member` is None equals none.
        value: What is read, as the field has it.
    """

    type: str
    given: str
    elements: str
    one: str = "{}"
    many: str = "{}"
    read: str = "{}"
    read_many: str = "{}"
    sent: Callable[[Any], Any] = _same
    member: Callable[[Any], Any] = _same
    equal: str | None = None
    value: Callable[[Any], Any] = _same


_READ_AS_TEXT: dict[str, Any] = {"read": "{}::text", "read_many": "{}::text[]"}


def _as_text(**settings: Any) -> Kind:
    cast: dict[str, Any] = {"one": "{}::text", "many": "{}::text[]", "elements": "text[]"}
    return Kind("text", "text", **(cast | _READ_AS_TEXT | settings))


_AS_FLOATS = f"(SELECT array_agg({as_float('e')}) FROM unnest({{}}) AS e)"
_KINDS = {
    "bool": Kind("bool", "bool", "bool[]"),
    "int2": Kind("int", "int8", "int2[]", member=_int_of(16)),
    "int4": Kind("int", "int8", "int4[]", member=_int_of(32)),
    "int8": Kind("int", "int8", "int8[]"),
    "float4": Kind(
        "float",
        "float8",
        "float4[]",
        read="{}::float8",
        read_many="{}::float8[]",
        sent=float,
        member=_float32,
    ),
    "float8": Kind("float", "float8", "float8[]", sent=float, member=float),
    "numeric": Kind(
        "float",
        "float8",
        "float8[]",
        one=as_float("{0}"),
        many=_AS_FLOATS,
        read=as_float("{0}"),
        read_many=_AS_FLOATS,
        sent=float,
        member=float,
    ),
    # Read as text, which holds what Python's datetimes do not, so that the error can name the row.
    # Every connection's time zone is UTC.
    "timestamptz": Kind("datetime", "timestamptz", "timestamptz[]", **_READ_AS_TEXT, value=_time),
    "timestamp": Kind(
        "datetime",
        "timestamp",
        "timestamp[]",
        **_READ_AS_TEXT,
        sent=_naive,
        member=_naive,
        value=_time,
    ),
    "date": Kind(
        "datetime",
        "timestamp",
        "date[]",
        **_READ_AS_TEXT,
        sent=_naive,
        member=_date,
        value=_time,
    ),
    "text": Kind("text", "text", "text[]"),
    "varchar": Kind("text", "text", "varchar[]"),
    "bpchar": _as_text(),  # the cast takes its padding off
    "name": _as_text(),
    "uuid": _as_text(equal="uuid", member=_uuid, many="{}", elements="uuid[]"),
}
_SHORT_NUMERIC = Kind(
    "float",
    "numeric",
    "float8[]",
    many="{}::float8[]",
    read="{}::float8",
    read_many="{}::float8[]",
    sent=lambda value: Decimal(repr(float(value))),
    member=float,
)


def kind_of(column: Column) -> Kind | None:
    """How a column compares, or None where its type has no exact form in the algebra."""
    if column.kind == "e" or column.type == "citext":
        return _as_text()
    if column.schema != "pg_catalog":
        return None
    if column.type == "numeric" and column.typmod >= 4:
        digits, scale = (column.typmod - 4) >> 16, (column.typmod - 4) & 0x7FF
        short = digits <= _EXACT_DIGITS and (scale ^ 1024) - 1024 <= _EXACT_SCALE
        return _SHORT_NUMERIC if short else _KINDS["numeric"]
    return _KINDS.get(column.type)


@attrs.frozen
class ColumnSource:
    """A field that is a column of its own."""

    field: Field
    column: Column
    kind: Kind

    @property
    def _name(self) -> str:
        return f"t.{quoted(self.column.name)}"

    def selected(self) -> str:
        """The expression that the field is read from."""
        form = self.kind.read_many if self.field.many else self.kind.read
        return form.format(self._name)

    def read(self, value: Any) -> Any:
        """What the field holds. An element that is NULL is none."""
        try:
            if self.field.many:
                return [self.kind.value(one) for one in _flat(value or ()) if one is not None]
            return None if value is None else self.kind.value(value)
        except InvalidQueryError as error:
            raise InvalidQueryError(f"field {self.field.name!r}: {error}") from None

    def sort_key(self) -> str:
        """The expression that the field's order is that of."""
        return self._ordered()

    def predicate(self, op: str, term: DeclaredFilter, to: Parameters) -> str:
        """`term`, by an operator that is no negation: true, or false or NULL."""
        if self.field.many:
            return self._of_list(op, term, to)
        value: Any = term.value
        match op:
            case "exists":
                return f"{self._name} IS NOT NULL"
            case "eq" | "in":
                return self._equal(term.members if op == "in" else (value,), op, to)
            case "prefix":
                return self._prefix(value, to)
            case _:
                return self._compared(op, value, to)

    def _compared(self, op: str, value: Any, to: Parameters) -> str:
        given = to(self.kind.sent(value))
        compared = f"{self._ordered()} {SIGNS[op]} {given}::{self.kind.given}"
        if self.kind is not _KINDS["numeric"]:
            return compared
        # What an index can serve: the numbers that become this float lie between its neighbours.
        near = [
            f"{self._name} {sign} {to(Decimal(repr(one)))}::numeric"
            for sign, one in neighbours(op, value)
        ]
        return f"({' AND '.join([*near, compared])})"

    def _equal(self, values: Iterable[Any], op: str, to: Parameters) -> str:
        kind, type = self.kind, self.kind.equal or self.kind.given
        compared = self._name if kind.equal else self._exact(kind.one.format(self._name))
        sent = [kind.member(one) if kind.equal else kind.sent(one) for one in values]
        sent = [one for one in sent if one is not None]
        if op == "eq" and self.kind is _KINDS["numeric"]:
            return self._compared(op, sent[0], to)
        if op == "eq":
            return f"{compared} = {to(sent[0])}::{type}" if sent else "false"
        return f"{compared} = ANY({to(sent)}::{type}[])"

    def _prefix(self, value: str, to: Parameters) -> str:
        text = self._ordered()
        holds = f"starts_with({text}, {to(value)}::text)"
        if (end := after(value)) is None:
            return holds
        # The range is what an index can serve; for text in code point order it says the same.
        return f"({text} >= {to(value)}::text AND {text} < {to(end)}::text AND {holds})"

    def _of_list(self, op: str, term: DeclaredFilter, to: Parameters) -> str:
        if op == "exists":
            return f"{self._name} {_OVERLAPS} {self._name}"  # some element is not NULL
        values = [term.value] if op == "contains" else list(term.value)  # type: ignore[arg-type]
        sent = [self.kind.member(one) for one in values]
        there = [one for one in sent if one is not None]
        if not there or (op != "contains_any" and len(there) < len(sent)):
            return "false"
        sign = _OVERLAPS if op == "contains_any" else _HOLDS
        compared = self._exact(self.kind.many.format(self._name))
        return f"{compared} {sign} {to(there)}::{self.kind.elements}"

    def _exact(self, compared: str) -> str:
        """Equal text is equal bytes. A nondeterministic collation would say more is."""
        return f'{compared} COLLATE "C"' if self.column.collation == "loose" else compared

    def _ordered(self) -> str:
        """Text sorts by code point, which no language's collation does."""
        compared = self.kind.one.format(self._name)
        if self.field.type == "text" and self.column.collation != "C":
            return f'({compared} COLLATE "C")'
        return compared


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    """An array of several dimensions as one list, which is how its operators take it."""
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        else:
            yield value
