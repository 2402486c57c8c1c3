"""Hybrid searches: the core's one definition, both legs in one round trip."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from soev_retrieval.domain import (
    Hit,
    InvalidQueryError,
    Record,
    Unconfigured,
    field,
    fuse_hybrid,
)
from soev_retrieval_qdrant import QdrantStore
from soev_retrieval_qdrant._points import Points
from tests.adapters.docstrings import DIMENSION, SPEC, records
from tests.adapters.qdrant.stores import EVERYWHERE, RUN, STAND_IN, Where, up

TARGET = f"{RUN}hybrid"
QUERY = "return the name of a file or a thread"
VECTOR = np.random.default_rng(3).standard_normal(DIMENSION).tolist()


@asynccontextmanager
async def filled(place: str, **settings: Any) -> AsyncIterator[tuple[QdrantStore, Where]]:
    """A store that holds the docstrings."""
    async with up(place) as where, where.store(**settings) as store:
        await store.create(TARGET, SPEC)
        await store.upsert(TARGET, records())
        yield store, where
        await store.drop(TARGET)


async def both(store: QdrantStore, depth: int, **more: Any) -> list[Sequence[Hit]]:
    near = await store.near_vector(TARGET, vector=VECTOR, limit=depth, **more)
    return [near, await store.bm25(TARGET, query=QUERY, limit=depth, **more)]


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_it_is_the_one_definition(place: str) -> None:
    """The hits, their scores and their order are those of fuse_hybrid over the two legs."""
    async with filled(place, depth=30) as (store, _):
        for limit in (1, 10, 29, 30, 31, 150):
            for alpha in (0.1, 0.5, 0.9):
                for where in (None, field("kind") == "class", field("kind") == "nothing"):
                    found = await store.hybrid(
                        TARGET, query=QUERY, vector=VECTOR, limit=limit, where=where, alpha=alpha
                    )
                    near, keyword = await both(store, max(30, limit), where=where)
                    assert found == fuse_hybrid(near, keyword, alpha=alpha, limit=limit)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_the_ends_are_one_leg(place: str) -> None:
    """Alpha 1 is near_vector and alpha 0 is bm25, hit for hit, vector or not."""
    async with filled(place) as (store, _):
        near, keyword = await both(store, 20)
        for alpha, leg in ((0, keyword), (1, near)):
            assert leg == await store.hybrid(
                TARGET, query=QUERY, vector=VECTOR, limit=20, alpha=alpha
            )
        assert keyword == await store.hybrid(TARGET, query=QUERY, limit=20, alpha=0)


async def test_without_a_vector_it_is_unconfigured() -> None:
    """Without a vector hybrid is Unconfigured, unless alpha is 0."""
    async with filled("local") as (store, _):
        for alpha in (None, 0.5, 1.0):
            with pytest.raises(Unconfigured, match="does not embed"):
                await store.hybrid(TARGET, query=QUERY, limit=3, alpha=alpha)


async def test_the_stores_own_alpha_is_used_where_the_call_names_none() -> None:
    """Alpha None is the store's default, which 0 is not."""
    async with filled("local", alpha=0.9) as (store, _):
        default = await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=9)
        named = await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=9, alpha=0.9)
        assert default == named
        keyword = await store.bm25(TARGET, query=QUERY, limit=9)
        assert keyword == await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=9, alpha=0)


@pytest.mark.parametrize("place", STAND_IN)
async def test_both_legs_go_in_one_request(place: str) -> None:
    """Both legs are one request, the filter in each; over gRPC the ranking is read in another."""
    async with filled(place) as (store, where):
        assert where.stand_in is not None
        await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=5)
        before = len(where.stand_in.requests)
        await store.hybrid(
            TARGET, query=QUERY, vector=VECTOR, limit=5, where=field("kind") == "function"
        )
        sent = where.stand_in.requests[before:]
        more = ["scroll"] if place == "standin-grpc" else []
        assert [each.operation for each in sent] == ["query_batch_points", *more]
        for each, legs in zip(sent, (2, 1), strict=False):
            told = str(each.message if place == "standin-grpc" else each.body)
            assert told.count("function") == legs


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_what_changes_between_the_requests_is_not_returned(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk that stops matching, or goes, while it is ranked makes room for the next one."""
    where = field("kind") == "function"
    read = Points.retrieved
    async with filled(place) as (store, up):
        asked: dict[str, Any] = {"query": QUERY, "vector": VECTOR, "where": where}
        before = await store.hybrid(TARGET, **asked, limit=6)

        async def between(self: Points, wanted: Sequence[Any]) -> Any:
            monkeypatch.setattr(Points, "retrieved", read)
            async with up.store() as other:
                await other.upsert(TARGET, [Record(before[1].id, {"kind": "class"})])
                await other.delete(TARGET, [before[3].id])
            return await read(self, wanted)

        if place in {"standin-grpc", "server-grpc"}:
            monkeypatch.setattr(Points, "retrieved", between)
            gone = {before[1].id, before[3].id}
            after = await store.hybrid(TARGET, **asked, limit=4)
            assert after == [hit for hit in before if hit.id not in gone]
        else:  # it is one request there
            assert await store.hybrid(TARGET, **asked, limit=6) == before


@pytest.mark.parametrize("place", STAND_IN)
@pytest.mark.parametrize("fusion", ["rrf", "dbsf"])
async def test_the_filter_reaches_every_prefetch_and_the_root(place: str, fusion: str) -> None:
    """Where the server fuses, the filter stands in each leg and around them."""
    async with filled(place, fusion=fusion) as (store, where):
        assert where.stand_in is not None
        before = len(where.stand_in.requests)
        hits = await store.hybrid(
            TARGET, query=QUERY, vector=VECTOR, limit=5, where=field("kind") == "function"
        )
        assert {hit.properties["kind"] for hit in hits} == {"function"}
        [sent] = where.stand_in.requests[before:]
        told = str(sent.message if place == "standin-grpc" else sent.body)
        assert told.count("function") == 3


@pytest.mark.parametrize("place", EVERYWHERE)
@pytest.mark.parametrize("fusion", ["rrf", "dbsf"])
async def test_the_servers_own_fusion_can_be_asked_for(place: str, fusion: str) -> None:
    """The server's fusion ranks what both legs brought, best first, under the filter."""
    async with filled(place, fusion=fusion) as (store, _):
        where = field("kind") == "function"
        hits = await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=20, where=where)
        near, keyword = await both(store, 100, where=where)
        assert len(hits) == 20
        assert {hit.id for hit in hits} <= {hit.id for leg in (near, keyword) for hit in leg}
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        ends = await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=20, alpha=0)
        assert ends == await store.bm25(TARGET, query=QUERY, limit=20)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_the_servers_rrf_takes_weights(place: str) -> None:
    """With nearly all the weight on one leg its best hit, or one as good, is the best."""
    async with filled(place, fusion="rrf") as (store, _):
        near, keyword = await both(store, 100)
        for alpha, leg in ((0.999, near), (0.001, keyword)):
            hits = await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=3, alpha=alpha)
            assert hits[0].id in {hit.id for hit in leg if hit.score == leg[0].score}


async def test_the_servers_dbsf_takes_none() -> None:
    """DBSF with an alpha that is not even is refused, in a call and as the default."""
    async with filled("local", fusion="dbsf") as (store, _):
        with pytest.raises(InvalidQueryError, match="dbsf"):
            await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=3, alpha=0.4)
    with pytest.raises(InvalidQueryError, match="dbsf"):
        QdrantStore(":memory:", fusion="dbsf", alpha=0.4)


@pytest.mark.parametrize(
    "setting",
    [
        {"fusion": "sum"},
        {"alpha": None},
        {"depth": 0},
        {"timeout_seconds": 0},
        {"transport": "http"},
        {"location": ""},
        {"location": "http://"},
    ],
)
def test_settings_are_checked(setting: dict[str, Any]) -> None:
    """A fusion, an alpha, a time or an address that there is not is refused."""
    with pytest.raises(InvalidQueryError):
        QdrantStore(**{"location": ":memory:", **setting})
