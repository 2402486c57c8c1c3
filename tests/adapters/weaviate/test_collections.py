"""Collections that were made by others: what their schema tells of each property."""

from typing import Any

import pytest
from weaviate.classes.config import (
    Configure,
    DataType,
    Property,
    ReferenceProperty,
    Tokenization,
)
from weaviate.classes.data import DataObject, GeoCoordinate, PhoneNumber

from soev_retrieval.domain import Field, field
from tests.adapters.weaviate.existing import TARGET, exact, existing, objects, refusal
from tests.adapters.weaviate.formulas import indexed
from tests.adapters.weaviate.stores import EVERYWHERE

everywhere = pytest.mark.parametrize("place", EVERYWHERE)
NUMBER = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "not_in", "exists", "missing")
TEXT = (*NUMBER, "prefix")
EQUAL = ("eq", "ne", "in", "not_in", "exists", "missing")
LIST = ("contains", "contains_any", "contains_all", "exists", "missing")
ROUGH = ("eq", "in", "exists", "missing")

PROPERTIES = [
    exact("isbn"),
    exact("tags", DataType.TEXT_ARRAY),
    exact("shelf"),
    exact("marks", DataType.TEXT_ARRAY),
    Property(name="title", data_type=DataType.TEXT),
    Property(name="notes", data_type=DataType.TEXT_ARRAY, tokenization=Tokenization.WHITESPACE),
    Property(name="body", data_type=DataType.TEXT, index_filterable=False),
    Property(
        name="secret", data_type=DataType.TEXT, index_filterable=False, index_searchable=False
    ),
    Property(name="year", data_type=DataType.INT),
    Property(name="years", data_type=DataType.INT_ARRAY),
    Property(name="price", data_type=DataType.NUMBER, index_range_filters=True),
    Property(
        name="weight", data_type=DataType.NUMBER, index_range_filters=True, index_filterable=False
    ),
    Property(name="depth", data_type=DataType.NUMBER, index_filterable=False),
    Property(name="prices", data_type=DataType.NUMBER_ARRAY),
    Property(name="open", data_type=DataType.BOOL),
    Property(name="flags", data_type=DataType.BOOL_ARRAY),
    Property(name="at", data_type=DataType.DATE),
    Property(name="times", data_type=DataType.DATE_ARRAY),
    Property(name="key", data_type=DataType.UUID),
    Property(name="keys", data_type=DataType.UUID_ARRAY),
]

# type, operators, sortable, searchable
SERVED: dict[str, tuple[str, tuple[str, ...], bool, bool]] = {
    "isbn": ("text", ROUGH, False, False),
    "tags": ("list of text", LIST, False, False),
    "shelf": ("text", TEXT, False, False),
    "marks": ("list of text", LIST, False, False),
    "title": ("text", (), False, True),
    "notes": ("list of text", LIST, False, True),
    "body": ("text", TEXT, False, True),
    "secret": ("text", (), False, False),
    "year": ("int", NUMBER, True, False),
    "years": ("list of int", LIST, False, False),
    "price": ("float", NUMBER, True, False),
    "weight": ("float", NUMBER, True, False),
    "depth": ("float", (), False, False),
    "prices": ("list of float", LIST, False, False),
    "open": ("bool", EQUAL, False, False),
    "flags": ("list of bool", LIST, False, False),
    "at": ("datetime", NUMBER, True, False),
    "times": ("list of datetime", LIST, False, False),
    "key": ("text", NUMBER, False, False),
    "keys": ("list of text", LIST, False, False),
}


def told(field: Field) -> tuple[str, tuple[str, ...], bool, bool]:
    """What a field says of itself."""
    return str(field), field.operators, field.sortable, field.searchable


@everywhere
async def test_the_schema_says_what_each_property_serves(place: str) -> None:
    """The table of the documentation, property by property."""
    async with existing(
        place,
        PROPERTIES,
        making=indexed(nulls=False),
        trimmed=["shelf", "marks"],
        recheck=["notes", "body"],
    ) as there:
        spec = await there.store.fields(TARGET)
        assert {each.name: told(each) for each in spec} == SERVED
        assert (spec.dimension, spec.distance, spec.embeds) == (None, "cosine", False)


@everywhere
async def test_a_property_without_an_index_is_read_and_not_asked(place: str) -> None:
    """The refusal says which index it needs; what comes back holds it; rechecked it is asked."""
    bare: dict[str, Any] = {"index_filterable": False, "index_searchable": False}
    made = [
        Property(name="t", data_type=DataType.TEXT, **bare),
        Property(name="n", data_type=DataType.INT, index_filterable=False),
        Property(name="d", data_type=DataType.UUID, index_filterable=False),
    ]
    uuid = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
    stored = objects({"t": "a", "n": 1, "d": uuid}, {"t": "b"})
    async with existing(place, made, stored) as there:
        for where in (field("t") == "a", field("n") >= 1, field("d") == uuid):
            assert "no index; give it one with indexFilterable" in await refusal(there.ids(where))
        assert "not sortable" in await refusal(there.store.fetch(TARGET, limit=1, order_by="n"))
        found = [chunk.properties for chunk in await there.fetch()]
        assert {"t": "a", "n": 1, "d": uuid} in found
    async with existing(place, made, stored, recheck=["t"]) as there:
        assert await there.numbers(field("t") == "a") == [0]
        assert await there.numbers(field("t") > "a") == [1]


@everywhere
async def test_what_is_no_value_is_no_field(place: str) -> None:
    """Objects, references, places, telephone numbers and blobs are refused by name, with the type."""
    nested = [Property(name="street", data_type=DataType.TEXT)]
    made = [
        Property(name="n", data_type=DataType.INT),
        Property(name="address", data_type=DataType.OBJECT, nested_properties=nested),
        Property(name="rooms", data_type=DataType.OBJECT_ARRAY, nested_properties=nested),
        Property(name="place", data_type=DataType.GEO_COORDINATES),
        Property(name="phone", data_type=DataType.PHONE_NUMBER),
        Property(name="image", data_type=DataType.BLOB),
    ]
    types = {
        "address": "object",
        "rooms": "object[]",
        "place": "geoCoordinates",
        "phone": "phoneNumber",
        "image": "blob",
    }
    held = {
        "n": 1,
        "address": {"street": "x"},
        "place": GeoCoordinate(latitude=1.0, longitude=2.0),
        "phone": PhoneNumber(number="+31 20 123 4567"),
        "image": "aGVsbG8=",
    }
    async with existing(place, made, [DataObject(properties=held)]) as there:
        assert [each.name for each in await there.store.fields(TARGET)] == ["n"]
        [chunk] = await there.fetch()
        assert chunk.properties == {"n": 1}
        for name, type in types.items():
            why = f"property {name!r} is {type}, which no field can be"
            assert why in await refusal(there.ids(field(name) == "x"))
            assert why in await refusal(there.store.fetch(TARGET, limit=1, order_by=name))


@pytest.mark.parametrize("place", EVERYWHERE[1:])
async def test_a_reference_is_no_field(place: str) -> None:
    """It is refused by name."""
    async with existing(place, [Property(name="n", data_type=DataType.INT)]) as there:
        made = there.client.collections.use(there.name)
        await made.config.add_reference(
            ReferenceProperty(name="next", target_collection=there.name)
        )
        said = await refusal(there.ids(field("next") == "x"))
        assert "property 'next' is a reference, which no field can be" in said


@everywhere
async def test_names_are_spelled_as_in_the_schema(place: str) -> None:
    """The server begins each with a small letter, keeps the rest, and so do filters and results."""
    names = ("Year", "isOpen", "under_score", "A", "x1", "HTTPStatus", "a" * 200)
    made = [Property(name=name, data_type=DataType.INT) for name in names]
    spelled = [name[0].lower() + name[1:] for name in names]
    stored = objects(dict(zip(spelled, range(7), strict=True)), {"year": 7})
    async with existing(place, made, stored) as there:
        assert [each.name for each in await there.store.fields(TARGET)] == spelled
        for at, name in enumerate(spelled):
            assert await there.numbers(field(name) == at) == [0]
            [first, *_] = await there.store.fetch(TARGET, limit=2, order_by=name)
            assert first.properties[name] == at
        said = await refusal(there.ids(field("Year") == 0))
        assert "declares no field 'Year'; did you mean 'year'" in said


@pytest.mark.parametrize("place", EVERYWHERE[1:])
async def test_a_name_may_begin_with_an_underscore(place: str) -> None:
    """It is taken for nothing of the server's own."""
    made = [Property(name="_private", data_type=DataType.INT), exact("_")]
    async with existing(place, made, objects({"_private": 1, "_": "x"}), trimmed=["_"]) as there:
        assert await there.numbers((field("_private") == 1) & (field("_") >= "a")) == [0]


@everywhere
async def test_what_is_searched_can_be_chosen(place: str) -> None:
    """All that have an index of words, or those that are named; none is a matter of settings."""
    made = [
        Property(name="title", data_type=DataType.TEXT),
        Property(name="body", data_type=DataType.TEXT),
        exact("isbn"),
    ]
    stored = objects({"title": "wing", "body": "heat", "isbn": "wing"}, {"body": "wing"})

    async def found(there: Any, query: str = "wing") -> list[str]:
        return sorted(hit.id for hit in await there.store.bm25(TARGET, query=query, limit=5))

    async with existing(place, made, stored) as there:
        assert len(await found(there)) == 2
        spec = await there.store.fields(TARGET)
        assert [each.name for each in spec if each.searchable] == ["title", "body"]
    async with existing(place, made, stored, searchable=["title"]) as there:
        assert len(await found(there)) == 1
        assert len(await found(there, "heat")) == 0
        spec = await there.store.fields(TARGET)
        assert [each.name for each in spec if each.searchable] == ["title"]
    async with existing(place, made, stored, searchable=[]) as there:
        assert "names no property" in await refusal(found(there))
    async with existing(place, made, stored, searchable=["isbn"]) as there:
        said = await refusal(found(there))
        assert "property 'isbn' has no index of words; those with one: title, body" in said
    async with existing(place, [exact("isbn")], stored[:0]) as there:
        assert "no property has an index of words" in await refusal(found(there))


@everywhere
@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"trimmed": ["title"]}, "trimmed names 'title', which is no text of tokenization field"),
        ({"trimmed": ["year"]}, "trimmed names 'year', which is no text of tokenization field"),
        ({"recheck": ["year"]}, "recheck names 'year', which is no text"),
        ({"recheck": ["colour"]}, "it has no property 'colour'; it has isbn, title, year"),
        ({"trimmed": ["ISBN"]}, "it has no property 'ISBN'; it has isbn, title, year"),
        ({"searchable": ["colour"]}, "it has no property 'colour'"),
        ({"id": "colour"}, "it has no property 'colour'"),
        ({"id": "year"}, "the ids in 'year' are no text"),
        ({"id": "title"}, "the ids in 'title' are cut into words; use the tokenization field"),
        ({"vector": "colour"}, "it has no vector 'colour'; it has default"),
    ],
    ids=str,
)
async def test_a_configuration_that_does_not_fit_is_said(
    place: str, settings: dict[str, Any], why: str
) -> None:
    """The error names the collection, and what it has."""
    made = [
        exact("isbn"),
        Property(name="title", data_type=DataType.TEXT),
        Property(name="year", data_type=DataType.INT),
    ]
    more = {"vector_config": Configure.Vectors.self_provided()}
    async with existing(place, made, making=more, **settings) as there:
        for asking in (there.fetch(), there.store.fields(TARGET)):
            said = await refusal(asking)
            assert said.startswith(f"Unconfigured: collection {there.name!r}: ")
            assert why in said
