"""Configurations that cannot be, names that are more than names, and what is not written."""

from typing import Any

import pytest
from weaviate.classes.config import DataType, Property

from soev_retrieval.domain import Field, FieldSpec, InvalidQueryError, Record, field
from soev_retrieval_weaviate import Collection, Tenant
from tests.adapters.weaviate.existing import TARGET, existing, objects, refusal
from tests.adapters.weaviate.stores import EVERYWHERE, up

everywhere = pytest.mark.parametrize("place", EVERYWHERE)
INT = Property(name="n", data_type=DataType.INT)
AWAY = ["../meta", "a/b", "a%2Fb", "a?b", "a#b", "..", ".", "", " a", "a\n", "é", "a\0", "a.b"]


@pytest.mark.parametrize("name", [*AWAY, "1a", "a-b", "x" * 256, 7, None, b"a", ["a"]], ids=repr)
def test_the_name_of_a_collection_is_a_name(name: Any) -> None:
    """It stands in a URL, where `../meta` would be another: it is refused when it is written."""
    with pytest.raises(InvalidQueryError, match="letters, digits and '_', a letter first"):
        Collection(name)
    with pytest.raises(InvalidQueryError, match="letters, digits and '_', a letter first"):
        Tenant(name, "north")


@pytest.mark.parametrize("name", [*AWAY, "x" * 65, 7, b"a"], ids=repr)
def test_the_name_of_a_tenant_is_a_name(name: Any) -> None:
    """So is a tenant's, which may have a hyphen."""
    with pytest.raises(InvalidQueryError, match="a tenant must be"):
        Collection("Docs", tenant=name)
    assert Collection("Docs", tenant="a-b_C9").tenant == "a-b_C9"


@pytest.mark.parametrize("name", [*AWAY, "1a", "a-b", "x" * 232, 7, b"a"], ids=repr)
def test_the_name_of_a_property_or_a_vector_is_a_name(name: Any) -> None:
    """And theirs, in each place where one is written."""
    settings: Any
    for settings in ({"id": name}, {"vector": name}):
        with pytest.raises(InvalidQueryError, match="must be the name of one"):
            Collection("Docs", **settings)
    for settings in ({"searchable": [name]}, {"trimmed": [name]}, {"recheck": [name]}):
        with pytest.raises(InvalidQueryError, match="no property can be named"):
            Collection("Docs", **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"searchable": "title"},
        {"trimmed": "title"},
        {"recheck": 7},
        {"trimmed": None},
        {"consistency": "one"},
        {"consistency": "TWO"},
        {"consistency": 1},
    ],
    ids=str,
)
def test_a_setting_that_cannot_be_is_refused_at_once(settings: dict[str, Any]) -> None:
    """A Collection does not wait for the server to say what is wrong with it."""
    with pytest.raises(InvalidQueryError):
        Collection("Docs", **settings)


def test_a_collection_says_what_it_is() -> None:
    """It is a value, with the name and the tenant in its text."""
    assert Collection("docs", recheck=["a"]) == Collection("docs", recheck=("a",))
    assert str(Collection("Docs")) == "Docs"
    assert str(Collection("Docs", tenant="north")) == "Docs/north"


@pytest.mark.parametrize("name", [*AWAY, "x" * 300], ids=repr)
async def test_no_name_travels_up_the_url(name: Any) -> None:
    """Neither a target, nor a field of a filter or an order: every path is one of the collection's."""
    configured = {TARGET: Collection("Docs")}
    async with up("standin") as where, where.store(collections=configured) as store:
        assert where.stand_in is not None
        async with where.client() as client:
            await client.collections.create("Docs", properties=[INT])
        before = len(where.stand_in.requests)
        asked: list[Any] = [
            store.fetch(name, limit=1),
            store.fields(name),
            store.near_vector(name, vector=[1, 0], limit=1),
            store.bm25(name, query="x", limit=1),
            store.hybrid(name, query="x", vector=[1, 0], limit=1),
            store.fetch(TARGET, limit=1, order_by=name),
        ]
        for asking in asked:
            assert "InvalidQueryError" in await refusal(asking)
        with pytest.raises(InvalidQueryError):
            await store.fetch(TARGET, limit=1, where=field(name) == 1)
        for sent in where.stand_in.requests[before:]:
            assert sent.protocol == "grpc" or sent.path in PATHS
            assert not sent.query or sent.query == "output=verbose"


PATHS = {
    "/v1/schema/Docs",
    "/v1/meta",
    "/v1/nodes",
    "/v1/nodes/Docs",
    "/v1/.well-known/openid-configuration",
    "/v1/.well-known/ready",
}


@everywhere
async def test_a_collection_of_others_is_not_written(place: str) -> None:
    """Every method of a Loader refuses it, and it stays as it is."""
    spec = FieldSpec([Field("n", "int")])
    async with existing(place, [INT], objects({"n": 1})) as there:
        for asking in (
            there.store.create(TARGET, spec),
            there.store.upsert(TARGET, [Record("9", {"n": 2})]),
            there.store.delete(TARGET, ["0"]),
            there.store.drop(TARGET),
        ):
            said = await refusal(asking)
            assert "Unconfigured" in said
            assert "which this store only reads" in said
        assert await there.numbers() == [0]


@everywhere
async def test_a_collection_that_is_not_there_is_said(place: str) -> None:
    """The error names the collection, not the target."""
    async with up(place) as where:
        configured = {TARGET: Collection("nowhere")}
        async with where.store(collections=configured) as store:
            for asking in (store.fetch(TARGET, limit=1), store.fields(TARGET)):
                said = await refusal(asking)
                assert "there is no collection 'Nowhere'" in said


@everywhere
async def test_names_of_collections_begin_with_a_capital(place: str) -> None:
    """`docs` is the collection `Docs`, and only the first letter is changed."""
    async with existing(place, [INT], objects({"n": 1})) as there:
        small = there.name[0].lower() + there.name[1:]
        async with there.where.store(collections={TARGET: Collection(small)}) as store:
            assert len(await store.fetch(TARGET, limit=2)) == 1
