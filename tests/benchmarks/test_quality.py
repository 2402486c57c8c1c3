import random
from math import log2
from pathlib import Path

import pytest

from benchmarks import quality
from benchmarks.cranfield import Collection, Document
from tests.servers import qdrant, weaviate

_TEXTS = (
    "the flutter of a swept wing in supersonic flow",
    "heat transfer to a blunt body at hypersonic speed",
    "buckling of thin cylindrical shells under pressure",
    "",
)
_SMALL = Collection(
    [Document(str(id), text, None, None, text) for id, text in enumerate(_TEXTS, 1)],
    {"1": "does a swept wing flutter .", "2": "when do shells buckle ."},
    {"1": frozenset("1"), "2": frozenset("3")},
)
_WAYS = ("bm25", "near_vector, wordllama", "hybrid, alpha .5")
_ROWS = [
    "MemoryStore bm25",
    "MemoryStore near_vector, wordllama",
    "MemoryStore hybrid, alpha .5",
    "PgvectorStore bm25",
    "PgvectorStore near_vector, wordllama",
    "PgvectorStore hybrid, alpha .5",
    "QdrantStore, local mode, bm25",
    "QdrantStore, local mode, near_vector, wordllama",
    "QdrantStore, local mode, hybrid, alpha .5",
    *(f"QdrantStore, a server, {way}" for way in _WAYS if qdrant() is not None),
    *(f"WeaviateStore, a server, {way}" for way in _WAYS if weaviate() is not None),
    "Rrf of MemoryStore's legs, 100 deep",
    "bm25s, its English stop words, PyStemmer",
    "bm25s on PostgreSQL's lexemes",
]


@pytest.mark.parametrize(
    ("found", "relevant", "figure"),
    [
        ("abc", "abc", 1.0),
        ("xyz", "abc", 0.0),
        ("", "a", 0.0),
        ("a", "", 0.0),
        ("xa", "a", 1 / log2(3)),
        ("axb", "abcd", 1.5 / (1 + 1 / log2(3) + 1 / 2 + 1 / log2(5))),
        ("xxxxxxxxxxa", "a", 0.0),  # the eleventh
        ("abcdefghij", "abcdefghijklm", 1.0),  # no ranking of ten does better
    ],
)
def test_ndcg_by_hand(found: str, relevant: str, figure: float) -> None:
    """The gains of the first ten over those of the best ten."""
    assert quality.ndcg(found, relevant) == pytest.approx(figure, abs=1e-12)


@pytest.mark.usefixtures("ranx")
def test_ndcg_is_that_of_ranx() -> None:
    """Over random rankings, short ones and empty ones, both give the same mean."""
    pick = random.Random(3)
    ids = [f"chunk-{number}" for number in range(30)]
    relevant = {str(each): pick.sample(ids, pick.randint(1, 15)) for each in range(40)}
    found = {each: pick.sample(ids, pick.randint(0, 20)) for each in relevant}
    assert quality.ranx_ndcg(found, relevant) == pytest.approx(
        quality.mean_ndcg(found, relevant), abs=1e-12
    )


@pytest.mark.usefixtures("without_ranx")
async def test_every_way_of_searching_is_graded(database: str) -> None:
    """Each row has a figure, a time for each question, and where one is promised an aim."""
    report = await quality.measured(collection=_SMALL, url=database)
    assert [row.what for row in report.rows] == _ROWS
    aimed = ("MemoryStore", "PgvectorStore", "QdrantStore", "WeaviateStore")
    assert [row.what for row in report.rows if row.aim] == [
        name for name in _ROWS if name.startswith(aimed)
    ]
    assert all(row.times and len(row.times.seconds) == 2 for row in report.rows)
    figures = [row.figure for row in report.rows]
    assert figures == [1.0] * len(_ROWS)  # each text answers one question, in its own words


@pytest.mark.usefixtures("ranx")
async def test_ranx_checks_the_figures(database: str) -> None:
    """Where ranx is there it computes the same, and the report says so."""
    report = await quality.measured(collection=_SMALL, url=database)
    assert "ranx computes the same" in report.caption


async def test_without_cranfield_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One row without a figure tells where it was looked for."""
    monkeypatch.setenv("SOEV_CRANFIELD", str(tmp_path))
    [row] = (await quality.measured()).rows
    assert row.figure is None
    assert str(tmp_path) in row.note
    assert "SOEV_CRANFIELD" in row.note
