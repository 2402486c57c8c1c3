"""Near vectors: scores of which more is better, ties by id, and what is refused."""

import math
from typing import Any

import numpy as np
import pytest

from soev_retrieval.domain import (
    DISTANCES,
    Field,
    FieldSpec,
    InvalidQueryError,
    Record,
    field,
    matches,
)
from soev_retrieval_weaviate import _legs, _objects
from tests.adapters.weaviate.stores import EVERYWHERE, RUN, opened

TARGET = f"{RUN}Near"
QUERY = np.random.default_rng(2).standard_normal(6)
VECTORS = np.random.default_rng(1).standard_normal((80, 6))
SCORES: dict[str, Any] = {
    "cosine": lambda v: float(v @ QUERY / np.linalg.norm(v) / np.linalg.norm(QUERY)),
    "dot": lambda v: float(v @ QUERY),
    "euclidean": lambda v: -float(np.linalg.norm(v - QUERY)),
    "manhattan": lambda v: -float(np.abs(v - QUERY).sum()),
}


@pytest.mark.parametrize("place", EVERYWHERE)
@pytest.mark.parametrize("distance", DISTANCES)
async def test_scores_are_the_distances(place: str, distance: str) -> None:
    """Cosine similarity, dot product, minus the distance; under a filter the same."""
    spec = FieldSpec([Field("n", "int")], 6, distance)
    several = [Record(f"{n:02}", {"n": n}, vector) for n, vector in enumerate(VECTORS)]
    expected = {each.id: SCORES[distance](each.vector) for each in several}
    best = sorted(expected, key=lambda id: -expected[id])
    async with opened(place) as store:
        await store.create(TARGET, spec)
        await store.upsert(TARGET, [*several, Record("without", {"n": 1})])
        for where in (None, field("n") < 40, field("n") < 0):
            hits = await store.near_vector(TARGET, vector=QUERY.tolist(), limit=99, where=where)
            matching = [id for id in best if where is None or matches(where, {"n": int(id)})]
            assert [hit.id for hit in hits] == matching
            assert [hit.score for hit in hits] == pytest.approx(
                [expected[id] for id in matching], rel=1e-4, abs=1e-5
            )
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_equal_scores_come_in_id_order(place: str) -> None:
    """Of vectors that are alike those with the least ids are found, whatever the limit."""
    several = [Record(f"{n * 37 % 50:02}", {}, [1.0, 2.0]) for n in range(50)]
    async with opened(place) as store:
        await store.create(TARGET, FieldSpec([], 2))
        await store.upsert(TARGET, [*several, Record("zz", {}, [1.0, 0.5])])
        for limit in (1, 7, 50, 51, 60):
            hits = await store.near_vector(TARGET, vector=[1.0, 0.5], limit=limit)
            assert [hit.id for hit in hits] == ["zz", *(f"{n:02}" for n in range(50))][:limit]
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_limit_beyond_what_the_server_brings_is_refused_where_it_matters(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than a page is an answer where there is no more, and an error where there is."""
    for module in (_objects, _legs):
        monkeypatch.setattr(module, "PAGE", 20)
    spec = FieldSpec([Field("text", "text", searchable=True), Field("n", "int")], 2)
    several = [Record(f"{n}", {"text": f"copper {n}", "n": n}, [1.0, n]) for n in range(30)]
    async with opened(place, depth=10) as store:
        await store.create(TARGET, spec)
        await store.upsert(TARGET, several)
        few: dict[str, Any] = {"limit": 40, "where": field("n") < 15}
        many: dict[str, Any] = {"limit": 40}
        for found, asked in ((15, few), (None, many)):
            for asking in (
                store.near_vector(TARGET, vector=[1.0, 1.0], **asked),
                store.bm25(TARGET, query="copper", **asked),
                store.hybrid(TARGET, query="copper", vector=[1.0, 1.0], **asked),
            ):
                if found is None:
                    with pytest.raises(InvalidQueryError, match="limit 40"):
                        await asking
                else:
                    assert len(await asking) == found
        await store.drop(TARGET)


@pytest.mark.parametrize(
    "vector",
    [[], [1.0], [math.nan, 1.0], [math.inf, 1.0], [0.0, 0.0], ["a", "b"], "ab", None, [[1.0, 0.0]]],
)
async def test_a_vector_that_cannot_be_is_refused_before_anything_is_sent(vector: Any) -> None:
    """NaN, zeros and another length, which the server would answer."""
    async with opened("standin") as store:
        await store.create(TARGET, FieldSpec([Field("text", "text", searchable=True)], 2))
        with pytest.raises(InvalidQueryError):
            await store.near_vector(TARGET, vector=vector, limit=1)
        if vector is not None:
            with pytest.raises(InvalidQueryError):
                await store.hybrid(TARGET, query="x", vector=vector, limit=1)
