"""What somebody else changes under a store that has read what it was."""

from typing import Any

import pytest
from weaviate.classes.config import Configure, DataType, Property
from weaviate.classes.data import DataObject

from soev_retrieval.domain import (
    Field,
    FieldSpec,
    InvalidQueryError,
    Record,
    RetrievalError,
    Unconfigured,
    field,
)
from soev_retrieval_weaviate import Collection, Tenant
from tests.adapters.weaviate.outages import (
    METHODS,
    RECORDS,
    SEARCHES,
    SPEC,
    TARGET,
    answers,
    filled,
)
from tests.adapters.weaviate.stores import EVERYWHERE, RUN, up

PLACE = pytest.mark.parametrize("place", EVERYWHERE)
OTHER = FieldSpec([Field("text", "text", searchable=True), Field("year", "text")], 2)
OTHERS = [Record("c", {"text": "sesame", "year": "1984"}, (1.0, 0.0))]
MINE, SHARED = f"{RUN}Mine", f"{RUN}Shared"


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
async def test_a_filter_of_another_type(place: str) -> None:
    """A field of another type is noticed at the first filter that asks for it."""
    async with up(place) as where, where.store() as store, where.store() as other:
        await filled(store)
        await answers(store)
        await other.drop(TARGET)
        await other.create(TARGET, OTHER)
        await other.upsert(TARGET, OTHERS)
        with pytest.raises(InvalidQueryError, match="year"):
            await store.fetch(TARGET, where=field("year") == 1984, limit=5)
        [chunk] = await store.fetch(TARGET, where=field("year") == "1984", limit=5)
        assert chunk.id == "c"


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
async def test_a_configured_collection_is_gone(place: str) -> None:
    """A collection of the configuration that is dropped is no target, until it is back."""
    collections = {"mine": Collection(MINE, id=None)}
    async with (
        up(place) as where,
        where.store(collections=collections) as store,
        where.client() as client,
    ):
        for size in 2, 3:
            made = await client.collections.create(
                MINE,
                properties=[Property(name="year", data_type=DataType.INT)],
                vector_config=Configure.Vectors.self_provided(),
            )
            await made.data.insert_many([DataObject({"year": size}, vector=[1.0] * size)])
            [hit] = await store.near_vector("mine", vector=[1.0] * size, limit=1)
            assert hit.properties["year"] == size
            assert (await store.fields("mine")).dimension == size
            await client.collections.delete(MINE)
            for _ in range(2):
                with pytest.raises(InvalidQueryError, match=f"there is no collection '{MINE}'"):
                    await store.fetch("mine", limit=1)


@PLACE
async def test_a_tenant_is_gone(place: str) -> None:
    """A tenant that somebody removed is unknown, in every search, and can be made again."""
    tenants = {TARGET: Tenant(SHARED, "one")}
    async with up(place) as where, where.store(tenants=tenants) as store:
        await filled(store)
        await answers(store)
        async with where.client() as client:
            for name, ask in SEARCHES.items():
                await client.collections.use(SHARED).tenants.remove(["one"])
                with pytest.raises(RetrievalError, match=r"no tenant|no target") as caught:
                    await ask(store)
                assert isinstance(caught.value, InvalidQueryError), name
                await store.create(TARGET, SPEC)
                await store.upsert(TARGET, RECORDS)
                await answers(store)
            await client.collections.delete(SHARED)


@PLACE
async def test_a_tenant_is_put_to_sleep(place: str) -> None:
    """A tenant that is not active is the configuration's matter, and answers when it is again."""
    tenants: Any = {TARGET: Tenant(SHARED, "one")}
    async with up(place) as where, where.store(tenants=tenants) as store:
        await filled(store)
        await answers(store)
        async with where.client() as client:
            handle = client.collections.use(SHARED)
            await handle.tenants.deactivate(["one"])
            for ask in SEARCHES.values():
                with pytest.raises(Unconfigured, match="not active"):
                    await ask(store)
            await handle.tenants.activate(["one"])
            await answers(store)
            await client.collections.delete(SHARED)
