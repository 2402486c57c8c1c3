"""Tables that were made by hand: what the catalog tells of them, and what has to be told."""

from datetime import UTC, datetime

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from soev_retrieval.domain import (
    DeclaredFilter,
    Field,
    FieldSpec,
    Not,
)
from soev_retrieval_pgvector import PgvectorStore, Table
from tests.adapters.pgvector.tables import DOCS, WORDS, ids, over, refusal, run


@pytest.fixture(scope="module", autouse=True)
def extension(database: str) -> None:
    """pgvector, and the function that counts words."""
    run(database, "CREATE EXTENSION vector", WORDS, DOCS)


async def test_a_table_tells_everything_by_itself(database: str) -> None:
    """Types, dimension, searchable fields and the id are read from the catalog."""
    async with over(database, Table("docs")) as store:
        assert await store.fields("T") == FieldSpec(
            [
                Field("title", "text", searchable=True),
                Field("year", "int"),
                Field("tags", "text", many=True),
            ],
            2,
        )
        assert [hit.id for hit in await store.bm25("T", query="dog", limit=5)] == ["a", "b"]
        assert [hit.id for hit in await store.near_vector("T", vector=[1, 0], limit=5)] == [
            "a",
            "b",
        ]
        hits = await store.hybrid("T", query="cat", vector=[1, 0], limit=5)
        assert {hit.id for hit in hits} == {"a", "b"}
        assert await ids(store, where=DeclaredFilter("tags", "missing"), order_by="year") == [
            "b",
            "c",
        ]


async def test_fields_may_have_other_names_than_their_columns(database: str) -> None:
    """`fields` chooses columns and names them, in the filters and in what is searchable."""
    table = Table("docs", fields={"heading": "title", "title": "year", "key": "id"})
    async with over(database, table) as store:
        assert [(each.name, each.type, each.searchable) for each in await store.fields("T")] == [
            ("heading", "text", True),
            ("title", "int", False),
            ("key", "text", False),
        ]
        [chunk] = await store.fetch("T", where=DeclaredFilter("title", "eq", 1999), limit=5)
        assert chunk.properties == {"heading": "the running dogs", "title": 1999, "key": "a"}
        assert "'year'" in await refusal(store, where=DeclaredFilter("year", "eq", 1999))


async def test_names_may_hold_anything(database: str) -> None:
    """Schemas, tables, columns and targets keep spaces, quotes, capitals and all of Unicode."""
    async with over(
        database,
        Table('a "Täble" 😀', schema="My schéma; --"),
        'CREATE SCHEMA "My schéma; --"',
        'CREATE TABLE "My schéma; --"."a ""Täble"" 😀" ("The ""Id""" text PRIMARY KEY,'
        ' "it\'s %s $1" int, "select" text, "Großes 日本" vector(1), "t" text, "{}" text)',
        "INSERT INTO \"My schéma; --\".\"a \"\"Täble\"\" 😀\" VALUES ('x', 7, 's', '[1]', 't', 'b')",
    ) as store:
        [chunk] = await store.fetch("T", where=DeclaredFilter("it's %s $1", "eq", 7), limit=2)
        assert (chunk.id, chunk.properties) == (
            "x",
            {"it's %s $1": 7, "select": "s", "t": "t", "{}": "b"},
        )
        assert [hit.id for hit in await store.near_vector("T", vector=[1], limit=2)] == ["x"]


@pytest.mark.parametrize(
    ("type", "given", "expected"),
    [
        ("text", "Ünï", "Ünï"),
        ("varchar(9)", "v", "v"),
        ("char(6)", "pad", "pad"),
        ("bigint", "9007199254740993", "9007199254740993"),
        (
            "uuid",
            "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        ),
        ("name", "n", "n"),
    ],
)
async def test_ids_may_be_of_any_type(database: str, type: str, given: str, expected: str) -> None:
    """An id comes back as its text, from every search."""
    async with over(
        database,
        Table("ids", language="english", searchable=["body"], compute_lengths=True),
        "DROP TABLE IF EXISTS ids",
        f"CREATE TABLE ids (key {type} PRIMARY KEY, body text, v vector(1), tsv tsvector)",
        f"INSERT INTO ids VALUES ('{given}', 'word', '[1]', to_tsvector('word'))",
    ) as store:
        assert await ids(store, order_by="body") == [expected]
        for found in (
            await store.near_vector("T", vector=[1], limit=1),
            await store.bm25("T", query="word", limit=1),
            await store.hybrid("T", query="word", vector=[1], limit=1),
        ):
            assert [hit.id for hit in found] == [expected]


async def test_columns_and_a_payload_stand_side_by_side(database: str) -> None:
    """Fields come from columns and from one JSONB object at once, and a formula takes both."""
    async with over(
        database,
        Table("mixed", payload="meta", payload_fields=[Field("n", "int"), Field("s", "text")]),
        "CREATE TABLE mixed (id text PRIMARY KEY, year int, meta jsonb)",
        """INSERT INTO mixed VALUES ('a', 1, '{"n": 2, "s": "x", "more": 1}'), ('b', 1, NULL)""",
    ) as store:
        where = DeclaredFilter("year", "eq", 1) & DeclaredFilter("n", "lt", 3)
        [chunk] = await store.fetch("T", where=where, limit=5)
        assert chunk.properties == {"year": 1, "n": 2, "s": "x"}
        assert await ids(store, where=Not(where)) == ["b"]


@pytest.mark.parametrize("kind", ["VIEW", "MATERIALIZED VIEW"])
async def test_views_are_served(database: str, kind: str) -> None:
    """A view needs its id, its language and its fields named; the rest is as in a table."""
    table = Table("seen", id="id", language="english", searchable=["title"], lengths="words")
    async with over(
        database, table, f"CREATE {kind} seen AS SELECT * FROM docs WHERE id <> 'b'"
    ) as store:
        assert (await store.fields("T")).dimension == 2
        assert await ids(store, order_by="year") == ["a", "c"]
        assert [hit.id for hit in await store.bm25("T", query="dogs", limit=5)] == ["a"]
        assert [hit.id for hit in await store.near_vector("T", vector=[1, 0], limit=5)] == ["a"]
    run(database, f"DROP {kind} seen")


async def test_a_partitioned_table_is_served(database: str) -> None:
    """Its own indexes tell the id and the distance, and every partition is searched."""
    async with over(
        database,
        Table("parts", id="id", compute_lengths=True),
        "CREATE TABLE parts (id text NOT NULL, year int NOT NULL, title text, v vector(2),"
        " terms tsvector GENERATED ALWAYS AS (to_tsvector('english', title)) STORED,"
        " PRIMARY KEY (id, year)) PARTITION BY RANGE (year)",
        "CREATE TABLE parts_old PARTITION OF parts FOR VALUES FROM (0) TO (2000)",
        "CREATE TABLE parts_new PARTITION OF parts FOR VALUES FROM (2000) TO (3000)",
        "CREATE INDEX ON parts USING hnsw (v vector_l2_ops)",
        "INSERT INTO parts VALUES ('a', 1990, 'dog', '[1,1]'), ('b', 2010, 'dogs', '[1,2]')",
    ) as store:
        assert (await store.fields("T")).distance == "euclidean"
        assert await ids(store, order_by="year", descending=True) == ["b", "a"]
        assert [hit.id for hit in await store.near_vector("T", vector=[1, 2], limit=5)] == [
            "b",
            "a",
        ]
        assert [hit.id for hit in await store.bm25("T", query="dog", limit=5)] == ["a", "b"]


async def test_dropped_and_generated_columns(database: str) -> None:
    """A dropped column is gone, and generated ones are fields like others, stored or virtual."""
    virtual = "m int GENERATED ALWAYS AS (n * 3) VIRTUAL," if _version(database) >= 180000 else ""
    async with over(
        database,
        Table("grown"),
        f"CREATE TABLE grown (id int PRIMARY KEY, gone int, n int, {virtual}"
        " k int GENERATED ALWAYS AS (n * 2) STORED)",
        "INSERT INTO grown (id, n) VALUES (1, 21)",
        "ALTER TABLE grown DROP COLUMN gone",
    ) as store:
        [chunk] = await store.fetch("T", where=DeclaredFilter("k", "eq", 42), limit=5)
        assert chunk.properties == {"n": 21, "k": 42} | ({"m": 63} if virtual else {})


def _version(address: str) -> int:
    with psycopg.connect(address) as connection:
        return connection.info.server_version


async def test_the_settings_of_a_role_change_no_answer(database: str) -> None:
    """DateStyle, extra_float_digits and client_encoding of a role are not what a value is read by."""
    making = (
        "CREATE TABLE styled (id text PRIMARY KEY, d timestamptz, f float8, r real, é text)",
        "INSERT INTO styled VALUES ('é', '2000-02-01', 0.30000000000000004, 0.1, '日本')",
    )
    run(database, *making)
    settings = "-c DateStyle=German -c extra_float_digits=-5 -c client_encoding=LATIN1"
    address = make_conninfo(database, options=settings)
    async with PgvectorStore(address, tables={"T": Table("styled")}) as store:
        [chunk] = await store.fetch("T", where=DeclaredFilter("é", "eq", "日本"), limit=1)
        assert chunk.id == "é"
        assert chunk.properties["d"] == datetime(2000, 2, 1, tzinfo=UTC)
        assert chunk.properties["f"] == 0.1 + 0.2
