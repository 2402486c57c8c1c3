"""Statements on connections that are set up once, and outlive a restart of the server."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection, AsyncRawCursor
from psycopg.conninfo import conninfo_to_dict

from soev_retrieval.domain import InvalidQueryError
from soev_retrieval_pgvector._errors import is_lost, is_rolled_back, translated
from soev_retrieval_pgvector._pool import Pool
from soev_retrieval_pgvector._vector import Vector, VectorDumper

R = TypeVar("R")

# A peer that went away without a word is found out within a minute, not after two hours.
_KEEPALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}


class Connections:
    """Runs statements on pooled connections.

    Args:
        conninfo: A PostgreSQL URL or connection string. What it says of time-outs and keepalives
            goes before our own.
        settings: The parameters that each connection is set to once, when it is made.
        max_size: How many connections there are at the most.
        wait_seconds: How long a call waits for one of them, until the server has accepted it.

    Raises:
        InvalidQueryError: `conninfo` is no connection string.
    """

    def __init__(
        self, conninfo: str, settings: Mapping[str, str], *, max_size: int, wait_seconds: float
    ) -> None:
        self._settings = dict(settings)
        ours = {"connect_timeout": max(2, math.ceil(wait_seconds)), **_KEEPALIVE}
        parameters = {
            **ours,
            **_parameters(conninfo),
            "autocommit": True,
            "cursor_factory": AsyncRawCursor,
        }
        self._pool = Pool(parameters, self._set_up, max_size=max_size, wait_seconds=wait_seconds)

    async def rows(
        self, sql: str, values: Sequence[Any], *, operation: str
    ) -> list[tuple[Any, ...]]:
        """The rows of one statement, which writes nothing: it may be run again."""

        async def read(connection: AsyncConnection) -> list[tuple[Any, ...]]:
            return await (await connection.execute(sql.encode(), values)).fetchall()

        return await self.run(read, operation=operation)

    async def write(self, sql: str, values: Sequence[Any], *, operation: str) -> None:
        """Run one statement that changes something, and may as well run twice."""

        async def write(connection: AsyncConnection) -> None:
            await connection.execute(sql.encode(), values)

        await self.run(write, operation=operation)

    async def run(self, work: Callable[[AsyncConnection], Awaitable[R]], *, operation: str) -> R:
        """What `work` makes of a connection; once more if that one was lost, or `work` undone.

        `work` does all it does or nothing, and may do it twice: one statement, or one transaction.
        """
        with translated(operation):
            async with self._pool.connection() as connection:
                try:
                    return await work(connection)
                except psycopg.Error as error:
                    lost = connection.closed or is_lost(error)
                    if lost or error.sqlstate == "0A000":
                        await self._renounce(connection)
                    if not (lost or is_rolled_back(error)):
                        raise
            async with self._pool.connection() as connection:
                return await work(connection)

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()

    async def _renounce(self, connection: AsyncConnection) -> None:
        """Close a connection that would fail again, and those that wait: they are no better.

        After a restart all of them are dead, and after an ALTER TABLE all have prepared what
        cannot be executed any more. Asking each how it is would take longer than a new one.
        """
        await connection.close()
        await self._pool.drop()

    async def _set_up(self, connection: AsyncConnection) -> None:
        connection.adapters.register_dumper(Vector, VectorDumper)
        if self._settings:
            calls = ", ".join(
                f"set_config(${2 * at + 1}, ${2 * at + 2}, false)"
                for at in range(len(self._settings))
            )
            values = [each for setting in self._settings.items() for each in setting]
            await connection.execute(f"SELECT {calls}".encode(), values)


def _parameters(conninfo: str) -> dict[str, Any]:
    try:
        return conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError:
        pass  # its text may repeat the password, and is not to be this one's context
    raise InvalidQueryError(
        "conninfo is no PostgreSQL URL or connection string that libpq can read"
    )
