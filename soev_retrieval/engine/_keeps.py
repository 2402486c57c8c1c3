"""Ready keeps for PostFiltered."""

import math
from collections.abc import Awaitable, Callable, Container, Sequence
from inspect import isawaitable
from typing import TypeAlias

import attrs

from soev_retrieval.domain import Chunk, Hit, InvalidQueryError, Scalar, Target
from soev_retrieval.engine._postfiltered import Result

Blocked: TypeAlias = (
    Container[Scalar]
    | Callable[[Sequence[Scalar]], Container[Scalar] | Awaitable[Container[Scalar]]]
)
"""A container of what is blocked, or a function, async or not, from the keys at hand to one."""


@attrs.frozen(eq=False)
class Blocklist:
    """A Keep that drops what is blocked, asked at each call.

    Args:
        blocked: What is blocked: a set, which may change between calls, or a function, async or
            not, that is given the keys of the results and returns a container of those blocked.
        field: The field to look at, such as the document's id, or None for the chunk's own id.
            Any value of a list field counts. A result that lacks the field is dropped: nothing
            says that it may be shown.
    """

    blocked: Blocked = attrs.field(repr=False)
    field: str | None = None

    async def __call__(self, target: Target, results: Sequence[Result], /) -> Sequence[Result]:
        """The results that are not blocked, in their order."""
        keys = [_keys(result, self.field) for result in results]
        blocked = await self._blocked([key for each in keys for key in each])
        return [
            result
            for result, each in zip(results, keys, strict=True)
            if each and not any(key in blocked for key in each)
        ]

    async def _blocked(self, keys: Sequence[Scalar]) -> Container[Scalar]:
        blocked = self.blocked(keys) if callable(self.blocked) else self.blocked
        if isawaitable(blocked):
            blocked = await blocked
        # An iterator would be used up by the first result, a text would block by substring.
        if not isinstance(blocked, Container) or isinstance(blocked, str | bytes):
            raise InvalidQueryError(
                f"what is blocked is {type(blocked).__name__}; give a set, or return one"
            )
        return blocked


@attrs.frozen
class ScoreFloor:
    """A Keep that drops hits below a score. Chunks of a fetch have none and are kept.

    Scores of different searches do not compare: a floor is right for one kind of search over one
    index, where it was measured.

    Args:
        floor: The least score that is kept.

    Raises:
        ValueError: When the instance is made: the floor is NaN.
    """

    floor: float

    def __attrs_post_init__(self) -> None:
        if math.isnan(self.floor):
            raise ValueError("floor must be a number, not NaN")

    async def __call__(self, target: Target, results: Sequence[Result], /) -> Sequence[Result]:
        """The hits that score at least `floor`, in their order."""
        return [
            result
            for result in results
            if not isinstance(result, Hit) or result.score >= self.floor
        ]


@attrs.frozen
class Deduplicated:
    """A Keep that keeps the first result of each kind.

    Args:
        field: The field that tells kinds apart, such as the document's id, or None for the
            chunk's own id. A result that lacks the field is like no other and is kept.
    """

    field: str | None = None

    async def __call__(self, target: Target, results: Sequence[Result], /) -> Sequence[Result]:
        """The first result of each kind, in their order."""
        seen: set[tuple[Scalar, ...]] = set()
        kept: list[Result] = []
        for result in results:
            keys = _keys(result, self.field)
            if keys not in seen:
                kept.append(result)
            if keys:
                seen.add(keys)
        return kept


def _keys(result: Hit | Chunk, field: str | None) -> tuple[Scalar, ...]:
    if field is None:
        return (result.id,)
    value = result.properties.get(field, ())
    return value if isinstance(value, tuple) else (value,)
