"""Text from outside stays text: nothing that a caller says becomes SQL."""

from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from psycopg.types.json import Jsonb

from soev_retrieval.domain import (
    DeclaredFilter,
    Field,
    FieldSpec,
    Filter,
    InvalidQueryError,
    Record,
    Unconfigured,
)
from soev_retrieval.testing import strategies
from soev_retrieval_pgvector import Making, PgvectorStore, Table
from tests.adapters.formulas import examples

_DROP = "DROP TABLE canary"
_EVIL = (
    f"'; {_DROP}; --",
    f'"; {_DROP}; --',
    f"\\'; {_DROP}; --",
    f"E'\\'; {_DROP}; --",
    f"$$; {_DROP}; $$",
    f"'||(SELECT 1);{_DROP}||'",
    f"/* */ ; {_DROP} ; /*",
    f'x") AS t; {_DROP}; --',
    f"}}'::jsonb) OR true; {_DROP}; --",
    f"\"}}' OR true; {_DROP}; --",
    "' OR '1'='1",
    "1 OR true",
    "id) OR (true",
    "$1",
    "%s %(a)s %% {} {0}",
    "\\",
    "'",
    '"',
    "''",
    '""',
    "a' & b | !c <-> 'd:*",
    "pg_sleep(9)",
    "*",
    "t",
    "id",
    "ctid",
    "NULL",
    "select",
    "\u2019; x",
    "\uff07",
    ";",
    "a\nb--",
)


def evil() -> SearchStrategy[str]:
    """What attackers write, alone and around other text."""
    written = st.sampled_from(_EVIL)
    return written | st.tuples(strategies.texts(), written).map("".join) | strategies.names()


def names() -> SearchStrategy[str]:
    """Evil text that PostgreSQL can keep as a name."""
    return evil().filter(
        lambda text: 0 < len(text.encode()) <= 63 and text != "ctid" and not text.startswith("pg_")
    )


@pytest.fixture(scope="module")
def canary(database: str) -> str:
    """A table that is still there after every test, and one that is asked."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("CREATE TABLE canary (sings bool)")
        connection.execute(
            "CREATE TABLE docs (id text PRIMARY KEY, body text, tags text[], p jsonb, v vector(1),"
            " terms tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED)"
        )
    return database


def alive(address: str, sql: str = "SELECT count(*) FROM canary") -> Any:
    """What a statement answers; that of the canary is zero rows."""
    with psycopg.connect(address, autocommit=True) as connection:
        return connection.execute(sql.encode()).fetchone()


@pytest.fixture
async def store(canary: str) -> AsyncIterator[PgvectorStore]:
    """A store over the table, whose configured language is evil in one target."""
    keys = [Field(each, "text") for each in _EVIL]
    table = Table("docs", payload="p", payload_fields=keys, compute_lengths=True)
    broken = {
        each: Table("docs", language=each, compute_lengths=True)
        for each in ("L" + e for e in _EVIL)
    }
    async with PgvectorStore(canary, tables={"T": table, **broken}) as opened:
        yield opened


async def harmless(asked: Any) -> Any:
    """What a call answers, or None where it refuses what it was given."""
    try:
        return await asked
    except (InvalidQueryError, Unconfigured):
        return None


@given(text=evil())
@examples(60)
async def test_what_is_asked_is_never_executed(
    store: PgvectorStore, canary: str, text: str
) -> None:
    """Targets, fields, orders and query texts of any content are answered or refused."""
    where = DeclaredFilter(text, "eq", text)
    for asked in (
        store.fetch(text, limit=1),
        store.fields(text),
        store.fetch("T", limit=1, where=where),
        store.fetch("T", limit=1, order_by=text),
        store.bm25("T", query=text, limit=1, where=DeclaredFilter("body", "prefix", text)),
        store.hybrid("T", query=text, vector=[1], limit=1),
        store.near_vector("T", vector=[1], limit=1, where=DeclaredFilter("tags", "contains", text)),
        store.delete(text, [text]),
        store.drop(text),
    ):
        await harmless(asked)
    assert alive(canary) == (0,)


async def test_a_language_is_never_executed(store: PgvectorStore, canary: str) -> None:
    """The name of a text search configuration is a value too."""
    for each in _EVIL:
        assert await harmless(store.bm25("L" + each, query="dog", limit=1)) is None
    assert alive(canary) == (0,)


@given(text=evil())
@examples(60)
async def test_values_come_back_as_they_were(store: PgvectorStore, canary: str, text: str) -> None:
    """A value in a column, an array, a payload and an id is found by itself, and only by itself."""
    with psycopg.connect(canary, autocommit=True) as connection:
        connection.execute("TRUNCATE docs")
        held = Jsonb(dict.fromkeys(_EVIL, text))
        connection.execute(
            "INSERT INTO docs VALUES (%s, %s, %s, %s, '[1]')", [text, text, [text], held]
        )
        connection.execute("INSERT INTO docs VALUES ('other', 'x' || %s, '{}', '{}')", [text])
    wheres: tuple[Filter, ...] = (
        DeclaredFilter("body", "eq", text),
        DeclaredFilter("body", "in", [text, text + "'"]),
        DeclaredFilter("body", "prefix", text) & DeclaredFilter("tags", "exists"),
        DeclaredFilter("tags", "contains_any", [text, "'"]),
        *(DeclaredFilter(key, "eq", text) for key in _EVIL),
        *(DeclaredFilter(key, "gte", text) for key in _EVIL),
    )
    for where in wheres:
        [chunk] = await store.fetch("T", where=where, limit=5)
        assert chunk.id == text
        assert chunk.properties == {"body": text, "tags": (text,), **dict.fromkeys(_EVIL, text)}
    assert alive(canary) == (0,)


@given(
    schema=names(), table=names(), columns=st.lists(names(), min_size=4, max_size=4, unique=True)
)
@examples(30)
async def test_names_of_a_table_are_never_executed(
    canary: str, schema: str, table: str, columns: list[str]
) -> None:
    """A schema, a table and columns of any name are served under that name."""
    id, text, payload, vector = columns
    quoted = {each: '"' + each.replace('"', '""') + '"' for each in (schema, table, *columns)}
    with psycopg.connect(canary, autocommit=True) as connection:
        connection.execute("SET client_min_messages = error")
        if schema != "public":
            connection.execute(f"DROP SCHEMA IF EXISTS {quoted[schema]} CASCADE".encode())
            connection.execute(f"CREATE SCHEMA {quoted[schema]}".encode())
        made = f"{quoted[schema]}.{quoted[table]}"
        connection.execute(
            f"CREATE TABLE {made} ({quoted[id]} text PRIMARY KEY, {quoted[text]} text,"
            f" {quoted[payload]} jsonb, {quoted[vector]} vector(1))".encode()
        )
        connection.execute(f"INSERT INTO {made} VALUES ('a', 'b', '{{}}', '[1]')".encode())
    given = Table(table, schema, payload=payload, payload_fields=[Field(schema + "\t", "text")])
    try:
        async with PgvectorStore(canary, tables={table: given}) as store:
            [chunk] = await store.fetch(table, where=DeclaredFilter(text, "eq", "b"), limit=2)
            assert (chunk.id, chunk.properties) == ("a", {text: "b"})
            assert len(await store.near_vector(table, vector=[1], limit=2)) == 1
            assert await store.fetch(table, limit=2, order_by=schema + "\t")
    finally:
        with psycopg.connect(canary, autocommit=True) as connection:
            connection.execute(f"DROP TABLE {made}".encode())
    assert alive(canary) == (0,)


@given(name=names())
@examples(30)
async def test_a_configuration_that_is_not_there_is_refused(canary: str, name: str) -> None:
    """Names that no table, column or schema has are Unconfigured."""
    settings: list[dict[str, Any]] = [
        {each: name} for each in ("id", "payload", "vector", "terms", "lengths")
    ]
    settings += [{"schema": name}, {"fields": {name: name}}, {"fields": {"body": name}}]
    tables = {str(at): Table("docs", **each) for at, each in enumerate(settings)}
    if name in {"id", "p", "v", "terms", "body", "tags", "public"}:
        return
    async with PgvectorStore(canary, tables=tables) as store:
        for target in tables:
            with pytest.raises(Unconfigured):
                await store.bm25(target, query="dog", limit=1)
    assert alive(canary) == (0,)


@given(target=names(), field=names(), text=evil())
@examples(30)
@pytest.mark.parametrize("layout", ["columns", "payload"])
async def test_a_loader_executes_nothing(
    canary: str, layout: str, target: str, field: str, text: str
) -> None:
    """What is created, written and deleted under any name comes back as it was."""
    spec = FieldSpec([Field(field, "text", searchable=True), Field(field + "s", "text", many=True)])
    async with PgvectorStore(canary, making=Making(layout=layout)) as store:
        if await harmless(store.create(target, spec)) is None and target not in await _made(canary):
            return
        record = Record(text, {field: text, field + "s": [text, "'"]})
        await store.upsert(target, [record, Record("other", {})])
        [chunk] = await store.fetch(target, where=DeclaredFilter(field, "eq", text), limit=3)
        assert (chunk.id, chunk.properties) == (text, record.properties)
        await store.delete(target, [text])
        assert [each.id for each in await store.fetch(target, limit=3)] == ["other"]
        await store.drop(target)
    assert alive(canary) == (0,)


async def _made(address: str) -> set[str]:
    return set(alive(address, "SELECT array_agg(relname::text) FROM pg_class")[0])
