"""What the stand-in does as a cluster that has lost shards."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.adapters.weaviate._standin_client import (
    Bare,
    Refused,
    bare,
    bm25,
    by,
    hybrid,
    leaf,
    near,
    prop,
)
from tests.adapters.weaviate.standin import StandIn

COUNT = 60


@pytest.fixture
async def server() -> AsyncIterator[StandIn]:
    """Three nodes, on which a collection has a shard each."""
    async with StandIn(nodes=3, shards=3) as started:
        yield started


@pytest.fixture
async def place(server: StandIn) -> AsyncIterator[Bare]:
    """A bare client of it, and a collection."""
    async with bare(server.url, server.grpc_port) as asked:
        await asked.create("X", prop("n", "int"), prop("w"))
        rows = {at: {"n": at, "w": "word"} for at in range(COUNT)}
        assert not await asked.insert("X", rows, {at: [1.0, at] for at in range(COUNT)})
        yield asked


async def _served(place: Bare) -> set[str]:
    nodes = (await place.ask("GET", "/nodes/X?output=verbose"))["nodes"]
    return {shard["name"] for node in nodes for shard in node["shards"] or []}


async def test_spreads_objects_over_shards_and_nodes(place: Bare) -> None:
    """Each node has a shard, each shard some of the objects, and together they have all."""
    nodes = (await place.ask("GET", "/nodes/X?output=verbose"))["nodes"]
    assert [each["name"] for each in nodes] == ["node1", "node2", "node3"]
    counts = [shard["objectCount"] for node in nodes for shard in node["shards"]]
    assert len(counts) == 3
    assert all(counts)
    assert sum(counts) == COUNT
    config = await place.ask("GET", "/schema/X")
    assert config["shardingConfig"]["actualCount"] == 3


async def test_answers_without_a_lost_shard_and_without_a_word(
    place: Bare, server: StandIn
) -> None:
    """All searches and counts are of the shards that are left, until the others are found."""
    server.lose(shards=1)
    left = await place.count("X")
    assert 0 < left < COUNT
    for asked in ({}, by("n", "_id"), near([1.0, 2.0]), bm25("word"), hybrid("word", [1, 1], 0.5)):
        assert len(await place.found("X", limit=COUNT, **asked)) == left
    assert len(await place.found("X", leaf("LESS_THAN", "n", COUNT), limit=COUNT)) == left
    assert await place.ask("GET", "/.well-known/ready") is None
    server.found()
    assert await place.count("X") == COUNT


async def test_tells_what_is_lost_to_those_who_ask(place: Bare, server: StandIn) -> None:
    """The nodes tell the shards that are served; the list of all shards is an error."""
    shards = {each["name"] for each in await place.ask("GET", "/schema/X/shards")}
    assert await _served(place) == shards
    for count in (1, 2):
        server.lose(shards=count)
        assert len(await _served(place)) == 3 - count
        refused = await place.ask("GET", "/schema/X/shards")
        assert refused.status == 500
        assert "resolve node name" in refused.text
        assert len((await place.ask("GET", "/nodes"))["nodes"]) == 3 - count
    server.found()
    assert await _served(place) == shards


async def test_a_node_that_has_just_died(place: Bare, server: StandIn) -> None:
    """Until it leaves, each search fails, for its connection is refused."""
    server.lose(shards=1, dying=True)
    for asked in ({}, near([1.0, 2.0]), bm25("word")):
        refused = await place.found("X", **asked)
        assert "connect: connection refused" in refused.text
        assert "remote shard object search" in refused.text
    assert len(await _served(place)) == 2
    states = [each["status"] for each in (await place.ask("GET", "/nodes"))["nodes"]]
    assert states == ["HEALTHY", "HEALTHY", "UNAVAILABLE"]
    server.lose(shards=1)
    assert await place.found("X")


async def test_writes_to_a_lost_shard_fail_alone(place: Bare, server: StandIn) -> None:
    """Of a batch, the objects of shards that are left are taken."""
    server.lose(shards=1)
    errors = await place.insert("X", {at: {} for at in range(100, 130)})
    assert 0 < len(errors) < 30
    assert set(errors.values()) == {"no write replica found"}


async def test_loses_a_shard_within_a_call(place: Bare, server: StandIn) -> None:
    """A hook can lose a shard between a request and its answer."""
    server.arriving(lambda _: server.lose(shards=1), "search", times=1)
    assert len(await _served(place)) == 3
    assert len(await place.found("X", limit=COUNT)) < COUNT
    assert len(await _served(place)) == 2


async def test_a_tenant_that_is_lost_is_told(place: Bare, server: StandIn) -> None:
    """Its connection is refused, then it has no replica; the other tenants are as they were."""
    await place.create("T", prop("n", "int"), multiTenancyConfig={"enabled": True})
    await place.ask("POST", "/schema/T/tenants", [{"name": "one"}, {"name": "two"}])
    for tenant in ("one", "two"):
        assert not await place.insert("T", {1: {"n": 1}}, tenant=tenant)
    for dying, text in ((True, "connect: connection refused"), (False, "no read replica found")):
        server.lose(tenants=["one"], dying=dying)
        refused: Any = await place.found("T", tenant="one")
        assert isinstance(refused, Refused)
        assert text in refused.text
        assert await place.found("T", tenant="two") == [1]
        assert len(await place.found("X", limit=COUNT)) == COUNT
