"""The benchmark of PgvectorStore at a tiny size: that it runs, and reports what it promises."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from benchmarks import beside, corpus, pgvector, servers
from benchmarks.corpus import Corpus, chunk_id
from benchmarks.measure import Report, installed
from benchmarks.peers import PEERS, Peer, Words
from benchmarks.searches import EVERY, HUNDREDTH
from soev_retrieval_pgvector import PgvectorStore
from tests.servers import postgres

_ROWS, _DIMENSION = 400, 8


async def _measured(url: str) -> Report:
    return await pgvector.measured(
        url=url, rounds=2, peer_rounds=2, rows=_ROWS, dimension=_DIMENSION, queries=3
    )


class Halved:
    """A peer that asks PgvectorStore, and leaves out every second row of a filtered answer."""

    package = "soev_retrieval_pgvector"
    distribution = "soev-retrieval-pgvector"
    part = "chunks (part)"

    def __init__(self, url: str, dimension: int, ef_search: int | None) -> None:
        self._store = PgvectorStore(url)

    async def fill(self, corpus: Corpus) -> None:
        pass

    async def open(self) -> None:
        pass

    async def near(self, query: Sequence[float], limit: int, part: int | None) -> list[str]:
        where = None if part is None else HUNDREDTH.where
        hits = await self._store.near_vector("chunks", vector=query, limit=limit, where=where)
        return [hit.id for hit in hits][:: 1 if part is None else 2]

    def words(self) -> Mapping[str, Words]:
        return {"keyword, none": self._nothing, "hybrid, all": self._hybrid}

    async def _nothing(self, question: str, query: Sequence[float], limit: int) -> list[str]:
        return []

    async def _hybrid(self, question: str, query: Sequence[float], limit: int) -> list[str]:
        hits = await self._store.hybrid("chunks", query=question, vector=query, limit=limit)
        return [hit.id for hit in hits]

    async def close(self) -> None:
        await self._store.close()


async def test_without_peers(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every search beside bare psycopg, which has been seen to agree; missing peers say so."""
    monkeypatch.setattr(beside, "installed", lambda package: False)
    rows = (await _measured(database)).rows
    assert rows[0].what == "loading, rows a second"
    pairs = [row.what for row in rows[1:-3]]
    assert len(pairs) == 22
    assert [name.removeprefix("bare, ") for name in pairs[::2]] == [
        name.removeprefix("PgvectorStore, ") for name in pairs[1::2]
    ]
    assert [row.what for row in rows if row.aim] == pairs[1::2]
    assert all(row.figure is not None for row in rows[:-3])
    assert [row.what for row in rows[-3:]] == list(PEERS)
    assert all(row.figure is None and "--group peers" in row.note for row in rows[-3:])


async def test_a_peer_is_held_to_what_it_finds(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it finds all, it has an aim; where it finds less, its rows and its recall say so."""
    peer: type[Peer] = Halved
    monkeypatch.setattr(beside, "PEERS", {"Halved": peer})
    rows = {row.what: row for row in (await _measured(database)).rows}
    for how in ("as documented", "tuned"):
        whole = rows[f"Halved, {how}, nearest 10, no filter"]
        half = rows[f"Halved, {how}, nearest 10, 1 % filter"]
        assert (whole.aim is not None, half.aim) == (True, None)
        assert whole.note == "10 rows, recall 1.000"
        assert half.note == "2 rows, recall 0.500"  # of the four that there are
    assert rows["Halved, keyword, none"].note.startswith("0 rows, none for 3 of 3 questions; 0.00")
    assert "none for 0 of 3 questions; 1.00 of our first 10" in rows["Halved, hybrid, all"].note


@pytest.mark.parametrize("name", PEERS)
async def test_a_peer(name: str, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is filled with the same rows and finds the same, in every way that it has."""
    if not installed(PEERS[name].package):
        pytest.skip(f"{PEERS[name].distribution} is not installed: --group peers")
    monkeypatch.setattr(beside, "PEERS", {name: PEERS[name]})
    rows = [row for row in (await _measured(database)).rows if row.what.startswith(name)]
    assert len(rows) >= 9
    assert all(row.figure is not None for row in rows)
    tuned = [row for row in rows if "tuned" in row.what]
    assert all("recall 1.000" in row.note for row in tuned)


async def test_answers_that_differ_are_not_timed() -> None:
    """One query that the two answer otherwise is enough."""

    async def ours(at: int) -> list[str]:
        return ["a", "b"]

    async def theirs(at: int) -> list[str]:
        return ["a", "b"] if at < 2 else ["b", "a"]

    await pgvector._agree("near_vector", ours, theirs, 2)
    with pytest.raises(AssertionError, match="near_vector, query 2"):
        await pgvector._agree("near_vector", ours, theirs, 3)


def test_the_corpus_is_always_the_same() -> None:
    """The same size makes the same; another size keeps the queries and the words."""
    one, other = corpus.made(300, 8, 4), corpus.made(300, 8, 4)
    assert np.array_equal(one.vectors, other.vectors)
    assert (one.texts, one.queries, one.questions) == (other.texts, other.queries, other.questions)
    more = corpus.made(600, 8, 4)
    assert (more.short, more.questions) == (one.short, one.questions)


def test_the_corpus_is_as_long_and_as_wide_as_it_says() -> None:
    """Unit vectors, two words, eight content words, texts of about 25 of them."""
    made = corpus.made(2_000, 32, 4)
    assert np.allclose(np.linalg.norm(made.vectors, axis=1), 1, atol=1e-6)
    assert {len(query) for query in made.queries} == {32}
    assert {len(short.split()) for short in made.short} == {2}
    assert {len(question.split()) for question in made.questions} == {12}
    words = [len(set(text.split()) - set(corpus._FUNCTION)) for text in made.texts]
    assert 23 < sum(words) / len(words) < 27
    records = list(made.records(1_990, 3_000))
    assert [record.properties["part"] for record in records] == list(range(90, 100))


def test_the_exact_answer_is_that_of_every_row() -> None:
    """The nearest of all, and the nearest of those that match, best first."""
    made = corpus.made(500, 8, 1)
    [query] = made.queries
    scores = dict(enumerate((made.vectors @ np.asarray(query, np.float32)).tolist()))
    ranked = sorted(scores, key=lambda row: -scores[row])
    assert beside._exact(made, query, EVERY, 7) == [chunk_id(row) for row in ranked[:7]]
    matching = [chunk_id(row) for row in ranked if row % 100 == 0]
    assert beside._exact(made, query, HUNDREDTH, 10) == matching


def test_the_named_server_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """`POSTGRES_URL` gets a database for the while; an address that is given is taken as it is."""
    monkeypatch.setenv("POSTGRES_URL", postgres().url)
    with servers.database(None) as address:
        assert address.partition("?")[0].endswith("/soev_benchmark")
    with servers.database("postgresql://nowhere/there") as address:
        assert address == "postgresql://nowhere/there"
