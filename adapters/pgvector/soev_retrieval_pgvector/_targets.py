"""The targets of a store: which tables they are, and where everything is in them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from soev_retrieval.domain import (
    InvalidQueryError,
    RetrievalError,
    StoreUnavailable,
    Target,
    Unconfigured,
)
from soev_retrieval_pgvector._catalog import read
from soev_retrieval_pgvector._connections import Connections
from soev_retrieval_pgvector._errors import may_be_outdated, was_prepared
from soev_retrieval_pgvector._layout import Layout, laid_out
from soev_retrieval_pgvector._making import Made, made_table
from soev_retrieval_pgvector._table import Table, identifier

R = TypeVar("R")


class Targets:
    """The tables of a configuration, and those that `create` made in one schema.

    Args:
        connections: Where the catalog is asked.
        tables: The tables of the configuration.
        schema: Where those of `create` are.
    """

    def __init__(
        self, connections: Connections, tables: Mapping[Target, Table], schema: str
    ) -> None:
        self._connections = connections
        self._tables = tables
        self._schema = schema
        self._layouts: dict[Target, Layout] = {}
        self._mades: dict[Target, Made] = {}

    def refuse_configured(self, target: Target, operation: str) -> None:
        """Refuse to write a table of the configuration.

        Raises:
            Unconfigured: It is one.
        """
        if isinstance(target, str) and target in self._tables:
            raise Unconfigured(
                f"target {target!r} is a table that was there before, which this store only reads",
                store="PgvectorStore",
                operation=operation,
            )

    async def made(self, target: Target, operation: str) -> Made | None:
        """What `create` made for a target, read anew; None where it made none."""
        self._layouts.pop(target, None)
        await self._read(target, operation)
        return self._mades.get(target)

    def forget(self, target: Target) -> None:
        """Keep nothing of a target, which is not there any more."""
        self._layouts.pop(target, None)
        self._mades.pop(target, None)

    async def on_made(
        self, target: Target, work: Callable[[Made], Awaitable[R]], *, operation: str
    ) -> R:
        """What `work` makes of a table that `create` made; once more if it was changed meanwhile."""
        return await self.on(target, lambda _: work(self._mades[target]), operation=operation)

    async def on(
        self, target: Target, work: Callable[[Layout], Awaitable[R]], *, operation: str
    ) -> R:
        """What `work` makes of a target's layout; once more if the table was changed meanwhile."""
        layout = await self.layout(target, operation)
        try:
            return await work(layout)
        except RetrievalError as error:
            if not may_be_outdated(error):
                raise
            refused = error
        if self._layouts.get(target) is layout:
            del self._layouts[target]
        try:
            fresh = await self.layout(target, operation)
        except StoreUnavailable:
            raise refused from refused.__cause__
        if fresh == layout and not was_prepared(refused):
            raise refused
        return await work(fresh)

    async def layout(self, target: Target, operation: str) -> Layout:
        """Where everything of a target is, read once and kept.

        Raises:
            InvalidQueryError: There is no such target.
            Unconfigured: Its table is not there, or not as its configuration says.
            StoreUnavailable: The server gave no answer.
        """
        if isinstance(target, str) and target in self._layouts:
            return self._layouts[target]
        found = await self._read(target, operation)
        if found is None:
            known = ", ".join({**self._tables, **self._layouts}) or "none yet"
            raise InvalidQueryError(
                f"there is no target {target!r}; there is {known}", target=str(target)
            )
        self._layouts[target] = found
        return found

    async def _read(self, target: Target, operation: str) -> Layout | None:
        """Where everything of a target is: a table of the configuration, or one of `create`."""
        if not isinstance(target, str):
            return None

        async def rows(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
            return await self._connections.rows(sql, values, operation=operation)

        if (table := self._tables.get(target)) is not None:
            catalog = await read(rows, table.schema, table.name)
            if catalog is None:
                raise Unconfigured(
                    f"there is no table {table}", store="PgvectorStore", operation=operation
                )
            return laid_out(table, catalog)
        catalog = await read(rows, self._schema, identifier(target, "the name of a target"))
        made = None if catalog is None else made_table(self._schema, target, catalog)
        if catalog is None or made is None:
            self._mades.pop(target, None)
            return None
        self._mades[target] = made
        return laid_out(made.table, catalog, made.spec)

    def __repr__(self) -> str:
        return ", ".join(f"{name}: {table}" for name, table in self._tables.items())
