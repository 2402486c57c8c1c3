"""PgvectorStore beside bare psycopg, and beside three frameworks' stores, on one server and data."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import psycopg

from benchmarks import corpus as corpora
from benchmarks import servers
from benchmarks.bare import Bare, connect
from benchmarks.beside import SLACK, beside_peers
from benchmarks.corpus import Corpus
from benchmarks.measure import Aim, Report, Row, race
from benchmarks.searches import (
    EVERY,
    HUNDREDTH,
    HYBRID,
    NEAR,
    QUESTION,
    SHORT,
    TARGET,
    TENTH,
    Case,
    Search,
    in_turn,
    searches,
)
from soev_retrieval.domain import HYBRID_DEPTH
from soev_retrieval_pgvector import PgvectorStore

_BATCH = 5_000
_LIMIT = 10
_AIM = Aim(1.10)
_CASES = {
    NEAR: (EVERY, TENTH, HUNDREDTH),
    SHORT: (EVERY, HUNDREDTH),
    QUESTION: (EVERY, TENTH, HUNDREDTH),
    HYBRID: (EVERY, TENTH, HUNDREDTH),
}


async def measured(
    *,
    url: str | None = None,
    rounds: int = 96,
    peer_rounds: int = 32,
    rows: int = 100_000,
    dimension: int = 384,
    queries: int = 16,
) -> Report:
    """Load the rows, then time every search, once the contenders have been seen to agree.

    Args:
        url: An empty database with pgvector, or None for a server of its own.
        rounds: How many numbers to take of each search.
        peer_rounds: How many of those of each search of a peer.
        rows: How many chunks there are.
        dimension: How long their vectors are.
        queries: How many different queries each search takes in turn.
    """
    corpus = corpora.made(rows, dimension, queries)
    with servers.database(url) as address:
        lines = [await _loaded(address, corpus)]
        async with PgvectorStore(address) as store:
            lines += await _beside_bare(store, address, corpus, rounds)
            lines += await beside_peers(store, address, corpus, peer_rounds)
    return Report(
        f"PgvectorStore over {rows:,} chunks, vectors × {dimension}",
        lines,
        "figure: how many times as long as bare psycopg with SQL written by hand, which has been"
        " seen to find the same; for a peer, how many times as long as PgvectorStore takes for the"
        f" same question. A peer is held to ≥ 1 where its recall is at least ours less {SLACK:g}:"
        " what finds less does less. Tuned is with iterative scans of 100 candidates, and an index"
        " on what is filtered by, as PgvectorStore has them by itself. Times are by the clock: the"
        " work is the server's.",
    )


async def _loaded(url: str, corpus: Corpus) -> Row:
    rows = len(corpus.texts)
    async with PgvectorStore(url, statement_seconds=None) as store:
        start = time.perf_counter()
        await store.create(TARGET, corpus.spec)
        for first in range(0, rows, _BATCH):
            await store.upsert(TARGET, corpus.records(first, first + _BATCH))
        taken = time.perf_counter() - start
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")  # as autovacuum would, sooner or later
    note = f"{taken:.0f} s, every index kept from the first row on"
    return Row("loading, rows a second", rows / taken, "", note=note)


async def _beside_bare(store: PgvectorStore, url: str, corpus: Corpus, rounds: int) -> list[Row]:
    connection = await connect(url)
    lines: list[Row] = []
    try:
        for what, case in _pairs():
            ours = searches(store, corpus, case.where, _LIMIT)[what]
            theirs = _by_hand(Bare(connection, case.parts), corpus)[what]
            await _agree(what, ours, theirs, len(corpus.queries))
            bare, mine = f"bare, {what}, {case.name}", f"PgvectorStore, {what}, {case.name}"
            contenders = in_turn({bare: theirs, mine: ours}, len(corpus.queries))
            times = await race(contenders, rounds=rounds)
            lines.append(Row(bare, 1.0, "×", times=times[bare]))
            lines.append(Row(mine, times[mine].over(times[bare]), "×", _AIM, times[mine]))
    finally:
        await connection.close()
    return lines


def _pairs() -> Iterator[tuple[str, Case]]:
    return ((what, case) for what, cases in _CASES.items() for case in cases)


def _by_hand(bare: Bare, corpus: Corpus) -> Mapping[str, Search]:
    async def near(at: int) -> list[str]:
        return _firsts(await bare.near_vector(corpus.queries[at], _LIMIT))

    async def short(at: int) -> list[str]:
        return _firsts(await bare.bm25(corpus.short[at], _LIMIT))

    async def question(at: int) -> list[str]:
        return _firsts(await bare.bm25(corpus.questions[at], _LIMIT))

    async def hybrid(at: int) -> list[str]:
        found = await bare.hybrid(corpus.questions[at], corpus.queries[at], _LIMIT, HYBRID_DEPTH)
        return _firsts(found)

    return {NEAR: near, SHORT: short, QUESTION: question, HYBRID: hybrid}


def _firsts(rows: Sequence[tuple[Any, ...]]) -> list[str]:
    return [row[0] for row in rows]


async def _agree(what: str, ours: Search, theirs: Search, queries: int) -> None:
    for at in range(queries):
        if (one := list(await ours(at))) != (other := list(await theirs(at))):
            raise AssertionError(f"{what}, query {at}: they find {one} and {other}")
