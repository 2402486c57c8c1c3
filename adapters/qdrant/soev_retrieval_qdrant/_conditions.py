"""What conditions are put together of."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from qdrant_client import models

from soev_retrieval_qdrant._paths import Path

Condition = models.Condition


def every(conditions: Sequence[Condition]) -> Condition:
    """All of them hold."""
    return conditions[0] if len(conditions) == 1 else models.Filter(must=list(conditions))


def some(conditions: Sequence[Condition]) -> Condition:
    """One of them holds."""
    if not conditions:
        return models.HasIdCondition(has_id=[])
    return conditions[0] if len(conditions) == 1 else models.Filter(should=list(conditions))


def is_empty(path: Path) -> Condition:
    """Nothing is there."""
    return models.IsEmptyCondition(is_empty=models.PayloadField(key=path.quoted))


def distinct(values: Any) -> list[Any]:
    """Each of them once, in their order."""
    return list(dict.fromkeys(values))


class OneOf:
    """Several values as one that equals each of them, for local mode.

    At each point that compares a value with every one of a MatchAny: with 100,000 of them a second
    for some hundred points. With the operand of a MatchValue it compares once by `==`, with those
    of a range by `>=` and `<=`, and then it is this class that is asked.
    """

    tzinfo = UTC  # or a bound would be taken for a naive datetime

    def __init__(self, values: Iterable[Any]) -> None:
        self._values = frozenset(values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str | int | float | datetime) and other in self._values

    __le__ = __ge__ = __eq__

    def __hash__(self) -> int:
        return hash(self._values)

    def __deepcopy__(self, _: object) -> "OneOf":
        return self  # local mode copies every filter
