"""QdrantStore's local mode beside bare qdrant-client's: the cost of a thread, and what it is for."""

import asyncio
import time
import warnings
from statistics import median
from typing import Any

from qdrant_client import AsyncQdrantClient, models

from benchmarks import corpus as corpora
from benchmarks.measure import Contender, Report, Row, race, shown
from benchmarks.qdrant import agreement, by_hand, ids_of
from benchmarks.qdrant_bare import Bare
from benchmarks.searches import EVERY, FETCH, HUNDREDTH, NEAR, QUESTION, in_turn, searches
from soev_retrieval_qdrant import QdrantStore
from soev_retrieval_qdrant._making import creation

_TARGET = "bench_chunks"
_LIMIT = 10
_TICK = 0.001


async def measured(
    *, rounds: int = 25, rows: int = 5_000, dimension: int = 384, queries: int = 8
) -> Report:
    """Time every search, and see how long each lets nothing else run meanwhile.

    Args:
        rounds: How many numbers to take of each.
        rows: How many chunks there are; the client advises against more than 20,000.
        dimension: How long their vectors are.
        queries: How many different queries each search takes in turn.
    """
    corpus = corpora.made(rows, dimension, queries)
    lines: list[Row] = []
    client = AsyncQdrantClient(":memory:")
    async with QdrantStore(":memory:") as store:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=UserWarning, module="qdrant_client")
            await store.create(_TARGET, corpus.spec)
            await store.upsert(_TARGET, corpus.records(0, rows))
            await _copied(store, client, rows)
        for what in (NEAR, QUESTION, FETCH):
            for case in (EVERY, HUNDREDTH):
                ours = searches(store, corpus, case.where, _LIMIT, _TARGET)[what]
                by = by_hand(Bare(client, _TARGET, case.parts, is_local=True), corpus, _LIMIT)[what]
                note = await agreement(what, ours, by, queries)
                bare, mine = f"bare, {what}, {case.name}", f"QdrantStore, {what}, {case.name}"
                contenders = in_turn({bare: ids_of(by), mine: ours}, queries)
                times = await race(contenders, rounds=rounds)
                over = times[mine].over(times[bare])
                held = {name: await _held(each, queries) for name, each in contenders.items()}
                more = shown(max(times[mine].beyond(times[bare]), 0.0))
                lines += [
                    Row(bare, 1.0, "×", None, times[bare], _holds(held[bare])),
                    Row(
                        mine,
                        over,
                        "×",
                        None,
                        times[mine],
                        "; ".join(filter(None, [_holds(held[mine]), f"{more} more", note])),
                    ),
                ]
    await client.close()
    return Report(
        f"local mode over {rows:,} chunks, vectors × {dimension}",
        lines,
        "figure: how many times as long as bare qdrant-client's local mode, which has been seen to"
        " find the same and works in the event loop; QdrantStore works in a thread. How long the"
        f" loop is held: the longest gap of a task that ticks every {_TICK * 1000:g} ms, in the"
        " median over the queries.",
    )


def _holds(seconds: float) -> str:
    return f"holds the loop {shown(seconds)}"


async def _copied(store: QdrantStore, client: AsyncQdrantClient, rows: int) -> None:
    """Give a bare client the very points of the store."""
    points: list[Any]
    points, _ = await store._connection.call(
        lambda held: held.scroll(_TARGET, limit=rows, with_payload=True, with_vectors=True),
        operation="fetch",
    )
    await client.create_collection(_TARGET, **creation(store._targets._mades[_TARGET]))
    await client.upsert(
        _TARGET,
        [
            models.PointStruct(id=each.id, vector=each.vector, payload=each.payload)
            for each in points
        ],
    )


async def _held(contender: Contender, queries: int) -> float:
    """How many seconds one call lets nothing else run, in the median over the queries."""
    return median([await _longest_gap(contender) for _ in range(queries)])


async def _longest_gap(contender: Contender) -> float:
    longest, before = 0.0, time.perf_counter()

    async def tick() -> None:
        while True:
            await asyncio.sleep(_TICK)
            note()

    def note() -> None:
        nonlocal longest, before
        now = time.perf_counter()
        longest, before = max(longest, now - before), now

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(2 * _TICK)
    longest, before = 0.0, time.perf_counter()
    await contender()
    note()  # a tick may be overdue
    ticking.cancel()
    return longest
