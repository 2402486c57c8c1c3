"""Which collection or tenant a target of our own is, and what is left alone."""

from typing import Any

import pytest

from soev_retrieval.domain import (
    Field,
    FieldSpec,
    InvalidQueryError,
    Record,
    Unconfigured,
)
from soev_retrieval_weaviate import Collection, Tenant, WeaviateStore
from tests.adapters.weaviate.stores import EVERYWHERE, RUN, opened, up

TARGET = f"{RUN}Loader"
SPEC = FieldSpec(
    [
        Field("title", "text", searchable=True),
        Field("status", "text"),
        Field("year", "int", operators=("eq", "gte")),
        Field("price", "float"),
        Field("open", "bool"),
        Field("at", "datetime"),
        Field("tags", "text", many=True),
        Field("times", "datetime", many=True),
        Field("note", "text", sortable=False, operators=()),
    ],
    3,
)


BAD_NAMES = [
    "",
    "a/b",
    "../meta",
    "a:b",
    "a?b",
    "..",
    "x" * 256,
    "a\0b",
    "a b",
    "1a",
    "é",
    "a-b",
    7,
    None,
]


@pytest.mark.parametrize("name", BAD_NAMES)
async def test_a_name_that_cannot_be_is_refused(name: Any) -> None:
    """A collection's name goes into a URL: what is none is refused, and never sent."""
    async with up("standin") as where, where.store() as store:
        for asking in (
            lambda: store.create(name, SPEC),
            lambda: store.fetch(name, limit=1),
            lambda: store.fields(name),
            lambda: store.drop(name),
            lambda: store.upsert(name, [Record("1")]),
            lambda: store.delete(name, ["1"]),
        ):
            with pytest.raises(InvalidQueryError):
                await asking()
        assert where.stand_in is not None
        assert not where.stand_in.requests
    with pytest.raises(InvalidQueryError):
        Collection(name)
    with pytest.raises(InvalidQueryError):
        Tenant(name, "one")
    for tenant in ("", "a/b", "..", "a b", "x" * 65, 7):
        with pytest.raises(InvalidQueryError):
            Collection("Docs", tenant=tenant)  # type: ignore[arg-type]
        with pytest.raises(InvalidQueryError):
            Tenant("Docs", tenant)  # type: ignore[arg-type]


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_two_targets_are_never_one_collection(place: str) -> None:
    """The server begins a name with a capital: `docs` and `Docs` would be one."""
    small, large = f"{RUN[0].lower()}{RUN[1:]}names", f"{RUN}names"
    async with opened(place) as store:
        await store.create(small, SPEC)
        await store.upsert(small, [Record("1", {"year": 1})])
        assert len(await store.fetch(small, limit=1)) == 1
        with pytest.raises(InvalidQueryError, match="no target"):
            await store.fetch(large, limit=1)
        with pytest.raises(InvalidQueryError, match="not what create makes"):
            await store.create(large, SPEC)
        await store.drop(large)
        assert len(await store.fetch(small, limit=1)) == 1
        await store.drop(small)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_what_create_did_not_make_is_left_alone(place: str) -> None:
    """A collection of somebody else is neither dropped nor written, nor created over."""
    async with up(place) as where, where.store() as store, where.client() as client:
        await client.collections.create(TARGET, description="Something else")
        await store.drop(TARGET)
        with pytest.raises(InvalidQueryError, match="not what create makes"):
            await store.create(TARGET, SPEC)
        with pytest.raises(InvalidQueryError, match="no target"):
            await store.upsert(TARGET, [Record("1")])
        assert await client.collections.exists(TARGET)
        await client.collections.delete(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_what_is_configured_is_only_read(place: str) -> None:
    """A collection of the configuration is never written, whoever made it."""
    async with up(place) as where, where.store() as store:
        await store.create(TARGET, SPEC)
        async with where.store(collections={"docs": Collection(TARGET)}) as reader:
            for asking in (
                reader.create("docs", SPEC),
                reader.upsert("docs", [Record("1")]),
                reader.delete("docs", ["1"]),
                reader.drop("docs"),
            ):
                with pytest.raises(Unconfigured, match="only"):
                    await asking
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_targets_are_tenants_of_one_collection(place: str) -> None:
    """Each is filled, asked and dropped by itself; both have one spec; ids may be the same."""
    tenants = {name: Tenant(f"{RUN}Tenants", name) for name in ("north", "south")}
    async with opened(place, tenants=tenants) as store:
        for target in tenants:
            with pytest.raises(InvalidQueryError, match=r"no (target|tenant)"):
                await store.fetch(target, limit=1)
            await store.create(target, SPEC)
            await store.create(target, SPEC)
            await store.upsert(target, [Record("1", {"title": f"copper {target}"}, [1, 0, 0])])
        with pytest.raises(InvalidQueryError, match="another spec"):
            await store.create("south", FieldSpec([]))
        for target in tenants:
            for hits in (
                await store.fetch(target, limit=9),
                await store.bm25(target, query="copper", limit=9),
                await store.near_vector(target, vector=[1, 0, 0], limit=9),
                await store.hybrid(target, query="copper", vector=[1, 0, 0], limit=9),
            ):
                assert [hit.properties["title"] for hit in hits] == [f"copper {target}"]
        await store.delete("south", ["1"])
        assert not await store.fetch("south", limit=1)
        await store.drop("south")
        with pytest.raises(InvalidQueryError, match=r"no (target|tenant)"):
            await store.fetch("south", limit=1)
        await store.drop("south")
        await store.create("south", SPEC)
        assert not await store.fetch("south", limit=1)
        assert len(await store.fetch("north", limit=1)) == 1
        for target in tenants:
            await store.drop(target)
    with pytest.raises(InvalidQueryError, match="one of them"):
        WeaviateStore("http://h", tenants=tenants, collections={"north": Collection("Docs")})
