"""A collection that somebody else changes under a store that has read what it was."""

import grpc
import pytest
from qdrant_client import models

from soev_retrieval.domain import (
    Field,
    FieldSpec,
    InvalidQueryError,
    Record,
    Unconfigured,
    field,
)
from soev_retrieval_qdrant import Collection
from soev_retrieval_qdrant._errors import is_not_found, is_there_already, ours
from tests.adapters.qdrant.outages import (
    METHODS,
    RECORDS,
    SPEC,
    TARGET,
    answers,
    filled,
    of_code,
    of_status,
)
from tests.adapters.qdrant.stores import REMOTE, RUN, SERVER, up

PLACE = pytest.mark.parametrize("place", REMOTE)
OTHER = FieldSpec([Field("text", "text", searchable=True), Field("year", "text")], 2)
OTHERS = [Record("c", {"text": "sesame", "year": "1984"}, (1.0, 0.0))]
MINE, ALIAS = f"{RUN}mine", f"{RUN}alias"


@PLACE
async def test_it_is_gone(place: str) -> None:
    """A target that somebody dropped is unknown again, in every method."""
    async with up(place) as where, where.store() as store, where.store() as other:
        for name, ask in METHODS.items():
            if name in {"create", "drop"}:
                continue
            await filled(store)
            await answers(store)
            await other.drop(TARGET)
            with pytest.raises(InvalidQueryError, match="there is no target"):
                await ask(store)
        await store.drop(TARGET)
        await filled(store)
        await answers(store)


@PLACE
async def test_a_search_of_another_dimension(place: str) -> None:
    """Vectors of another dimension are noticed at the first search: the error says which it is."""
    async with up(place) as where, where.store() as store, where.store() as other:
        await filled(store)
        await answers(store)
        await other.drop(TARGET)
        await other.create(TARGET, OTHER)
        await other.upsert(TARGET, OTHERS)
        with pytest.raises(InvalidQueryError, match="2"):
            await store.near_vector(TARGET, vector=(1, 0, 0), limit=5)
        [hit] = await store.near_vector(TARGET, vector=(1, 0), limit=5)
        assert hit.properties["year"] == "1984"
        assert (await store.fields(TARGET))["year"].type == "text"


@PLACE
async def test_a_write_of_another_spec(place: str) -> None:
    """Records are checked by what the collection is now, which stays what somebody made of it."""
    async with up(place) as where, where.store() as store, where.store() as other:
        await filled(store)
        await other.drop(TARGET)
        await other.create(TARGET, OTHER)
        with pytest.raises(InvalidQueryError, match=r"year|price"):
            await store.upsert(TARGET, RECORDS)
        await store.upsert(TARGET, OTHERS)
        async with where.store() as third:
            assert [each.name for each in await third.fields(TARGET)] == ["text", "year"]
            assert [each.id for each in await third.fetch(TARGET, limit=5)] == ["c"]
        with pytest.raises(InvalidQueryError, match="another spec"):
            await store.create(TARGET, SPEC)


@PLACE
async def test_a_target_is_not_ours_any_more(place: str) -> None:
    """A collection that create did not make is no target: it is neither written nor dropped."""
    async with up(place) as where, where.store() as store:
        await filled(store)
        client = where.client()
        await client.delete_collection(TARGET)
        await client.create_collection(TARGET, vectors_config={})
        with pytest.raises(InvalidQueryError, match="there is no target"):
            await store.upsert(TARGET, RECORDS)
        with pytest.raises(InvalidQueryError, match="did not make"):
            await store.create(TARGET, SPEC)
        await store.drop(TARGET)
        assert await client.collection_exists(TARGET)
        await client.delete_collection(TARGET)
        await client.close()


@PLACE
async def test_a_configured_collection_is_gone(place: str) -> None:
    """A collection of the configuration that is dropped is a matter of it, until it is back."""
    collections = {"mine": Collection(MINE, fields=[Field("year", "int")], id=None)}
    async with up(place) as where, where.store(collections=collections) as store:
        client = where.client()
        for size in 2, 3:
            await client.create_collection(
                MINE, vectors_config=models.VectorParams(size=size, distance=models.Distance.DOT)
            )
            await client.upsert(
                MINE, [models.PointStruct(id=1, vector=[1.0] * size, payload={"year": size})]
            )
            [hit] = await store.near_vector("mine", vector=[1.0] * size, limit=1)
            assert hit.properties["year"] == size
            assert (await store.fields("mine")).dimension == size
            await client.delete_collection(MINE)
            for _ in range(2):
                with pytest.raises(
                    Unconfigured, match=f"there is no collection '{MINE}'"
                ) as caught:
                    await store.fetch("mine", limit=1)
                assert (caught.value.store, caught.value.operation) == ("QdrantStore", "fetch")
        await client.close()


@pytest.mark.parametrize("place", SERVER)
async def test_an_alias_is_switched(place: str) -> None:
    """An alias of another collection is searched as that one is, at the first call."""
    collections = {"mine": Collection(ALIAS, fields=[Field("year", "int")], id=None)}
    async with up(place) as where, where.store(collections=collections) as store:
        client = where.client()
        for size in 2, 3:
            name = f"{MINE}{size}"
            await client.create_collection(
                name, vectors_config=models.VectorParams(size=size, distance=models.Distance.DOT)
            )
            await client.upsert(
                name, [models.PointStruct(id=1, vector=[1.0] * size, payload={"year": size})]
            )
            await client.update_collection_aliases(
                [
                    models.CreateAliasOperation(
                        create_alias=models.CreateAlias(collection_name=name, alias_name=ALIAS)
                    )
                ]
            )
            [hit] = await store.near_vector("mine", vector=[1.0] * size, limit=1)
            assert hit.properties["year"] == size
            [chunk] = await store.fetch("mine", limit=1, where=field("year") == size)
            assert chunk.properties["year"] == size
        for size in 2, 3:
            await client.delete_collection(f"{MINE}{size}")
        await client.close()


@pytest.mark.parametrize(
    ("error", "gone"),
    [
        (of_status(404, "Not found: Collection `x` doesn't exist!"), True),
        (of_code(grpc.StatusCode.NOT_FOUND, "Not found: Collection `x` doesn't exist!"), True),
        (ValueError("Collection x not found"), True),
        (of_status(404, None), False),
        (of_status(404, "no such route"), False),
        (of_code(grpc.StatusCode.NOT_FOUND), False),
        (of_status(400, "Collection `x` doesn't exist!"), False),
        (ValueError("x"), False),
    ],
)
def test_a_collection_is_gone(error: Exception, gone: bool) -> None:
    """That a collection is not there is Qdrant's to say; a proxy that knows no path says nothing."""
    mapped = ours(error, "fetch")
    mapped.__cause__ = error
    assert is_not_found(mapped) is gone
    assert not is_there_already(mapped)
