"""QdrantStore beside bare qdrant-client, and beside three frameworks' stores, on one server."""

import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping

from qdrant_client import AsyncQdrantClient

from benchmarks import corpus as corpora
from benchmarks.beside import SLACK, Beside
from benchmarks.corpus import Corpus
from benchmarks.measure import Aim, Report, Row, race
from benchmarks.qdrant_bare import Bare, Rows, connect
from benchmarks.qdrant_beside import beside_peers
from benchmarks.searches import (
    EVERY,
    FETCH,
    HUNDREDTH,
    HYBRID,
    NEAR,
    QUESTION,
    SHORT,
    TENTH,
    Case,
    Search,
    in_turn,
    searches,
)
from benchmarks.servers import settled
from soev_retrieval.domain import HYBRID_DEPTH
from soev_retrieval_qdrant import QdrantStore
from tests.servers import Qdrant, qdrant

TRANSPORTS = ("grpc", "rest")

_TARGET = "bench_chunks"
_BATCH = 5_000
_LIMIT = 10
_AIM = Aim(1.10)
_FILTERS = (EVERY, TENTH, HUNDREDTH)
_CASES = {
    NEAR: _FILTERS,
    SHORT: (EVERY,),
    QUESTION: _FILTERS,
    HYBRID: _FILTERS,
    FETCH: _FILTERS,
}


async def measured(
    *,
    server: Qdrant | None = None,
    rounds: int = 96,
    peer_rounds: int = 48,
    rows: int = 20_000,
    dimension: int = 384,
    queries: int = 16,
) -> Report:
    """Load the rows, then time every search, once the contenders have been seen to agree.

    Args:
        server: A server, or None for that of `QDRANT_URL`.
        rounds: How many numbers to take of each search.
        peer_rounds: How many of those of each search of a peer.
        rows: How many chunks there are.
        dimension: How long their vectors are.
        queries: How many different queries each search takes in turn.
    """
    title = f"QdrantStore over {rows:,} chunks, vectors × {dimension}"
    if (server := server or qdrant()) is None:
        note = "QDRANT_URL is not set: there is no server to measure"
        return Report(title, [Row("skipped", None, "", note=note)], "")
    # wordllama lets it tell of every request, in the middle of what is timed.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    corpus = corpora.made(rows, dimension, queries)
    client = connect(server, "grpc")
    try:
        lines = [await _loaded(server, client, corpus)]
        for transport in TRANSPORTS:
            lines += await _beside_bare(server, transport, corpus, rounds)
        async with _store(server, "grpc") as store:
            lines += await beside_peers(Beside(store, corpus, peer_rounds, _TARGET), server, client)
    finally:
        await client.delete_collection(_TARGET)
        await client.close()
    return Report(
        title,
        lines,
        "figure: how many times as long as bare qdrant-client asked by hand over the same"
        " transport, which has been seen to find the same; for a peer, how many times as long as"
        " QdrantStore takes for the same question over gRPC, which is its default. A peer is held"
        f" to ≥ 1 where its recall is at least ours less {SLACK:g}. As documented they ask over"
        " REST and make no index on what is filtered by; tuned is with both. Times are by the"
        " clock: half of the work is the server's.",
    )


def _store(server: Qdrant, transport: str) -> QdrantStore:
    return QdrantStore(
        server.url, transport=transport, grpc_port=server.grpc_port, timeout_seconds=120
    )


async def _loaded(server: Qdrant, client: AsyncQdrantClient, corpus: Corpus) -> Row:
    rows = len(corpus.texts)
    await client.delete_collection(_TARGET)
    async with _store(server, "grpc") as store:
        start = time.perf_counter()
        await store.create(_TARGET, corpus.spec)
        for first in range(0, rows, _BATCH):
            await store.upsert(_TARGET, corpus.records(first, first + _BATCH))
        taken = time.perf_counter() - start
    await settled(client, _TARGET)
    indexed = time.perf_counter() - start
    note = f"{taken:.0f} s over gRPC, {indexed:.0f} s until all are in the index"
    return Row("loading, rows a second", rows / taken, "", note=note)


async def _beside_bare(server: Qdrant, transport: str, corpus: Corpus, rounds: int) -> list[Row]:
    client = connect(server, transport)
    lines: list[Row] = []
    try:
        async with _store(server, transport) as store:
            for what, case in _pairs():
                ours = searches(store, corpus, case.where, _LIMIT, _TARGET)[what]
                by = by_hand(Bare(client, _TARGET, case.parts), corpus, _LIMIT)[what]
                note = await agreement(what, ours, by, len(corpus.queries))
                asked = f"{transport}, {what}, {case.name}"
                bare, mine = f"bare, {asked}", f"QdrantStore, {asked}"
                contenders = in_turn({bare: ids_of(by), mine: ours}, len(corpus.queries))
                times = await race(contenders, rounds=rounds)
                lines.append(Row(bare, 1.0, "×", times=times[bare]))
                over = times[mine].over(times[bare])
                lines.append(Row(mine, over, "×", _AIM, times[mine], note))
    finally:
        await client.close()
    return lines


def _pairs() -> Iterator[tuple[str, Case]]:
    return ((what, case) for what, cases in _CASES.items() for case in cases)


Asked = Callable[[int], Awaitable[Rows]]
"""From the number of a query to the rows of what bare qdrant-client finds for it, best first."""


def by_hand(bare: Bare, corpus: Corpus, limit: int) -> Mapping[str, Asked]:
    """The searches of bare qdrant-client, by name."""
    queries, short, questions = corpus.queries, corpus.short, corpus.questions
    return {
        NEAR: lambda at: bare.near_vector(queries[at], limit),
        SHORT: lambda at: bare.bm25(short[at], limit),
        QUESTION: lambda at: bare.bm25(questions[at], limit),
        HYBRID: lambda at: bare.hybrid(questions[at], queries[at], limit, HYBRID_DEPTH),
        FETCH: lambda at: bare.fetch(limit),
    }


def ids_of(asked: Asked) -> Search:
    """The ids alone."""

    async def search(at: int) -> list[str]:
        return [row[0] for row in await asked(at)]

    return search


async def agreement(what: str, ours: Search, theirs: Asked, queries: int) -> str:
    """How many queries end in a tie that the two break otherwise, to note; nothing where none does.

    Raises:
        AssertionError: They do not find the same.
    """
    ties = 0
    for at in range(queries):
        found, rows = list(await ours(at)), await theirs(at)
        ids = [row[0] for row in rows]
        sure = [row[0] for row in rows if row[1] > rows[-1][1]]
        if found[: len(sure)] != sure or len(found) != len(ids):
            raise AssertionError(f"{what}, query {at}: they find {found} and {ids}")
        ties += found != ids
    return f"ends in a tie for {ties} of {queries} queries" if ties else ""
