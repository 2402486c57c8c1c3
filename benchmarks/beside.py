"""A store beside those of three frameworks: what each finds, and how soon."""

import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from statistics import fmean

import attrs
import numpy as np
import psycopg

from benchmarks.corpus import PARTS, Corpus, chunk_id
from benchmarks.measure import Aim, Row, installed, race
from benchmarks.peers import PEERS, Peer, Words
from benchmarks.searches import (
    EVERY,
    HUNDREDTH,
    HYBRID,
    NEAR,
    QUESTION,
    TARGET,
    Case,
    Search,
    answers,
    in_turn,
    searches,
)
from soev_retrieval.domain import Filter
from soev_retrieval.store import VectorStore
from soev_retrieval_pgvector import PgvectorStore

SLACK = 0.01
"""So much less recall counts as the same."""

_LIMIT = 10
CASES = tuple(itertools.product((EVERY, HUNDREDTH), (_LIMIT, 50)))
_AIM = Aim(1.0, least=True)
_EF_SEARCH = 100  # as PgvectorStore has it


async def beside_peers(store: PgvectorStore, url: str, corpus: Corpus, rounds: int) -> list[Row]:
    """Every peer that is there, filled from the table `chunks` of `url`; of others that they lack."""
    there = [name for name, peer in PEERS.items() if installed(peer.package)]
    lines = [missing(name, peer) for name, peer in PEERS.items() if name not in there]
    if not there:
        return lines
    beside = Beside(store, corpus, rounds)
    for name in there:
        await _fill(name, url, corpus)
    _run(url, ["VACUUM (ANALYZE)"])
    async with opened(_made(there, url, corpus, None)) as peers:
        for case, limit in CASES:
            lines += await beside.nearest(peers, "as documented", case, limit)
        for name, peer in peers.items():
            lines += [await beside.worded(f"{name}, {how}", by) for how, by in peer.words().items()]
    _tune(url, there)
    async with opened(_made(there, url, corpus, _EF_SEARCH)) as peers:
        for case, limit in CASES:
            lines += await beside.nearest(peers, "tuned", case, limit)
    return lines


def missing(name: str, peer: type[Peer]) -> Row:
    """The row of a peer that is not installed."""
    return Row(name, None, "×", note=f"{peer.distribution} is not installed: --group peers")


async def _fill(name: str, url: str, corpus: Corpus) -> None:
    peer = PEERS[name](url, corpus.vectors.shape[1], None)
    await peer.fill(corpus)
    await peer.close()


@asynccontextmanager
async def opened(peers: Mapping[str, Peer]) -> AsyncIterator[Mapping[str, Peer]]:
    """The peers, ready to search for as long as they are needed."""
    try:
        for peer in peers.values():
            await peer.open()
        yield peers
    finally:
        for peer in peers.values():
            await peer.close()


def _made(names: Sequence[str], url: str, corpus: Corpus, ef_search: int | None) -> dict[str, Peer]:
    return {name: PEERS[name](url, corpus.vectors.shape[1], ef_search) for name in names}


def _tune(url: str, names: Sequence[str]) -> None:
    """What a careful user would do: iterative scans, and an index on what is filtered by."""
    with psycopg.connect(url) as connection:
        name = connection.info.dbname.replace('"', '""')
    set_here = f'ALTER DATABASE "{name}" SET'
    _run(
        url,
        [
            f"{set_here} hnsw.iterative_scan = relaxed_order",
            f"{set_here} hnsw.ef_search = {_EF_SEARCH}",
            *(f"CREATE INDEX ON {PEERS[name].part}" for name in names),
            "VACUUM (ANALYZE)",
        ],
    )


def _run(url: str, statements: Sequence[str]) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for sql in statements:
            connection.execute(sql.encode())


@attrs.frozen
class Beside:
    """Races of a store and its peers.

    Args:
        store: The store, loaded.
        corpus: What is in it, and what to ask.
        rounds: How many numbers to take of each search.
        target: The target that it was loaded into.
    """

    store: VectorStore
    corpus: Corpus
    rounds: int
    target: str = TARGET

    async def nearest(
        self, peers: Mapping[str, Peer], how: str, case: Case, limit: int
    ) -> list[Row]:
        """A row for each: its time over ours, how many rows it finds, and how many of the nearest."""
        asked = f"nearest {limit}, {case.name}"
        ours = f"{type(self.store).__name__}, {asked}"
        contenders = {ours: self._ours(case.where, limit)[NEAR]}
        for name, peer in peers.items():
            contenders[f"{name}, {how}, {asked}"] = self._near(peer, case, limit)
        found = {name: await self._answers(each) for name, each in contenders.items()}
        exact = [_exact(self.corpus, query, case, limit) for query in self.corpus.queries]
        recalls = {name: _shared(each, exact) for name, each in found.items()}
        times = await race(in_turn(contenders, len(exact)), rounds=self.rounds)
        held = {name for name in found if name != ours and recalls[name] >= recalls[ours] - SLACK}
        return [
            Row(
                name,
                times[name].over(times[ours]),
                "×",
                _AIM if name in held else None,
                times[name],
                f"{fmean(map(len, each)):.3g} rows, recall {recalls[name]:.3f}",
            )
            for name, each in found.items()
        ]

    def _near(self, peer: Peer, case: Case, limit: int) -> Search:
        async def search(at: int) -> list[str]:
            part = None if case.parts is None else 0
            return await peer.near(self.corpus.queries[at], limit, part)

        return search

    async def worded(self, what: str, words: Words) -> Row:
        """A search that looks at words: its time over ours, how many rows a question gets, which."""
        like = HYBRID if "hybrid" in what else QUESTION

        async def theirs(at: int) -> list[str]:
            return await words(self.corpus.questions[at], self.corpus.queries[at], _LIMIT)

        ours = self._ours(None, _LIMIT)[like]
        found, wanted = await self._answers(theirs), await self._answers(ours)
        contenders = in_turn({"theirs": theirs, "ours": ours}, len(found))
        times = await race(contenders, rounds=self.rounds)
        note = (
            f"{fmean(map(len, found)):.3g} rows,"
            f" none for {sum(not each for each in found)} of {len(found)} questions;"
            f" {_shared([each[:_LIMIT] for each in found], wanted):.2f} of our first {_LIMIT}"
            f" by {like}"
        )
        return Row(what, times["theirs"].over(times["ours"]), "×", None, times["theirs"], note)

    def _ours(self, where: Filter | None, limit: int) -> Mapping[str, Search]:
        return searches(self.store, self.corpus, where, limit, self.target)

    async def _answers(self, search: Search) -> list[Sequence[str]]:
        return await answers(search, len(self.corpus.queries))


def _exact(corpus: Corpus, query: Sequence[float], case: Case, limit: int) -> list[str]:
    """The ids of the nearest, of all that match."""
    wanted = np.flatnonzero(np.arange(len(corpus.texts)) % PARTS < (case.parts or PARTS))
    scores = corpus.vectors[wanted] @ np.asarray(query, np.float32)
    best = wanted[np.argsort(-scores, kind="stable")[:limit]]
    return [chunk_id(row) for row in best.tolist()]


def _shared(found: Sequence[Sequence[str]], wanted: Sequence[Sequence[str]]) -> float:
    """The mean share of what was wanted that was found, over the queries with anything wanted."""
    pairs = zip(found, wanted, strict=True)
    return fmean(len({*one} & {*other}) / len(other) for one, other in pairs if other)
