"""The ready-made table, as DDL that a migration tool can own."""

from collections.abc import Sequence

from soev_retrieval.domain import Field, Filter, InvalidQueryError
from soev_retrieval_pgvector._sql import WORDS_FUNCTION, literal, quoted, words_function
from soev_retrieval_pgvector._table import Table, identifier

CHUNK_TABLE = "adk_chunks"
"""The name of the ready-made table."""

TENANT_SETTING = "soev_retrieval.tenant"
"""The setting of a transaction that the row-level policy compares the tenant with."""


def _qualified(schema: str) -> str:
    return f"{quoted(identifier(schema, 'the schema'))}.{CHUNK_TABLE}"


def chunk_schema(
    *, dimension: int = 1536, language: str = "english", schema: str = "public"
) -> str:
    """The DDL of a table for the chunks of many tenants: text, terms and embedding in one row.

    What differs from one collection to another goes into `metadata`.

    Args:
        dimension: How long the embeddings are, 1 to 2,000.
        language: The text search configuration of the text.
        schema: Where the table goes.

    Raises:
        InvalidQueryError: The dimension is no such number, or a name is too long.
    """
    if type(dimension) is not int or not 1 <= dimension <= 2000:
        raise InvalidQueryError(f"dimension must be an int from 1 to 2,000, not {dimension!r}")
    table = _qualified(schema)
    terms = f"to_tsvector({literal(identifier(language, 'the language'))}::regconfig, text)"
    words = f"{quoted(schema)}.{WORDS_FUNCTION}"
    return f"""\
CREATE EXTENSION IF NOT EXISTS vector;
{words_function(schema)};
CREATE TABLE {table} (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  collection text COLLATE "C" NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  text text COLLATE "C" NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{{}}',
  embedding vector({dimension}),
  terms tsvector GENERATED ALWAYS AS ({terms}) STORED,
  terms_length int GENERATED ALWAYS AS ({words}({terms})) STORED
);
CREATE INDEX ON {table} USING hnsw (embedding vector_cosine_ops);
CREATE INDEX ON {table} USING gin (terms);
CREATE INDEX ON {table} (terms_length);
CREATE INDEX ON {table} (tenant, collection);
CREATE INDEX ON {table} (document_id);
CREATE INDEX ON {table} USING gin (metadata jsonb_path_ops);
"""


EXPECTED_CHUNK_SCHEMA = chunk_schema()
"""The schema of the ready-made table, for embeddings of 1,536 numbers and English text."""


def tenant_policy(*, schema: str = "public") -> str:
    """The DDL of a row-level policy: a transaction sees the rows of its own tenant, else none.

    It holds for the table's owner as well, and for no superuser. The store names the tenant with
    `transaction_settings=lambda: {TENANT_SETTING: current_tenant()}`.
    """
    table = _qualified(schema)
    own = f"tenant = current_setting({literal(TENANT_SETTING)}, true)"
    return f"""\
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_sees_its_own ON {table} USING ({own}) WITH CHECK ({own});
"""


def chunk_table(
    metadata: Sequence[Field] = (), *, schema: str = "public", where: Filter | None = None
) -> Table:
    """The ready-made table as the store takes it.

    Args:
        metadata: The fields of `metadata`.
        schema: Where the table is.
        where: Which rows are the target, such as those of one collection; None for all.
    """
    return Table(CHUNK_TABLE, schema, payload="metadata", payload_fields=metadata, where=where)
