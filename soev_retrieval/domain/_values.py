"""The portable values, and the chunks, hits and records made of them."""

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import UTC, datetime
from numbers import Integral
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import attrs

from soev_retrieval.domain._errors import InvalidQueryError

Target: TypeAlias = str
"""The name of one index within a store. What it maps to is the store's configuration."""

Scalar: TypeAlias = str | int | float | bool | datetime
Value: TypeAlias = Scalar | tuple[Scalar, ...]
"""What a property holds: text, a number, a bool, an aware datetime (kept in UTC), or several."""

MAX_INT = 2**53 - 1
"""The largest int that every store keeps exactly. The smallest is its negative."""

_KINDS = {str: "text", int: "number", float: "number", bool: "bool", datetime: "datetime"}


def kind_of(value: object) -> str | None:
    """Which values `value` compares with: text, number, bool or datetime; None is no such value."""
    kind = _KINDS.get(type(value))
    if kind is None:
        kind = next((kind for of, kind in _KINDS.items() if isinstance(value, of)), None)
    if kind == "datetime" and value.tzinfo is None:  # type: ignore[attr-defined]
        return None
    return kind


def portable(value: object, what: str) -> Scalar:
    """`value` as the plain scalar that every store keeps alike.

    Args:
        value: A str, int, float, bool or datetime, or a subclass of one (an enum of text, a
            number of numpy). A datetime comes back in UTC.
        what: What the value is, for the error.

    Raises:
        InvalidQueryError: No store could be trusted to keep the value: NaN, an infinity, an int
            beyond ±(2**53 - 1), a naive datetime, text with NUL or a lone surrogate, another type.
    """
    if isinstance(value, str):
        return portable_text(value, what)
    if isinstance(value, bool):
        return value
    if type(value) is int or isinstance(value, Integral):  # the second asks a registry
        return _portable_int(int(value), what)
    if isinstance(value, float):
        return _portable_float(float(value), what)
    if isinstance(value, datetime):
        return _portable_datetime(value, what)
    raise InvalidQueryError(
        f"{what} is of type {type(value).__name__};"
        " use str, int, float, bool or an aware datetime, or a list of one of these"
    )


def portable_text(value: str, what: str) -> str:
    """`value` as a plain str, without the characters that some store cannot keep."""
    text = str.__str__(value)
    if text.isascii():
        if "\0" in text:
            raise InvalidQueryError(f"{what} contains NUL (U+0000); take it out")
        return text
    if any("\ud800" <= character <= "\udfff" or character == "\0" for character in text):
        raise InvalidQueryError(f"{what} contains NUL or a lone surrogate; take it out")
    return text


def portable_name(value: object, what: str) -> str:
    """`value` as the name of something: text that is not empty."""
    if not isinstance(value, str):
        raise InvalidQueryError(f"{what} must be text, not {type(value).__name__}")
    if not value:
        raise InvalidQueryError(f"{what} is empty; give a name")
    return portable_text(value, what)


def _portable_int(value: int, what: str) -> int:
    if -MAX_INT <= value <= MAX_INT:
        return value
    raise InvalidQueryError(
        f"{what} is an int beyond ±(2**53 - 1), which not every store keeps exactly; use text"
    )


def _portable_float(value: float, what: str) -> float:
    if math.isfinite(value):
        return value
    raise InvalidQueryError(f"{what} is {value}; use a finite number")


def _portable_datetime(value: datetime, what: str) -> datetime:
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidQueryError(
            f"{what} is a datetime without an offset; give it one, such as tzinfo=timezone.utc"
        )
    try:
        return in_utc(value)
    except OverflowError:
        raise InvalidQueryError(f"{what} is a datetime beyond year 1 to 9999 in UTC") from None


def in_utc(value: datetime) -> datetime:
    """The same instant in UTC, so that two datetimes compare by instant and by nothing else.

    Python compares datetimes of two zones unequal in the hour that a clock is set back.
    """
    if type(value) is datetime and value.tzinfo is UTC and not value.fold:
        return value
    moved = value.astimezone(UTC)
    return datetime.combine(moved.date(), moved.timetz().replace(fold=0))


def tupled(value: Scalar | Iterable[Scalar] | None) -> Value | None:
    """`value`, as a tuple where it is several values. A set comes in sorted order."""
    if isinstance(value, str | bytes | bytearray | Mapping) or not isinstance(value, Iterable):
        return value  # type: ignore[return-value]  # what is no scalar is refused by `portable`
    if isinstance(value, Set):
        return tuple(sorted(value, key=lambda one: (type(one).__name__, one)))
    return tuple(value)


def typed(value: object) -> object:
    """A key that tells `True` from `1` and `1` from `1.0`, as Python's equality does not."""
    if isinstance(value, tuple):
        return frozenset(map(type, value)), value
    return type(value), value


class Properties(dict[str, Value]):
    """A read-only dict of the fields a chunk has.

    A field whose value is None or an empty list is left out, lists are tuples, datetimes in UTC.
    """

    __slots__ = ()

    def __init__(self, values: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> None:
        there: dict[str, Any] = {}
        for name, value in dict(values).items():
            if type(value) in _KEPT_AS_IT_IS:
                there[name] = value
            elif (kept := _kept(value)) is not None:
                there[name] = kept
        super().__init__(there)

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        """Refused: properties are read-only."""
        raise TypeError("the properties of a chunk are read-only; change a copy: dict(properties)")

    if not TYPE_CHECKING:  # checkers know the properties of a chunk as a Mapping
        __setitem__ = __delitem__ = __ior__ = _refuse
        pop = popitem = clear = update = setdefault = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return Properties, (dict(self),)


_KEPT_AS_IT_IS = frozenset({str, int, float, bool})


def _kept(value: Any) -> Any:
    if isinstance(value, datetime):
        return in_utc(value) if value.tzinfo is not None else value
    if isinstance(value, list | tuple):
        return tuple(_kept(one) for one in value if one is not None) or None
    return value


def _properties(values: Mapping[str, Any]) -> Properties:
    return values if type(values) is Properties else Properties(values)


def vector_key(vector: Any) -> tuple[float, ...] | None:
    """A vector as a value that compares and hashes, arrays of numpy included."""
    return None if vector is None else tuple(vector)


@attrs.frozen
class Chunk:
    """One indexed piece of text with its properties.

    Args:
        id: The id it was loaded with, the same on every store.
        properties: The declared fields it has; a missing one is absent. Kept read-only, lists as
            tuples, datetimes in UTC.
    """

    id: str
    properties: Mapping[str, Value] = attrs.field(
        factory=Properties, converter=_properties, hash=False
    )


@attrs.frozen
class Hit:
    """A chunk that a search found.

    Args:
        id: The id it was loaded with, the same on every store.
        score: How well it matches: higher is better, on every store. Scores of different searches
            do not compare.
        properties: As in `Chunk`.
    """

    id: str
    score: float
    properties: Mapping[str, Value] = attrs.field(
        factory=Properties, converter=_properties, hash=False
    )


@attrs.frozen
class Record:
    """What a Loader puts into an index.

    Args:
        id: Any text but the empty one.
        properties: The fields it has, each of the type its target declares. None and an empty
            list are no value.
        vector: Its embedding, or None for a chunk that only keywords and filters find.
    """

    id: str
    properties: Mapping[str, Value] = attrs.field(
        factory=Properties, converter=_properties, hash=False
    )
    vector: Sequence[float] | None = attrs.field(default=None, eq=vector_key, repr=False)
