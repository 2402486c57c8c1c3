"""A layer, a keep and a combine of one's own, each as small as it can be.

They change nothing, and remember what they saw; the second layer fails on purpose. A layer should
keep nothing of a call: these are made anew for each question, so that the demo can tell of it.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import attrs

from soev_retrieval.calls import Call, Layer, R
from soev_retrieval.domain import Chunk, Hit, StoreUnavailable, Target
from soev_retrieval.engine import Combine, Keep

Result = TypeVar("Result", Hit, Chunk)


@attrs.frozen(repr=False, eq=False)
class Watched(Layer):
    """A layer that remembers each call that came to it, by whether it got an answer."""

    answered: list[Call[Any]] = attrs.field(factory=list, repr=False)
    unanswered: list[Call[Any]] = attrs.field(factory=list, repr=False)

    async def send(self, call: Call[R]) -> R:
        """Perform `call`, and let through what it raises."""
        try:
            result = await call.on(self.inner)
        except StoreUnavailable:
            self.unanswered.append(call)
            raise
        self.answered.append(call)
        return result


@attrs.frozen(repr=False, eq=False)
class FailsOnce(Layer):
    """A layer that does not answer its first call: an outage, made by the demo."""

    failures: list[StoreUnavailable] = attrs.field(factory=list, repr=False)

    async def send(self, call: Call[R]) -> R:
        """Perform `call`, unless it is the first."""
        if not self.failures:
            self.failures.append(StoreUnavailable("made to fail by the demo", store="FailsOnce"))
            raise self.failures[0]
        return await call.on(self.inner)


@attrs.frozen
class Withheld:
    """A hit that a keep did not pass on, and its rank in the search that found it."""

    target: Target
    rank: int
    hit: Hit


@attrs.frozen(eq=False)
class Withholding:
    """A Keep that remembers which hits `keep` does not pass on."""

    keep: Keep
    withheld: list[Withheld] = attrs.field(factory=list, repr=False)

    async def __call__(self, target: Target, results: Sequence[Result], /) -> Sequence[Result]:
        """What `keep` returns."""
        kept = await self.keep(target, results)
        passed_on = {result.id for result in kept}
        for rank, result in enumerate(results, 1):
            if isinstance(result, Hit) and result.id not in passed_on:
                self.withheld.append(Withheld(target, rank, result))
        return kept


@attrs.frozen(eq=False)
class Provenance:
    """A Combine that remembers what it was given, so that a hit can say which search found it."""

    combine: Combine
    lists: list[Sequence[Hit]] = attrs.field(factory=list, repr=False)

    async def __call__(self, query: str, ranked: Sequence[Sequence[Hit]], /) -> Sequence[Hit]:
        """What `combine` returns."""
        self.lists[:] = ranked
        return await self.combine(query, ranked)

    def places(self, hit: Hit) -> list[tuple[int, int]]:
        """The searches that found `hit`, counted from 0, and its rank in each, from 1."""
        return [
            (search, rank)
            for search, hits in enumerate(self.lists)
            for rank, found in enumerate(hits, 1)
            if found.id == hit.id
        ]
