"""Values that stores take for others: nulls, neighbours, numbers and bools, odd times."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from qdrant_client import models

from soev_retrieval.domain import MAX_INT, DeclaredFilter, Field, Filter, field
from tests.adapters.qdrant.existing import TARGET, existing, points, refusal
from tests.adapters.qdrant.stores import EVERYWHERE, SERVER

everywhere = pytest.mark.parametrize("place", EVERYWHERE)
a = field("a")
_EXACTLY = 0.1 + 0.2
_ZERO = datetime(2000, 1, 1, tzinfo=UTC)
_STEP = timedelta(microseconds=1)


@everywhere
@pytest.mark.parametrize("type", ["text", "int", "float", "bool", "datetime"])
@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
async def test_what_is_empty_is_missing(place: str, type: str, many: bool) -> None:
    """No key, null, `[]`, `[null]` and what is of another type are one and the same."""
    value = {"text": "", "int": 0, "float": 0, "bool": False, "datetime": "1970-01-01"}[type]
    held: list[Any] = [value, None, [], [None], {"b": 1}, [[]]]
    payloads = [{"a": each} for each in held]
    async with existing(
        place, points(*payloads, {}), fields=[Field("a", type, many=many)]
    ) as there:
        assert await there.ids(a.exists()) == ["0"]
        assert await there.ids(a.missing()) == ["1", "2", "3", "4", "5", "6"]
        assert [chunk.id for chunk in await there.fetch() if chunk.properties] == ["0"]


@everywhere
async def test_bools_ints_and_floats_are_three(place: str) -> None:
    """`1`, `1.0` and `true` in one key: each field sees what is of its type, a float field ints too."""
    stored = points({"a": 1}, {"a": 1.0}, {"a": True}, {"a": "1"})
    for type, value, expected in (
        ("int", 1, ["0"]),
        ("float", 1, ["0", "1"]),
        ("bool", True, ["2"]),
        ("text", "1", ["3"]),
    ):
        async with existing(place, stored, fields=[Field("a", type)]) as there:
            assert await there.ids(a == value) == expected
            assert await there.ids(a.in_([value, value])) == expected
            assert [c.id for c in await there.fetch() if c.properties.get("a") == value] == expected


@everywhere
async def test_ints_up_to_the_largest(place: str) -> None:
    """Equality of ints is exact on both transports; REST refuses the bounds that it loses."""
    numbers = [MAX_INT, MAX_INT - 1, MAX_INT - 2, -MAX_INT, 1 - MAX_INT]
    fields = [Field("a", "int")]
    async with existing(
        place, points(*({"a": n} for n in numbers)), fields=fields, indexes={"a": "integer"}
    ) as there:
        for at, number in enumerate(numbers):
            assert await there.ids(a == number) == [str(at)]
            assert await there.ids(a.in_([number, 5])) == [str(at)]
        bounds: list[tuple[Filter, list[str]]] = [
            (a >= MAX_INT, ["0"]),
            (a > MAX_INT - 1, ["0"]),
            (a < 1 - MAX_INT, ["3"]),
            (a <= 1 - MAX_INT, ["3", "4"]),
        ]
        for where, expected in bounds:
            if place.endswith("rest"):
                assert "REST as a bound" in await refusal(there.ids(where))
            else:
                assert await there.ids(where) == expected
        assert await there.ids(a <= 900_719_925_474_099) == ["3", "4"]


@everywhere
@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
async def test_floats_that_no_server_keeps_are_not_compared(place: str, many: bool) -> None:
    """In a collection of others they are refused in local mode too, with what would do."""
    async with existing(
        place, points({"a": 0.5}, {"a": 7}), fields=[Field("a", "float", many=many)]
    ) as there:
        asked: list[tuple[str, Any]] = [("eq", _EXACTLY), ("ne", _EXACTLY), ("in", [1, _EXACTLY])]
        if many:
            asked = [("contains", _EXACTLY), ("contains_any", [_EXACTLY, 0.5])]
            asked += [("contains_all", [0.5, _EXACTLY])]
        for op, value in asked:
            said = await refusal(there.ids(DeclaredFilter("a", op, value)))
            assert "field 'a'" in said
            assert "0.30000000000000004 cannot be compared for equality" in said
            assert "at most 15 significant digits" in said
        if not many and place.endswith("rest"):
            assert "cannot be sent over REST as a bound" in await refusal(there.ids(a > _EXACTLY))
        elif not many:
            assert await there.ids(a > _EXACTLY) == ["0", "1"]


@everywhere
@pytest.mark.parametrize("index", [None, "datetime"])
async def test_times_finer_than_ours_are_cut(place: str, index: str | None) -> None:
    """A stored instant is asked as it is read: cut to the microsecond, with an index or without."""
    stored = ["2000-01-01T00:00:00.0000019Z", "2000-01-01T00:00:00.000001Z", "2000-01-01"]
    async with existing(
        place,
        points(*({"a": each} for each in stored)),
        fields=[Field("a", "datetime")],
        indexes={"a": index} if index else {},
    ) as there:
        one = _ZERO + _STEP
        assert {c.id: c.properties["a"] for c in await there.fetch()} == {
            "0": one,
            "1": one,
            "2": _ZERO,
        }
        assert await there.ids(a == one) == ["0", "1"]
        assert await there.ids(a.in_([one, _ZERO - _STEP])) == ["0", "1"]
        assert await there.ids(a > one) == []
        assert await there.ids(a > _ZERO) == ["0", "1"]
        assert await there.ids(a <= one) == ["0", "1", "2"]
        assert await there.ids(a <= _ZERO) == ["2"]
        assert await there.ids(a < one) == ["2"]


@everywhere
async def test_times_from_the_first_to_the_last(place: str) -> None:
    """Years 1 and 9999 to the microsecond, other offsets, and texts without one, which are UTC."""
    first = datetime.min.replace(tzinfo=UTC)
    last = datetime.max.replace(tzinfo=UTC)
    stored = ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "2000-01-01T01:00:00+01:00"]
    stored += ["2000-01-01 00:00:00", "2000-01-01T00:00", "2000-W01-1", "now"]
    async with existing(
        place, points(*({"a": each} for each in stored)), fields=[Field("a", "datetime")]
    ) as there:
        assert [c.id for c in await there.fetch() if c.properties] == ["0", "1", "2", "3", "4"]
        assert await there.ids(a == first) == await there.ids(a <= first) == ["0"]
        assert await there.ids(a == last) == await there.ids(a >= last) == ["1"]
        assert await there.ids(a > last) == await there.ids(a < first) == []
        assert (
            await there.ids(a <= last) == await there.ids(a.exists()) == ["0", "1", "2", "3", "4"]
        )
        assert await there.ids(a == _ZERO) == ["2", "3", "4"]


@everywhere
async def test_both_bounds_are_of_one_element(place: str) -> None:
    """A list with one value below and one above what is asked does not contain it."""
    fields = [Field("f", "float", many=True), Field("t", "datetime", many=True)]
    stored = points(
        {"f": [1, 3], "t": ["1999-01-01", "2001-01-01"]}, {"f": [2], "t": ["2000-01-01"]}
    )
    for indexes in ({}, {"f": "float", "t": "datetime"}):
        async with existing(place, stored, fields=fields, indexes=indexes) as there:
            assert await there.ids(field("f").contains(2)) == ["1"]
            assert await there.ids(field("t").contains(_ZERO)) == ["1"]
            assert await there.ids(field("t").contains_any([_ZERO, _ZERO + _STEP])) == ["1"]


@everywhere
@pytest.mark.parametrize("type", ["int", "text", "bool"])
async def test_what_holds_and_does_not_is_nothing(place: str, type: str) -> None:
    """`a = x and not a = x` finds nothing, under a payload index as well."""
    value: Any = {"int": 1, "text": "1", "bool": True}[type]
    kind = {"int": "integer", "text": "keyword", "bool": "bool"}[type]
    async with existing(
        place, points({"a": value}, {}), fields=[Field("a", type)], indexes={"a": kind}
    ) as there:
        assert await there.ids((a == value) & (a != value)) == []
        assert await there.ids((a == value) & ~(a == value)) == []
        assert await there.ids((a == value) & a.exists() & (a != value)) == []


@pytest.mark.parametrize("place", SERVER)
async def test_a_uuid_index_knows_one_form(place: str) -> None:
    """Under it UUIDs come back in their usual form, are asked in it, and other text is itself."""
    low, high = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"
    stored = points({"a": low}, {"a": high}, {"a": f"{{{low}}}"}, {"a": "x"}, {"a": "X"})
    async with existing(
        place, stored, fields=[Field("a", "text")], indexes={"a": models.PayloadSchemaType.UUID}
    ) as there:
        found = {chunk.id: chunk.properties["a"] for chunk in await there.fetch()}
        assert found == {"0": low, "1": low, "2": low, "3": "x", "4": "X"}
        assert await there.ids(a == low) == ["0", "1", "2"]
        assert await there.ids(a.in_([low, "x"])) == ["0", "1", "2", "3"]
        assert await there.ids(a.not_in([low, "x"])) == ["4"]
        assert await there.ids(a == high) == await there.ids(a.in_([high, f"{{{low}}}"])) == []
        assert await there.ids(a.in_([high, "X", "y"])) == ["4"]
        assert "prefix" not in (await there.store.fields(TARGET))["a"].operators
