"""The ready-made table, asked by both branches."""

from collections.abc import Iterator, Sequence

import psycopg
import pytest

from soev_retrieval.domain import Field, field
from soev_retrieval.rag import (
    Branch,
    HybridRetriever,
    IndexRetriever,
    RetrievalScope,
    SchemaViolationError,
    tenant_scope,
)
from soev_retrieval_pgvector import PgvectorIndex, chunk_schema
from tests.servers import postgres

ROWS = """
INSERT INTO adk_chunks (id, tenant, collection, document_id, text, metadata, embedding) VALUES
  ('n1', 'north', 'handbook', 'd1', 'We refund within a week', '{"page": 1}', '[1,0.1]'),
  ('n2', 'north', 'handbook', 'd1', 'Booking BX-7741', '{"page": 2}', '[0,1]'),
  ('n3', 'north', 'archive', 'd2', 'Booking BX-7741', '{"page": 3}', '[1,0]'),
  ('s1', 'south', 'handbook', 'd9', 'Booking BX-7741', '{"page": 1}', '[1,0]')
"""


@pytest.fixture(scope="module")
def migrated() -> Iterator[str]:
    """The address of a database with the table."""
    with postgres().database("soev_rag") as address:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(chunk_schema(dimension=2).encode())
            connection.execute(ROWS)
        yield address


async def embedder(text: str) -> Sequence[float]:
    """The same vector for every question."""
    return [1.0, 0.0]


async def test_both_branches_run_in_the_database(migrated: str) -> None:
    """Of the collection and the tenant alone, each hit with who found it."""
    async with PgvectorIndex(migrated, metadata=[Field("page", "int")]) as index:
        retriever = HybridRetriever(
            IndexRetriever(index, branch=Branch.SEMANTIC, embedder=embedder, k=1),
            IndexRetriever(index, branch=Branch.KEYWORD),
        )
        scope = RetrievalScope(collection="handbook")
        with tenant_scope("north"):
            found = await retriever.retrieve("money back for BX-7741", scope=scope, k=5)
            paged = await retriever.retrieve(
                "money back for BX-7741", scope=scope, k=5, where=field("page") == 2
            )
            with pytest.raises(SchemaViolationError):
                await retriever.retrieve("x", scope=scope, k=5, where=field("tenant") == "south")
    by_id = {hit.id: [str(each.branch) for each in hit.contributions] for hit in found.hits}
    assert by_id == {"n1": ["semantic"], "n2": ["keyword"]}
    assert not found.partial
    assert [hit.id for hit in paged.hits] == ["n2"]
