"""Stores that find nothing out, so that only what is around them costs."""

from collections.abc import Awaitable, Callable, Sequence

from soev_retrieval.domain import Chunk, FieldSpec, Filter, Hit, Target


async def at_once() -> None:
    """Wait for nothing."""


class Answering:
    """A VectorStore that gives every search the same hits.

    It is no CallStore: it is asked by its methods, as MemoryStore and the adapters are.

    Args:
        hits: The hits.
        wait: What it does before it answers.
    """

    def __init__(
        self, hits: Sequence[Hit] = (), wait: Callable[[], Awaitable[None]] = at_once
    ) -> None:
        self._hits = list(hits)  # as MemoryStore and the adapters answer
        self._wait = wait

    async def hybrid(
        self,
        target: Target,
        *,
        query: str,
        vector: Sequence[float] | None = None,
        limit: int,
        where: Filter | None = None,
        alpha: float | None = None,
    ) -> Sequence[Hit]:
        """The hits."""
        await self._wait()
        return self._hits

    async def near_vector(
        self, target: Target, *, vector: Sequence[float], limit: int, where: Filter | None = None
    ) -> Sequence[Hit]:
        """The hits."""
        await self._wait()
        return self._hits

    async def bm25(
        self, target: Target, *, query: str, limit: int, where: Filter | None = None
    ) -> Sequence[Hit]:
        """The hits."""
        await self._wait()
        return self._hits

    async def fetch(
        self,
        target: Target,
        *,
        where: Filter | None = None,
        limit: int,
        order_by: str | None = None,
        descending: bool = False,
    ) -> Sequence[Chunk]:
        """No chunks."""
        return ()

    async def fields(self, target: Target) -> FieldSpec:
        """No fields."""
        return FieldSpec(())
