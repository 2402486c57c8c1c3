"""Tables, columns and values that are not served, and what is said of them."""

from datetime import UTC, datetime
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from soev_retrieval.domain import (
    DeclaredFilter,
    Field,
    InvalidQueryError,
    Unconfigured,
)
from soev_retrieval_pgvector import PgvectorStore, Table
from tests.adapters.pgvector.tables import DOCS, WORDS, ids, over, refusal, run


@pytest.fixture(scope="module", autouse=True)
def extension(database: str) -> None:
    """pgvector, and the function that counts words."""
    run(database, "CREATE EXTENSION vector", WORDS, DOCS)


@pytest.mark.parametrize(
    "settings",
    [
        {"name": ""},
        {"name": None},
        {"schema": None},
        {"id": "x" * 64},
        {"fields": {"": "a"}},
        {"fields": {"a": 7}},
        {"distance": "hamming"},
        {"dimension": 0},
        {"language": ""},
        {"searchable": "title"},
        {"payload_fields": [Field("a", "int")]},
        {"payload": "p", "payload_fields": ["a"]},
        {"payload": "p", "payload_fields": [Field("a", "int"), Field("a", "text")]},
        {"payload": "p", "payload_fields": [Field("a", "text", operators=("under",))]},
    ],
    ids=str,
)
def test_a_configuration_that_cannot_be_is_refused_at_once(settings: dict[str, Any]) -> None:
    """A Table does not wait for the database to say what is wrong with it."""
    with pytest.raises(InvalidQueryError):
        Table(**{"name": "docs", **settings})


async def test_a_field_is_not_both_a_column_and_in_the_payload(database: str) -> None:
    """The error names the field."""
    async with over(
        database,
        Table("twice", payload="meta", payload_fields=[Field("year", "int")]),
        "CREATE TABLE twice (id int PRIMARY KEY, year int, meta jsonb)",
    ) as store:
        assert "'year' is both a column" in await refusal(store)


async def test_a_column_that_the_role_may_not_read_is_refused(database: str) -> None:
    """A filter on it says so, and everything else of the table is served."""
    run(
        database,
        "DROP TABLE IF EXISTS secrets",
        "CREATE TABLE secrets (id text PRIMARY KEY, open int, hidden text, v vector(1))",
        "INSERT INTO secrets VALUES ('a', 1, 'x', '[1]')",
        "DROP ROLE IF EXISTS soev_reader",
        "CREATE ROLE soev_reader LOGIN",
        "GRANT SELECT (id, open) ON secrets TO soev_reader",
    )
    try:
        async with PgvectorStore(
            make_conninfo(database, options="-c role=soev_reader"), tables={"T": Table("secrets")}
        ) as store:
            assert [each.name for each in await store.fields("T")] == ["open"]
            assert await ids(store, where=DeclaredFilter("open", "eq", 1)) == ["a"]
            said = await refusal(store, where=DeclaredFilter("hidden", "eq", "x"))
            assert "may not read column 'hidden'" in said
            with pytest.raises(Unconfigured, match="may read"):
                await store.near_vector("T", vector=[1], limit=1)
    finally:
        run(database, "DROP TABLE secrets", "DROP ROLE soev_reader")


async def test_a_table_that_does_not_exist_is_unconfigured(database: str) -> None:
    """The error names it with its schema."""
    async with over(database, Table("nowhere", schema="gone")) as store:
        assert "gone.nowhere" in await refusal(store)


@pytest.mark.parametrize(
    ("columns", "table", "said"),
    [
        ("id text", Table("odd"), "no primary key of one column; give id="),
        ("a int, b int, PRIMARY KEY (a, b)", Table("odd"), "give id="),
        ("id text UNIQUE", Table("odd", id="id"), "not UNIQUE NOT NULL"),
        ("id text NOT NULL", Table("odd", id="id"), "not UNIQUE NOT NULL"),
        ("id text PRIMARY KEY", Table("odd", id="uid"), "no column 'uid' for the id; there is id"),
        ("id text PRIMARY KEY, v int", Table("odd", vector="v"), "'v' for the vectors is integer"),
        ("id text PRIMARY KEY, p json", Table("odd", payload="p"), "'p' for the payload is json"),
        ("id text PRIMARY KEY, t text", Table("odd", terms="t"), "'t' for the terms is text"),
        ("id int PRIMARY KEY, n inet", Table("odd", fields={"n": "n"}), "'n' is of type inet"),
        ("id int PRIMARY KEY", Table("odd", fields={"n": "m"}), "no column 'm' for the field 'n'"),
    ],
)
async def test_what_does_not_fit_is_said(
    database: str, columns: str, table: Table, said: str
) -> None:
    """Each error names the column and what to give."""
    making = ("DROP TABLE IF EXISTS odd", f"CREATE TABLE odd ({columns})")
    async with over(database, table, *making) as store:
        assert said in await refusal(store)


_REFUSED = {
    "inet": "inet",
    "interval": "interval",
    "jsonb": "jsonb",
    "json": "json",
    "bytea": "bytea",
    "money": "money",
    "time": "time without time zone",
    "timetz": "time with time zone",
    "inet[]": "inet[]",
    "point": "point",
    "int4range": "int4range",
    "bit(3)": "bit(3)",
    '"char"': '"char"',
    "int2vector": "int2vector",
    "oid": "oid",
    "xml": "xml",
    "pair": "pair",
    "label[]": "label[]",
}


@pytest.fixture(scope="module")
def refusing(database: str) -> str:
    """A table with a column of every type that is refused."""
    columns = ", ".join(f"c{place} {type}" for place, type in enumerate(_REFUSED))
    run(
        database,
        "CREATE DOMAIN label AS text",
        "CREATE TYPE pair AS (a int, b int)",
        f"CREATE TABLE refusing (id int PRIMARY KEY, {columns})",
        "INSERT INTO refusing VALUES (1)",
    )
    return database


async def test_types_that_do_not_compare_exactly_are_refused_by_name(refusing: str) -> None:
    """A filter or an order by such a column names the column and its type; others are served."""
    async with over(refusing, Table("refusing")) as store:
        assert len(await store.fields("T")) == 0
        assert await ids(store) == ["1"]
        for place, type in enumerate(_REFUSED.values()):
            for asked in (
                {"where": DeclaredFilter(f"c{place}", "exists")},
                {"order_by": f"c{place}"},
            ):
                said = await refusal(store, **asked)
                assert f"column 'c{place}' is of type {type}," in said


async def test_a_column_of_an_unknown_name_is_no_field(database: str) -> None:
    """The error of a field that is not there names those that are."""
    async with over(database, Table("docs")) as store:
        assert "'year'" in await refusal(store, where=DeclaredFilter("yaer", "eq", 1))


@pytest.mark.parametrize(
    ("type", "value", "said"),
    [
        ("bigint", "9007199254740992", "beyond ±(2**53 - 1)"),
        ("bigint[]", "{1,-9007199254740992}", "beyond ±(2**53 - 1)"),
        ("real", "NaN", "nan"),
        ("double precision", "-Infinity", "-inf"),
        ("float8[]", "{NaN}", "nan"),
        ("numeric", "NaN", "nan"),
        ("numeric", "1e309", "inf"),
        ("numeric[]", "{-1e309}", "-inf"),
        ("timestamptz", "infinity", "infinity is not within the years 1 to 9999"),
        ("timestamptz", "10000-01-01 00:00:00+00", "10000-01-01 00:00:00+00 is not"),
        ("timestamptz", "0044-03-15 12:00:00+00 BC", "BC is not"),
        ("timestamp", "-infinity", "-infinity is not"),
        ("timestamp[]", "{20000-01-01}", "20000-01-01 00:00:00 is not"),
        ("date", "5874897-12-31", "5874897-12-31 is not"),
        ("date", "0001-01-01 BC", "BC is not"),
        ("date[]", "{infinity}", "infinity is not"),
        ("date", "12345-01-01", "12345-01-01 is not"),
    ],
)
async def test_what_python_cannot_hold_is_said(
    database: str, type: str, value: str, said: str
) -> None:
    """A value that cannot be returned is an error that names the chunk and the field."""
    async with over(
        database,
        Table("beyond"),
        "DROP TABLE IF EXISTS beyond",
        f"CREATE TABLE beyond (id text PRIMARY KEY, odd {type})",
        f"INSERT INTO beyond VALUES ('x', '{value}'), ('y', NULL)",
    ) as store:
        error = await refusal(store, where=DeclaredFilter("odd", "exists"))
        assert "chunk 'x' cannot be returned: field 'odd'" in error
        assert said in error
        assert await ids(store, where=DeclaredFilter("odd", "missing")) == ["y"]
        many = type.endswith("[]")
        of_time = type.startswith(("time", "date"))
        given = datetime(2000, 1, 1, tzinfo=UTC) if of_time else 7
        where = DeclaredFilter("odd", "contains" if many else "eq", given)
        assert await ids(store, where=where) == []


async def test_a_row_of_a_view_without_an_id_is_said(database: str) -> None:
    """A chunk has an id; the error names the view whose row has none."""
    making = "CREATE VIEW nameless AS SELECT NULL::text AS id, 1 AS n"
    async with over(database, Table("nameless", id="id"), making) as store:
        assert "id is NULL" in await refusal(store)
