"""Values that a server takes for others: dates beyond its years, large ints, UUIDs, bools."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from weaviate.classes.config import DataType, Property

from soev_retrieval.domain import (
    MAX_INT,
    DeclaredFilter,
    Field,
    FieldSpec,
    Filter,
    InvalidQueryError,
    Record,
    field,
)
from tests.adapters.weaviate.existing import TARGET, existing, objects, refusal
from tests.adapters.weaviate.formulas import indexed
from tests.adapters.weaviate.stores import EVERYWHERE, RUN, opened

everywhere = pytest.mark.parametrize("place", EVERYWHERE)
a = field("a")
FIRST = datetime(1677, 9, 21, 0, 12, 44, tzinfo=UTC)
LAST = datetime(2262, 4, 11, 23, 47, 16, tzinfo=UTC)
STEP = timedelta(microseconds=1)


def of(type: DataType, *values: Any, **more: Any) -> tuple[list[Property], list[Any]]:
    """A property of a type, and an object for each value, without it for None."""
    held = ({} if value is None else {"a": value} for value in values)
    return [Property(name="a", data_type=type, **more)], objects(*held)


@everywhere
@pytest.mark.parametrize("ranges", [True, False])
async def test_dates_are_asked_within_the_servers_years(place: str, ranges: bool) -> None:
    """The first and the last that it compares are exact; what is beyond is refused by name."""
    times = (FIRST, FIRST + STEP, LAST - STEP, datetime(2000, 1, 1, tzinfo=UTC), None)
    async with existing(place, *of(DataType.DATE, *times, index_range_filters=ranges)) as there:
        wheres: list[tuple[Filter, list[int]]] = [
            (a == FIRST, [0]),
            (a > FIRST, [1, 2, 3]),
            (a <= FIRST, [0]),
            (a == LAST - STEP, [2]),
            (a > LAST - STEP, []),
            (a < LAST - STEP, [0, 1, 3]),
            (a != FIRST, [1, 2, 3, 4]),
        ]
        for where, expected in wheres:
            assert await there.numbers(where) == expected, where
        for beyond in (FIRST - STEP, LAST, datetime.max.replace(tzinfo=UTC)):
            for where in (a == beyond, a < beyond, a.in_([FIRST, beyond]), ~(a >= beyond)):
                said = await refusal(there.ids(where))
                assert "field 'a': Weaviate compares dates from 1677-09-21 to 2262-04-11" in said


@everywhere
async def test_our_own_collections_know_every_date(place: str) -> None:
    """Years 1 and 9999, to the microsecond."""
    times = [datetime.min.replace(tzinfo=UTC), FIRST - STEP, LAST, datetime.max.replace(tzinfo=UTC)]
    target = f"{RUN}Dates"
    async with opened(place) as store:
        await store.create(target, FieldSpec([Field("a", "datetime")]))
        await store.upsert(target, [Record(f"{n}", {"a": each}) for n, each in enumerate(times)])
        for at, time in enumerate(times):
            for op, expected in (("eq", [at]), ("gt", [*range(at + 1, 4)]), ("lt", [*range(at)])):
                found = await store.fetch(target, where=DeclaredFilter("a", op, time), limit=9)
                assert sorted(int(chunk.id) for chunk in found) == expected
        await store.drop(target)


@everywhere
async def test_dates_finer_than_ours_are_cut(place: str) -> None:
    """What is stored to the nanosecond is asked as it is read, to the microsecond."""
    one = datetime(2000, 1, 1, 0, 0, 0, 1, tzinfo=UTC)
    stored = ("2000-01-01T00:00:00.0000019Z", "2000-01-01T00:00:00.000001Z", "2000-01-01T00:00:00Z")
    async with existing(place, *of(DataType.DATE, *stored)) as there:
        found = {chunk.id: chunk.properties["a"] for chunk in await there.fetch()}
        assert sorted(found.values()) == [one - STEP, one, one]
        wheres: list[tuple[Filter, list[int]]] = [
            (a == one, [0, 1]),
            (a > one, []),
            (a >= one, [0, 1]),
            (a <= one, [0, 1, 2]),
            (a < one, [2]),
            (a > one - STEP, [0, 1]),
        ]
        for where, expected in wheres:
            assert await there.numbers(where) == expected, where


@everywhere
async def test_an_instant_is_one_in_every_zone(place: str) -> None:
    """Offsets, of seconds too, and the hour that a clock is set back, are instants."""
    noon = datetime(2000, 1, 1, 12, tzinfo=UTC)
    async with existing(place, *of(DataType.DATE, noon, noon + STEP)) as there:
        for offset in (timedelta(hours=5, minutes=30), timedelta(seconds=-4567)):
            assert await there.numbers(a == noon.astimezone(timezone(offset))) == [0]
        said = await refusal(there.ids(DeclaredFilter("a", "eq", 7)))
        assert "give datetime" in said
        with pytest.raises(InvalidQueryError, match="without an offset"):
            _ = a == datetime(2000, 1, 1)


@everywhere
@pytest.mark.parametrize("ranges", [True, False])
async def test_ints_to_the_largest(place: str, ranges: bool) -> None:
    """Neighbours of ±(2**53 - 1) are told apart; what is beyond cannot be asked."""
    numbers = (MAX_INT, MAX_INT - 1, -MAX_INT, 1 - MAX_INT, 0, None)
    async with existing(place, *of(DataType.INT, *numbers, index_range_filters=ranges)) as there:
        for at, number in enumerate(numbers[:-1]):
            assert await there.numbers(a == number) == [at]
            assert await there.numbers(a.in_([number, 5])) == [at]
        assert await there.numbers(a > MAX_INT - 1) == [0]
        assert await there.numbers(a <= 1 - MAX_INT) == [2, 3]
        with pytest.raises(InvalidQueryError, match="beyond"):
            await there.ids(a == 2**53)


@everywhere
async def test_an_int_that_no_chunk_can_hold_is_said(place: str) -> None:
    """An object with one cannot be returned, and is named; others are."""
    async with existing(place, *of(DataType.INT, 2**60, 1)) as there:
        said = await refusal(there.fetch())
        assert (
            "Unconfigured: object 00000000-0000-0000-0000-000000000000 cannot be returned" in said
        )
        assert "field 'a' is an int beyond" in said
        assert await there.numbers(a == 1) == [1]


NUMBERS: list[tuple[Callable[[Any], Any], bool]] = [
    (np.int64, True),
    (np.float64, True),
    (float, True),
    (int, True),
    (Decimal, False),
    (bool, False),
    (str, False),
    (np.float32, False),
]


@everywhere
async def test_a_number_is_what_python_takes_for_one(place: str) -> None:
    """Those of numpy are, Decimals, bools and digits are refused before anything is asked."""
    async with existing(place, *of(DataType.NUMBER, 1.0, 0.0)) as there:
        for kind, is_one in NUMBERS:
            if is_one:
                assert await there.numbers(a == kind(1)) == [0]
                assert await there.numbers(a.in_([kind(1)])) == [0]
                assert await there.numbers(a >= kind(1)) == [0]
                continue
            for op, value in (("eq", kind(1)), ("in", [kind(1)]), ("in", [1.0, kind(1)])):
                with pytest.raises(InvalidQueryError):
                    await there.ids(DeclaredFilter("a", op, value))


@everywhere
async def test_lists_are_lists_of_whatever_kind(place: str) -> None:
    """A tuple, a set, a generator and an array are the list of their elements, None is refused."""
    async with existing(place, *of(DataType.INT, 1, 2, 3)) as there:
        several: list[Any] = [(1, 2), {1, 2}, (n for n in (1, 2)), np.array([1, 2]), range(1, 3)]
        for values in several:
            assert await there.numbers(a.in_(values)) == [0, 1]
        wrongs: list[Any] = [[1, None], [1, "2"], [1, True], None, "12"]
        for wrong in wrongs:
            with pytest.raises(InvalidQueryError):
                await there.ids(DeclaredFilter("a", "in", wrong))


@everywhere
async def test_bools_and_numbers_are_two(place: str) -> None:
    """`True` is no `1`, nor the other way round."""
    async with existing(place, *of(DataType.BOOL, True, False, None)) as there:
        assert await there.numbers(a == True) == [0]  # noqa: E712
        assert await there.numbers(a != True) == [1, 2]  # noqa: E712
        assert (
            await there.numbers(a.in_([True, False])) == await there.numbers(a.exists()) == [0, 1]
        )
        assert await there.numbers(a.not_in([False])) == [0, 2]
        assert await there.numbers(a.missing()) == [2]
        assert "the value is int, give bool" in await refusal(there.ids(a == 1))
    async with existing(place, *of(DataType.INT, 1, 0)) as there:
        assert "the value is bool, give int" in await refusal(there.ids(a.in_([True])))
        assert "the value is float, give int" in await refusal(there.ids(a == 1.0))


@everywhere
@pytest.mark.parametrize("ranges", [True, False])
async def test_zero_has_no_sign(place: str, ranges: bool) -> None:
    """`-0.0` and `0.0` are equal in every operator."""
    given = of(DataType.NUMBER, 0.0, -0.0, 5e-324, -5e-324, index_range_filters=ranges)
    async with existing(place, *given) as there:
        for zero in (0.0, -0.0, 0):
            assert await there.numbers(a == zero) == [0, 1]
            assert await there.numbers(a > zero) == [2]
            assert await there.numbers(a >= zero) == [0, 1, 2]
            assert await there.numbers(a < zero) == [3]
            assert await there.numbers(a.not_in([zero])) == [2, 3]


@everywhere
@pytest.mark.parametrize("nulls", [True, False])
async def test_a_uuid_is_text_in_its_usual_form(place: str, nulls: bool) -> None:
    """It is read and asked in small letters with hyphens: any other text is none of them."""
    uuids = [f"{n:08x}-0000-4000-8000-000000000000" for n in (0, 0xA, 0xAB, 0xFFFFFFFF)]
    making = indexed(nulls=nulls)
    stored = (*(each.upper() for each in uuids), None)
    async with existing(place, *of(DataType.UUID, *stored), making=making) as there:
        found = {chunk.properties.get("a") for chunk in await there.fetch()}
        assert found == {*uuids, None}
        for at, each in enumerate(uuids):
            assert await there.numbers(a == each) == [at]
            assert await there.numbers(a > each) == [*range(at + 1, 4)]
            assert await there.numbers(a <= each) == [*range(at + 1)]
        for other in (uuids[1].upper(), uuids[1].replace("-", ""), f"{{{uuids[1]}}}", "x", ""):
            assert await there.numbers(a == other) == []
            assert await there.numbers(a != other) == [0, 1, 2, 3, 4]
            assert await there.numbers(a.in_([other, uuids[0]])) == [0]
            assert "it holds UUIDs" in await refusal(there.ids(a > other))
        assert await there.numbers(a.exists()) == [0, 1, 2, 3]
        assert "does not serve 'prefix'" in await refusal(there.ids(a.prefix("0")))
        assert not (await there.store.fields(TARGET))["a"].sortable


@everywhere
async def test_both_ends_are_of_one_element(place: str) -> None:
    """A list with one value below and one above what is asked does not contain it."""
    lists: list[Any] = [[1.0, 3.0], [2.0], [], None]
    async with existing(place, *of(DataType.NUMBER_ARRAY, *lists)) as there:
        assert await there.numbers(a.contains(2.0)) == [1]
        assert await there.numbers(a.contains_all([1.0, 3.0])) == [0]
        assert await there.numbers(~a.contains_any([1.0, 3.0])) == [1, 2, 3]
        assert await there.numbers(a.missing()) == [2, 3]
