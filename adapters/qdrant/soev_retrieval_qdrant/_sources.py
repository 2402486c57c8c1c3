"""What each predicate is for Qdrant, and what a field holds of a payload.

Only what was found exact on a server is used: no MatchExcept and no IsNull, never gt and gte in
one Range, no empty list of clauses (`../../../docs/qdrant.md` has the reasons).
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

import attrs
from qdrant_client import models
from qdrant_client.local.datetime_utils import parse as parsed_datetime

from soev_retrieval.domain import DeclaredFilter, Field, InvalidQueryError
from soev_retrieval_qdrant._floats import halves, of_ordinal, ordinal, survives
from soev_retrieval_qdrant._paths import Path

Condition = models.Condition


class Source(Protocol):
    """Where a field's values are, and how they compare."""

    @property
    def field(self) -> Field:
        """The field."""
        ...

    @property
    def order(self) -> Path:
        """What the server orders by: what compares alike there may still differ, not the reverse."""
        ...

    @property
    def read_from(self) -> Path:
        """The part of the payload that `read` reads."""
        ...

    def condition(self, op: str, term: DeclaredFilter) -> Condition:
        """`term` by `op`, which is no negation.

        Raises:
            InvalidQueryError: It cannot be asked exactly.
        """
        ...

    def read(self, payload: Mapping[str, Any]) -> Any:
        """What the field holds: None where it is missing."""
        ...


def every(conditions: Sequence[Condition]) -> Condition:
    """All of them hold."""
    return conditions[0] if len(conditions) == 1 else models.Filter(must=list(conditions))


def some(conditions: Sequence[Condition]) -> Condition:
    """One of them holds."""
    if not conditions:
        return models.HasIdCondition(has_id=[])
    return conditions[0] if len(conditions) == 1 else models.Filter(should=list(conditions))


@attrs.frozen
class Plain:
    """A field whose values stand in the payload as they are.

    Args:
        field: The field.
        path: Where.
        over_rest: Whether bounds travel as decimal text, which the server reads without exact
            rounding.
    """

    field: Field
    path: Path
    over_rest: bool = False

    @property
    def order(self) -> Path:
        """As `Source.order`."""
        return self.path

    @property
    def read_from(self) -> Path:
        """As `Source.read_from`."""
        return self.path

    def condition(self, op: str, term: DeclaredFilter) -> Condition:
        """As `Source.condition`."""
        match op:
            case "eq" | "contains":
                return self._equal(term.value)
            case "in" | "contains_any":
                return self._one_of(_distinct(term.value))
            case "contains_all":
                return every([self._equal(value) for value in _distinct(term.value)])
            case "exists":
                return exists(self.path)
            case "prefix":
                return self._matches(models.MatchPrefix(prefix=str(term.value)))
            case _:
                return self._bounds(term.value, op)

    def _equal(self, value: Any) -> Condition:
        if self.field.type == "float":
            self._refuse_unsafe(value, "be compared for equality")
        if self.field.type in {"float", "datetime"}:  # both bounds, for one and the same element
            return self._bounds(value, "gte", "lte")
        return self._matches(models.MatchValue(value=value))

    def _one_of(self, values: Sequence[Any]) -> Condition:
        if self.field.type in {"text", "int"} and len(values) > 1:
            return self._matches(models.MatchAny(any=list(values)))
        return some([self._equal(value) for value in values])

    def _bounds(self, value: Any, *ops: str) -> Condition:
        if self.field.type == "datetime":
            return self._ranges(models.DatetimeRange(**dict.fromkeys(ops, value)))
        if self.over_rest:
            self._refuse_unsafe(value, "be sent over REST as a bound")
        return self._ranges(models.Range(**dict.fromkeys(ops, float(value))))

    def _refuse_unsafe(self, value: Any, what: str) -> None:
        if survives(value):
            return
        raise InvalidQueryError(
            f"field {self.field.name!r} ({self.field}): {value!r} cannot {what}: the server reads"
            " decimal numbers without exact rounding; give at most 15 significant digits, a range"
            " over gRPC, or load the collection with this store, which keeps floats exactly",
            field=self.field.name,
        )

    def _matches(self, match: Any) -> Condition:
        return models.FieldCondition(key=self.path.quoted, match=match)

    def _ranges(self, range: models.Range | models.DatetimeRange) -> Condition:
        return models.FieldCondition(key=self.path.quoted, range=range)

    def read(self, payload: Mapping[str, Any]) -> Any:
        """As `Source.read`."""
        held, one = self.path.read(payload), _READS[self.field.type]
        if not self.field.many:
            return None if isinstance(held, list) else one(held)
        values = held if isinstance(held, list) else [held]
        return tuple(value for each in values if (value := one(each)) is not None) or None


def exists(path: Path) -> Condition:
    """Something is there: neither null nor an empty list."""
    return models.Filter(must_not=[is_empty(path)])


def is_empty(path: Path) -> Condition:
    """Nothing is there."""
    return models.IsEmptyCondition(is_empty=models.PayloadField(key=path.quoted))


@attrs.frozen
class Exact:
    """A float field whose values stand in the payload as whole numbers too, which survive.

    Args:
        field: The field.
        path: Where they stand: `place` has what `ordinal` says, or several for a list; `high` and
            `low` have its halves, for ranges.
    """

    field: Field
    path: Path

    @property
    def place(self) -> Path:
        """The ordinals."""
        return self.path.inside("place")

    @property
    def high(self) -> Path:
        """Their high 32 bits."""
        return self.path.inside("high")

    @property
    def low(self) -> Path:
        """Their low 32 bits."""
        return self.path.inside("low")

    @property
    def order(self) -> Path:
        """As `Source.order`."""
        return self.high

    @property
    def read_from(self) -> Path:
        """As `Source.read_from`."""
        return self.place

    def condition(self, op: str, term: DeclaredFilter) -> Condition:
        """As `Source.condition`."""
        match op:
            case "eq" | "contains":
                return self._one_of([term.value])
            case "in" | "contains_any":
                return self._one_of(term.value)
            case "contains_all":
                return every([self._one_of([value]) for value in _distinct(term.value)])
            case "exists":
                return exists(self.place)
            case _:
                return self._bound(op, term.value)

    def _one_of(self, values: Any) -> Condition:
        places = list(dict.fromkeys(ordinal(value) for value in values))
        match: Any = models.MatchAny(any=places)
        if len(places) == 1:
            match = models.MatchValue(value=places[0])
        return models.FieldCondition(key=self.place.quoted, match=match)

    def _bound(self, op: str, value: Any) -> Condition:
        """Beyond in the high bits, or equal there and beyond in the low ones."""
        high, low = halves(ordinal(value))
        beyond = models.Range(**{op[:2]: float(high)})
        equal = models.MatchValue(value=high)
        rest = models.Range(**{op: float(low)})
        return models.Filter(
            should=[
                models.FieldCondition(key=self.high.quoted, range=beyond),
                models.Filter(
                    must=[
                        models.FieldCondition(key=self.high.quoted, match=equal),
                        models.FieldCondition(key=self.low.quoted, range=rest),
                    ]
                ),
            ]
        )

    def read(self, payload: Mapping[str, Any]) -> Any:
        """As `Source.read`."""
        held = self.place.read(payload)
        if isinstance(held, list):
            return tuple(map(of_ordinal, held)) or None
        return None if held is None else of_ordinal(held)

    def written(self, value: Any) -> dict[str, Any]:
        """What stands in the payload for a value, or for several."""
        if isinstance(value, tuple):
            return {"place": [ordinal(each) for each in value]}
        place = ordinal(value)
        high, low = halves(place)
        return {"place": place, "high": high, "low": low}


def _distinct(values: Any) -> list[Any]:
    return list(dict.fromkeys(values))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _int(value: Any) -> int | None:
    return value if type(value) is int else None


def _float(value: Any) -> float | None:
    return float(value) if type(value) in {int, float} else None


def _bool(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _datetime(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return parsed_datetime(value)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


_READS: Mapping[str, Callable[[Any], Any]] = {
    "text": _text,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "datetime": _datetime,
}
