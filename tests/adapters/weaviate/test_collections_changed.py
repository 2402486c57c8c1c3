"""A collection of others that they change under a store, and one that a newer server describes."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from weaviate.classes.config import Configure, DataType, Property

from soev_retrieval.domain import RetrievalError, StoreUnavailable, Unconfigured, field
from tests.adapters.weaviate.existing import TARGET, There, exact, existing, objects, refusal
from tests.adapters.weaviate.formulas import indexed
from tests.adapters.weaviate.standin import RestAnswer
from tests.adapters.weaviate.stores import EVERYWHERE

everywhere = pytest.mark.parametrize("place", EVERYWHERE)
LENGTHS = indexed(nulls=False)
INT = Property(name="n", data_type=DataType.INT)
n = field("n")


async def made_again(there: There, *properties: Property, **more: Any) -> Any:
    """The collection, dropped and made of other properties."""
    await there.client.collections.delete(there.name)
    making = {"vector_config": Configure.Vectors.self_provided(), **LENGTHS, **more}
    return await there.client.collections.create(there.name, properties=[*properties], **making)


async def schema_of(there: There) -> Any:
    """What the place says of the collection."""
    async with httpx.AsyncClient(base_url=f"{there.where.url}/v1") as client:
        return (await client.get(f"/schema/{there.name}")).json()


@everywhere
async def test_a_property_that_was_added_is_a_field_at_once(place: str) -> None:
    """A filter, an order and a search that name what the store does not know have it look again."""
    async with existing(place, [INT], objects({"n": 1}, {"n": 2}), making=LENGTHS) as there:
        assert await there.numbers(n == 1) == [0]
        made = there.client.collections.use(there.name)
        await made.config.add_property(exact("t"))
        await made.data.insert_many(objects({}, {}, {"n": 3, "t": "x"})[2:])
        assert await there.numbers(field("t") == "x") == [2]
        assert await there.numbers(field("t").missing()) == [0, 1]
        await made.config.add_property(Property(name="m", data_type=DataType.INT))
        assert len(await there.store.fetch(TARGET, limit=5, order_by="m")) == 3
        said = await refusal(there.store.bm25(TARGET, query="x", limit=1))
        assert "no property has an index of words" in said
        await made.config.add_property(Property(name="w", data_type=DataType.TEXT))
        await made.data.insert_many(objects(*({},) * 3, {"w": "wing"})[3:])
        assert len(await there.store.bm25(TARGET, query="wing", limit=1)) == 1


async def test_what_is_refused_is_looked_at_once() -> None:
    """A name that is none is one more look at the collection, and no question to it."""
    async with existing("standin", [INT], objects({"n": 1})) as there:
        assert there.where.stand_in is not None
        await there.fetch()
        looked = len(there.where.stand_in.sent("schema_get"))
        asked = len(there.where.stand_in.sent("search"))
        assert "declares no field 'x'" in await refusal(there.ids(field("x") == 1))
        assert len(there.where.stand_in.sent("schema_get")) == looked + 1
        assert len(there.where.stand_in.sent("search")) == asked + 1  # for the dimension
        await there.ids(n == 1)
        assert len(there.where.stand_in.sent("schema_get")) == looked + 1


@everywhere
async def test_a_collection_that_is_made_again_is_read_anew(place: str) -> None:
    """Another type, another property, another dimension: the error of the server says so."""
    async with existing(place, [INT], objects({"n": 1}), making=LENGTHS) as there:
        assert await there.numbers(n == 1) == [0]
        made = await made_again(there, exact("n"))
        await made.data.insert_many(objects({"n": "one"}))
        assert "the value is int, give text" in await refusal(there.ids(n == 1))
        assert await there.numbers(n == "one") == [0]
        made = await made_again(there, Property(name="m", data_type=DataType.BOOL))
        await made.data.insert_many(objects({"m": True}))
        assert [chunk.properties for chunk in await there.fetch()] == [{"m": True}]
        assert "declares no field 'n'" in await refusal(there.ids(n == "one"))
        assert await there.numbers(field("m") == True) == [0]  # noqa: E712


@everywhere
async def test_vectors_of_another_length_are_noticed(place: str) -> None:
    """At the first search by one of the new length, and at the first of the old."""
    async with existing(place, [INT], objects({"n": 1})) as there:
        await there.store.near_vector(TARGET, vector=[1, 0], limit=1)
        made = await made_again(there, INT)
        await made.data.insert({"n": 7}, vector=[1.0, 0.0, 0.0])
        said = await refusal(there.store.near_vector(TARGET, vector=[1, 0], limit=1))
        assert "3" in said
        [hit] = await there.store.near_vector(TARGET, vector=[1, 0, 0], limit=1)
        assert hit.properties == {"n": 7}
        made = await made_again(there, INT)
        await made.data.insert({"n": 8}, vector=[1.0, 0.0])
        [hit] = await there.store.near_vector(TARGET, vector=[1, 0], limit=1)
        assert hit.properties == {"n": 8}


@everywhere
async def test_a_collection_that_is_gone_is_said_until_it_is_back(place: str) -> None:
    """Every call says so, and the first after it is back answers."""
    async with existing(place, [INT], objects({"n": 1})) as there:
        assert await there.numbers() == [0]
        await there.client.collections.delete(there.name)
        for _ in range(2):
            for asking in (
                there.fetch(),
                there.ids(n == 1),
                there.store.near_vector(TARGET, vector=[1, 0], limit=1),
            ):
                assert f"there is no collection {there.name!r}" in await refusal(asking)
        made = await made_again(there, INT)
        await made.data.insert_many(objects({"n": 1}))
        assert await there.numbers(n == 1) == [0]


def tokenization(schema: Any) -> None:
    """A way to cut text that the client does not know."""
    schema["properties"][1]["tokenization"] = "sudachi"


def data_type(schema: Any) -> None:
    """A type that it does not know."""
    schema["properties"][0]["dataType"] = ["decimal"]


def vector_index(schema: Any) -> None:
    """An index that it does not know."""
    schema["vectorConfig"]["default"]["vectorIndexType"] = "spire"


def stop_words(schema: Any) -> None:
    """A list of stop words that it does not know."""
    schema["invertedIndexConfig"]["stopwords"]["preset"] = "nl"


def without_index(schema: Any) -> None:
    """No word of what is indexed."""
    del schema["invertedIndexConfig"]


def without_filterable(schema: Any) -> None:
    """No word of whether a property is."""
    del schema["properties"][0]["indexFilterable"]


def a_list(schema: Any) -> None:
    """Properties that are none."""
    schema["properties"] = ["n"]


@pytest.mark.parametrize(
    "change",
    [
        tokenization,
        data_type,
        vector_index,
        stop_words,
        without_index,
        without_filterable,
        a_list,
    ],
)
async def test_what_the_client_cannot_read_is_an_error_of_ours(
    change: Callable[[Any], None],
) -> None:
    """A schema of a newer server is a StoreUnavailable or Unconfigured of the method, never raw."""
    async with existing("standin", [INT, exact("t")]) as there:
        stand_in = there.where.stand_in
        assert stand_in is not None
        schema = await schema_of(there)
        change(schema)
        stand_in.answer(RestAnswer.json(schema), "schema_get")
        with pytest.raises(RetrievalError) as caught:
            await there.fetch()
        assert isinstance(caught.value, StoreUnavailable | Unconfigured)
        assert (caught.value.store, caught.value.operation) == ("WeaviateStore", "fetch")
        assert caught.value.__cause__ is not None
        stand_in.recover()
        assert await there.fetch() == []


async def test_what_a_newer_server_adds_is_not_minded() -> None:
    """Keys that nobody knows, in the collection and in a property, change nothing."""
    async with existing("standin", [INT, exact("t")], objects({"n": 1})) as there:
        assert there.where.stand_in is not None
        schema = await schema_of(there)
        schema["somethingNew"] = {"a": [1]}
        schema["properties"][0]["somethingNew"] = True
        schema["invertedIndexConfig"]["somethingNew"] = 1
        there.where.stand_in.answer(RestAnswer.json(schema), "schema_get")
        assert await there.numbers(n == 1) == [0]
