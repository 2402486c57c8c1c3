"""Collections of our own: created, recognised, filled, emptied."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from grpc import StatusCode
from hypothesis import given, settings
from hypothesis import strategies as st
from weaviate.classes.config import Configure, DataType, Property

from soev_retrieval.domain import (
    MAX_INT,
    Chunk,
    DeclaredFilter,
    Field,
    FieldSpec,
    InvalidQueryError,
    Record,
    RetrievalError,
    Unconfigured,
    field,
    matches,
)
from soev_retrieval.testing import strategies
from soev_retrieval_weaviate import Collection, Making, Tenant, WeaviateStore, _loader
from tests.adapters.formulas import examples, formulas
from tests.adapters.weaviate.formulas import EDGED
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


NAMES = ("Year", "year", "id", "a b", "日本", "vector", "soev_id", "x_searchable", "_a", "a" * 300)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_field_may_have_any_name(place: str) -> None:
    """What the server would change, reserve or refuse stands under another name, and is told apart."""
    spec = FieldSpec([Field(name, "text") for name in NAMES])
    properties = {name: f"value {at}" for at, name in enumerate(NAMES)}
    async with opened(place) as store:
        await store.create(TARGET, spec)
        await store.upsert(TARGET, [Record("1", properties), Record("2")])
        for name in NAMES:
            where = field(name) == properties[name]
            assert await store.fetch(TARGET, where=where, limit=2) == [Chunk("1", properties)]
        await store.drop(TARGET)


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6
) | st.sampled_from(["", " ", *EDGED, "\x01", "the", "\U0010ffff", "a\U0010ffff", "x", "g"])
TIMES = strategies.scalars(type="datetime") | st.sampled_from(
    [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
)
ANY = FieldSpec(
    [
        Field("text", "text", searchable=True),
        Field("time", "datetime"),
        Field("number", "int"),
        Field("price", "float"),
        Field("texts", "text", many=True),
        Field("times", "datetime", many=True),
        Field("flags", "bool", many=True),
    ]
)


def held(count: int = 80) -> list[Record]:
    """Records of odd values: text with white space at its edges, times of every century."""
    values = st.fixed_dictionaries(
        {},
        optional={
            "text": TEXTS,
            "time": TIMES,
            "number": st.sampled_from([0, -1, 1, MAX_INT, -MAX_INT]),
            "price": st.floats(allow_nan=False, allow_infinity=False),
            "texts": st.lists(TEXTS, max_size=3),
            "times": st.lists(TIMES, max_size=3),
            "flags": st.lists(st.booleans(), max_size=2),
        },
    )
    drawn: list[Any] = []

    @settings(max_examples=count, database=None, derandomize=True)
    @given(values)
    def draw(properties: dict[str, Any]) -> None:
        drawn.append(properties)

    draw()
    return [Record(f"{n}", each) for n, each in enumerate(drawn)]


HELD = held()
CHUNKS = [Chunk(each.id, each.properties) for each in HELD]


@pytest.fixture(params=EVERYWHERE)
async def holding(request: pytest.FixtureRequest) -> Any:
    """A store that holds the odd values."""
    async with opened(request.param) as store:
        await store.create(TARGET, ANY)
        await store.upsert(TARGET, HELD)
        yield store
        await store.drop(TARGET)


async def test_any_value_comes_back_as_it_was_loaded(holding: WeaviateStore) -> None:
    """White space at edges, the empty text, times before 1677 and after 2262, any double."""
    chunks = await holding.fetch(TARGET, limit=999)
    assert {chunk.id: chunk.properties for chunk in chunks} == {
        each.id: each.properties for each in HELD
    }


@given(data=st.data())
@examples(150)
async def test_any_formula_is_exact(holding: WeaviateStore, data: st.DataObject) -> None:
    """Every operator, of every value, finds what `matches` says."""
    where = data.draw(formulas(ANY, CHUNKS))
    found = sorted(chunk.id for chunk in await holding.fetch(TARGET, where=where, limit=999))
    assert found == sorted(c.id for c in CHUNKS if matches(where, c.properties)), where


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_text_of_a_megabyte_is_asked_exactly(place: str) -> None:
    """No length of text is too long to be compared."""
    long = "copper " * 150_000
    async with opened(place) as store:
        await store.create(TARGET, SPEC)
        await store.upsert(
            TARGET, [Record("1", {"title": long}), Record("2", {"title": long + "x"})]
        )
        for op, value, ids in (
            ("eq", long, ["1"]),
            ("gt", long, ["2"]),
            ("prefix", long, ["1", "2"]),
            ("ne", long + "x", ["1"]),
        ):
            where = DeclaredFilter("title", op, value)
            chunks = await store.fetch(TARGET, where=where, limit=9)
            assert sorted(chunk.id for chunk in chunks) == ids
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
