"""What a field is to a filter and to a result: where its values are, and how they compare.

Only what was found exact on a server is used: no NotEqual, no ContainsNone, no Like
(`../../../docs/weaviate.md` has the reasons).
"""

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol
from uuid import UUID

import attrs
from weaviate.classes.query import Filter
from weaviate.collections.classes.filters import _Filters as Condition

from soev_retrieval.domain import Field, InvalidQueryError
from soev_retrieval_weaviate._keys import BEHIND, KEYS

ID = Filter.by_property("_id")
"""The object's UUID, which has an order here and not under `Filter.by_id()`."""

NEVER = ID.less_than("")
"""What no object is."""

ALWAYS = ID.greater_or_equal("")
"""What every object is."""

_FIRST = datetime(1677, 9, 21, 0, 12, 44, tzinfo=UTC)
_LAST = datetime(2262, 4, 11, 23, 47, 16, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LEAST = -sys.float_info.max


class Source(Protocol):
    """Where a field's values are, and how they compare."""

    @property
    def field(self) -> Field:
        """The field."""
        ...

    @property
    def read_from(self) -> str:
        """The property that `read` reads."""
        ...

    @property
    def order(self) -> str:
        """The property that the server orders by."""
        ...

    def equals(self, values: Sequence[Any]) -> Condition:
        """It is one of `values`, of which there is one at the least; a list holds one of them.

        Raises:
            InvalidQueryError: One cannot be asked exactly.
        """
        ...

    def compares(self, op: str, value: Any) -> Condition:
        """It is before or behind `value`: `gt`, `gte`, `lt`, `lte`.

        Raises:
            InvalidQueryError: That cannot be asked exactly.
        """
        ...

    def begins(self, text: str) -> Condition:
        """It begins with `text`.

        Raises:
            InvalidQueryError: That cannot be asked exactly.
        """
        ...

    @property
    def exists(self) -> Condition:
        """It has a value."""
        ...

    def read(self, value: Any) -> Any:
        """What a property's value, which is not None, is as the field's."""
        ...


def compared(property: str, op: str, value: Any) -> Condition:
    """A comparison as the server makes it."""
    by = Filter.by_property(property)
    match op:
        case "gt":
            return by.greater_than(value)
        case "gte":
            return by.greater_or_equal(value)
        case "lt":
            return by.less_than(value)
        case _:
            return by.less_or_equal(value)


def one_of(property: str, values: Sequence[Any], *, many: bool) -> Condition:
    """Equality with one of several, as the server asks it."""
    by = Filter.by_property(property)
    if len(values) == 1 and not many:
        return by.equal(values[0])
    return by.contains_any(list(values))


def by_uuid(ids: Sequence[UUID]) -> Condition:
    """It is one of these objects.

    The server looks for a UUID as it was written, and one of a batch may be in capitals.
    """
    return ID.contains_any([each for id in ids for each in (str(id), str(id).upper())])


def any_of(conditions: Sequence[Condition]) -> Condition:
    """One of them holds; of none, none does."""
    return Filter.any_of(list(conditions)) if conditions else NEVER


@attrs.frozen
class Held:
    """What most sources are alike in.

    Args:
        field: The field.
        read_from: The property where it is.
    """

    field: Field
    read_from: str

    @property
    def order(self) -> str:
        """As in `Source`."""
        return self.read_from

    def begins(self, text: str) -> Condition:
        """As in `Source`: only text can be asked so."""
        raise not_asked(self.field)

    def read(self, value: Any) -> Any:
        """As in `Source`."""
        return tuple(value) if self.field.many else value


@attrs.frozen
class Keyed(Held):
    """A field with a key beside it, which is asked in its place.

    Args:
        field: The field.
        read_from: The property that is read.
        key: The property of the keys.
    """

    key: str

    @property
    def order(self) -> str:
        """As in `Source`."""
        return self.key

    def equals(self, values: Sequence[Any]) -> Condition:
        """As in `Source`."""
        keys = [KEYS[self.field.type](value) for value in values]
        return one_of(self.key, keys, many=self.field.many)

    def compares(self, op: str, value: Any) -> Condition:
        """As in `Source`."""
        return compared(self.key, op, KEYS[self.field.type](value))

    def begins(self, text: str) -> Condition:
        """As in `Source`."""
        key, by = KEYS["text"](text), Filter.by_property(self.key)
        return by.greater_or_equal(key) & by.less_than(key + BEHIND)

    @property
    def exists(self) -> Condition:
        """As in `Source`."""
        return Filter.by_property(self.key).is_none(False)


@attrs.frozen
class Plain(Held):
    """A number or a bool, or a list of them.

    Args:
        field: The field.
        read_from: The property where it is.
        has_nulls: Whether the collection has an index of what is null.
    """

    has_nulls: bool = True

    def equals(self, values: Sequence[Any]) -> Condition:
        """As in `Source`."""
        given = [self._sent(value) for value in values]
        condition = one_of(self.read_from, given, many=self.field.many)
        return condition | self._signed_zero if self._is_float and 0.0 in given else condition

    def compares(self, op: str, value: Any) -> Condition:
        """As in `Source`."""
        given = self._sent(value)
        condition = compared(self.read_from, op, given)
        if not self._is_float or given > 0 or (given == 0 and op in {"gt", "lte"}):
            return condition
        if op in {"gt", "gte"}:
            return condition | self._signed_zero
        return condition & Filter.by_property(self.read_from).greater_or_equal(_LEAST)

    @property
    def exists(self) -> Condition:
        """As in `Source`."""
        by = Filter.by_property(self.read_from)
        if self.has_nulls:
            return by.is_none(False)
        if self.field.type == "bool":
            return by.contains_any([True, False])
        return by.greater_or_equal(self._sent(0)) | by.less_than(self._sent(0))

    @property
    def _is_float(self) -> bool:
        return self.field.type == "float"

    @property
    def _signed_zero(self) -> Condition:
        """`-0.0`, as a server before 1.38 has put it in the index: before the least of numbers."""
        return Filter.by_property(self.read_from).less_than(_LEAST)

    def _sent(self, value: Any) -> Any:
        return float(value) + 0.0 if self._is_float else value


@attrs.frozen
class Dates(Held):
    """Dates of a collection that is already there, which count nanoseconds from 1677 to 2262.

    Args:
        field: The field.
        read_from: The property where it is.
        has_nulls: Whether the collection has an index of what is null.
    """

    has_nulls: bool = True

    def equals(self, values: Sequence[Any]) -> Condition:
        """As in `Source`: within the microsecond, which is what is read of it."""
        given = [self._within(value) for value in values]
        if self.field.many:
            return one_of(self.read_from, given, many=True)
        by = Filter.by_property(self.read_from)
        return any_of(
            [by.greater_or_equal(each) & by.less_than(each + _MICROSECOND) for each in given]
        )

    def compares(self, op: str, value: Any) -> Condition:
        """As in `Source`."""
        given, by = self._within(value), Filter.by_property(self.read_from)
        match op:
            case "gt":
                return by.greater_or_equal(given + _MICROSECOND)
            case "gte":
                return by.greater_or_equal(given)
            case "lt":
                return by.less_than(given)
            case _:
                return by.less_than(given + _MICROSECOND)

    @property
    def exists(self) -> Condition:
        """As in `Source`."""
        by = Filter.by_property(self.read_from)
        if self.has_nulls:
            return by.is_none(False)
        middle = datetime(2000, 1, 1, tzinfo=UTC)
        return by.greater_or_equal(middle) | by.less_than(middle)

    def _within(self, value: datetime) -> datetime:
        if _FIRST <= value < _LAST:
            return value
        raise InvalidQueryError(
            f"field {self.field.name!r}: Weaviate compares dates from {_FIRST.date()} to"
            f" {_LAST.date()}; give one between, or let create make the collection",
            field=self.field.name,
        )


def not_asked(field: Field) -> InvalidQueryError:
    """That a field cannot be asked in that way."""
    return InvalidQueryError(f"field {field.name!r} ({field}) cannot be asked so", field=field.name)


def values_read(sources: Mapping[str, Source], properties: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that an object has."""
    return {
        name: source.read(value)
        for name, source in sources.items()
        if (value := properties.get(source.read_from)) is not None
    }
