"""Fetch: in the order of a field, each chunk once, beyond any page."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from weaviate.classes.config import DataType, Property

from soev_retrieval.domain import Field, FieldSpec, InvalidQueryError, Record, field
from soev_retrieval.memory import MemoryStore
from soev_retrieval_weaviate import Making, WeaviateStore, _objects, _reading
from tests.adapters.weaviate.existing import TARGET as OF_OTHERS
from tests.adapters.weaviate.existing import exact, existing, objects
from tests.adapters.weaviate.stores import EVERYWHERE, RUN, opened, up

TARGET = f"{RUN}Fetch"
SPEC = FieldSpec(
    [
        Field("number", "int"),
        Field("price", "float"),
        Field("at", "datetime"),
        Field("label", "text"),
        Field("flag", "bool"),
    ]
)
DAY = datetime(2024, 2, 29, 12, 0, 0, 1, tzinfo=UTC)
LABELS = ("", " ", "alpha", "Alpha", "ALPHA", "\u00e9", "z", "\U0001f600", "\ue000", "a\tb")
ORDERS = ("number", "price", "at", "label")


def made(size: int) -> list[Record]:
    """Chunks with many ties and gaps, written in no order of theirs."""
    several = []
    for n in range(size):
        properties: dict[str, Any] = {"flag": n % 3 == 0}
        if n % 4:
            properties["label"] = LABELS[n % len(LABELS)]
        if n % 5:
            properties["number"] = n % 11 - 5
        if n % 6:
            # Neighbours among all floats: they differ in the last bit.
            properties["price"] = 0.1 + (n % 4) * 2.0**-56 - n % 3
        if n % 7:
            properties["at"] = DAY + timedelta(microseconds=n % 13 - 6) - timedelta(n % 2 * 700_000)
        several.append(Record(f"{n * 7919 % size:05}", properties))
    return several


async def compared(store: WeaviateStore, memory: MemoryStore, limits: tuple[int, ...]) -> None:
    for order_by in ORDERS:
        for descending in (False, True):
            for where in (None, field("flag") == True, field("number") >= -2):  # noqa: E712
                for limit in limits:
                    asked: dict[str, Any] = {"where": where, "limit": limit, "order_by": order_by}
                    found = await store.fetch(TARGET, **asked, descending=descending)
                    expected = await memory.fetch(TARGET, **asked, descending=descending)
                    assert found == expected, (order_by, descending, where, limit)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_an_order_is_the_definitions(place: str) -> None:
    """Equal values by id, chunks without the field last, text by code point, times before 1677."""
    memory = MemoryStore()
    async with opened(place) as store:
        for each in (store, memory):
            await each.create(TARGET, SPEC)
            await each.upsert(TARGET, made(200))
        await compared(store, memory, (1, 2, 29, 150, 199, 200, 201))
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_an_order_is_the_same_over_several_shards(place: str) -> None:
    """Where shards are merged the server sees only what is asked for: the keys of the order are."""
    memory = MemoryStore()
    async with opened(place, making=Making(shards=3)) as store:
        for each in (store, memory):
            await each.create(TARGET, SPEC)
            await each.upsert(TARGET, made(90))
        await compared(store, memory, (7, 60, 91))
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_pages_do_not_show(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit beyond a page brings all, each chunk once, in an order or in none, in any filter."""
    for module in (_reading, _objects):
        monkeypatch.setattr(module, "PAGE", 16)
    memory = MemoryStore()
    async with opened(place) as store:
        for each in (store, memory):
            await each.create(TARGET, SPEC)
            await each.upsert(TARGET, made(90))
        for where in (None, field("number").exists(), field("label") != "z"):
            every = {chunk.id for chunk in await memory.fetch(TARGET, limit=90, where=where)}
            for limit in (15, 16, 17, 33, len(every) - 1, len(every), 91):
                chunks = await store.fetch(TARGET, limit=limit, where=where)
                ids = {chunk.id for chunk in chunks}
                assert len(ids) == len(chunks) == min(limit, len(every))
                assert ids <= every
        await compared(store, memory, (40, 90))
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_bool_is_not_sortable(place: str) -> None:
    """An order by what has none is refused, with the fields that have one."""
    async with opened(place) as store:
        await store.create(TARGET, SPEC)
        with pytest.raises(InvalidQueryError, match="sortable are number, price, at, label"):
            await store.fetch(TARGET, limit=1, order_by="flag")
        await store.drop(TARGET)


@pytest.mark.parametrize(
    ("limit", "lacking", "descending", "requests"),
    [
        (5, False, False, 1),
        (5, True, True, 1),  # those that lack the field come last there
        (5, True, False, 2),  # and first here: those that have it are asked for
        (21, True, False, 3),
    ],
)
async def test_an_order_is_few_requests(
    limit: int, lacking: bool, descending: bool, requests: int
) -> None:
    """Chunks that lack the field are only asked for where the others do not suffice."""
    async with up("standin") as where, where.store() as store:
        assert where.stand_in is not None
        await store.create(TARGET, SPEC)
        await store.upsert(TARGET, [Record(f"{n}", {"number": n // 2}) for n in range(20)])
        await store.upsert(TARGET, [Record("none")] * lacking)
        await store.fetch(TARGET, limit=1)
        before = len(where.stand_in.sent("search"))
        await store.fetch(TARGET, limit=limit, order_by="number", descending=descending)
        assert len(where.stand_in.sent("search")) - before == requests


NUMBERS = [
    Property(name="n", data_type=DataType.INT),
    Property(name="at", data_type=DataType.DATE),
    exact("id_text"),
    exact("word"),
]


@pytest.mark.parametrize("place", EVERYWHERE)
@pytest.mark.parametrize("id", [None, "id_text"])
async def test_a_collection_of_others_is_ordered(
    place: str, id: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids in a property or not, ties, gaps, dates that differ by nanoseconds, and pages."""
    monkeypatch.setattr(_reading, "PAGE", 16)
    monkeypatch.setattr(_objects, "PAGE", 16)
    several: list[dict[str, Any]] = []
    for n in range(60):
        each: dict[str, Any] = {"id_text": f"{'aB'[n % 2]}{n * 37 % 60:02}"}
        if n % 4:
            each["n"] = n % 5
        if n % 5:
            each["at"] = f"2000-01-01T00:00:00.00000{n % 3}{n * 53 % 90 + 10}Z"
        several.append(each)
    async with existing(place, NUMBERS, objects(*several), id=id) as there:
        every = await there.fetch()
        for order_by in ("n", "at"):
            for descending in (False, True):
                with_value = [c for c in every if order_by in c.properties]
                without = [c for c in every if order_by not in c.properties]
                expected = sorted(with_value, key=lambda c: c.id)
                expected.sort(key=lambda c: c.properties[order_by], reverse=descending)
                expected += sorted(without, key=lambda c: c.id)
                for limit in (1, 5, 15, 16, 17, 40, 60, 70):
                    found = await there.store.fetch(
                        OF_OTHERS, limit=limit, order_by=order_by, descending=descending
                    )
                    assert found == expected[:limit], (order_by, descending, limit)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_lone_comparison_is_not_cut_before_it_is_sorted(place: str) -> None:
    """The server stops a lone comparison at the limit, in the order of its values: not here."""
    several = [{"n": n, "word": f"w{n}"} for n in range(40)]
    properties = [*NUMBERS[:1], Property(name="m", data_type=DataType.INT), exact("word")]
    stored = objects(*({**each, "m": -each["n"]} for each in several))  # type: ignore[operator]
    async with existing(place, properties, stored, trimmed=["word"]) as there:
        for where in (field("n") >= 1, field("word") >= "w1"):
            chunks = await there.store.fetch(OF_OTHERS, where=where, limit=2, order_by="m")
            assert [chunk.properties["n"] for chunk in chunks] == [39, 38]


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_text_of_others_is_not_sortable(place: str) -> None:
    """The server overlooks case where it sorts text, so nothing is ordered by it."""
    async with existing(place, [exact("word")], objects({"word": "a"})) as there:
        spec = await there.store.fields(OF_OTHERS)
        assert not spec["word"].sortable
        with pytest.raises(InvalidQueryError, match="not sortable"):
            await there.store.fetch(OF_OTHERS, limit=1, order_by="word")
