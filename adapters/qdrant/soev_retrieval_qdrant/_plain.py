"""Fields whose values stand in a payload as they are."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

import attrs
from qdrant_client import models

from soev_retrieval.domain import DeclaredFilter, Field, InvalidQueryError
from soev_retrieval_qdrant._conditions import Condition, OneOf, distinct, every, is_empty, some
from soev_retrieval_qdrant._floats import survives
from soev_retrieval_qdrant._paths import Path
from soev_retrieval_qdrant._server import Server
from soev_retrieval_qdrant._values import READS, uuid_of

MOST_UNINDEXED = 256
"""How many floats or datetimes are looked for without a payload index.

Each is a range of its own, and a server tries every one at every point: 5,000 of them at 20,000
points take it a minute and more. Lists of text and ints are looked up, with an index or without.
"""


@attrs.frozen
class Plain:
    """A field whose values stand in the payload as they are.

    A value of another type counts as none, in every condition as in what is read. Only a list in
    a field that is not `many` is no value to read, while conditions look at each of its elements,
    and a number with a fraction in an int field is there for `exists` and ranges.

    Args:
        field: The field.
        path: Where.
        server: What is asked: over REST bounds travel as decimal text, which is read without exact
            rounding; local mode goes through a list of values at each point.
        as_uuid: Whether a uuid index is there, which compares text that is one as a UUID.
        unindexed: What to do where no payload index serves ranges; None where one does.
    """

    field: Field
    path: Path
    server: Server = attrs.field(factory=Server)
    as_uuid: bool = False
    unindexed: str | None = None

    @property
    def order(self) -> Path:
        """As `Source.order`."""
        return self.path

    @property
    def read_from(self) -> Path:
        """As `Source.read_from`."""
        return self.path

    @property
    def exists(self) -> Condition:
        """As `Source.exists`."""
        match self.field.type:
            case "text" if self.server.has_prefix:
                return self._matches(models.MatchPrefix(prefix=""))
            case "text":
                return models.Filter(must_not=[is_empty(self.path)])
            case "bool":
                return some([self._equal(True), self._equal(False)])
            case "datetime":
                return some([self._between(gte=_EPOCH), self._between(lt=_EPOCH)])
            case _:
                return some([self._between(gte=0.0), self._between(lt=0.0)])

    def condition(self, op: str, term: DeclaredFilter) -> Condition:
        """As `Source.condition`."""
        match op:
            case "eq" | "contains":
                return self._equal(term.value)
            case "in" | "contains_any":
                return self._one_of(distinct(term.value))
            case "contains_all":
                return every([self._equal(value) for value in distinct(term.value)])
            case "exists":
                return self.exists
            case "prefix":
                return self._matches(models.MatchPrefix(prefix=str(term.value)))
            case _:
                return self._ordered(op, term.value)

    def _equal(self, value: Any) -> Condition:
        match self.field.type:
            case "float":
                self._refuse_unsafe(value, "be compared for equality")
                return self._between(gte=value, lte=value)
            case "datetime" if value < _LAST:
                return self._between(gte=value, lt=value + _STEP)
            case "datetime":
                return self._between(gte=value, lte=value)
            case _ if self._is_never(value):
                return some([])
            case _:
                return self._matches(models.MatchValue(value=value))

    def _one_of(self, values: Sequence[Any]) -> Condition:
        values = [value for value in values if not self._is_never(value)]
        if self.field.type == "float":
            for value in values:
                self._refuse_unsafe(value, "be compared for equality")
        if len(values) < 2 or self.field.type == "bool":
            return some([self._equal(value) for value in values])
        if self.field.type in {"float", "datetime"}:
            self._refuse_many(len(values))
        if self.server.is_local:
            return self._one_of_here(OneOf(values))
        if self.field.type in {"float", "datetime"}:
            return some([self._equal(value) for value in values])
        if not self.as_uuid:
            return self._matches(models.MatchAny(any=values))
        # The index does not serve a list with one that is no UUID, and all of it is compared as text.
        uuids = [value for value in values if uuid_of(value) is not None]
        others = [value for value in values if uuid_of(value) is None]
        return some([self._matches(models.MatchAny(any=each)) for each in (uuids, others) if each])

    def _one_of_here(self, values: OneOf) -> Condition:
        match self.field.type:
            case "float":
                bounds: Any = models.Range.model_construct(gte=values, lte=values)
            case "datetime":
                bounds = models.DatetimeRange.model_construct(gte=values, lte=values)
            case _:
                return self._matches(models.MatchValue.model_construct(value=values))
        return models.FieldCondition(key=self.path.quoted, range=bounds)

    def _ordered(self, op: str, value: Any) -> Condition:
        if self.field.type == "datetime":
            if op in {"gt", "lte"} and value < _LAST:
                return self._between(**{_NEXT[op]: value + _STEP})
            return self._between(**{op: value})
        if self.server.over_rest:
            self._refuse_unsafe(value, "be sent over REST as a bound")
        return self._between(**{op: float(value)})

    def _between(self, **bounds: Any) -> Condition:
        """Within bounds: at most one on each side, as the server heeds no second one."""
        kind = models.DatetimeRange if self.field.type == "datetime" else models.Range
        return models.FieldCondition(key=self.path.quoted, range=kind(**bounds))

    def _is_never(self, value: Any) -> bool:
        """Whether it is a UUID in another form than the usual one, in which all are read."""
        return self.as_uuid and uuid_of(value) not in {None, value}

    def _refuse_many(self, count: int) -> None:
        if self.unindexed is not None and count > MOST_UNINDEXED:
            raise InvalidQueryError(
                f"field {self.field.name!r} ({self.field}): a list of {count} values is more than"
                f" the {MOST_UNINDEXED} that are looked for without a payload index;"
                f" {self.unindexed}",
                field=self.field.name,
            )

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

    def ordinal(self, payload: Mapping[str, Any]) -> Any:
        """As `Source.ordinal`."""
        return self.read(payload)

    def read(self, payload: Mapping[str, Any]) -> Any:
        """As `Source.read`."""
        held, one = self.path.read(payload), self._one
        if not self.field.many:
            return one(held)  # which takes a list for nothing
        values = held if isinstance(held, list) else [held]
        return tuple(value for each in values if (value := one(each)) is not None) or None

    @cached_property
    def _one(self) -> Callable[[Any], Any]:
        return READS["uuid" if self.as_uuid else self.field.type]


# Stored instants may be finer than a microsecond, and are read cut off there: a bound that takes
# in one of ours takes in what is cut to it.
_STEP = timedelta(microseconds=1)
_NEXT = {"gt": "gte", "lte": "lt"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = datetime.max.replace(tzinfo=UTC)
