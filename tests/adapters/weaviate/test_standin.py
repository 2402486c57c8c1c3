"""What the stand-in serves, to the real client and to bare ones."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import weaviate
from weaviate import WeaviateAsyncClient
from weaviate.classes.config import Configure, DataType, Property, Tokenization
from weaviate.classes.data import DataObject
from weaviate.classes.init import Auth
from weaviate.classes.query import Filter, HybridFusion, MetadataQuery, Sort
from weaviate.classes.tenants import Tenant, TenantActivityStatus
from weaviate.exceptions import WeaviateQueryError

from tests.adapters.weaviate._standin_client import Bare, Refused, bare, by, joined, leaf, prop
from tests.adapters.weaviate._standin_wrong import FILTERS, PROPERTIES, SEARCHES
from tests.adapters.weaviate._standin_wrong_writes import OBJECTS, SCHEMAS
from tests.adapters.weaviate.standin import StandIn

TEXTS = ["the cat sat on the mat", "a dog and a cat", "a user_id of the café"]


@pytest.fixture
async def server() -> AsyncIterator[StandIn]:
    """A stand-in of its own."""
    async with StandIn() as started:
        yield started


@pytest.fixture
async def place(server: StandIn) -> AsyncIterator[Bare]:
    """A bare client of it."""
    async with bare(server.url, server.grpc_port) as asked:
        yield asked


@asynccontextmanager
async def client_of(server: StandIn, **settings: Any) -> AsyncIterator[WeaviateAsyncClient]:
    """The real client of a stand-in."""
    host, port = server.url.removeprefix("http://").split(":")
    client = weaviate.use_async_with_local(host, int(port), server.grpc_port, **settings)
    await client.connect()
    try:
        yield client
    finally:
        await client.close()


@pytest.fixture
async def client(server: StandIn) -> AsyncIterator[WeaviateAsyncClient]:
    """The real client, without its checks."""
    async with client_of(server, skip_init_checks=True) as opened:
        yield opened


async def _filled(client: WeaviateAsyncClient) -> Any:
    """A collection of `TEXTS`, each with its number and a vector of it."""
    made = await client.collections.create(
        "Chunks",
        properties=[
            Property(name="text", data_type=DataType.TEXT),
            Property(name="tag", data_type=DataType.TEXT, tokenization=Tokenization.FIELD),
            Property(name="n", data_type=DataType.INT),
        ],
        vector_config=Configure.Vectors.self_provided(),
    )
    done = await made.data.insert_many(
        [
            DataObject(properties={"text": text, "tag": "ab"[at % 2], "n": at}, vector=[1.0, at])
            for at, text in enumerate(TEXTS)
        ]
    )
    assert not done.errors
    return made


async def test_connects_with_all_checks(server: StandIn) -> None:
    """A client that checks its server first finds nothing wrong, and the version it was given."""
    async with client_of(server) as client:
        assert await client.is_ready()
        assert (await client.get_meta())["version"] == "1.39.0"


async def test_keeps_a_collection(client: WeaviateAsyncClient) -> None:
    """A collection is there with its configuration until it is deleted."""
    assert not await client.collections.exists("Chunks")
    made = await _filled(client)
    assert await client.collections.exists("Chunks")
    config = await made.config.get()
    assert [each.name for each in config.properties] == ["text", "tag", "n"]
    assert config.properties[1].tokenization == Tokenization.FIELD
    assert list(config.vector_config) == ["default"]
    await made.config.add_property(Property(name="Later", data_type=DataType.DATE))
    assert "later" in [each.name for each in (await made.config.get()).properties]
    assert list(await client.collections.list_all()) == ["Chunks"]
    await client.collections.delete("Chunks")
    assert not await client.collections.exists("Chunks")


async def test_searches(client: WeaviateAsyncClient) -> None:
    """The client's searches find what they are to find."""
    made = await _filled(client)
    where = Filter.by_property("tag").equal("a")
    found = await made.query.fetch_objects(filters=where, sort=Sort.by_property("n", False).by_id())
    assert [each.properties["n"] for each in found.objects] == [2, 0]
    found = await made.query.bm25("cat dog", return_metadata=MetadataQuery(score=True))
    assert [each.properties["n"] for each in found.objects] == [1, 0]
    assert found.objects[0].metadata.score == pytest.approx(0.6928, abs=1e-4)
    found = await made.query.near_vector(
        [1.0, 0.0], limit=2, return_metadata=MetadataQuery(distance=True), include_vector=True
    )
    assert [each.properties["n"] for each in found.objects] == [0, 1]
    assert found.objects[1].metadata.distance == pytest.approx(1 - 0.5**0.5)
    assert found.objects[1].vector == {"default": [1.0, 1.0]}
    for fusion in HybridFusion:
        found = await made.query.hybrid("dog", vector=[1.0, 2.0], alpha=0.4, fusion_type=fusion)
        assert {each.properties["n"] for each in found.objects} == {0, 1, 2}


async def test_writes(client: WeaviateAsyncClient) -> None:
    """Objects are inserted, replaced, counted and deleted, alone and together."""
    made = await _filled(client)
    uuid = await made.data.insert({"text": "new", "n": 7}, vector=[0.0, 1.0])
    assert await made.data.exists(uuid)
    await made.data.replace(uuid, {"text": "newer"}, vector=[0.0, 1.0])
    assert (await made.query.fetch_object_by_id(uuid)).properties["n"] is None
    assert (await made.aggregate.over_all(total_count=True)).total_count == 4
    assert await made.data.delete_by_id(uuid)
    assert not await made.data.exists(uuid)
    gone = await made.data.delete_many(where=Filter.by_property("n").less_than(2))
    assert (gone.matches, gone.successful) == (2, 2)
    assert (await made.length()) == 1


async def test_keeps_tenants_apart(client: WeaviateAsyncClient) -> None:
    """Each tenant has objects of its own, and one that sleeps has none to show."""
    made = await client.collections.create(
        "Tenanted",
        properties=[Property(name="n", data_type=DataType.INT)],
        multi_tenancy_config=Configure.multi_tenancy(),
        vector_config=Configure.Vectors.self_provided(),
    )
    await made.tenants.create(["one", "two"])
    await made.with_tenant("one").data.insert_many([{"n": 1}])
    for tenant, count in (("one", 1), ("two", 0)):
        assert len((await made.with_tenant(tenant).query.fetch_objects()).objects) == count
    asleep = Tenant(name="one", activity_status=TenantActivityStatus.INACTIVE)
    await made.tenants.update(asleep)
    with pytest.raises(WeaviateQueryError, match="tenant not active: 'one'"):
        await made.with_tenant("one").query.fetch_objects()
    assert {each.name for each in (await made.tenants.get()).values()} == {"one", "two"}


async def test_vectorizes_where_it_pretends_to(place: Bare) -> None:
    """A class may name a vectorizer that the stand-in was given; texts that share words are near."""
    module = "text2vec-openai"
    made = {"class": "T", "properties": [prop("t")], "vectorizer": module}
    assert isinstance(await place.ask("POST", "/schema", made), Refused)
    async with StandIn(modules=[module]) as server, client_of(server) as client:
        async with bare(server.url, server.grpc_port) as asked:
            await asked.create("T", prop("t"), vectorConfig={"v": {"vectorizer": {module: {}}}})
            assert not await asked.insert("T", {at: {"t": text} for at, text in enumerate(TEXTS)})
        for found in (
            await client.collections.use("T").query.near_text("the cat on a mat"),
            await client.collections.use("T").query.hybrid("the cat on a mat", alpha=1),
        ):
            assert found.objects[0].properties["t"] == TEXTS[0]


async def test_refusals(place: Bare) -> None:
    """Calls are refused in the server's words, as a test against a server makes sure."""
    await place.create("Wrong", *PROPERTIES)
    row = {"w": "a cat", "f": "a", "n": 1}
    assert not await place.insert("Wrong", {1: row}, {1: [1.0, 0.0]})
    for table in (FILTERS, SEARCHES, SCHEMAS):
        for what, (call, text) in table.items():
            refused = await call(place, "Wrong")
            assert isinstance(refused, Refused), what
            assert text in refused.text, what
    for what, (wrong, text) in OBJECTS.items():
        assert text in (await place.insert("Wrong", {0: wrong}))[0], what


async def test_orders_lose_objects(place: Bare) -> None:
    """A lone number to sort by loses what has none, filtered or not; a second key keeps it."""
    await place.create("Lost", prop("n", "int"))
    await place.insert("Lost", {0: {}, 1: {"n": 2}, 2: {"n": 1}})
    assert await place.found("Lost", **by("n")) == [2, 1]
    assert await place.found("Lost", **by("-n")) == [1, 2]
    assert await place.found("Lost", **by("n", "_id")) == [0, 2, 1]
    assert await place.found("Lost", **by("-n", "_id")) == [1, 2, 0]


async def test_limits_come_before_orders(place: Bare) -> None:
    """A lone comparison is cut at the limit before it is sorted; in an And of two it is not."""
    await place.create("Cut", prop("n", "int"), prop("rank", "int"))
    await place.insert("Cut", {at: {"n": at, "rank": at} for at in range(9)})
    lone = leaf("GREATER_THAN", "n", 1)
    assert await place.found("Cut", lone, limit=2, **by("-rank", "_id")) == [3, 2]
    twice = joined("AND", lone, lone)
    assert await place.found("Cut", twice, limit=2, **by("-rank", "_id")) == [8, 7]


@pytest.mark.parametrize(("version", "known"), [("1.32.5", False), ("1.33.0", True)])
async def test_knows_not_from_one_version_on(version: str, known: bool) -> None:
    """Below 1.33 it has no Not and no ContainsNone, and says so as such a server does."""
    async with StandIn(version) as server, bare(server.url, server.grpc_port) as place:
        assert (await place.ask("GET", "/meta"))["version"] == version
        await place.create("Old", prop("n", "int"))
        for where, text in (
            (joined("NOT", leaf("EQUAL", "n", 1)), "paths needs to have a uneven number"),
            (leaf("CONTAINS_NONE", "n", [1]), "unknown filter operator"),
        ):
            found = await place.found("Old", where)
            assert found == [] if known else text in found.text


async def test_wants_its_key() -> None:
    """Who has another key than it was given is refused: 401 over REST, UNKNOWN over gRPC."""
    async with StandIn(api_key="right") as server:
        async with client_of(server, auth_credentials=Auth.api_key("right")) as client:
            assert await client.collections.list_all() == {}
        async with bare(server.url, server.grpc_port) as place:
            refused = await place.ask("GET", "/meta")
            assert refused.status == 401
            assert "anonymous access not enabled" in refused.text
            assert (await place.search("X")).text == "extract auth: unauthorized: invalid api key"
