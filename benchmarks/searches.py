"""The searches that a store is timed at, by the number of a query."""

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

import attrs

from benchmarks.corpus import Corpus
from benchmarks.measure import Contender
from soev_retrieval.domain import Chunk, Filter, Hit, field
from soev_retrieval.store import VectorStore

Search: TypeAlias = Callable[[int], Awaitable[Sequence[str]]]
"""From the number of a query to the ids of what was found for it, best first."""

TARGET = "chunks"
NEAR, SHORT, QUESTION, HYBRID = "near_vector", "bm25 of 2 words", "bm25 of a question", "hybrid"
FETCH, ORDERED = "fetch", "fetch in an order"


@attrs.frozen
class Case:
    """A filter.

    Args:
        name: What it lets through.
        parts: The parts below this number are wanted, of 100; None for no filter.
    """

    name: str
    parts: int | None

    @property
    def where(self) -> Filter | None:
        """It, as a store takes it."""
        if self.parts is None:
            return None
        return field("part") == 0 if self.parts == 1 else field("part") < self.parts


EVERY, TENTH, HUNDREDTH = Case("no filter", None), Case("10 % filter", 10), Case("1 % filter", 1)


def searches(
    store: VectorStore, corpus: Corpus, where: Filter | None, limit: int, target: str = TARGET
) -> Mapping[str, Search]:
    """Each of its searches, by name."""

    async def near(at: int) -> list[str]:
        vector = corpus.queries[at]
        return _ids(await store.near_vector(target, vector=vector, limit=limit, where=where))

    async def short(at: int) -> list[str]:
        query = corpus.short[at]
        return _ids(await store.bm25(target, query=query, limit=limit, where=where))

    async def question(at: int) -> list[str]:
        query = corpus.questions[at]
        return _ids(await store.bm25(target, query=query, limit=limit, where=where))

    async def hybrid(at: int) -> list[str]:
        query, vector = corpus.questions[at], corpus.queries[at]
        found = await store.hybrid(
            target, query=query, vector=vector, limit=limit, where=where, alpha=0.5
        )
        return _ids(found)

    async def fetch(at: int) -> list[str]:
        return _ids(await store.fetch(target, limit=limit, where=where))

    async def ordered(at: int) -> list[str]:
        return _ids(await store.fetch(target, limit=limit, where=where, order_by="part"))

    return {
        NEAR: near,
        SHORT: short,
        QUESTION: question,
        HYBRID: hybrid,
        FETCH: fetch,
        ORDERED: ordered,
    }


def _ids(hits: Sequence[Hit | Chunk]) -> list[str]:
    return [hit.id for hit in hits]


def in_turn(contenders: Mapping[str, Search], queries: int) -> dict[str, Contender]:
    """Each takes the next query at each call, so that a round of a race is of one query."""
    return {name: _contender(search, queries) for name, search in contenders.items()}


def _contender(search: Search, queries: int) -> Contender:
    turn = itertools.cycle(range(queries))

    async def call() -> object:
        return await search(next(turn))

    return call


async def answers(search: Search, queries: int) -> list[Sequence[str]]:
    """What it finds for every query."""
    return [await search(at) for at in range(queries)]
