"""Collections of our own: created, recognised, filled, emptied."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from grpc import StatusCode
from weaviate.classes.config import Configure, DataType, Property

from soev_retrieval.domain import (
    Field,
    FieldSpec,
    InvalidQueryError,
    Record,
    RetrievalError,
    Unconfigured,
)
from soev_retrieval_weaviate import Making, WeaviateStore, _loader
from tests.adapters.weaviate.standin import GrpcAnswer
from tests.adapters.weaviate.stores import EVERYWHERE, RUN, Where, opened, up

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


async def config(where: Where, name: str) -> Any:
    """What a place says of a collection."""
    async with where.client() as client:
        return await client.collections.use(name).config.get()


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_what_is_asked_has_an_index_and_what_is_read_none(place: str) -> None:
    """Text and times are asked through a key beside them, numbers by ranges too, stems are searched."""
    async with up(place) as where, where.store() as store:
        await store.create(TARGET, SPEC)
        found = await config(where, TARGET)
        indexes = {
            each.name: (
                each.data_type.value,
                each.index_filterable,
                bool(each.index_range_filters),
                each.index_searchable,
            )
            for each in found.properties
        }
        await store.drop(TARGET)
    assert indexes == {
        "soev_id": ("text", False, False, False),
        "soev_id_key": ("text", True, False, False),
        "title": ("text", False, False, False),
        "soev_key_title": ("text", True, False, False),
        "status": ("text", False, False, False),
        "soev_key_status": ("text", True, False, False),
        "year": ("int", True, True, False),
        "price": ("number", True, True, False),
        "open": ("boolean", True, False, False),
        "at": ("date", False, False, False),
        "soev_key_at": ("text", True, False, False),
        "tags": ("text[]", False, False, False),
        "soev_key_tags": ("text[]", True, False, False),
        "times": ("date[]", False, False, False),
        "soev_key_times": ("text[]", True, False, False),
        "note": ("text", False, False, False),
        "soev_stems": ("text", False, False, True),
    }
    assert found.inverted_index_config.index_null_state
    assert found.inverted_index_config.stopwords.preset.value == "none"


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_target_is_created_once(place: str) -> None:
    """Again with the same spec does nothing, with another one it is refused."""
    async with opened(place) as store:
        await store.create(TARGET, SPEC)
        await store.upsert(TARGET, [Record("1", {"status": "draft"})])
        await store.create(TARGET, SPEC)
        assert len(await store.fetch(TARGET, limit=9)) == 1
        with pytest.raises(InvalidQueryError, match="another spec"):
            await store.create(TARGET, FieldSpec([Field("status", "text")]))
        await store.drop(TARGET)
        await store.drop(TARGET)
        with pytest.raises(InvalidQueryError, match="no target"):
            await store.fetch(TARGET, limit=1)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_many_create_the_same_target_at_once(place: str) -> None:
    """Who comes second finds it made."""
    async with opened(place) as store:
        await asyncio.gather(*(store.create(TARGET, SPEC) for _ in range(5)))
        await store.upsert(TARGET, [Record("1", {"year": 2020})])
        assert len(await store.fetch(TARGET, limit=9)) == 1
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_other_programs_can_read_the_properties(place: str) -> None:
    """The fields stand under their own names, as plain values, and the chunk's id beside them."""
    async with up(place) as where, where.store() as store:
        await store.create(TARGET, SPEC)
        properties = {
            "title": " Wings ",
            "price": 0.5,
            "tags": ["x"],
            "at": datetime(2020, 1, 1, tzinfo=UTC),
        }
        await store.upsert(TARGET, [Record("a/1", properties, [1, 0, 0])])
        async with where.client() as client:
            query = client.collections.use(TARGET).query
            [found] = (await query.fetch_objects(include_vector=True)).objects
        await store.drop(TARGET)
    assert {name: found.properties[name] for name in properties} == properties
    assert found.properties["soev_id"] == "a/1"
    assert found.properties["soev_stems"] == "wing"
    assert list(found.vector) == ["default"]


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_batches_do_not_show(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More records than a batch are all there, the last of one id, and many are deleted at once."""
    monkeypatch.setattr(_loader, "BATCH", 7)
    monkeypatch.setattr(_loader, "_DELETED", 5)
    several = [Record(f"{n % 40}", {"year": n, "title": f"copper {n}"}) for n in range(80)]
    async with opened(place) as store:
        await store.create(TARGET, SPEC)
        await store.upsert(TARGET, several[:40])
        await store.upsert(TARGET, iter(several))
        chunks = await store.fetch(TARGET, limit=99)
        assert {chunk.id: chunk.properties["year"] for chunk in chunks} == {
            f"{n}": n + 40 for n in range(40)
        }
        await store.delete(TARGET, [*(f"{n}" for n in range(33)), "not there"])
        assert {chunk.id for chunk in await store.fetch(TARGET, limit=99)} == {
            f"{n}" for n in range(33, 40)
        }
        assert len(await store.bm25(TARGET, query="copper", limit=99)) == 7
        await store.drop(TARGET)


async def test_a_wrong_record_is_told_before_anything_is_sent() -> None:
    """One record that does not keep to the spec stops all of them, and is named."""
    async with up("standin") as where, where.store() as store:
        assert where.stand_in is not None
        await store.create(TARGET, SPEC)
        good = [Record(f"{n}", {"year": n}) for n in range(600)]
        for wrong in (
            Record("bad", {"year": "x"}),
            Record("bad", {"colour": "red"}),
            Record("bad", {}, [1.0]),
            Record("bad", {}, [0.0, 0.0, 0.0]),
            Record("bad", {}, [float("nan"), 0.0, 0.0]),
        ):
            with pytest.raises(InvalidQueryError, match="bad"):
                await store.upsert(TARGET, [*good, wrong])
        assert not where.stand_in.sent("batch_objects")
        for ids in ("1", 3, [1]):
            with pytest.raises(InvalidQueryError):
                await store.delete(TARGET, ids)  # type: ignore[arg-type]


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_an_object_that_the_server_refuses_is_named(place: str) -> None:
    """The server takes the rest of a batch and says so of one: nothing passes in silence."""
    spec = FieldSpec([Field("year", "int")], 2)
    async with up(place) as where, where.store() as store:
        await store.create(TARGET, spec)
        await store.upsert(TARGET, [Record("1", {"year": 1}, [1, 0])])
        # Another program's object settles the length of the vectors as something else.
        async with where.client() as client:
            await client.collections.delete(TARGET)
            made = await client.collections.create(
                TARGET,
                description=await _description(where, store, spec),
                properties=[
                    Property(name="year", data_type=DataType.INT),
                    *(
                        Property(name=name, data_type=DataType.TEXT)
                        for name in ("soev_id", "soev_id_key")
                    ),
                ],
                vector_config=Configure.Vectors.self_provided(name="default"),
            )
            await made.data.insert({"year": 1}, vector={"default": [1.0, 2.0, 3.0]})
        with pytest.raises(RetrievalError, match="'bad'"):
            await store.upsert(
                TARGET, [Record("good", {"year": 2}), Record("bad", {"year": 3}, [1, 0])]
            )
        await store.drop(TARGET)


async def _description(where: Where, store: WeaviateStore, spec: FieldSpec) -> str:
    """What stands in the description of a collection of our own."""
    from soev_retrieval_weaviate._making import Made

    return Made(spec, Making(), TARGET).description


@pytest.mark.parametrize(
    "spec",
    [
        FieldSpec([Field("path", "text", operators=("eq", "under"))]),
        FieldSpec([Field("text", "text", searchable=True)], embeds=True),
        "spec",
    ],
)
async def test_a_spec_that_cannot_be_is_refused(spec: Any) -> None:
    """`under` and embedding are refused, and nothing is made."""
    async with opened("standin") as store:
        with pytest.raises(InvalidQueryError):
            await store.create(TARGET, spec)
        with pytest.raises(InvalidQueryError, match="no target"):
            await store.fetch(TARGET, limit=1)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_writes_at_once_are_all_there(place: str) -> None:
    """Many who write at once lose nothing."""
    async with opened(place) as store:
        await store.create(TARGET, SPEC)
        await asyncio.gather(
            *(
                store.upsert(TARGET, [Record(f"{n}-{m}", {"title": "copper"}) for m in range(5)])
                for n in range(8)
            )
        )
        assert len(await store.bm25(TARGET, query="copper", limit=99)) == 40
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_target_may_hold_ids_alone(place: str) -> None:
    """A spec without fields, texts and vectors is a target too."""
    async with opened(place) as store:
        await store.create(TARGET, FieldSpec([]))
        await store.upsert(TARGET, [Record("1"), Record("2")])
        assert len(await store.fetch(TARGET, limit=9)) == 2
        with pytest.raises(Unconfigured):
            await store.bm25(TARGET, query="x", limit=1)
        with pytest.raises(Unconfigured):
            await store.near_vector(TARGET, vector=[1.0], limit=1)
        await store.drop(TARGET)


@pytest.mark.parametrize(
    "setting",
    [
        {"language": "klingon"},
        {"k1": -1},
        {"b": 2},
        {"shards": 0},
        {"replicas": 0},
        {"ef_construction": 0},
        {"max_connections": 1.5},
    ],
)
def test_a_making_is_checked(setting: dict[str, Any]) -> None:
    """A language, a weight or a count that there is not is refused."""
    with pytest.raises(InvalidQueryError):
        Making(**setting)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_batch_that_fails_as_a_whole_names_a_record(place: str) -> None:
    """The client raises where no object of a batch was taken: the first of them is named."""
    async with up(place) as where, where.store() as store:
        await store.create(TARGET, SPEC)
        async with where.client() as client:
            await client.collections.use(TARGET).data.insert({}, vector={"default": [1.0, 2.0]})
        with pytest.raises(RetrievalError, match="'first'"):
            await store.upsert(TARGET, [Record(id, {}, [1, 0, 0]) for id in ("first", "second")])
        await store.drop(TARGET)


async def test_a_refused_call_is_not_asked_twice_where_nothing_has_changed() -> None:
    """The layout that is read again is the same one: what it allowed is refused once."""
    async with up("standin") as where, where.store() as store:
        assert where.stand_in is not None
        await store.create(TARGET, SPEC)
        await store.fetch(TARGET, limit=1)
        where.stand_in.answer(
            GrpcAnswer(StatusCode.UNKNOWN, "no such prop with name 'x' found in class 'Y'"),
            "search",
        )
        before = len(where.stand_in.sent("search"))
        with pytest.raises(RetrievalError):
            await store.fetch(TARGET, limit=1)
        assert len(where.stand_in.sent("search")) - before == 1
