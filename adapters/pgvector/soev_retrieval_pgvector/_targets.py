"""The targets of a store: which tables they are, and where everything is in them."""

from collections.abc import Mapping, Sequence
from typing import Any

from soev_retrieval.domain import RetrievalError, Target, Unconfigured
from soev_retrieval.targets import Targets
from soev_retrieval_pgvector._catalog import read
from soev_retrieval_pgvector._connections import Connections
from soev_retrieval_pgvector._errors import may_be_outdated, was_prepared
from soev_retrieval_pgvector._layout import Layout, laid_out
from soev_retrieval_pgvector._making import Made, made_table
from soev_retrieval_pgvector._table import Table, identifier


class Tables(Targets[Layout, Made]):
    """The tables of a configuration, and those that `create` made in one schema.

    Args:
        connections: Where the catalog is asked.
        tables: The tables of the configuration.
        schema: Where those of `create` are.
    """

    def __init__(
        self, connections: Connections, tables: Mapping[Target, Table], schema: str
    ) -> None:
        super().__init__(tables, store="PgvectorStore", what="table")
        self._connections = connections
        self._schema = schema

    async def read(self, target: Target, operation: str) -> tuple[Layout, Made | None] | None:
        """As `Targets.read`: what the catalog says."""

        async def rows(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
            return await self._connections.rows(sql, values, operation=operation)

        table: Table | None = self._configured.get(target)
        if table is not None:
            catalog = await read(rows, table.schema, table.name)
            if catalog is None:
                raise Unconfigured(
                    f"there is no table {table}", store="PgvectorStore", operation=operation
                )
            return laid_out(table, catalog), None
        catalog = await read(rows, self._schema, identifier(target, "the name of a target"))
        made = None if catalog is None else made_table(self._schema, target, catalog)
        if catalog is None or made is None:
            return None
        return laid_out(made.table, catalog, made.spec), made

    def may_be_outdated(self, error: RetrievalError) -> bool:
        """As `Targets.may_be_outdated`."""
        return may_be_outdated(error)

    def is_over_when_asked_again(self, error: RetrievalError) -> bool:
        """As `Targets.is_over_when_asked_again`: a statement was prepared before the change."""
        return was_prepared(error)
