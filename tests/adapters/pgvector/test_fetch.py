"""Fetch in the order of a field, over more rows than any page."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from soev_retrieval.domain import Chunk, Field
from soev_retrieval_pgvector import PgvectorStore, Table

_ORDERED = {
    "label": ("text", "text"),
    "number": ("bigint", "int"),
    "double": ("double precision", "float"),
    "price": ("numeric", "float"),
    "at": ("timestamptz", "datetime"),
    "day": ("date", "datetime"),
}
_ROWS = 20_000


@pytest.fixture(scope="module")
def ordered(database: str) -> str:
    """More rows than any page, with ties and gaps, in columns and in a payload."""
    every = (
        "WITH n AS (SELECT i, nullif(i * 7919 % 401, 13) AS k FROM generate_series(1, 20000) i)"
        " SELECT chr(65 + i % 26) || chr(97 + i % 25) || i AS id,"
        " chr(64 + k) || 'é' AS label, k - 200 AS number, k / 7.0::float8 AS double,"
        " k / 8.0 AS price, to_timestamp(k * 1000.001) AS at, date '1999-01-01' + k AS day FROM n"
    )
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE ordered AS {every}".encode())
        connection.execute("ALTER TABLE ordered ADD PRIMARY KEY (id)")
        connection.execute(
            "CREATE TABLE ordered_json AS SELECT id, to_jsonb(o) - 'day' - 'id' AS p FROM ordered o"
        )
        connection.execute("ALTER TABLE ordered_json ADD PRIMARY KEY (id)")
    return database


def _value_of(name: str) -> Callable[[Chunk], Any]:
    return lambda chunk: chunk.properties[name]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("target", ["columns", "payload"])
async def test_fetch_orders_more_rows_than_any_page(
    ordered: str, target: str, descending: bool
) -> None:
    """By each sortable type, both ways: all rows, those that lack the field last, ties by id."""
    in_payload = [Field(each, type) for each, (_, type) in _ORDERED.items() if each != "day"]
    tables = {
        "columns": Table("ordered"),
        "payload": Table("ordered_json", payload="p", payload_fields=in_payload),
    }
    async with PgvectorStore(ordered, tables=tables) as store:
        for field in await store.fields(target):
            chunks = await store.fetch(
                target, limit=_ROWS + 1, order_by=field.name, descending=descending
            )
            assert len(chunks) == _ROWS
            there = [each for each in chunks if field.name in each.properties]
            assert [each.id for each in chunks[: len(there)]] == [each.id for each in there]
            by_id = sorted(there, key=lambda each: each.id)
            expected = sorted(by_id, key=_value_of(field.name), reverse=descending)
            assert [each.id for each in there] == [each.id for each in expected]
            last = [each.id for each in chunks[len(there) :]]
            assert last == sorted(last)
            assert last
