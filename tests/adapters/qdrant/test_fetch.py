"""Fetch: in the order of a field, each chunk once, beyond any page."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from soev_retrieval.domain import Field, FieldSpec, InvalidQueryError, Record, field
from soev_retrieval.memory import MemoryStore
from soev_retrieval_qdrant import Making, QdrantStore, _points, _reading
from tests.adapters.qdrant.existing import TARGET as OF_OTHERS
from tests.adapters.qdrant.existing import existing, points
from tests.adapters.qdrant.stores import EVERYWHERE, REMOTE, RUN, STAND_IN, opened, up

TARGET = f"{RUN}fetch"
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


def made(size: int) -> list[Record]:
    """Chunks with many ties and gaps, written in no order of theirs."""
    several = []
    for n in range(size):
        properties: dict[str, Any] = {"label": f"l{n % 7}"}
        if n % 5:
            properties["number"] = n % 11 - 5
        if n % 6:
            # Neighbours among all floats: they differ in the last bit.
            properties["price"] = 0.1 + (n % 4) * 2.0**-56 - n % 3
        if n % 7:
            properties["at"] = DAY + timedelta(microseconds=n % 13 - 6)
        several.append(Record(f"{n * 7919 % size:05}", properties))
    return several


async def compared(store: QdrantStore, memory: MemoryStore, limits: tuple[int, ...]) -> None:
    for order_by in ("number", "price", "at"):
        for descending in (False, True):
            for where in (None, field("label").in_(["l1", "l2", "l3"])):
                for limit in limits:
                    asked: dict[str, Any] = {"where": where, "limit": limit, "order_by": order_by}
                    found = await store.fetch(TARGET, **asked, descending=descending)
                    expected = await memory.fetch(TARGET, **asked, descending=descending)
                    assert found == expected, (order_by, descending, where, limit)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_an_order_is_the_definitions(place: str) -> None:
    """Equal values by id, chunks without the field last, floats in the order of their last bit."""
    memory = MemoryStore()
    async with opened(place) as store:
        for each in (store, memory):
            await each.create(TARGET, SPEC)
            await each.upsert(TARGET, made(300))
        await compared(store, memory, (1, 2, 28, 29, 150, 250, 299, 300, 301))
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_pages_do_not_show(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit beyond a page brings all, each chunk once, in an order or in none."""
    for module in (_reading, _points):
        monkeypatch.setattr(module, "PAGE", 32)
    memory = MemoryStore()
    async with opened(place) as store:
        for each in (store, memory):
            await each.create(TARGET, SPEC)
            await each.upsert(TARGET, made(150))
        for limit in (31, 32, 33, 64, 149, 150, 151):
            chunks = await store.fetch(TARGET, limit=limit)
            assert len({chunk.id for chunk in chunks}) == len(chunks) == min(limit, 150)
        await compared(store, memory, (70, 150))
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
@pytest.mark.parametrize("order_by", ["label", "flag"])
async def test_what_the_server_cannot_order_is_not_sortable(place: str, order_by: str) -> None:
    """Text and bools have no order there: `fields` says so, and an order by them is refused."""
    async with opened(place) as store:
        await store.create(TARGET, SPEC)
        spec = await store.fields(TARGET)
        assert not spec[order_by].sortable
        assert not {"gt", "lte"} & set(spec[order_by].operators)
        with pytest.raises(InvalidQueryError, match="sortable are number, price, at"):
            await store.fetch(TARGET, limit=1, order_by=order_by)
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_without_payload_indexes_nothing_is_ordered(place: str) -> None:
    """A collection that was made without indexes is not ordered by, in local mode neither."""
    async with opened(place, making=Making(indexes=False)) as store:
        await store.create(TARGET, SPEC)
        assert not [each for each in await store.fields(TARGET) if each.sortable]
        with pytest.raises(InvalidQueryError, match="without payload indexes"):
            await store.fetch(TARGET, limit=1, order_by="number")
        await store.drop(TARGET)


@pytest.mark.parametrize("place", STAND_IN)
async def test_only_a_tie_at_the_end_costs_more_requests(place: str) -> None:
    """An order without a tie where the limit cuts is one request."""
    async with up(place) as where, where.store() as store:
        assert where.stand_in is not None
        await store.create(TARGET, SPEC)
        await store.upsert(TARGET, [Record(f"{n}", {"number": n // 2}) for n in range(20)])
        for limit, requests in ((4, 1), (6, 1), (5, 2)):
            before = len(where.stand_in.sent("scroll"))
            await store.fetch(TARGET, limit=limit, order_by="number")
            assert len(where.stand_in.sent("scroll")) - before == requests


@pytest.mark.parametrize("place", REMOTE)
async def test_times_that_are_written_otherwise_are_alike(place: str) -> None:
    """One instant in several forms is one value: its chunks come in the order of their ids."""
    written = ("2000-01-01T00:00:00Z", "2000-01-01", "2000-01-01 01:00:00+01:00")
    several = points(*({"id": id, "at": at} for id, at in zip("cab", written, strict=True)))
    there_: Any = {"fields": [Field("at", "datetime")], "id": "id"}
    indexes: Any = {"indexes": {"at": "datetime"}}
    async with existing(place, several, **there_, **indexes) as there:
        for limit in (1, 2, 3):
            for descending in (False, True):
                chunks = await there.store.fetch(
                    OF_OTHERS, limit=limit, order_by="at", descending=descending
                )
                assert [chunk.id for chunk in chunks] == ["a", "b", "c"][:limit]
