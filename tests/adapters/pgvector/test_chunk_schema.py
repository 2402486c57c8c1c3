"""The ready-made table, as a migration tool would make it, and its row-level security."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from soev_retrieval.domain import NOTHING, Field, InvalidQueryError, Unconfigured, field
from soev_retrieval.engine import Tenanted, current_tenant, tenant_scope
from soev_retrieval_pgvector import (
    EXPECTED_CHUNK_SCHEMA,
    TENANT_SETTING,
    PgvectorIndex,
    PgvectorStore,
    chunk_schema,
    chunk_table,
    tenant_policy,
)

METADATA = [Field("reference", "text"), Field("page", "int")]
ROWS = """
INSERT INTO adk_chunks (id, tenant, collection, document_id, text, metadata, embedding) VALUES
  ('n1', 'north', 'handbook', 'd1', 'The refund policy', '{"reference": "BX-7741"}', '[1,0]'),
  ('n2', 'north', 'handbook', 'd1', 'Train tickets', '{"page": 2}', '[0,1]'),
  ('s1', 'south', 'handbook', 'd9', 'The refund policy', '{"reference": "BX-7741"}', '[1,0]')
"""


@pytest.fixture(scope="module")
def migrated(database: str) -> Iterator[str]:
    """The address of a role that owns the table, and is no superuser."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")  # which only a superuser may
        connection.execute("DROP ROLE IF EXISTS soev_owner")
        connection.execute("CREATE ROLE soev_owner LOGIN")
        connection.execute("GRANT ALL ON SCHEMA public TO soev_owner")
    parts = urlsplit(database)
    host = parts.netloc.rpartition("@")[2]
    address = urlunsplit(parts._replace(netloc=f"soev_owner@{host}"))
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(chunk_schema(dimension=2).encode())
        connection.execute(ROWS)
    yield address
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DROP OWNED BY soev_owner")
        connection.execute("DROP ROLE soev_owner")


@contextmanager
def policed(address: str) -> Iterator[None]:
    """Row-level security is on."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(tenant_policy().encode())
        yield
        connection.execute("ALTER TABLE adk_chunks DISABLE ROW LEVEL SECURITY")
        connection.execute("DROP POLICY tenant_sees_its_own ON adk_chunks")


@asynccontextmanager
async def opened(address: str, *, by_policy: bool) -> AsyncIterator[PgvectorStore]:
    """A store over the table."""
    settings = (lambda: {TENANT_SETTING: current_tenant()}) if by_policy else None
    tables = {"chunks": chunk_table(METADATA)}
    async with PgvectorStore(address, tables=tables, transaction_settings=settings) as store:
        yield store


async def found(store: PgvectorStore, target: str = "chunks") -> list[set[str]]:
    """What each search finds."""
    near = await store.near_vector(target, vector=[1.0, 0.0], limit=9)
    keyword = await store.bm25(target, query="refund", limit=9)
    both = await store.hybrid(target, query="refund", vector=[1.0, 0.0], limit=9, alpha=0.5)
    fetched = await store.fetch(target, limit=9)
    return [{each.id for each in results} for results in (near, keyword, both, fetched)]


async def test_the_store_reads_it_from_the_catalog(migrated: str) -> None:
    """The ready-made table needs no more configuration than the fields of its metadata."""
    async with opened(migrated, by_policy=False) as store:
        spec = await store.fields("chunks")
        assert [each.name for each in spec] == [
            *("tenant", "collection", "document_id", "text", "reference", "page")
        ]
        assert [each.name for each in spec if each.searchable] == ["text"]
        assert (spec.dimension, spec.distance) == (2, "cosine")
        hits = await store.bm25(
            "chunks", query="refund", limit=9, where=field("reference") == "BX-7741"
        )
    assert [hit.id for hit in hits] == ["n1", "s1"]


async def test_tenanted_keeps_tenants_apart(migrated: str) -> None:
    """Under Tenanted each search finds the chunks of the tenant, by the filter."""
    async with opened(migrated, by_policy=False) as store:
        with tenant_scope("south"):
            assert await found(Tenanted(store)) == [{"s1"}] * 4  # type: ignore[arg-type]


async def test_the_policy_shows_a_tenant_its_own(migrated: str) -> None:
    """Under row-level security each search finds the chunks of the transaction's tenant."""
    with policed(migrated):
        async with opened(migrated, by_policy=True) as store:
            with tenant_scope("north"):
                assert await found(store) == [{"n1", "n2"}, {"n1"}, {"n1", "n2"}, {"n1", "n2"}]
            with tenant_scope("south"):
                assert await found(store) == [{"s1"}] * 4
            with tenant_scope("nobody"):
                assert await found(store) == [set()] * 4


async def test_the_policy_shows_nothing_without_a_tenant(migrated: str) -> None:
    """A search that names no tenant sees nothing, on a connection that served tenants before too."""
    with policed(migrated):
        async with opened(migrated, by_policy=False) as store:
            assert await found(store) == [set()] * 4
        tenants: list[dict[str, str]] = [{TENANT_SETTING: "north"}, {}, {"soev.other": "north"}]
        async with PgvectorStore(
            migrated,
            tables={"chunks": chunk_table(METADATA)},
            max_connections=1,
            transaction_settings=lambda: tenants[0],
        ) as store:
            assert len(await store.fetch("chunks", limit=9)) == 2
            while len(tenants) > 1:
                tenants.pop(0)
                assert await found(store) == [set()] * 4


async def test_each_call_is_of_its_own_tenant(migrated: str) -> None:
    """Calls of two tenants that run at once on few connections do not see each other's chunks."""
    own = {"north": {"n1", "n2"}, "south": {"s1"}}

    async def ask(store: PgvectorStore, tenant: str) -> None:
        with tenant_scope(tenant):
            chunks = await store.fetch("chunks", limit=9)
        assert {each.id for each in chunks} == own[tenant]

    with policed(migrated):
        async with opened(migrated, by_policy=True) as store:
            await asyncio.gather(*(ask(store, tenant) for tenant in ["north", "south"] * 40))


async def test_an_error_within_the_transaction_leaves_the_connection_whole(migrated: str) -> None:
    """A statement that fails is said so, and the next one on its connection answers."""
    with policed(migrated):
        async with opened(migrated, by_policy=True) as store:
            with tenant_scope("north"):
                query = " ".join(f"word{each}" for each in range(200_000))
                with pytest.raises(InvalidQueryError, match="too much"):
                    await store.bm25("chunks", query=query, limit=1)
                assert await found(store) == [{"n1", "n2"}, {"n1"}, {"n1", "n2"}, {"n1", "n2"}]


async def test_nothing_is_sent_outside_of_a_scope(migrated: str) -> None:
    """Outside of a tenant's scope the search is refused, and does not find nothing in silence."""
    async with opened(migrated, by_policy=True) as store:
        with pytest.raises(InvalidQueryError, match="scope"):
            await store.fetch("chunks", limit=1)


async def test_a_collection_is_a_target(migrated: str) -> None:
    """PgvectorIndex searches one collection of the table, in every method, and reads only."""
    with psycopg.connect(migrated, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO adk_chunks (id, tenant, collection, document_id, text, embedding) VALUES"
            " ('o1', 'north', 'other', 'd1', 'The refund policy', '[1,0]')"
        )
    async with PgvectorIndex(migrated, metadata=METADATA) as index:
        assert [each.name for each in await index.fields("handbook")][-2:] == ["reference", "page"]
        near = await index.near_vector("other", vector=[1.0, 0.0], limit=9)
        keyword = await index.bm25("other", query="refund", limit=9)
        both = await index.hybrid("other", query="refund", vector=[1.0, 0.0], limit=9)
        fetched = await index.fetch("other", limit=9, where=field("tenant") == "north")
        assert [[each.id for each in one] for one in (near, keyword, both, fetched)] == [["o1"]] * 4
        assert {each.id for each in await index.fetch("handbook", limit=9)} == {"n1", "n2", "s1"}
        assert await index.fetch("nobody filled it", limit=9) == []
        with pytest.raises(Unconfigured, match="only reads"):
            await index.delete("handbook", ["n1"])
        with pytest.raises(InvalidQueryError):
            await index.fetch("", limit=1)
    with psycopg.connect(migrated, autocommit=True) as connection:
        connection.execute("DELETE FROM adk_chunks WHERE id = 'o1'")


async def test_words_are_counted_in_the_target(migrated: str) -> None:
    """How rare a word is counts over the rows that are the target, and not over a filter's."""
    tables = {
        "all": chunk_table(),
        "north": chunk_table(where=field("tenant") == "north"),
        "nobody": chunk_table(where=NOTHING),
    }
    async with PgvectorStore(migrated, tables=tables) as store:
        where = field("tenant") == "north"
        (filtered,) = await store.bm25("all", query="refund", limit=9, where=where)
        (sliced,) = await store.bm25("north", query="refund", limit=9)
        assert (filtered.id, sliced.id) == ("n1", "n1")
        assert sliced.score > filtered.score  # 1 row of 2, against 2 of 3
        assert await found(store, "nobody") == [set()] * 4


async def test_a_target_is_told_by_its_fields(migrated: str) -> None:
    """A where that names what the table does not declare is Unconfigured."""
    tables = {"odd": chunk_table(where=field("page") == 1)}
    async with PgvectorStore(migrated, tables=tables) as store:
        with pytest.raises(Unconfigured, match="its where"):
            await store.fetch("odd", limit=1)


def test_the_expected_schema_is_a_text() -> None:
    """The schema is DDL to read, of one table, for embeddings of 1,536 numbers."""
    assert "CREATE TABLE" in EXPECTED_CHUNK_SCHEMA
    assert "adk_chunks" in EXPECTED_CHUNK_SCHEMA
    assert "vector(1536)" in EXPECTED_CHUNK_SCHEMA


@pytest.mark.parametrize("wrong", [{"dimension": 0}, {"dimension": 2.0}, {"schema": "x" * 64}])
def test_what_the_schema_takes(wrong: dict[str, object]) -> None:
    """A dimension that no index serves, or a name too long, is refused."""
    with pytest.raises(InvalidQueryError):
        chunk_schema(**wrong)  # type: ignore[arg-type]
