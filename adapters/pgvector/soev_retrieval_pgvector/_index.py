"""The ready-made table, each of its collections a target."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from soev_retrieval.domain import Field, Target, field
from soev_retrieval_pgvector._chunk_schema import chunk_table
from soev_retrieval_pgvector._store import PgvectorStore
from soev_retrieval_pgvector._table import Table


class PgvectorIndex(PgvectorStore):
    """A store over the ready-made table `adk_chunks`: a target is the name of a collection.

    It is read as it is; what fills the table is the application's. A collection is what its rows
    say, so one that has no chunk answers with none. Put `Tenanted` around it, or have the tenant
    compared by `tenant_policy`, with `transaction_settings`.

    Args:
        conninfo: A PostgreSQL URL or connection string. It shows in no repr.
        metadata: The fields of the column `metadata`, beside `tenant`, `document_id` and `text`.
        schema: Where the table is.
        settings: What PgvectorStore takes besides.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        metadata: Sequence[Field] = (),
        schema: str = "public",
        **settings: Any,
    ) -> None:
        super().__init__(conninfo, tables=_Collections(metadata, schema), **settings)


class _Collections(Mapping[Target, Table]):
    """A table for each name that is asked for. Which there are is in the rows."""

    def __init__(self, metadata: Sequence[Field], schema: str) -> None:
        self._metadata, self._schema = metadata, schema

    def __getitem__(self, target: Target) -> Table:
        if not isinstance(target, str) or not target:
            raise KeyError(target)
        where = field("collection") == target
        return chunk_table(self._metadata, schema=self._schema, where=where)

    def __iter__(self) -> Iterator[Target]:
        return iter(())

    def __len__(self) -> int:
        return 0
