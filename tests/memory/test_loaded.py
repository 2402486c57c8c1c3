"""What comes back is what was loaded, and nobody changes it on the way."""

import copy
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.domain import (
    Chunk,
    Field,
    FieldSpec,
    Hit,
    Record,
    field,
)
from soev_retrieval.memory import MemoryStore
from soev_retrieval.testing import strategies

Fill = Callable[..., Awaitable[MemoryStore]]

SPEC = FieldSpec(
    [
        Field("body", "text", searchable=True),
        Field("tags", "text", many=True),
        Field("year", "int"),
        Field("price", "float"),
        Field("at", "datetime"),
        Field("draft", "bool"),
    ],
    2,
)


@pytest.fixture
async def store(filled: Fill) -> MemoryStore:
    return await filled(
        SPEC,
        [
            Record("a", {"body": "cat", "year": 1}, [1, 0]),
            Record("b", {"body": "dog", "year": 2}, [0, 1]),
        ],
    )


async def _near(store: MemoryStore) -> list[str]:
    return [hit.id for hit in await store.near_vector("docs", vector=[1, 0], limit=9)]


async def _with_word(store: MemoryStore, word: str) -> list[str]:
    return [hit.id for hit in await store.bm25("docs", query=word, limit=9)]


async def _all(store: MemoryStore) -> dict[str, Chunk]:
    return {chunk.id: chunk for chunk in await store.fetch("docs", limit=1_000)}


@given(st.data())
async def test_what_comes_back_is_what_was_loaded(filled: Fill, data: st.DataObject) -> None:
    """Every id and property comes back as it was loaded, types and signs included."""
    spec = data.draw(strategies.specs(max_fields=4))
    records = data.draw(strategies.corpora(spec))
    store = await filled(spec, records)
    loaded = {record.id: Chunk(record.id, record.properties) for record in records}
    chunks = await _all(store)
    assert chunks == loaded
    assert all(repr(chunks[id]) == repr(chunk) for id, chunk in loaded.items())


async def test_a_hit_carries_the_properties(store: MemoryStore) -> None:
    """Each search brings the properties of the chunk along."""
    properties = {"body": "cat", "year": 1}
    [word] = await store.bm25("docs", query="cat", limit=1)
    [near] = await store.near_vector("docs", vector=[1, 0], limit=1)
    [both] = await store.hybrid("docs", query="cat", vector=[1, 0], limit=1)
    for hit in (word, near, both):
        assert (hit.id, hit.properties) == ("a", properties)
    assert (near, both) == (Hit("a", 1.0, properties), Hit("a", 1.0, properties))


class Status(StrEnum):
    DRAFT = "draft"


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("price", 3, 3.0),
        ("price", np.float64(0.5), 0.5),
        ("price", -0.0, -0.0),
        ("year", np.int64(7), 7),
        ("body", Status.DRAFT, "draft"),
        ("tags", [Status.DRAFT, "x"], ("draft", "x")),
        ("at", datetime.fromisoformat("2024-01-31T02:00+02:00"), datetime(2024, 1, 31, tzinfo=UTC)),
        ("draft", False, False),
    ],
)
async def test_values_are_kept_plain(filled: Fill, name: str, value: Any, kept: Any) -> None:
    """Values come back as the plain types of their field, datetimes in UTC, lists as tuples."""
    store = await filled(SPEC, [Record("a", {name: value})])
    [chunk] = await store.fetch("docs", limit=1)
    assert repr(chunk) == repr(Chunk("a", {name: kept}))
    assert type(chunk.properties[name]) is type(kept)


async def test_no_value_is_no_property(filled: Fill) -> None:
    """None and the empty list are not there, and are found as missing."""
    store = await filled(SPEC, [Record("a", {"body": None, "tags": [], "year": None})])
    where = field("body").missing() & field("tags").missing() & ~field("year").exists()
    assert await store.fetch("docs", where=where, limit=1) == [Chunk("a")]


async def test_nothing_given_is_changed(store: MemoryStore) -> None:
    """A call leaves records, ids, vectors and specs as they were given."""
    vector, ids = [0.1, 3.0], ["c", "not there"]
    properties: dict[str, Any] = {"body": "Cats", "tags": ["b", "a"], "price": 3}
    array: Any = np.array([1.0, 2.0])
    given_ = [Record("c", properties, vector), Record("d", {}, array)]
    before = copy.deepcopy((vector, ids, properties, given_))
    await store.upsert("docs", given_)
    await store.near_vector("docs", vector=vector, limit=1)
    await store.hybrid("docs", query="cat", vector=vector, limit=1)
    await store.delete("docs", ids)
    assert (vector, ids, properties, given_) == before


async def test_the_store_keeps_its_own(store: MemoryStore) -> None:
    """What is changed after it was written is not changed in the store."""
    vector, tags = [1.0, 0.0], ["x"]
    properties: dict[str, Any] = {"body": "fish", "tags": tags}
    record = Record("c", properties, vector)
    array: Any = np.array([1.0, 0.0], np.float32)
    await store.upsert("docs", [record, Record("d", {}, array)])
    vector[0], array[0] = -1.0, -1.0
    tags.append("y")
    properties["body"] = "cat"
    assert (await _all(store))["c"] == Chunk("c", {"body": "fish", "tags": ("x",)})
    assert await _near(store) == ["a", "c", "d", "b"]


async def test_what_comes_back_is_read_only(store: MemoryStore) -> None:
    """The properties of a result cannot be changed, and changing the list of results is harmless."""
    chunks = await store.fetch("docs", limit=9)
    with pytest.raises(TypeError, match="read-only"):
        chunks[0].properties["body"] = "x"  # type: ignore[index]
    hits: Any = await store.bm25("docs", query="cat", limit=9)
    hits.clear()
    assert await _with_word(store, "cat") == ["a"]
