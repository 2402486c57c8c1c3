"""PostgreSQL with pgvector as a store of soev-retrieval."""

from soev_retrieval_pgvector._chunk_schema import (
    EXPECTED_CHUNK_SCHEMA,
    TENANT_SETTING,
    chunk_schema,
    chunk_table,
    tenant_policy,
)
from soev_retrieval_pgvector._index import PgvectorIndex
from soev_retrieval_pgvector._making import Making
from soev_retrieval_pgvector._store import PgvectorStore
from soev_retrieval_pgvector._table import Table

__all__ = [
    "EXPECTED_CHUNK_SCHEMA",
    "TENANT_SETTING",
    "Making",
    "PgvectorIndex",
    "PgvectorStore",
    "Table",
    "chunk_schema",
    "chunk_table",
    "tenant_policy",
]
