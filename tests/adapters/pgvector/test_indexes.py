"""Filters leave the indexes of a table usable: what EXPLAIN says of each form."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection, AsyncRawCursor

from soev_retrieval.domain import AnyOf, DeclaredFilter, Field, Filter, Not
from soev_retrieval_pgvector import Table
from soev_retrieval_pgvector._catalog import Column, read
from soev_retrieval_pgvector._columns import ColumnSource, kind_of
from soev_retrieval_pgvector._filters import condition
from soev_retrieval_pgvector._layout import Layout, laid_out
from soev_retrieval_pgvector._sql import Parameters
from soev_retrieval_pgvector._statements import Search

_DAY = datetime(2000, 1, 2, tzinfo=UTC)
_UUID = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
_COLUMNS = {
    "small": ("smallint", "btree"),
    "number": ("int", "btree"),
    "big": ("bigint", "btree"),
    "hashed": ("int", "hash"),
    "flag": ("bool", "btree"),
    "real": ("real", "btree"),
    "double": ("double precision", "btree"),
    "price": ("numeric(8,2)", "btree"),
    "exact": ("numeric", "btree"),
    "label": ("text", "btree"),
    "path": ('text COLLATE "C"', "btree"),
    "short": ("varchar(9)", "btree"),
    "hash": ("text", "hash"),
    "uid": ("uuid", "btree"),
    "at": ("timestamptz", "btree"),
    "local": ("timestamp", "btree"),
    "day": ("date", "btree"),
    "tags": ("text[]", "gin"),
    "names": ("varchar[]", "gin"),
    "numbers": ("int[]", "gin"),
    "days": ("date[]", "gin"),
    "uids": ("uuid[]", "gin"),
    "meta": ("jsonb", "gin (meta jsonb_path_ops)"),
}
_PAYLOAD = [
    Field("k", "text"),
    Field("n", "int"),
    Field("f", "float"),
    Field("list", "text", many=True),
]
_TABLE = Table("indexed", payload="meta", payload_fields=_PAYLOAD)


@pytest.fixture(scope="module")
def indexed(database: str) -> str:
    """A table with an index on every column."""
    with psycopg.connect(database, autocommit=True) as connection:
        columns = ", ".join(f"{name} {type}" for name, (type, _) in _COLUMNS.items())
        connection.execute(f"CREATE TABLE indexed (id int PRIMARY KEY, {columns})".encode())
        for name, (_, method) in _COLUMNS.items():
            of = method if "(" in method else f"{method} ({name})"
            connection.execute(f"CREATE INDEX the_{name} ON indexed USING {of}".encode())
        connection.execute('CREATE INDEX the_label_c ON indexed (label COLLATE "C")')
        connection.execute("CREATE INDEX the_key ON indexed ((meta ->> 'k') COLLATE \"C\")")
        connection.execute("CREATE INDEX the_count ON indexed ((meta -> 'n'))")
        connection.execute("CREATE INDEX the_share ON indexed ((meta -> 'f'))")
    return database


@pytest.fixture
async def planner(indexed: str) -> AsyncIterator[AsyncConnection]:
    """A connection that looks at every row only where it has to."""
    async with await AsyncConnection.connect(
        indexed, autocommit=True, cursor_factory=AsyncRawCursor
    ) as connection:
        await connection.execute("SET enable_seqscan = off")
        yield connection


async def _layout(connection: AsyncConnection) -> Layout:
    async def rows(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        return await (await connection.execute(sql.encode(), values)).fetchall()

    catalog = await read(rows, "public", "indexed")
    assert catalog is not None
    return laid_out(_TABLE, catalog)


async def _plan(connection: AsyncConnection, where: Filter) -> str:
    sql, values = Search(await _layout(connection), where).fetch(10, None, descending=False)
    explained = await connection.execute(f"EXPLAIN {sql}".encode(), values)
    return "\n".join(row[0] for row in await explained.fetchall())


@pytest.mark.parametrize(
    ("field", "op", "value"),
    [
        *((name, op, 7) for name in ("small", "number", "big") for op in ("eq", "gt", "lte")),
        *((name, "in", [1, 2]) for name in ("small", "number", "big", "hashed")),
        ("hashed", "eq", 7),
        ("flag", "eq", True),
        *(("real", op, 0.5) for op in ("eq", "gte")),
        *(("double", op, 0.1) for op in ("eq", "gte")),
        ("double", "in", [0.1, 2]),
        *(
            (name, op, 0.1)
            for name in ("price", "exact")
            for op in ("eq", "gt", "gte", "lt", "lte")
        ),
        *((name, "eq", "a") for name in ("label", "path", "short", "hash")),
        *((name, "in", ["a", "b"]) for name in ("label", "path", "short", "hash")),
        ("path", "gte", "a"),
        ("path", "prefix", "a/b"),
        ("label", "prefix", "a/b"),
        ("uid", "eq", _UUID),
        ("uid", "in", [_UUID, "no uuid"]),
        *((name, op, _DAY) for name in ("at", "local", "day") for op in ("eq", "gt", "lte")),
        *((name, "in", [_DAY]) for name in ("at", "local", "day")),
        *(("tags", op, ["a", "b"]) for op in ("contains_any", "contains_all")),
        *((name, "contains", "a") for name in ("tags", "names")),
        ("numbers", "contains", 7),
        ("days", "contains_any", [_DAY]),
        ("uids", "contains", _UUID),
    ],
)
async def test_a_filter_uses_the_index_of_its_column(
    planner: AsyncConnection, field: str, op: str, value: Any
) -> None:
    """Every operator that an index can serve is served by it."""
    plan = await _plan(planner, DeclaredFilter(field, op, value))
    assert f"the_{field}" in plan
    assert "Index Cond" in plan


@pytest.mark.parametrize(
    "where",
    [
        DeclaredFilter("k", "eq", "a"),
        DeclaredFilter("n", "eq", 1),
        DeclaredFilter("k", "in", ["a", "b"]),
        DeclaredFilter("list", "contains", "a"),
        DeclaredFilter("list", "contains_any", ["a", "b"]),
        DeclaredFilter("list", "contains_all", ["a", "b"]),
        DeclaredFilter("k", "eq", "a") & DeclaredFilter("n", "gt", 3),
    ],
    ids=str,
)
async def test_a_payload_is_found_by_its_index(planner: AsyncConnection, where: Filter) -> None:
    """Equality and lists in a payload are served by GIN with jsonb_path_ops."""
    plan = await _plan(planner, where)
    assert "the_meta" in plan
    assert "Index Cond" in plan


@pytest.mark.parametrize(
    ("where", "index"),
    [
        *((DeclaredFilter("k", op, "a"), "the_key") for op in ("gt", "lte", "prefix")),
        *((DeclaredFilter("n", op, 3), "the_count") for op in ("gt", "lte")),
        *((DeclaredFilter("f", op, 0.1), "the_share") for op in ("eq", "gt", "lte")),
    ],
    ids=str,
)
async def test_the_order_in_a_payload_is_found_by_an_index_on_the_key(
    planner: AsyncConnection, where: Filter, index: str
) -> None:
    """A btree on `payload -> 'key'`, or `->>` for text by code point, serves what has an order."""
    plan = await _plan(planner, where)
    assert index in plan
    assert "Index Cond" in plan


async def test_many_equals_are_one_search_of_the_index(planner: AsyncConnection) -> None:
    """`a = 1 or a = 2 or …` is one condition on the index."""
    plan = await _plan(planner, AnyOf([DeclaredFilter("big", "eq", each) for each in range(50)]))
    assert plan.count("Index Cond") == 1


async def test_conditions_stand_bare(planner: AsyncConnection) -> None:
    """Only Not is asked for its truth: what is beside it and beneath it keeps its index."""
    layout, to = await _layout(planner), Parameters()
    bare, inner = DeclaredFilter("number", "eq", 1), DeclaredFilter("big", "gt", 2)
    sql = condition(bare & Not(inner), layout.sources, to)
    assert sql == '(t."number" = $1::int8 AND ((t."big" > $2::int8) IS NOT TRUE))'
    assert "the_number" in await _plan(planner, bare & Not(inner))


def _column(type: str, collation: str | None, **more: Any) -> Column:
    given = {"schema": "pg_catalog", "kind": "b", "many": False, "typmod": -1, **more}
    return Column(
        name="c",
        declared=type,
        type=type,
        collation=collation,
        generated=None,
        sources=(),
        required=False,
        readable=True,
        **given,
    )


def _sql(column: Column, op: str, value: Any) -> str:
    kind = kind_of(column)
    assert kind is not None
    source = ColumnSource(Field("c", kind.type, column.many), column, kind)
    return source.predicate(op, DeclaredFilter("c", op, value), Parameters())


@pytest.mark.parametrize(
    ("collation", "op", "expected"),
    [
        ("exact", "eq", 't."c" = $1::text'),
        ("loose", "eq", 't."c" COLLATE "C" = $1::text'),
        ("loose", "in", 't."c" COLLATE "C" = ANY($1::text[])'),
        ("C", "lt", 't."c" < $1::text'),
        ("exact", "lt", '(t."c" COLLATE "C") < $1::text'),
        ("loose", "lt", '(t."c" COLLATE "C") < $1::text'),
    ],
)
def test_text_compares_by_code_point(collation: str, op: str, expected: str) -> None:
    """A language's order, and a collation that takes other text for the same, are not asked."""
    assert _sql(_column("text", collation), op, ["a"] if op == "in" else "a") == expected


def test_arrays_are_not_compared_by_an_extension() -> None:
    """The operators of intarray, which raise on NULL, have the same names."""
    for op, value in (("contains", 1), ("contains_any", [1]), ("exists", None)):
        assert "OPERATOR(pg_catalog." in _sql(_column("int4", None, many=True), op, value)


def test_a_value_that_no_element_can_be_is_found_nowhere() -> None:
    """What a column's type cannot hold is no error of the server's."""
    assert _sql(_column("int2", None, many=True), "contains", 2**15) == "false"
    assert _sql(_column("float4", None, many=True), "contains", 0.1) == "false"
    assert _sql(_column("uuid", None), "eq", "no uuid") == "false"
    assert _sql(_column("uuid", None), "in", ["no uuid"]) == 't."c" = ANY($1::uuid[])'


def test_types_of_extensions() -> None:
    """Of citext its text is compared, in any schema; other types of other schemas are refused."""
    citext = _column("citext", "exact", schema="ext")
    assert _sql(citext, "eq", "a") == 't."c"::text = $1::text'
    assert kind_of(_column("hstore", None, schema="ext")) is None
    assert kind_of(_column("text", "exact", schema="mine")) is None
