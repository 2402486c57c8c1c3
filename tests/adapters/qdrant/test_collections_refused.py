"""Configurations that cannot be, what is not written, and settings that reach the request."""

from typing import Any

import pytest

from soev_retrieval.domain import Field, FieldSpec, InvalidQueryError, Record, field
from soev_retrieval_qdrant import Collection, QdrantStore
from tests.adapters.qdrant.existing import TARGET, existing, points, refusal
from tests.adapters.qdrant.stores import EVERYWHERE, STAND_IN

_TEXT = Field("t", "text")


@pytest.mark.parametrize(
    "settings",
    [
        {"name": ""},
        {"name": None},
        {"name": "a/b"},
        {"name": ".."},
        {"name": "x" * 256},
        {"fields": 7},
        {"fields": "abc"},
        {"fields": [Field("a", "int"), Field("a", "text")]},
        {"fields": [Field("a", "text", operators=("under",))]},
        {"fields": [Field("back\\slash", "int")]},
        {"fields": [Field('q"uote', "int")]},
        {"keys": {"t": "a."}},
        {"keys": {"t": 7}},
        {"keys": {"u": "a"}},
        {"id": ""},
        {"id": "ids[].id"},
        {"id": 7},
        {"vector": 7},
        {"sparse": True},
        {"scored": "t"},
        {"scored": "u"},
        {"where": "t == 1"},
        {"shard_key": True},
        {"shard_key": 1.5},
        {"hnsw_ef": 0},
        {"hnsw_ef": "64"},
        {"indexes": {"t": "btree"}},
        {"indexes": {"u": "keyword"}},
    ],
    ids=str,
)
def test_a_configuration_that_cannot_be_is_refused_at_once(settings: dict[str, Any]) -> None:
    """A Collection does not wait for the server to say what is wrong with it."""
    with pytest.raises(InvalidQueryError):
        Collection(**{"name": "docs", "fields": [_TEXT], **settings})


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_collection_of_others_is_not_written(place: str) -> None:
    """Every method of a Loader refuses it, and it stays as it is."""
    async with existing(place, points({"t": "x"}), fields=[_TEXT]) as there:
        for asking in (
            there.store.create(TARGET, FieldSpec([_TEXT])),
            there.store.upsert(TARGET, [Record("9", {"t": "y"})]),
            there.store.delete(TARGET, ["0"]),
            there.store.drop(TARGET),
        ):
            said = await refusal(asking)
            assert "Unconfigured" in said
            assert "which this store only reads" in said
        assert await there.ids() == ["0"]


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_collection_that_is_not_there_is_unconfigured(place: str) -> None:
    """The error names the collection, not the target."""
    async with existing(place, fields=[_TEXT]) as there:
        configured = {TARGET: Collection("nowhere", [_TEXT])}
        if place == "local":
            store = QdrantStore(":memory:", collections=configured)
        else:
            settings = there.where.settings
            store = QdrantStore(**settings, collections=configured)
        async with store:
            said = await refusal(store.fetch(TARGET, limit=1))
        assert "Unconfigured: there is no collection 'nowhere'" in said


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_values_of_another_type_are_left_out(place: str) -> None:
    """They are no part of a chunk, and of a list the others are."""
    fields = [
        Field("n", "int"),
        Field("t", "text"),
        Field("f", "float"),
        Field("b", "bool"),
        Field("d", "datetime"),
        Field("ns", "int", many=True),
    ]
    stored = points(
        {"n": "1", "t": 1, "f": "1.5", "b": 0, "d": "now", "ns": [True, 1.0, "1", None]},
        {"n": 1.0, "t": ["a"], "f": True, "b": "true", "d": 0, "ns": {"a": 1}},
        {"n": 1, "t": "1", "f": 1, "b": False, "d": "2000-01-01", "ns": [1, "2", None, 3]},
    )
    async with existing(place, stored, fields=fields) as there:
        first, second, third = await there.fetch()
        assert first.properties == second.properties == {}
        assert set(third.properties) == {"n", "t", "f", "b", "d", "ns"}
        assert third.properties["ns"] == (1, 3)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_value_that_no_chunk_can_hold_is_said(place: str) -> None:
    """The error names the point and the field; other points are found."""
    stored = points({"n": 2**53}, {"n": 1})
    async with existing(place, stored, fields=[Field("n", "int")]) as there:
        said = await refusal(there.fetch())
        assert "point 0 cannot be returned: field 'n' is an int beyond" in said
        assert await there.ids(field("n") == 1) == ["1"]


@pytest.mark.parametrize("place", STAND_IN)
async def test_how_vectors_are_searched_reaches_the_request(place: str) -> None:
    """`exact` and `hnsw_ef` are in the question for near vectors, and by default in none."""
    for settings, expected in (
        ({"exact": True}, {"exact": True}),
        ({"hnsw_ef": 77}, {"hnsw_ef": 77}),
        ({"exact": True, "hnsw_ef": 77}, {"exact": True, "hnsw_ef": 77}),
        ({}, {}),
    ):
        async with existing(place, points({}), **settings) as there:
            await there.store.near_vector(TARGET, vector=[1, 0], limit=1)
            [sent] = there.sent()
            params = sent.get("params") or {}
            found = {"exact": params.get("exact"), "hnsw_ef": params.get("hnsw_ef")}
            if "hnswEf" in params:
                found["hnsw_ef"] = int(params["hnswEf"])
            assert {key: each for key, each in found.items() if each is not None} == expected
