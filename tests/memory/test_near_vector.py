"""near_vector is exact: what a naive reading in float64 finds, ties by id."""

import math
from array import array
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from soev_retrieval.domain import (
    DISTANCES,
    Field,
    FieldSpec,
    Hit,
    Record,
    best_first,
    field,
    matches,
)
from soev_retrieval.memory import MemoryStore
from soev_retrieval.testing import strategies

Fill = Callable[..., Awaitable[MemoryStore]]

GREATEST = float(np.finfo(np.float32).max)
MAGNITUDES = (1e-45, 1e-38, 1e-30, 1e-12, 1.0, 1e11, 1e13, 1e30, 3e38, GREATEST)
FIELDS = [Field("group", "int")]
KINDS = (
    *("far apart", "many equal", "a bit apart", "a bit apart, and long"),
    *("of all lengths", "about to vanish"),
)


def naive(distance: str, query: Sequence[float], vector: Sequence[float]) -> float:
    """The score of one vector, both in float32, every step of it in float64 or better."""
    wanted, given_ = array("f", query).tolist(), array("f", vector).tolist()
    if distance == "euclidean":
        return -math.dist(wanted, given_)
    if distance == "manhattan":
        return -math.fsum(abs(a - b) for a, b in zip(wanted, given_, strict=True))
    product = math.fsum(a * b for a, b in zip(wanted, given_, strict=True))
    if distance == "dot":
        return product
    return product / (math.hypot(*wanted) * math.hypot(*given_))


def close(distance: str, query: Sequence[float], vector: Sequence[float], score: float) -> bool:
    """Whether `score` is the naive one, up to the last digits of float64."""
    expected = naive(distance, query, vector)
    if distance in {"euclidean", "manhattan"}:
        return math.isclose(score, expected, rel_tol=1e-12)
    # What cancels out in a product leaves an error of the size of its parts.
    scale = math.hypot(*query) * math.hypot(*vector) if distance == "dot" else 1.0
    return math.isclose(score, expected, rel_tol=1e-12, abs_tol=1e-12 * scale)


@attrs.frozen
class Case:
    """Vectors of one target, some of them missing and some of them equal, and what to ask."""

    distance: str
    records: list[Record]
    query: list[float]
    limit: int

    @property
    def spec(self) -> FieldSpec:
        return FieldSpec(FIELDS, len(self.query), self.distance)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    distance, dimension = draw(st.sampled_from(DISTANCES)), draw(st.integers(1, 4))
    number = st.builds(
        lambda sign, size: sign * size, st.sampled_from([-1, 0, 1]), st.sampled_from(MAGNITUDES)
    )
    extreme = st.lists(number, min_size=dimension, max_size=dimension)
    if distance == "cosine":
        extreme = extreme.filter(any)
    some = extreme | strategies.vectors(dimension=dimension)
    pool = draw(st.lists(some, min_size=1, max_size=6))
    vectors = draw(st.lists(st.sampled_from([None, *pool]), max_size=10))
    ids = draw(st.permutations([f"{n:02}" for n in range(len(vectors))]))
    records = [
        Record(id, {"group": number % 3}, vector)
        for number, (id, vector) in enumerate(zip(ids, vectors, strict=True))
    ]
    return Case(distance, records, draw(st.sampled_from(pool) | some), draw(st.integers(1, 9)))


async def _found(
    filled: Fill, case: Case, *, limit: int = 1_000, where: Any = None
) -> Sequence[Hit]:
    store = await filled(case.spec, case.records)
    return await store.near_vector("docs", vector=case.query, limit=limit, where=where)


@settings(max_examples=200)
@given(cases())
async def test_scores_are_the_naive_ones(filled: Fill, case: Case) -> None:
    """Every chunk with a vector is found, with the score that float64 gives it, and no other."""
    hits = await _found(filled, case)
    vectors = {record.id: record.vector for record in case.records if record.vector is not None}
    assert {hit.id for hit in hits} == set(vectors)
    assert len(hits) == len(vectors)
    for hit in hits:
        assert close(case.distance, case.query, vectors[hit.id], hit.score), (hit, vectors[hit.id])


@given(cases())
async def test_the_greatest_score_comes_first(filled: Fill, case: Case) -> None:
    """Hits come by falling score, and equal scores in the order of ids."""
    hits = await _found(filled, case)
    assert hits == best_first(hits)


@settings(max_examples=200)
@given(cases())
async def test_a_limit_cuts_the_whole_ranking(filled: Fill, case: Case) -> None:
    """A limited search is the beginning of the whole ranking, to the last bit of the scores."""
    whole = await _found(filled, case)
    assert await _found(filled, case, limit=case.limit) == whole[: case.limit]


@settings(max_examples=200)
@given(cases(), st.integers(0, 3))
async def test_a_filter_leaves_scores_alone(filled: Fill, case: Case, group: int) -> None:
    """A filtered search gives each chunk the score it has in the whole ranking, to the last bit."""
    where = field("group") == group
    whole = [hit for hit in await _found(filled, case) if matches(where, hit.properties)]
    assert await _found(filled, case, limit=case.limit, where=where) == whole[: case.limit]


@given(cases())
async def test_equal_vectors_have_equal_scores(filled: Fill, case: Case) -> None:
    """Chunks with one and the same vector have one and the same score."""
    vectors = {record.id: record.vector for record in case.records}
    scores: dict[tuple[float, ...], set[float]] = {}
    for hit in await _found(filled, case):
        scores.setdefault(tuple(vectors[hit.id] or ()), set()).add(hit.score)
    assert {len(each) for each in scores.values()} <= {1}


def _rows(kind: str, dimension: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Six hundred vectors and a query that a shortlist in float32 cannot tell apart by itself."""
    random = np.random.default_rng(dimension)
    query = random.normal(size=dimension)
    match kind:
        case "far apart":
            rows = random.normal(size=(600, dimension))
        case "many equal":
            rows = random.normal(size=(12, dimension))[random.integers(0, 12, 600)]
        case "a bit apart":  # the last bit of float32, far below what its products tell apart
            rows = query * (1 + random.integers(-2, 3, (600, dimension)) * 2.0**-23)
        case "a bit apart, and long":
            query *= 1e5
            rows = query * (1 + random.integers(-2, 3, (600, dimension)) * 2.0**-23)
        case "of all lengths":
            rows = random.normal(size=(600, dimension)) * 10.0 ** random.integers(-9, 10, (600, 1))
        case "about to vanish":  # their products with the query are nothing in float32
            query *= 1e-20
            rows = random.normal(size=(600, dimension)) * 10.0 ** random.integers(-35, 1, (600, 1))
        case _:
            raise ValueError(kind)
    return rows.astype(np.float32), query.astype(np.float32)


def _scores(
    distance: str, rows: NDArray[np.float32], query: NDArray[np.float32]
) -> NDArray[np.float64]:
    wide, wanted = rows.astype(np.float64), query.astype(np.float64)
    if distance == "euclidean":
        scores = -np.linalg.norm(wide - wanted, axis=1)
    elif distance == "manhattan":
        scores = -np.abs(wide - wanted).sum(axis=1)
    elif distance == "dot":
        scores = wide @ wanted
    else:
        scores = wide @ wanted / (np.linalg.norm(wide, axis=1) * np.linalg.norm(wanted))
    return np.asarray(scores, np.float64)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dimension", [1, 3, 8, 50, 384])
async def test_no_shortlist_loses_a_hit(
    filled: Fill, distance: str, kind: str, dimension: int
) -> None:
    """Of many vectors, any limit under any filter finds what the whole ranking has first."""
    rows, query = _rows(kind, dimension)
    vector: Any = query
    group = [number % 100 for number in range(len(rows))]
    store = await filled(
        FieldSpec(FIELDS, dimension, distance),
        [Record(f"{n:03}", {"group": group[n]}, row) for n, row in enumerate(rows)],
    )
    whole = await store.near_vector("docs", vector=vector, limit=len(rows))
    exact = _scores(distance, rows, query)
    assert [hit.score for hit in whole] == pytest.approx(
        [exact[int(hit.id)] for hit in whole], rel=1e-9, abs=1e-9
    )
    assert whole == best_first(whole)
    for below in (100, 60, 3):  # the whole, most and a small part of the matrix
        where = field("group") < below
        kept = [hit for hit in whole if matches(where, hit.properties)]
        for limit in (1, 2, 10, 100):
            hits = await store.near_vector("docs", vector=vector, limit=limit, where=where)
            assert hits == kept[:limit]


@pytest.mark.parametrize("distance", DISTANCES)
async def test_a_huge_vector_outside_the_filter(filled: Fill, distance: str) -> None:
    """A vector at the end of float32 that the filter leaves out does not disturb the others."""
    small = [Record(str(n), {"group": 0}, [1e10, n]) for n in range(10)]
    huge = Record("huge", {"group": 1}, [GREATEST, GREATEST])
    store = await filled(FieldSpec(FIELDS, 2, distance), [*small, huge])
    hits = await store.near_vector("docs", vector=[1e10, 0], limit=2, where=field("group") == 0)
    assert (
        [hit.id for hit in hits] == ["0", "1"]
        if distance in {"euclidean", "manhattan"}
        else len(hits) == 2
    )


@pytest.mark.parametrize(
    ("distance", "scores"),
    [
        ("cosine", {"same way": 1.0, "aslant": 0.6, "across": 0.0, "other way": -1.0}),
        ("dot", {"same way": 10.0, "aslant": 3.0, "across": 0.0, "other way": -1.0}),
        (
            "euclidean",
            {"other way": -2.0, "across": -math.sqrt(2), "aslant": -math.sqrt(20), "same way": -9},
        ),
        ("manhattan", {"across": -2.0, "other way": -2.0, "aslant": -6.0, "same way": -9.0}),
    ],
)
async def test_what_the_distances_are(
    filled: Fill, distance: str, scores: dict[str, float]
) -> None:
    """Scores are the cosine, the dot product, or minus the distance: higher is nearer."""
    vectors = {"same way": [10, 0], "aslant": [3, 4], "across": [0, 1], "other way": [-1, 0]}
    store = await filled(
        FieldSpec([], 2, distance), [Record(id, {}, vector) for id, vector in vectors.items()]
    )
    hits = await store.near_vector("docs", vector=[1, 0], limit=9)
    assert {hit.id: hit.score for hit in hits} == pytest.approx(scores)
    ranking = sorted(scores, key=scores.__getitem__, reverse=True)
    assert [hit.id for hit in hits] == ranking


async def test_a_chunk_without_a_vector_is_not_found(filled: Fill) -> None:
    """A chunk without a vector is in no ranking by vector, however few others there are."""
    store = await filled(FieldSpec([], 1, "dot"), [Record("a"), Record("b", {}, [-1]), Record("c")])
    assert [hit.id for hit in await store.near_vector("docs", vector=[1], limit=9)] == ["b"]


async def test_a_target_without_a_vector(filled: Fill) -> None:
    """Where no chunk has a vector, or there is no chunk, nothing is near."""
    spec = FieldSpec([], 1)
    for records in ([], [Record("a"), Record("b")]):
        store = await filled(spec, records)
        assert not await store.near_vector("docs", vector=[1], limit=1)


@pytest.mark.parametrize("distance", ["dot", "euclidean"])
async def test_zeros_have_a_place(filled: Fill, distance: str) -> None:
    """A vector of zeros is stored and asked for where the distance does not need a direction."""
    store = await filled(
        FieldSpec([], 2, distance), [Record("a", {}, [1, 1]), Record("b", {}, [0, 0])]
    )
    hits = await store.near_vector("docs", vector=[0, 0], limit=1)
    assert (hits[0].id, hits[0].score) == (("a", 0.0) if distance == "dot" else ("b", 0.0))
