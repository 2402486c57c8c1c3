"""A small memory around an embedder, for the queries that come again."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence

import attrs

from soev_retrieval.domain import check_query, finite_vector
from soev_retrieval.together import ended


@attrs.define(eq=False)
class _Flight:
    """One embedding under way, and how many callers wait for it."""

    task: asyncio.Task[tuple[float, ...]]
    waiting: int = 0


class CachedEmbedder:
    """An Embed around another that remembers the vectors of the `size` queries used last.

    Callers that ask for one query at once share one embedding. It goes on while one of them waits
    for it, and is cancelled with the last. An error reaches those who wait, and is not remembered.
    Vectors come as tuples, so that nobody can change what is remembered. Queries are told apart by
    their exact text, and do not show in its repr.

    ```python
    >>> import asyncio
    >>> from soev_retrieval.embedders.cached import CachedEmbedder
    >>> async def embed(query):
    ...     print("embedding")
    ...     return [float(len(query)), 1.0]
    >>> cached = CachedEmbedder(embed, size=100)
    >>> asyncio.run(cached("cats"))
    embedding
    (4.0, 1.0)
    >>> asyncio.run(cached("cats"))
    (4.0, 1.0)

    ```

    Args:
        embed: The embedder that makes each vector.
        size: How many vectors are remembered at the most. One of 1,536 numbers takes some 50 KB.

    Raises:
        ValueError: When the instance is made: `size` is not an int of at least 1.
    """

    def __init__(self, embed: Callable[[str], Awaitable[Sequence[float]]], size: int) -> None:
        if type(size) is not int or size < 1:
            raise ValueError(f"size must be an int of at least 1, not {size!r}")
        self._embed = embed
        self._size = size
        self._kept: OrderedDict[str, tuple[float, ...]] = OrderedDict()
        self._flights: dict[str, _Flight] = {}

    async def __call__(self, query: str) -> Sequence[float]:
        """The vector of one text, remembered or made.

        Raises:
            InvalidQueryError: The query is blank, or the embedder returned no vector.
        """
        query = check_query(query)
        if (vector := self._kept.get(query)) is not None:
            self._kept.move_to_end(query)
            return vector
        flight = self._flights.get(query)
        if flight is None or flight.task.done():
            flight = self._flights[query] = _Flight(asyncio.create_task(self._made(query)))
        flight.waiting += 1
        try:
            # Unlike `await task`, a wait that is cancelled leaves the task to the others.
            await asyncio.wait([flight.task])
        finally:
            flight.waiting -= 1
            if not flight.waiting:
                await self._end(query, flight)
        return flight.task.result()

    async def _made(self, query: str) -> tuple[float, ...]:
        vector = await self._embed(query)
        finite_vector(vector, what="what the embedder returned")
        self._kept[query] = made = tuple(vector)
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)
        return made

    async def _end(self, query: str, flight: _Flight) -> None:
        """Forget an embedding that nobody waits for, cancel it if it goes on, and see it end."""
        if self._flights.get(query) is flight:
            del self._flights[query]  # who asks from now on gets a new one
        await ended([flight.task])

    def __repr__(self) -> str:
        return f"CachedEmbedder(size={self._size}) > {self._embed!r}"
