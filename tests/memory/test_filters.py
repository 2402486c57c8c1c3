"""A filter restricts every call to exactly the chunks that `matches` says, before the limit."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soev_retrieval.domain import (
    NOTHING,
    TYPES,
    AllOf,
    AnyOf,
    Chunk,
    DeclaredFilter,
    Field,
    FieldSpec,
    Filter,
    Hit,
    Not,
    Record,
    field,
    fuse_hybrid,
    matches,
)
from soev_retrieval.memory import MemoryStore
from soev_retrieval.testing import strategies

R = TypeVar("R", Hit, Chunk)
Fill = Callable[..., Awaitable[MemoryStore]]

ALL = 1_000
METHODS = ("fetch", "near_vector", "bm25", "hybrid")
BODIES = ("cat", "the cat", "dog,cat", "cats and dogs", "wing", "of the")

BODY = Field("body", "text", searchable=True)
SPEC = FieldSpec([BODY, Field("year", "int")], 2)
EVERY_TYPE = FieldSpec(
    [
        BODY,
        *(Field(f"one {type}", type) for type in TYPES),
        *(Field(f"many {type}", type, many=True) for type in TYPES),
        Field("path", "text", operators=["under", "eq"]),
        Field("paths", "text", many=True, operators=["under"]),
    ],
    2,
)
NOWHERE = [
    NOTHING,
    AnyOf(()),
    Not(AllOf(())),
    DeclaredFilter("year", "in", []),
    (field("year") == 1) & NOTHING,
]


def _with_body(record: Record, body: str | None) -> Record:
    return attrs.evolve(record, properties={**record.properties, "body": body})


RECORDS = st.builds(
    Record,
    st.integers(0, 99).map(str),
    strategies.properties(EVERY_TYPE),
    st.sampled_from([None, (1, 0), (0, 1), (3, 4), (-1, 0), (3, 4.5)]),
)
CORPORA = st.lists(
    st.builds(_with_body, RECORDS, st.sampled_from([None, *BODIES])),
    max_size=7,
    unique_by=lambda record: record.id,
)
FILTERS = strategies.filters(EVERY_TYPE)
QUERIES = st.sampled_from(["cat", "cat dog", "wings of a dog", "the", "zebra"])
LIMITS = st.integers(1, 7)


def _passing(results: Iterable[R], where: Filter) -> list[R]:
    """The results of an unfiltered call that the filter lets pass."""
    return [each for each in results if matches(where, each.properties)]


def _by_id(results: Iterable[R]) -> list[R]:
    return sorted(results, key=lambda each: each.id)


@st.composite
def cases(draw: st.DrawFn) -> tuple[FieldSpec, list[Record], Filter]:
    """Any spec, a corpus that keeps to it, and a filter that it serves."""
    spec = draw(strategies.specs(max_fields=3))
    return spec, draw(strategies.corpora(spec)), draw(strategies.filters(spec, max_leaves=4))


@given(cases())
async def test_under_any_spec(filled: Fill, case: tuple[FieldSpec, list[Record], Filter]) -> None:
    """Whatever a target declares, a filtered fetch returns each chunk that passes, and no other."""
    spec, records, where = case
    store = await filled(spec, records)
    chunks = await store.fetch("docs", where=where, limit=ALL)
    loaded = [Chunk(record.id, record.properties) for record in records]
    assert _by_id(chunks) == _by_id(_passing(loaded, where))


@settings(max_examples=300)
@given(CORPORA, FILTERS, LIMITS)
async def test_fetch_restricts_exactly(
    filled: Fill, records: list[Record], where: Filter, limit: int
) -> None:
    """A filtered fetch is the whole of the chunks without what does not match, then cut."""
    store = await filled(EVERY_TYPE, records)
    whole = await store.fetch("docs", limit=ALL)
    assert len(whole) == len(records)
    chunks = await store.fetch("docs", where=where, limit=limit)
    assert chunks == _passing(whole, where)[:limit]


@settings(max_examples=150)
@given(CORPORA, FILTERS, LIMITS)
async def test_near_vector_restricts_exactly(
    filled: Fill, records: list[Record], where: Filter, limit: int
) -> None:
    """A filtered near_vector is the whole ranking without what does not match, then cut."""
    store = await filled(EVERY_TYPE, records)
    whole = await store.near_vector("docs", vector=[1, 0.5], limit=ALL)
    hits = await store.near_vector("docs", vector=[1, 0.5], limit=limit, where=where)
    assert hits == _passing(whole, where)[:limit]


@settings(max_examples=150)
@given(CORPORA, FILTERS, LIMITS, QUERIES)
async def test_bm25_restricts_exactly(
    filled: Fill, records: list[Record], where: Filter, limit: int, query: str
) -> None:
    """A filtered bm25 is the whole ranking, scores and all, without what does not match."""
    store = await filled(EVERY_TYPE, records)
    whole = await store.bm25("docs", query=query, limit=ALL)
    hits = await store.bm25("docs", query=query, limit=limit, where=where)
    assert hits == _passing(whole, where)[:limit]


@settings(max_examples=150)
@given(CORPORA, FILTERS, LIMITS, QUERIES, st.integers(1, 4))
async def test_both_legs_of_hybrid_are_restricted(
    filled: Fill, records: list[Record], where: Filter, limit: int, query: str, depth: int
) -> None:
    """A filtered hybrid fuses two legs that were each filtered before they were cut."""
    store = await filled(EVERY_TYPE, records, depth=depth)
    near = await store.near_vector("docs", vector=[1, 0.5], limit=ALL)
    keyword = await store.bm25("docs", query=query, limit=ALL)
    near, keyword = [_passing(leg, where)[: max(depth, limit)] for leg in (near, keyword)]
    hits = await store.hybrid(
        "docs", query=query, vector=[1, 0.5], limit=limit, where=where, alpha=0.3
    )
    assert hits == fuse_hybrid(near, keyword, alpha=0.3, limit=limit)


async def _ids(store: MemoryStore, where: Filter, limit: int) -> dict[str, tuple[str, ...]]:
    """What each of the four filtered calls finds."""
    vector = [1.0, 0.0]
    found: dict[str, Sequence[Hit] | Sequence[Chunk]] = {
        "fetch": await store.fetch("docs", where=where, limit=limit),
        "near_vector": await store.near_vector("docs", vector=vector, where=where, limit=limit),
        "bm25": await store.bm25("docs", query="cat", where=where, limit=limit),
        "hybrid": await store.hybrid("docs", query="cat", vector=vector, where=where, limit=limit),
    }
    return {method: tuple(one.id for one in results) for method, results in found.items()}


@pytest.mark.parametrize("where", NOWHERE, ids=str)
async def test_nothing_finds_nothing(filled: Fill, where: Filter) -> None:
    """A filter that comes to nothing is answered with no results by every method."""
    store = await filled(SPEC, [Record("a", {"body": "cat", "year": 1}, [1, 0])])
    found = await _ids(store, where, 5)
    assert found == dict.fromkeys(METHODS, ())


async def test_what_matches_is_found_behind_what_does_not(filled: Fill) -> None:
    """Two chunks that rank behind two hundred others are both found with a limit of two."""
    better = [Record(f"a{n}", {"body": "cat", "year": 1}, [1, 0]) for n in range(200)]
    worse = [Record(f"b{n}", {"body": "cat " + "word " * 9, "year": 2}, [0, 1]) for n in (0, 1)]
    store = await filled(SPEC, better + worse)
    found = await _ids(store, field("year") == 2, 2)
    assert found == dict.fromkeys(METHODS, ("b0", "b1"))


async def test_a_filter_over_everything_is_no_filter(filled: Fill) -> None:
    """The filter that everything passes finds what no filter finds."""
    store = await filled(SPEC, [Record(id, {"body": "cat"}, [1, 0]) for id in "cab"])
    found = await _ids(store, AllOf(()), 2)
    assert len(found.pop("fetch")) == 2
    assert set(found.values()) == {("a", "b")}


async def test_a_list_of_a_hundred_thousand_values(filled: Fill) -> None:
    """A filter may list far more values than the index holds."""
    store = await filled(SPEC, [Record(str(year), {"year": year}) for year in (5, 99_999, 200_000)])
    where = field("year").in_(range(100_000))
    assert [chunk.id for chunk in await store.fetch("docs", where=where, limit=9)] == ["5", "99999"]
    assert [chunk.id for chunk in await store.fetch("docs", where=~where, limit=9)] == ["200000"]


async def test_a_filter_sees_the_last_write(filled: Fill) -> None:
    """A filter is answered from what was written last, also when it was asked before."""
    store = await filled(SPEC, [Record("a", {"year": 1}), Record("b", {"year": 2})])
    where = field("year") == 1
    assert [chunk.id for chunk in await store.fetch("docs", where=where, limit=9)] == ["a"]
    await store.upsert("docs", [Record("b", {"year": 1}), Record("a", {})])
    assert [chunk.id for chunk in await store.fetch("docs", where=where, limit=9)] == ["b"]


async def test_a_field_that_no_chunk_has(filled: Fill) -> None:
    """Where no chunk has the field, its predicates are decided as for a missing one."""
    at = field("at")
    spec = FieldSpec([Field("at", "datetime"), Field("tags", "text", many=True)])
    store = await filled(spec, [Record("a", {})])
    now = datetime(2024, 1, 31, tzinfo=UTC)
    found = {
        where: len(await store.fetch("docs", where=where, limit=9))
        for where in (at == now, at < now, at.exists(), field("tags").contains_any(["x"]))
    }
    assert set(found.values()) == {0}
    assert len(await store.fetch("docs", where=(at != now) & at.missing(), limit=9)) == 1
