"""A cluster that has lost a shard answers from the rest, and does not say so: the store does."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from soev_retrieval.domain import Field, FieldSpec, Record, StoreUnavailable, field
from soev_retrieval_weaviate import Making, Tenant, WeaviateStore
from tests.adapters.weaviate.standin import StandIn
from tests.adapters.weaviate.stores import Where, up

TARGET = "Docs"
SPEC = FieldSpec([Field("text", "text", searchable=True), Field("year", "int")], 2)
METHODS: dict[str, Callable[[WeaviateStore], Awaitable[Any]]] = {
    "hybrid": lambda store: store.hybrid(TARGET, query="copper", vector=[1.0, 0.0], limit=60),
    "hybrid of two requests": lambda store: store.hybrid(
        TARGET, query="copper", vector=[1.0, 0.0], limit=200
    ),
    "near_vector": lambda store: store.near_vector(TARGET, vector=[1.0, 0.0], limit=60),
    "bm25": lambda store: store.bm25(TARGET, query="copper", limit=60),
    "fetch": lambda store: store.fetch(TARGET, limit=60),
    "fetch by a filter": lambda store: store.fetch(TARGET, limit=60, where=field("year") >= 0),
    "fetch in an order": lambda store: store.fetch(TARGET, limit=60, order_by="year"),
}


@asynccontextmanager
async def cluster(**settings: Any) -> AsyncIterator[tuple[WeaviateStore, StandIn, Where]]:
    """A store over three nodes, each with a shard of the collection."""
    async with (
        up("standin", nodes=3) as where,
        where.store(making=Making(shards=3), **settings) as store,
    ):
        assert where.stand_in is not None
        await store.create(TARGET, SPEC)
        await store.upsert(
            TARGET, [Record(f"{n}", {"text": "copper", "year": n}, [1.0, n]) for n in range(60)]
        )
        yield store, where.stand_in, where


@pytest.mark.parametrize("method", METHODS)
async def test_a_shard_that_is_lost_between_two_calls_is_noticed(method: str) -> None:
    """Every method says how many shards are served, and answers again once all are."""
    async with cluster() as (store, server, _):
        assert len(await METHODS[method](store)) == 60
        server.lose(1)
        with pytest.raises(StoreUnavailable, match="'Docs': 2 of its 3 shards"):
            await METHODS[method](store)
        server.found()
        assert len(await METHODS[method](store)) == 60


@pytest.mark.parametrize("method", METHODS)
async def test_a_shard_that_is_lost_during_a_call_is_noticed(method: str) -> None:
    """It is looked after the answer has come: what went before it, is seen."""
    async with cluster() as (store, server, _):
        assert len(await METHODS[method](store)) == 60
        server.arriving(lambda _: server.lose(1), "search")
        with pytest.raises(StoreUnavailable, match="2 of its 3 shards"):
            await METHODS[method](store)


@pytest.mark.parametrize("method", METHODS)
async def test_a_store_that_comes_later_notices_too(method: str) -> None:
    """Also where all but one node are gone, so that it looks like a single one."""
    async with cluster() as (_, server, where):
        for lost, served in ((1, 2), (2, 1)):
            server.lose(lost)
            async with where.store() as store:
                with pytest.raises(StoreUnavailable, match=f"{served} of its 3 shards"):
                    await METHODS[method](store)


@pytest.mark.parametrize("method", METHODS)
async def test_it_is_one_small_request_after_the_search(method: str) -> None:
    """On a cluster each call ends with it; on a single node there is none."""
    async with cluster() as (store, server, _):
        await METHODS[method](store)
        before = len(server.requests)
        await METHODS[method](store)
        sent = [each.operation for each in server.requests[before:]]
        assert sent.count("nodes") == 1
        assert sent[-1] == "nodes"
    async with up("standin") as where, where.store() as store:
        assert where.stand_in is not None
        await store.create(TARGET, SPEC)
        await METHODS[method](store)
        before = len(where.stand_in.requests)
        await METHODS[method](store)
        sent = [each.operation for each in where.stand_in.requests[before:]]
        assert set(sent) == {"search"}


@pytest.mark.parametrize("method", METHODS)
async def test_it_can_be_switched_off(method: str) -> None:
    """Then the server's half an answer is taken: who switches it off knows why."""
    async with cluster(checks_shards=False) as (store, server, _):
        assert len(await METHODS[method](store)) == 60
        server.lose(1)
        assert 0 < len(await METHODS[method](store)) < 60
        assert not server.sent("nodes")


async def test_a_tenant_needs_no_look() -> None:
    """A tenant on a lost node is an error of the server's own: unavailability."""
    tenants = {TARGET: Tenant("Tenants", "one")}
    async with up("standin", nodes=3) as where, where.store(tenants=tenants) as store:
        assert where.stand_in is not None
        await store.create(TARGET, SPEC)
        await store.upsert(TARGET, [Record("1", {"text": "copper", "year": 1}, [1.0, 0.0])])
        for method in METHODS.values():
            assert len(await method(store)) == 1
        assert not where.stand_in.sent("nodes")
        where.stand_in.lose(tenants=["one"])
        for method in METHODS.values():
            with pytest.raises(StoreUnavailable):
                await method(store)
