"""Each benchmark at a tiny size: that it runs, and reports what it promises."""

import re

import pytest

from benchmarks import filters, fusion, layers, retriever, scopes, vectors
from benchmarks.measure import Report
from soev_retrieval.domain import Hit, StoreUnavailable, matches, predicates
from soev_retrieval.engine import Rrf
from soev_retrieval.rag import Branch, HybridRetriever, IndexRetriever, StoreIndex, tenant_scope
from soev_retrieval.testing.faults import Scripted


def _figures(report: Report) -> dict[str, float | None]:
    return {row.what: row.figure for row in report.rows}


async def test_layers() -> None:
    """Each kind of layer one to five deep, and five layers around a longer call."""
    report = await layers.measured(rounds=2, calls=1, seconds=1e-4)
    kinds = (
        "do-nothing Layer",
        "Retrying",
        "PreFiltered, no filter",
        "PreFiltered, 1 term",
        "PreFiltered, 3 terms",
        "PostFiltered",
    )
    assert list(_figures(report)) == [
        "the bare store",
        *(f"{kind}, {depth} deep" for kind in kinds for depth in range(1, 6)),
        *(f"five around 0.1 ms, {terms}" for terms in ("no filter", "1 term", "3 terms")),
    ]
    assert all(row.figure is not None for row in report.rows)
    assert [row.what for row in report.rows if row.aim is None] == ["the bare store"]


@pytest.mark.looptime
async def test_scopes() -> None:
    """One search, the searches at once in one group and in a group each, and one by one."""
    report = await scopes.measured(rounds=2, targets=3)
    assert list(_figures(report)) == [
        "one search",
        "3 targets, 1 group",
        "3 groups",
        "3 targets, one after the other",
    ]
    assert [row.aim is not None for row in report.rows] == [False, True, True, False]


async def test_retriever() -> None:
    """For each kind of branch and each k the slower one, both in turn, and retrieving twice."""
    report = await retriever.measured(
        rounds=2, rows=60, dimension=8, queries=2, ks=(1, 3), seconds=1e-3
    )
    kinds = ("MemoryStore", "lists", "1 ms each")
    ways = ("alone", "both in turn", "retrieve", "retrieve, bounded")
    names = [re.sub("semantic |keyword ", "", row.what) for row in report.rows]
    assert names == [f"{kind}, k {k}, {way}" for kind in kinds for k in (1, 3) for way in ways]
    assert all(row.figure is not None and row.times for row in report.rows)
    assert [row.what for row in report.rows if row.aim] == [
        f"1 ms each, k {k}, {way}" for k in (1, 3) for way in ways[2:]
    ]
    assert all("both in turn" in row.note for row in report.rows if "retrieve" in row.what)


async def test_a_retrieval_by_one_branch_is_not_timed() -> None:
    """Retrievers that find other hits, or not by both branches, are refused."""
    index = retriever.Listed(retriever._lists(4))
    keyword = IndexRetriever(index, branch=Branch.KEYWORD)
    down = IndexRetriever(
        StoreIndex(Scripted(StoreUnavailable("down")), name="down"),
        branch=Branch.SEMANTIC,
        embedder=_embedder,
    )
    whole, partial = HybridRetriever(keyword), HybridRetriever(keyword, down)
    with tenant_scope("north"):
        for pair in ((whole, partial), (partial, partial)):
            with pytest.raises(AssertionError, match="do not find the same"):
                await retriever._agree(*pair, "wing flutter", 3)


async def _embedder(text: str) -> list[float]:
    return [1.0, 0.0]


@pytest.mark.usefixtures("without_ranx")
async def test_fusion_without_ranx() -> None:
    """Where ranx is missing its rows say so, and the others stand."""
    report = await fusion.measured(rounds=2, count=3, length=20)
    figures = _figures(report)
    assert list(figures) == [
        "textbook, plain Python",
        "Rrf",
        "ranx, Runs to Run",
        "ranx, Hits to Hits",
    ]
    assert [figure is None for figure in figures.values()] == [False, False, True, True]
    assert all("not installed" in row.note for row in report.rows if row.figure is None)


@pytest.mark.usefixtures("ranx")
async def test_fusion_beside_ranx() -> None:
    """Where ranx is there, it has been seen to agree, and has a figure."""
    report = await fusion.measured(rounds=2, count=3, length=20)
    assert None not in _figures(report).values()


@pytest.mark.parametrize("seed", range(5))
async def test_the_textbook_version_is_rrf(seed: int) -> None:
    """It fuses to the scores and properties that Rrf does."""
    ranked = fusion.lists(count=4, length=50, seed=seed)
    textbook = {hit.id: hit for hit in fusion.textbook(ranked)}
    ours = await Rrf()("", ranked)
    assert {hit.id for hit in ours} == set(textbook)
    for hit in ours:
        assert hit.score == pytest.approx(textbook[hit.id].score, rel=1e-12)
        assert hit.properties == textbook[hit.id].properties


def test_a_fusion_that_differs_is_not_timed() -> None:
    """A contender with another score is refused."""
    with pytest.raises(AssertionError, match="same scores"):
        fusion._agree([Hit("a", 1.0)], [Hit("a", 0.5)])


async def test_vectors() -> None:
    """Every filter for bare numpy and MemoryStore, which have been seen to agree."""
    report = await vectors.measured(
        rounds=2, rows=2_000, dimension=8, qdrant_rounds=2, qdrant_rows=1_000
    )
    filters = ("no filter", "1 % filter", "50 % filter")
    ours = [f"{who}, {name}" for name in filters for who in ("bare numpy", "MemoryStore")]
    theirs = [f"qdrant-client, 1,000 rows, {name}" for name in filters]
    assert list(_figures(report)) == ours + theirs
    assert [row.what for row in report.rows if row.aim] == ours[1::2]
    assert all(row.figure is not None or "not installed" in row.note for row in report.rows)


async def test_a_search_that_differs_is_not_timed() -> None:
    """Contenders that find other chunks are refused."""

    async def one() -> list[int]:
        return [1, 2]

    async def other() -> list[int]:
        return [2, 1]

    with pytest.raises(AssertionError, match="do not find the same"):
        await vectors._agree({"one": one, "other": other})


async def test_filters() -> None:
    """Everything that is done with a filter, for two lengths."""
    report = await filters.measured(rounds=2, few=5, many_rounds=2, many=25)
    works = ("matches", "simplify", "check", "str", "parse", "to_json", "from_json")
    assert list(_figures(report)) == [
        f"{work}, {terms} terms" for terms in (5, 25) for work in works
    ]
    assert None not in _figures(report).values()


class Watched(dict[str, object]):
    """Properties that count how often they are looked at."""

    looks = 0

    def get(self, *of: str) -> object:  # type: ignore[override]
        self.looks += 1
        return super().get(*of)


def test_every_term_of_the_filter_is_looked_at() -> None:
    """So that a cost per term is one: no term decides before the others were asked."""
    expression = filters.expression(25)
    properties = Watched(filters._PROPERTIES)
    assert len(list(predicates(expression))) == 25
    assert matches(expression, properties)
    assert properties.looks == 25
