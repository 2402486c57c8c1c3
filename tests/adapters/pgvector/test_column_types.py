"""Columns of every type that is served, compared with the one definition of every operator."""

from collections.abc import Sequence
from decimal import Decimal
from random import Random
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.domain import Chunk, DeclaredFilter, Field
from soev_retrieval_pgvector import PgvectorStore, Table
from soev_retrieval_pgvector._sql import as_float
from tests.adapters.formulas import examples, formulas
from tests.adapters.pgvector.formulas import expect_same

_TEXTS = (
    *(
        "a",
        "b",
        "B",
        "ab",
        "a b",
        " a",
        "a ",
        "",
        "10",
        "9",
        "%",
        "a_c",
        "\\",
        "'",
        '"',
        "{}",
        "NULL",
    ),
    *(
        "é",
        "e\u0301",
        "ß",
        "İ",
        "ı",
        "日本",
        "😀",
        "\uffff",
        "\U0010ffff",
        "\x01",
        "a\nb",
        "Ａ",
        "-a",
    ),
)
_FLOATS = (
    *("0", "-0", "0.1", "1", "2", "-1.5", "0.3333333333333333", "16777216", "16777217"),
    *("9007199254740993", "1e30", "1e-30", "1e-40", "0.30000000000000004", "0.3"),
)
_TIMES = (
    *("0001-01-01 00:00:00+00", "0099-12-31 23:59:59.999999+00", "1900-02-28 12:00:00+00"),
    *("1970-01-01 00:00:00+00", "2000-01-01 00:00:00+00", "2000-01-01 00:00:00.000001+00"),
    *("1999-12-31 23:59:59.9+00", "2000-01-01 02:00:00+02", "9999-12-31 23:59:59.999999+00"),
)
_TYPES: dict[str, Sequence[str]] = {
    "text": _TEXTS,
    'text COLLATE "C"': _TEXTS,
    "varchar": _TEXTS,
    "varchar(2)": tuple({each[:2] for each in _TEXTS}),
    "char(3)": tuple({each[:3] for each in _TEXTS}),
    "name": _TEXTS,
    "uuid": (
        "00000000-0000-0000-0000-000000000000",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ),
    "mood": ("b", "a", "B", "é", "a b", "it's", "😀"),
    "boolean": ("true", "false"),
    "smallint": ("-32768", "-1", "0", "1", "9", "10", "32767"),
    "integer": ("-2147483648", "-1", "0", "1", "32768", "2147483647"),
    "bigint": ("-9007199254740991", "-1", "0", "1", "2147483648", "9007199254740991"),
    "real": (*_FLOATS, "3.4028235e38", "1.4e-45"),
    "double precision": (*_FLOATS, "5e-324", "1.7976931348623157e308"),
    "numeric(5,2)": ("0", "0.1", "-0.10", "1", "999.99", "-999.99", "0.3"),
    "numeric(15,4)": ("0.1", "99999999999.9999", "0.3", "1"),
    "numeric(2,-3)": ("0", "1000", "99000"),
    "numeric(30,20)": ("0.1", "0.30000000000000004", "0.1000000000000000055", "9999999999.1"),
    "numeric": (
        *_FLOATS,
        *("1e308", "1e-308", "1e-320", "1e-400", "-1e-400", "2.0", "0.10000000000000000555111512"),
        *("0.1000000000000000000001", "1.7976931348623158e308", "4503599627370496.50000000001"),
    ),
    "timestamptz": _TIMES,
    "timestamp": _TIMES,
    "date": _TIMES,
    "code": _TEXTS,
    "price": ("0", "0.1", "12.34", "-12.3"),
}
"""What a table may declare, and values of it as text."""

_DOMAINS = """
CREATE TYPE mood AS ENUM ('b', 'a', 'B', 'é', 'a b', 'it''s', '😀');
CREATE DOMAIN code AS text CHECK (VALUE <> 'never');
CREATE DOMAIN amount AS numeric(8,2);
CREATE DOMAIN price AS amount;
CREATE DOMAIN labels AS text[];
"""
_ROWS = 70
_held: dict[str, list[Chunk]] = {}


def _types(connection: psycopg.Connection) -> dict[str, Sequence[str]]:
    """The types of this server: a build without ICU has no collation that takes `a` for `A`."""
    try:
        connection.execute(
            "CREATE COLLATION loose"
            " (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
        )
        connection.execute("CREATE COLLATION english (provider = icu, locale = 'en-US')")
    except psycopg.errors.FeatureNotSupported:
        return _TYPES
    collations = ("loose", "english")
    kinds = ("text", "varchar", "char(3)")
    return _TYPES | {f"{kind} COLLATE {each}": _TEXTS for each in collations for kind in kinds}


def _arrays(random: Random, pool: Sequence[str]) -> list[Any] | None:
    """NULL, an empty array, a flat one, or one of two dimensions; NULL among the elements."""
    match random.randrange(8):
        case 0:
            return None
        case 1:
            return []
        case 2:
            return [[random.choice([*pool, None]) for _ in range(2)] for _ in range(2)]
        case 3:
            return [None]
        case _:
            return [random.choice([*pool, None]) for _ in range(random.randrange(1, 4))]


def _array_of(type: str) -> str:
    kind, _, collation = type.partition(" COLLATE ")
    return f"{kind}[]{f' COLLATE {collation}' if collation else ''}"


@pytest.fixture(scope="module")
def typed(database: str) -> str:
    """A table with a column of every type, and one of arrays of each but domains."""
    random = Random(5)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(_DOMAINS)
        types = _types(connection)
        many = [each for each in types if each not in {"code", "price"}]
        columns = [
            *((f"one {each}", each) for each in types),
            *((f"many {each}", _array_of(each)) for each in many),
            ("labels", "labels"),
        ]
        declared = ", ".join(f"{_quoted(name)} {type}" for name, type in columns)
        connection.execute(f"CREATE TABLE typed (id int PRIMARY KEY, {declared})".encode())
        values = ", ".join(
            f"%s::{'text' if name.startswith('one') else 'text[]'}::{type.partition(' COLLATE')[0]}"
            for name, type in columns
        )
        for row in range(_ROWS):
            held: list[Any] = [
                random.choice([*types[each], None, None]) if each in types else None
                for _, each in columns[: len(types)]
            ]
            held += [_arrays(random, types[each]) for each in many]
            held.append(_arrays(random, _TEXTS))
            connection.execute(f"INSERT INTO typed VALUES ({row}, {values})".encode(), held)
    return database


def _digits() -> st.SearchStrategy[Decimal]:
    """Decimals of many digits about the size of usual floats."""
    return st.builds(
        lambda n, e: Decimal(n).scaleb(e), st.integers(-(10**27), 10**27), st.integers(-40, 5)
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture
async def typed_store(typed: str) -> Any:
    """A store over the table, which configures nothing."""
    async with PgvectorStore(typed, tables={"T": Table("typed")}) as store:
        if "T" not in _held:
            _held["T"] = list(await store.fetch("T", limit=1000))
            assert len(_held["T"]) == _ROWS
        yield store


async def test_every_type_is_a_field(typed_store: PgvectorStore) -> None:
    """No column of the table is left out, and arrays are lists."""
    spec = await typed_store.fields("T")
    assert len(spec) >= 2 * len(_TYPES) - 1
    assert all(field.many is not field.name.startswith("one") for field in spec)


@given(data=st.data())
@examples(400)
async def test_formulas_on_typed_columns_are_exact(
    typed_store: PgvectorStore, data: st.DataObject
) -> None:
    """What any formula finds on typed columns is what `matches` says of the chunks."""
    spec = await typed_store.fields("T")
    where = data.draw(formulas(spec, _held["T"]))
    await expect_same(typed_store, "T", _held["T"], where)


async def test_every_operator_tells_every_value_apart(typed_store: PgvectorStore) -> None:
    """Each operator, on each value that some chunk holds, finds what `matches` does."""
    for field in await typed_store.fields("T"):
        values = _values(field)
        for op in field.operators:
            if op in {"exists", "missing"}:
                await expect_same(typed_store, "T", _held["T"], DeclaredFilter(field.name, op))
                continue
            several = op in {"in", "not_in", "contains_any", "contains_all"}
            for value in values:
                term = DeclaredFilter(field.name, op, [value] if several else value)
                await expect_same(typed_store, "T", _held["T"], term)


def _values(field: Field) -> list[Any]:
    held = [each.properties.get(field.name, ()) for each in _held["T"]]
    each = {one for value in held for one in (value if isinstance(value, tuple) else (value,))}
    return sorted(each, key=repr)[:12]


@given(
    numbers=st.lists(st.decimals(allow_nan=False, allow_infinity=False) | _digits(), min_size=50)
)
@examples(20)
def test_a_numeric_is_read_as_python_reads_it(typed: str, numbers: list[Decimal]) -> None:
    """The nearest float, zero below the least and infinite beyond the greatest."""
    numbers += map(Decimal, ("2.4e-324", "2.5e-324", "-1e-400", "1.7976931348623158e308", "2e308"))
    numbers = [each for each in numbers if abs(each.adjusted()) < 9000]
    with psycopg.connect(typed) as connection:
        sql = f"SELECT {as_float('x')} FROM unnest(%s::numeric[]) WITH ORDINALITY AS u(x, o) ORDER BY o"
        rows = connection.execute(sql.encode(), [numbers]).fetchall()
    assert [row[0] for row in rows] == [float(each) for each in numbers]
