"""hybrid is `fuse_hybrid` of the two legs, and at its ends one of them."""

from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soev_retrieval.domain import (
    HYBRID_DEPTH,
    Field,
    FieldSpec,
    Hit,
    Record,
    Unconfigured,
    fuse_hybrid,
)
from soev_retrieval.memory import MemoryStore
from soev_retrieval.testing import strategies

Fill = Callable[..., Awaitable[MemoryStore]]

SPEC = FieldSpec([Field("body", "text", searchable=True), Field("year", "int")], 2)
ALPHAS = st.floats(0, 1, exclude_min=True, exclude_max=True)


@attrs.frozen
class Case:
    """A corpus, and what to ask of it."""

    records: list[Record]
    query: str
    vector: list[float]
    limit: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    vectors = strategies.vectors(dimension=2)
    properties = st.fixed_dictionaries({}, optional={"body": strategies.queries()})
    pool = st.sampled_from([None, *draw(st.lists(vectors, min_size=1, max_size=5))])
    record = st.builds(Record, st.integers(0, 99).map(str), properties, pool)
    records = st.lists(record, max_size=14, unique_by=lambda record: record.id)
    return Case(draw(records), draw(strategies.queries()), draw(vectors), draw(st.integers(1, 16)))


@settings(max_examples=200)
@given(cases(), ALPHAS, st.integers(1, 16))
async def test_hybrid_is_the_fusion_of_its_legs(
    filled: Fill, case: Case, alpha: float, depth: int
) -> None:
    """A hybrid search fuses both legs, each as deep as the store's depth or the limit."""
    store = await filled(SPEC, case.records, depth=depth)
    deep = max(depth, case.limit)
    hits = await store.hybrid(
        "docs", query=case.query, vector=case.vector, limit=case.limit, alpha=alpha
    )
    assert hits == fuse_hybrid(
        await store.near_vector("docs", vector=case.vector, limit=deep),
        await store.bm25("docs", query=case.query, limit=deep),
        alpha=alpha,
        limit=case.limit,
    )


@given(cases(), st.sampled_from([1, 1.0, np.float32(1)]))
async def test_alpha_1_is_near_vector(filled: Fill, case: Case, alpha: float) -> None:
    """With alpha 1 a hybrid search is near_vector, hit for hit."""
    store = await filled(SPEC, case.records)
    assert await store.hybrid(
        "docs", query=case.query, vector=case.vector, limit=case.limit, alpha=alpha
    ) == await store.near_vector("docs", vector=case.vector, limit=case.limit)


@given(cases(), st.sampled_from([0, 0.0, -0.0, np.float32(0)]), st.booleans())
async def test_alpha_0_is_bm25(filled: Fill, case: Case, alpha: float, given_: bool) -> None:
    """With alpha 0 a hybrid search is bm25, hit for hit, with a vector or without."""
    store = await filled(SPEC, case.records)
    vector = case.vector if given_ else None
    assert await store.hybrid(
        "docs", query=case.query, vector=vector, limit=case.limit, alpha=alpha
    ) == await store.bm25("docs", query=case.query, limit=case.limit)


@given(cases(), st.floats(0, 1))
async def test_no_alpha_is_the_stores_own(filled: Fill, case: Case, own: float) -> None:
    """Without alpha the store's own default weighs, and an alpha in the call goes before it."""
    store, other = [await filled(SPEC, case.records, alpha=each) for each in (own, 1 - own)]
    asked: dict[str, Any] = {"query": case.query, "vector": case.vector, "limit": case.limit}
    hits = await store.hybrid("docs", **asked)
    assert hits == await store.hybrid("docs", alpha=None, **asked)
    assert hits == await store.hybrid("docs", alpha=own, **asked)
    assert hits == await other.hybrid("docs", alpha=own, **asked)


@pytest.fixture
async def store(filled: Fill) -> MemoryStore:
    return await filled(SPEC, _RECORDS)


_RECORDS = [
    Record("near", {"body": "bird"}, [1, 0]),
    Record("both", {"body": "cat and bird and fish"}, [3, 4]),
    Record("word", {"body": "cat"}, [0, 1]),
    Record("far", {"body": "fish"}, [-1, 0]),
]


async def test_a_worked_example(store: MemoryStore) -> None:
    """What one leg did not bring counts 0 there, and the best and worst of a leg 1 and 0."""
    hits = await store.hybrid("docs", query="cat", vector=[1, 0], limit=9, alpha=0.5)
    # Cosines 1, .6, 0, -1 scale to 1, .8, .5, 0; of the two with the word, the shorter has 1.
    assert [(hit.id, hit.score) for hit in hits] == [
        ("word", pytest.approx(0.5 * 0.5 + 0.5 * 1)),
        ("near", pytest.approx(0.5 * 1)),
        ("both", pytest.approx(0.5 * 0.8)),
        ("far", 0.0),
    ]


async def test_a_chunk_that_one_leg_finds_is_found(filled: Fill) -> None:
    """A chunk without a vector is found by its words, one without words by its vector."""
    store = await filled(SPEC, [Record("a", {"body": "cat"}), Record("b", {}, [1, 0])])
    hits = await store.hybrid("docs", query="cat", vector=[1, 0], limit=9, alpha=0.75)
    assert hits == [Hit("b", 0.75), Hit("a", 0.25, {"body": "cat"})]


async def test_stop_words_leave_the_vectors(store: MemoryStore) -> None:
    """A query of stop words alone still finds by vector."""
    hits = await store.hybrid("docs", query="of the", vector=[1, 0], limit=2)
    assert [hit.id for hit in hits] == ["near", "both"]


async def test_the_legs_are_deep(filled: Fill) -> None:
    """By default each leg brings a hundred hits, so a limit of one sees far down both."""
    records = [
        Record(f"{n:03}", {"body": "cat " + "word " * (150 - n)}, [n + 1, 150]) for n in range(150)
    ]
    store = await filled(SPEC, records)
    legs = {
        deep: (
            await store.near_vector("docs", vector=[0, 1], limit=deep),
            await store.bm25("docs", query="cat", limit=deep),
        )
        for deep in (HYBRID_DEPTH, 150)
    }
    fused = {deep: fuse_hybrid(*each, alpha=0.5, limit=1) for deep, each in legs.items()}
    assert fused[HYBRID_DEPTH] != fused[150]
    hits = await store.hybrid("docs", query="cat", vector=[0, 1], limit=1, alpha=0.5)
    assert hits == fused[HYBRID_DEPTH]


async def test_alpha_0_is_not_taken_for_none(filled: Fill) -> None:
    """In a store whose own default is 1, alpha 0 is bm25 and no alpha is near_vector."""
    store = await filled(SPEC, _RECORDS, alpha=1)
    words = await store.hybrid("docs", query="cat", vector=[1, 0], limit=1, alpha=0)
    assert [hit.id for hit in words] == ["word"]
    own = await store.hybrid("docs", query="cat", vector=[1, 0], limit=1)
    assert [hit.id for hit in own] == ["near"]


@pytest.mark.parametrize("alpha", [None, 1e-9, 0.5, 1])
async def test_it_does_not_embed(store: MemoryStore, alpha: float | None) -> None:
    """Without a vector it is Unconfigured, unless alpha is 0, and says what to give."""
    with pytest.raises(Unconfigured, match="give a vector") as caught:
        await store.hybrid("docs", query="cat", limit=1, alpha=alpha)
    assert (caught.value.store, caught.value.operation) == ("MemoryStore", "hybrid")


async def test_a_default_of_0_needs_no_vector(filled: Fill) -> None:
    """In a store whose own default is 0, a call needs neither alpha nor vector."""
    store = await filled(SPEC, _RECORDS, alpha=0)
    hits = await store.hybrid("docs", query="cat", limit=9)
    assert hits == await store.bm25("docs", query="cat", limit=9)
    assert [hit.id for hit in hits] == ["word", "both"]


async def test_a_target_with_one_leg_only(filled: Fill) -> None:
    """A target without vectors or without searchable text is Unconfigured but at its own end."""
    words = await filled(
        FieldSpec([Field("body", "text", searchable=True)]), [Record("a", {"body": "cat"})]
    )
    vectors = await filled(FieldSpec([Field("body", "text")], 2), [Record("a", {}, [1, 0])])
    for store, end in ((words, 0), (vectors, 1)):
        hits = await store.hybrid("docs", query="cat", vector=[1, 0], limit=1, alpha=end)
        assert [hit.id for hit in hits] == ["a"]
        for alpha in (0.5, 1 - end):
            with pytest.raises(Unconfigured, match=r"declares no dimension|no searchable field"):
                await store.hybrid("docs", query="cat", vector=[1, 0], limit=1, alpha=alpha)
