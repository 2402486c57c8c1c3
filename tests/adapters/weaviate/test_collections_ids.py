"""The id of a chunk: the UUID of its object, or a property of it."""

from typing import Any

import pytest
from weaviate.classes.config import DataType, Property, Tokenization
from weaviate.classes.data import DataObject

from soev_retrieval.domain import Chunk, field
from soev_retrieval_weaviate import _objects, _reading
from tests.adapters.weaviate.existing import (
    TARGET,
    exact,
    existing,
    number_id,
    objects,
    refusal,
)
from tests.adapters.weaviate.formulas import indexed
from tests.adapters.weaviate.stores import EVERYWHERE

everywhere = pytest.mark.parametrize("place", EVERYWHERE)
INT = Property(name="n", data_type=DataType.INT)
UUID = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"


async def everyone(store: Any) -> list[list[str]]:
    """The ids that each search finds."""
    text = {"query": "wing"}
    return [
        [each.id for each in found]
        for found in (
            await store.near_vector(TARGET, vector=[1, 0], limit=9),
            await store.bm25(TARGET, limit=9, **text),
            await store.hybrid(TARGET, vector=[1, 0], limit=9, **text),
            await store.hybrid(TARGET, vector=[1, 0], limit=150, **text),
            await store.fetch(TARGET, limit=9, order_by="n"),
        )
    ]


@everywhere
async def test_the_uuid_of_an_object_is_the_chunks_id(place: str) -> None:
    """It comes back in its usual form, from every search, ties in its order."""
    made = [INT, Property(name="t", data_type=DataType.TEXT)]
    stored = [
        DataObject(properties={"n": 1, "t": "wing"}, uuid=uuid, vector=[1.0, 0.0])
        for uuid in (UUID, number_id(7), number_id(3))
    ]
    async with existing(place, made, stored) as there:
        expected = sorted([UUID, number_id(7), number_id(3)])
        assert await everyone(there.store) == [expected] * 5


@everywhere
async def test_a_uuid_in_capitals_comes_back_in_small_letters(place: str) -> None:
    """Batches are stored as they are spelled, and what is found is spelled as usual."""
    stored = [DataObject(properties={"n": 1}, uuid=UUID.upper(), vector=[1.0, 0.0])]
    async with existing(place, [INT], stored) as there:
        assert await there.ids() == await there.ids(field("n") == 1) == [UUID]
        hits = await there.store.near_vector(TARGET, vector=[1, 0], limit=2)
        assert [hit.id for hit in hits] == [UUID]


@everywhere
@pytest.mark.parametrize("type", [DataType.TEXT, DataType.UUID])
async def test_an_id_in_a_property(place: str, type: DataType) -> None:
    """A text of one token or a UUID; it orders what ties, and is a field as well."""
    ids = [str(f"{n}0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11") for n in (3, 1, 2)]
    if type is DataType.TEXT:
        ids = ["b/2", "a/3", "B/1"]
    key = exact("key") if type is DataType.TEXT else Property(name="key", data_type=type)
    made = [INT, Property(name="t", data_type=DataType.TEXT), key]
    stored = [
        DataObject(properties={"n": 1, "t": "wing", "key": id}, vector=[1.0, 0.0]) for id in ids
    ]
    making = indexed(nulls=False)
    async with existing(place, made, stored, making=making, id="key") as there:
        assert await everyone(there.store) == [sorted(ids)] * 5
        assert await there.ids(field("key").in_(ids[:2])) == sorted(ids[:2])
        [chunk] = await there.fetch(field("key") == ids[0])
        assert chunk == Chunk(ids[0], {"n": 1, "t": "wing", "key": ids[0]})


@everywhere
async def test_an_id_needs_no_index(place: str) -> None:
    """It is read, and never asked for."""
    bare = Property(
        name="key", data_type=DataType.TEXT, index_filterable=False, index_searchable=False
    )
    async with existing(place, [bare], objects({"key": "b"}, {"key": "a"}), id="key") as there:
        assert await there.ids() == ["a", "b"]


@everywhere
@pytest.mark.parametrize("held", [{}, {"key": ""}], ids=["missing", "empty"])
async def test_an_object_without_an_id_is_said(place: str, held: dict[str, Any]) -> None:
    """The error names the object and the property."""
    async with existing(place, [exact("key")], objects({"key": "a"}, held), id="key") as there:
        said = await refusal(there.fetch())
        assert said.startswith("Unconfigured")
        assert f"has an object {number_id(1)} without a chunk id in 'key'" in said


@everywhere
@pytest.mark.parametrize(
    ("property", "why"),
    [
        (Property(name="key", data_type=DataType.TEXT), "are cut into words"),
        (
            Property(name="key", data_type=DataType.TEXT, tokenization=Tokenization.LOWERCASE),
            "are cut into words",
        ),
        (Property(name="key", data_type=DataType.INT), "are no text"),
        (exact("key", DataType.TEXT_ARRAY), "are no text"),
    ],
    ids=["word", "lowercase", "int", "list"],
)
async def test_what_cannot_be_an_id_is_refused(place: str, property: Property, why: str) -> None:
    """Ids that are cut into words are not told apart by the server."""
    async with existing(place, [property], id="key") as there:
        said = await refusal(there.fetch())
        assert f"the ids in 'key' {why}" in said


@everywhere
async def test_ids_in_capitals_are_lost_nowhere(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch keeps UUIDs as they are written: pages are cut, and hits read, in either spelling."""
    for module in (_objects, _reading):
        monkeypatch.setattr(module, "PAGE", 16)
    words = Property(name="text", data_type=DataType.TEXT, tokenization=Tokenization.WHITESPACE)
    several = objects(*({"text": "copper", "n": n} for n in range(90)))
    for at, each in enumerate(several):
        each.uuid = str(each.uuid).upper() if at % 3 else each.uuid
        each.vector = [1.0, at / 100]
    made = [words, Property(name="n", data_type=DataType.INT)]
    ids = {str(each.uuid).lower() for each in several}
    async with existing(place, made, several) as there:
        for where in (None, field("n") >= 0):
            chunks = await there.fetch(where)
            assert {chunk.id for chunk in chunks} == ids
            assert len(chunks) == 90
    monkeypatch.undo()
    async with existing(place, made, several) as there:
        hits = await there.store.hybrid(TARGET, query="copper", vector=[1.0, 0.0], limit=150)
        assert {hit.id for hit in hits} == ids
