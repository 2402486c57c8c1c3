"""Collections of our own: created, recognised, filled, emptied."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soev_retrieval.domain import (
    DeclaredFilter,
    Field,
    FieldSpec,
    InvalidQueryError,
    Record,
    Unconfigured,
    field,
    matches,
)
from soev_retrieval_qdrant import Making, QdrantStore, _loader
from tests.adapters.qdrant.stores import EVERYWHERE, REMOTE, RUN, STAND_IN, Where, opened, up

TARGET = f"{RUN}loader"
SPEC = FieldSpec(
    [
        Field("title", "text", searchable=True),
        Field("status", "text"),
        Field("year", "int", operators=("eq", "gte")),
        Field("price", "float"),
        Field("open", "bool"),
        Field("at", "datetime"),
        Field("tags", "text", many=True),
        Field("prices", "float", many=True),
    ],
    3,
)
FLOATS = FieldSpec([Field("price", "float"), Field("prices", "float", many=True)])


async def schema(where: Where, target: str) -> dict[str, str]:
    """The payload indexes that a place says a collection has."""
    client = where.client()
    try:
        found = (await client.get_collection(target)).payload_schema
    finally:
        await client.close()
    return {key.replace('"', ""): str(each.data_type.value) for key, each in found.items()}


@pytest.mark.parametrize("place", REMOTE)
async def test_every_field_has_an_index_that_serves_it(place: str) -> None:
    """Keyword, integer, bool and datetime indexes, three of integers for a float; none for text."""
    async with up(place) as where, where.store() as store:
        await store.create(TARGET, SPEC)
        assert await schema(where, TARGET) == {
            "status": "keyword",
            "year": "integer",
            "_soev.floats.price.place": "integer",
            "_soev.floats.price.high": "integer",
            "_soev.floats.price.low": "integer",
            "open": "bool",
            "at": "datetime",
            "tags": "keyword",
            "_soev.floats.prices.place": "integer",
        }
        await store.drop(TARGET)


@pytest.mark.parametrize("place", REMOTE)
async def test_the_points_of_a_tenant_are_kept_together(place: str) -> None:
    """The index of the tenant's field says what it is; a field that is not declared is refused."""
    async with up(place) as where, where.store(making=Making(tenant="status")) as store:
        await store.create(TARGET, SPEC)
        client = where.client()
        params = (await client.get_collection(TARGET)).payload_schema["status"].params
        await client.close()
        assert params is not None
        assert params.is_tenant  # type: ignore[union-attr]
        await store.upsert(TARGET, [Record("1", {"status": "north"})])
        where_north = field("status") == "north"
        assert len(await store.fetch(TARGET, limit=9, where=where_north)) == 1
        with pytest.raises(InvalidQueryError, match="tenant"):
            await store.create(f"{TARGET}_other", FieldSpec([Field("status", "int")]))
        await store.drop(TARGET)


@pytest.mark.parametrize("place", STAND_IN)
async def test_what_was_half_made_is_made_whole(place: str) -> None:
    """A create that was cut off before its indexes is finished by the next one."""
    async with up(place) as where:
        async with where.store(making=Making(indexes=False)) as store:
            await store.create(TARGET, SPEC)
        assert not await schema(where, TARGET)
        # The collection says with which settings it was made, and those hold.
        client = where.client()
        made = (await client.get_collection(TARGET)).config.metadata
        assert made is not None
        made["soev_retrieval"]["making"]["indexes"] = True
        await client.update_collection(TARGET, metadata=made)
        await client.close()
        async with where.store() as store:
            await store.create(TARGET, SPEC)
        assert len(await schema(where, TARGET)) == 9


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


ANY_FLOAT = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [0.0, -0.0, 5e-324, -5e-324, sys.float_info.max, -sys.float_info.max, 1e23, 0.1 + 0.2]
)


@pytest.mark.parametrize("place", EVERYWHERE)
@settings(max_examples=40)
@given(values=st.lists(ANY_FLOAT, min_size=1, max_size=12))
def test_any_double_comes_back_and_is_asked_exactly(place: str, values: list[float]) -> None:
    """Any double is given back as it was loaded, and compares with any other as it should."""
    asyncio.run(_doubles(place, values))


async def _doubles(place: str, values: list[float]) -> None:
    several = [
        Record(f"{at}", {"price": value, "prices": values[: at + 1]})
        for at, value in enumerate(values)
    ]
    async with opened(place) as store:
        await store.create(TARGET, FLOATS)
        await store.upsert(TARGET, several)
        loaded = {chunk.id: chunk for chunk in await store.fetch(TARGET, limit=99)}
        assert {id: chunk.properties["price"] for id, chunk in loaded.items()} == {
            f"{at}": value for at, value in enumerate(values)
        }
        for one in (values[0], values[-1]):
            for op in ("eq", "ne", "gt", "gte", "lt", "lte"):
                await _expect(store, several, DeclaredFilter("price", op, one))
            await _expect(store, several, field("price").in_([one, 1.5]))
            await _expect(store, several, field("prices").contains_any([one, 1.5]))
            await _expect(store, several, field("prices").contains_all([one, values[0]]))
        await store.drop(TARGET)


async def _expect(store: QdrantStore, several: Sequence[Record], where: Any) -> None:
    found = {chunk.id for chunk in await store.fetch(TARGET, limit=99, where=where)}
    assert found == {each.id for each in several if matches(where, each.properties)}, where


@pytest.mark.parametrize("place", REMOTE)
async def test_other_programs_can_read_the_payload(place: str) -> None:
    """The fields stand in the payload under their own names, as plain values."""
    async with up(place) as where, where.store() as store:
        await store.create(TARGET, SPEC)
        await store.upsert(
            TARGET, [Record("a/1", {"title": "wing", "price": 0.5, "tags": ["x"]}, [1, 0, 0])]
        )
        client = where.client()
        [point], _ = await client.scroll(TARGET, with_vectors=True)
        await client.close()
        await store.drop(TARGET)
    payload = point.payload or {}
    assert payload.pop("_soev")["id"] == "a/1"
    assert payload == {"title": "wing", "price": 0.5, "tags": ["x"]}
    assert isinstance(point.vector, dict)
    assert set(point.vector) == {"vector", "bm25"}


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_batches_do_not_show(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More records than a batch are all there, the last of one id, and many are deleted at once."""
    monkeypatch.setattr(_loader, "BATCH", 7)
    monkeypatch.setattr(_loader, "_DELETED", 5)
    several = [Record(f"{n % 40}", {"year": n, "title": f"copper {n}"}) for n in range(80)]
    async with opened(place) as store:
        await store.create(TARGET, SPEC)
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


@pytest.mark.parametrize("place", STAND_IN)
async def test_a_wrong_record_is_told_before_anything_is_sent(place: str) -> None:
    """One record that does not keep to the spec stops all of them, and is named."""
    async with up(place) as where, where.store() as store:
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
        assert not where.stand_in.sent("upsert")
        for ids in ("1", 3, [1]):
            with pytest.raises(InvalidQueryError):
                await store.delete(TARGET, ids)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "spec",
    [
        FieldSpec([Field("_soev", "text")]),
        FieldSpec([Field('a"b', "text")]),
        FieldSpec([Field("path", "text", operators=("eq", "under"))]),
        FieldSpec([Field("text", "text", searchable=True)], embeds=True),
        "spec",
    ],
)
async def test_a_spec_that_cannot_be_is_refused(spec: Any) -> None:
    """A name that Qdrant cannot address, one of our own, `under` and embedding are refused."""
    async with opened("local") as store:
        with pytest.raises(InvalidQueryError):
            await store.create(TARGET, spec)
        with pytest.raises(InvalidQueryError, match="no target"):
            await store.fetch(TARGET, limit=1)


@pytest.mark.parametrize("name", ["", "a/b", "a:b", "a?b", "..", "x" * 256, "a\0b", 7, None])
@pytest.mark.parametrize("place", ["local", "standin-grpc"])
async def test_a_name_that_cannot_be_is_refused(place: str, name: Any) -> None:
    """A collection's name goes into a URL: what cannot be one is refused, and never sent."""
    async with up(place) as where, where.store() as store:
        with pytest.raises(InvalidQueryError):
            await store.create(name, SPEC)
        with pytest.raises(InvalidQueryError):
            await store.fetch(name, limit=1)
        assert where.stand_in is None or not where.stand_in.requests


@pytest.mark.parametrize("name", ["a b", "a.b", "日本", "a%2Fb", "a#b", "été", "a&b=c"])
@pytest.mark.parametrize("place", EVERYWHERE)
async def test_any_other_name_is_a_name(place: str, name: str) -> None:
    """Spaces, dots, signs and other writing name one collection and no other."""
    async with opened(place) as store:
        await store.create(f"{RUN}{name}", SPEC)
        await store.upsert(f"{RUN}{name}", [Record("1", {"year": 1})])
        assert len(await store.fetch(f"{RUN}{name}", limit=9)) == 1
        await store.drop(f"{RUN}{name}")


@pytest.mark.parametrize("place", REMOTE)
async def test_what_create_did_not_make_is_left_alone(place: str) -> None:
    """A collection of somebody else is neither dropped nor written, nor created over."""
    async with up(place) as where, where.store() as store:
        client = where.client()
        await client.create_collection(TARGET, vectors_config={})
        await store.drop(TARGET)
        with pytest.raises(InvalidQueryError, match="did not make"):
            await store.create(TARGET, SPEC)
        with pytest.raises(InvalidQueryError, match="no target"):
            await store.upsert(TARGET, [Record("1")])
        assert await client.collection_exists(TARGET)
        await client.delete_collection(TARGET)
        await client.close()


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_writes_at_once_are_all_there(place: str) -> None:
    """Many who write at once lose nothing, and what is counted of their texts is all of them."""
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
async def test_texts_are_counted_one_by_one(place: str) -> None:
    """The average follows texts that come one at a time, in turn or at once."""
    several = [Record(f"{n}", {"title": "copper " * (1 if n < 30 else 40)}) for n in range(60)]
    async with opened(place) as store:
        for target in (TARGET, f"{TARGET}_once"):
            await store.create(target, SPEC)
        for each in several[:45]:
            await store.upsert(TARGET, [each])
        await asyncio.gather(*(store.upsert(TARGET, [each]) for each in several[45:]))
        await store.upsert(f"{TARGET}_once", several)
        steps = await store.bm25(TARGET, query="copper", limit=60)
        once = await store.bm25(f"{TARGET}_once", query="copper", limit=60)
        assert {hit.id: hit.score for hit in steps} == {
            hit.id: pytest.approx(hit.score, rel=0.1) for hit in once
        }
        for target in (TARGET, f"{TARGET}_once"):
            await store.drop(target)


async def test_local_mode_on_disk_keeps_all(tmp_path: Any) -> None:
    """What was loaded into a folder is there when it is opened again."""
    several = [Record("1", {"title": "copper wire", "price": 0.1 + 0.2}, [1, 0, 0])]
    async with QdrantStore(str(tmp_path)) as store:
        await store.create("notes", SPEC)
        await store.upsert("notes", several)
    async with QdrantStore(str(tmp_path)) as store:
        [hit] = await store.hybrid("notes", query="wires", vector=[1, 0, 0], limit=1)
        assert (hit.id, hit.properties["price"]) == ("1", 0.1 + 0.2)
        await store.create("notes", SPEC)
        with pytest.raises(InvalidQueryError, match="another spec"):
            await store.create("notes", FieldSpec([]))


async def test_a_target_may_hold_ids_alone() -> None:
    """A spec without fields, texts and vectors is a target too."""
    async with opened("local") as store:
        await store.create(TARGET, FieldSpec([]))
        await store.upsert(TARGET, [Record("1"), Record("2")])
        assert len(await store.fetch(TARGET, limit=9)) == 2
        for search in (store.bm25(TARGET, query="x", limit=1),):
            with pytest.raises(Unconfigured):
                await search


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_weighing_anew_changes_no_other_vector(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights of texts that are there follow the average, page by page; dense vectors stay."""
    monkeypatch.setattr(_loader, "BATCH", 3)
    short = [Record(f"s{n}", {"title": f"copper {n}"}, [n + 1, 1, 0]) for n in range(10)]
    long = [Record(f"l{n}", {"title": "tin " * 60}, [0, n + 1, 1]) for n in range(10)]
    async with opened(place) as store:
        for target in (TARGET, f"{TARGET}_once"):
            await store.create(target, SPEC)
        await store.upsert(TARGET, short)
        near = await store.near_vector(TARGET, vector=[1, 0, 0], limit=3)
        before = await store.bm25(TARGET, query="copper", limit=1)
        await store.upsert(TARGET, long)
        await store.upsert(f"{TARGET}_once", [*short, *long])
        after = await store.bm25(TARGET, query="copper", limit=10)
        once = await store.bm25(f"{TARGET}_once", query="copper", limit=10)
        assert [hit.id for hit in after] == [hit.id for hit in once]
        assert [hit.score for hit in after] == pytest.approx([hit.score for hit in once])
        assert after[0].score > before[0].score
        assert near == await store.near_vector(TARGET, vector=[1, 0, 0], limit=3)
        for target in (TARGET, f"{TARGET}_once"):
            await store.drop(target)


@pytest.mark.parametrize("place", REMOTE)
async def test_what_changes_while_texts_are_weighed_anew_is_kept(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text that another store writes meanwhile keeps its own terms; a deleted one stays away."""
    first = [Record(f"{n}", {"title": f"copper {n}"}) for n in range(10)]
    read = _loader.Loading._weigh

    async with up(place) as where, where.store() as store, where.store() as other:
        await store.create(TARGET, SPEC)
        await store.upsert(TARGET, first)

        async def between(self: Any, target: str, points: Any, made: Any) -> None:
            """Between a page's read and its write."""
            monkeypatch.setattr(_loader.Loading, "_weigh", read)
            await other.upsert(TARGET, [Record("3", {"title": "violin"})])
            await other.delete(TARGET, ["5"])
            await read(self, target, points, made)

        monkeypatch.setattr(_loader.Loading, "_weigh", between)
        await store.upsert(TARGET, [Record("long", {"title": "tin " * 60})])
        assert [hit.id for hit in await store.bm25(TARGET, query="violin", limit=9)] == ["3"]
        found = {hit.id for hit in await store.bm25(TARGET, query="copper", limit=99)}
        assert found == {f"{n}" for n in range(10)} - {"3", "5"}
        assert len(await store.fetch(TARGET, limit=99)) == 10
        await store.drop(TARGET)
