"""Fields in one JSONB object: whatever stands in it, a value of another type is missing."""

import calendar
import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta, timezone
from random import Random
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soev_retrieval.domain import TYPES, Chunk, DeclaredFilter, Field, Unconfigured, matches
from soev_retrieval_pgvector import PgvectorStore, Table
from soev_retrieval_pgvector._payload import PayloadSource
from tests.adapters.formulas import examples, formulas
from tests.adapters.pgvector.formulas import expect_same

_ODD_KEY = "a.b \"c\" \\ 'd' $.x {} %s $1 😀 [0]"
_NUMBERS = (
    *("0", "-0", "-0.0", "1", "1.0", "1.5", "2", "10", "9", "1E2", "-7", "16", "17"),
    *("0.1", "0.10000000000000000555", "0.1000000000000000000000000001", "0.30000000000000004"),
    *("9007199254740991", "-9007199254740991", "1e-400", "5e-324", "3e-324"),
)
_TIMES = (
    *("2000-01-01T00:00:00Z", "2000-01-01T00:00:00+00:00", "2000-01-01 02:00:00+02:00"),
    *("2000-01-01T00:00:00", "2000-01-01", "2000-01-01T00:00:00.1Z", "2000-01-01T00:00:00.000001"),
    *("1999-12-31T19:00:00.000000-05:00", "2000-02-29", "0001-01-01T00:00:00", "9999-12-31"),
)
_NO_TIMES = (
    *("2001-02-29", "2000-02-30T00:00:00Z", "0000-01-01", "2000-13-01", "2000-01-01T24:00:00Z"),
    *("2000-01-01T00:00:60Z", "2000-1-1", "now", "infinity", "epoch", "20000101", "2000-W01-1"),
    *("2000-01-01T00:00:00+16:00", "2000-01-01T00:00", "2000-01-01\n", " 2000-01-01", "today"),
    *("2000-01-01T00:00:00.1234567Z", "10000-01-01", "2000-01-01T00:00:00z", "٢٠٠٠-01-01"),
)
_TEXTS = ("a", "A", "b", "", "a ", "10", "9", "true", "null", "é", "😀", "%", '"', "\\", "[]", "{}")
_VALUES = (
    *(json.dumps(each) for each in (*_TEXTS, *_TIMES, *_NO_TIMES)),
    *(*_NUMBERS, "true", "false", "null", "{}", '{"a": "b"}', "[]", '{"$date": 1}'),
)
"""What may stand under any key, as JSON."""

_FIELDS = [
    Field(f"{kind}{_ODD_KEY if type == 'text' else type}", type, many=kind == "many")
    for type in TYPES
    for kind in ("one", "many")
]
_TABLE = Table("payloads", payload="the payload", payload_fields=_FIELDS)
_held: list[Chunk] = []


def _array(random: Random, values: Sequence[str]) -> str:
    """A list of anything, lists among them; now and then no list at all."""
    if random.random() < 0.2:
        return random.choice(values)
    each = [random.choice((*values, '["a"]', "[[1]]")) for _ in range(random.randrange(4))]
    return f"[{', '.join(each)}]"


def _object(random: Random) -> str:
    held = []
    for field in _FIELDS:
        values = (
            (*_VALUES, "1e300", "-1.7976931348623157e308") if field.type == "float" else _VALUES
        )
        as_list = field.many or random.random() < 0.1
        value = _array(random, values) if as_list else random.choice(values)
        if random.random() < 0.9:
            held.append(f"{json.dumps(field.name)}: {value}")
    return f"{{{', '.join(held)}}}"


@pytest.fixture(scope="module")
def payloads(database: str) -> str:
    """A table of payloads: anything in any field, and payloads that are no objects."""
    random = Random(11)
    rows = [_object(random) for _ in range(250)]
    rows += ["null", "[]", '"a"', "7", '["onetext"]', f"[{json.dumps(_FIELDS[0].name)}]", "{}"]
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute('CREATE TABLE payloads (id int PRIMARY KEY, "the payload" jsonb)')
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO payloads VALUES (%s, %s::jsonb)", enumerate(rows))
        connection.execute("INSERT INTO payloads VALUES (-1, NULL)")
    return database


@pytest.fixture
async def store(payloads: str) -> AsyncIterator[PgvectorStore]:
    """A store over the payloads, and over tables that a test makes."""
    async with PgvectorStore(payloads, tables={"T": _TABLE}) as opened:
        if not _held:
            _held.extend(await opened.fetch("T", limit=1000))
        yield opened


@given(data=st.data())
@examples(400)
async def test_formulas_on_a_payload_are_exact(store: PgvectorStore, data: st.DataObject) -> None:
    """What any formula finds in a payload is what `matches` says of the chunks."""
    where = data.draw(formulas(await store.fields("T"), _held))
    await expect_same(store, "T", _held, where)


async def test_every_operator_tells_every_value_apart(store: PgvectorStore) -> None:
    """Each operator, on each value that some chunk holds, finds what `matches` does."""
    for field in _FIELDS:
        held = [each.properties.get(field.name, ()) for each in _held]
        each = {one for value in held for one in (value if isinstance(value, tuple) else (value,))}
        for op in field.operators:
            if op in {"exists", "missing"}:
                await expect_same(store, "T", _held, DeclaredFilter(field.name, op))
                continue
            several = op in {"in", "not_in", "contains_any", "contains_all"}
            for value in sorted(each, key=repr)[:20]:
                term = DeclaredFilter(field.name, op, [value] if several else value)
                await expect_same(store, "T", _held, term)


async def test_the_order_of_a_payload_is_that_of_its_values(store: PgvectorStore) -> None:
    """Each sortable field, both ways: what is missing comes last, ties are by id."""
    for field in _FIELDS:
        if field.sortable:
            for descending in (False, True):
                found = await store.fetch(
                    "T", limit=1000, order_by=field.name, descending=descending
                )
                assert [each.id for each in found] == _ordered(field.name, descending)


def _ordered(name: str, descending: bool) -> list[str]:
    by_id = sorted(_held, key=lambda each: each.id)
    there = [each for each in by_id if name in each.properties]
    there.sort(key=lambda each: each.properties[name], reverse=descending)
    return [each.id for each in (*there, *(each for each in by_id if each not in there))]


async def _read(address: str, type: str, json_value: str) -> Any:
    """What a field of a type holds of a value, as a fetch brings it."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS x")
        connection.execute("CREATE TABLE x (id text PRIMARY KEY, p jsonb)")
        connection.execute("INSERT INTO x VALUES ('c', %s::jsonb)", [f'{{"x": {json_value}}}'])
    table = Table("x", payload="p", payload_fields=[Field("x", type.strip("[]"), "[" in type)])
    async with PgvectorStore(address, tables={"X": table}) as opened:
        [chunk] = await opened.fetch("X", limit=1)
        missing = await opened.fetch("X", limit=1, where=DeclaredFilter("x", "missing"))
        assert bool(missing) is ("x" not in chunk.properties)
        return chunk.properties.get("x")


@pytest.mark.parametrize(
    ("type", "value", "held"),
    [
        ("text", '"a"', "a"),
        ("text", '""', ""),
        ("text", "1", None),
        ("text", "null", None),
        ("text", '["a"]', None),
        ("text", '{"a": 1}', None),
        ("int", "1.0", 1),
        ("int", "1e2", 100),
        ("int", "1.5", None),
        ("int", "1.00000000000000000000000001", None),
        ("int", '"1"', None),
        ("int", "true", None),
        ("float", "1", 1.0),
        ("float", "0.1000000000000000055511151231257827", 0.1),
        ("float", "1e300", 1e300),
        ("float", "1e-400", 0.0),
        ("float", "9007199254740993", 9007199254740992.0),
        ("bool", "true", True),
        ("bool", "1", None),
        ("bool", '"true"', None),
        ("datetime", '"2000-01-01"', datetime(2000, 1, 1, tzinfo=UTC)),
        ("datetime", '"2000-01-01T00:00:00.5"', datetime(2000, 1, 1, 0, 0, 0, 500000, UTC)),
        (
            "datetime",
            '"2000-01-01T02:00:00+02:00"',
            datetime(2000, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),
        ),
        ("datetime", '"2000-02-30"', None),
        ("datetime", "946684800", None),
        ("text[]", '["a", 1, null, ["b"], {"c": 1}, ""]', ("a", "")),
        ("text[]", '"a"', None),
        ("text[]", "[]", None),
        ("int[]", "[1, 1.5, true, 2.0]", (1, 2)),
        ("float[]", '[1, "1", 0.5]', (1.0, 0.5)),
        ("datetime[]", '["2000-01-01", "never"]', (datetime(2000, 1, 1, tzinfo=UTC),)),
    ],
)
async def test_what_is_read(payloads: str, type: str, value: str, held: Any) -> None:
    """A field holds the values of its own type, and a value of another type is missing."""
    assert await _read(payloads, type, value) == held


@pytest.mark.parametrize(
    ("type", "value", "said"),
    [
        ("int", "9007199254740993", "beyond"),
        ("int", "1e300", "beyond"),
        ("int", "9" * 5000, "beyond"),
        ("float", "1e400", "inf"),
        ("float", "-" + "9" * 5000, "inf"),
        ("float[]", "[1e309]", "inf"),
    ],
)
async def test_numbers_that_cannot_be_returned_are_said(
    payloads: str, type: str, value: str, said: str
) -> None:
    """The error names the chunk and the field."""
    with pytest.raises(Unconfigured, match=f"chunk 'c' cannot be returned: field 'x' .*{said}"):
        await _read(payloads, type, value)


async def test_a_payload_that_nests_too_deep_is_said(payloads: str) -> None:
    """What Python cannot read is an error that names the chunk."""
    with pytest.raises(Unconfigured, match="chunk 'c' cannot be returned: its payload nests"):
        await _read(payloads, "int", "[" * 3000 + "]" * 3000)


@pytest.mark.parametrize("type", [each for each in TYPES if each != "bool"])
@pytest.mark.parametrize("count", [1, 16, 17, 100_000])
async def test_in_takes_any_number_of_values(store: PgvectorStore, type: str, count: int) -> None:
    """`in` and `contains_any` find the same with one value and with a hundred thousand."""
    for kind, op in (("one", "in"), ("many", "contains_any")):
        [field] = [each for each in _FIELDS if each.type == type and each.name.startswith(kind)]
        held = [each.properties.get(field.name, ()) for each in _held]
        flat = [one for value in held for one in (value if isinstance(value, tuple) else (value,))]
        values = [flat[0], *_others(type, count - 1)]
        where = DeclaredFilter(field.name, op, values)
        expected = {each.id for each in _held if matches(where, each.properties)}
        assert {each.id for each in await store.fetch("T", where=where, limit=1000)} == expected


def _others(type: str, count: int) -> Sequence[Any]:
    of_type: dict[str, Any] = {
        "text": str,
        "int": int,
        "float": lambda number: number + 0.5,
        "datetime": lambda number: datetime(2001, 1, 1, tzinfo=UTC) + timedelta(seconds=number),
    }
    return [of_type[type](number) for number in range(1000, 1000 + count)]


@settings(max_examples=200)
@given(
    st.integers(0, 9999),
    st.integers(0, 13),
    st.integers(0, 32),
    st.sampled_from(["", "T23:59:59Z", " 00:00:00.5", "T12:00:00+15:59", "T24:00:00Z"]),
)
def test_what_is_read_as_a_datetime_is_one(year: int, month: int, day: int, rest: str) -> None:
    """A text has the form of a datetime exactly where the calendar has that day."""
    text = f"{year:04}-{month:02}-{day:02}{rest}"
    try:
        read = datetime.fromisoformat(text) if "T24" not in rest else None
    except ValueError:
        read = None
    came = PayloadSource(Field("time", "datetime"), "p").read({"time": text})
    assert (came is not None) == (read is not None), text


@pytest.mark.parametrize("year", [1900, 2000, 2023, 2024, 2100, 400, 4])
def test_leap_years_are_known(year: int) -> None:
    """The 29th of February is a day in leap years, and in no other."""
    came = PayloadSource(Field("time", "datetime"), "p").read({"time": f"{year:04}-02-29"})
    assert (came is not None) == calendar.isleap(year)
