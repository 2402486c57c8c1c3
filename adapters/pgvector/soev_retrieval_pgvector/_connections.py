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
        within: What the transaction of each read is set to, or None for reads of one statement.

    Raises:
        InvalidQueryError: `conninfo` is no connection string.
    """

    def __init__(
        self,
        conninfo: str,
        settings: Mapping[str, str],
        *,
        max_size: int,
        wait_seconds: float,
        within: Callable[[], Mapping[str, str | None]] | None = None,
    ) -> None:
        self._settings = dict(settings)
        self._within = within
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
        within = None
        if self._within is not None:
            within = _set_config(_named(self._within()), local=True)

        async def read(connection: AsyncConnection) -> list[tuple[Any, ...]]:
            if within is None:
                return await (await connection.execute(sql.encode(), values)).fetchall()
            async with connection.pipeline():  # all in one go
                await connection.execute("BEGIN READ ONLY")
                await connection.execute(*within)
                cursor = await connection.execute(sql.encode(), values)
                await connection.execute("COMMIT")
            return await cursor.fetchall()

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
            await connection.execute(*_set_config(self._settings, local=False))


def _named(settings: Mapping[str, str | None]) -> Mapping[str, str]:
    """Settings that all have a value. One that has none would find nothing, in silence."""
    for name, value in settings.items():
        if not isinstance(value, str) or not value:
            raise InvalidQueryError(
                f"the transaction setting {name!r} has no value; call within the scope that gives it"
            )
    return settings  # type: ignore[return-value]


def _set_config(settings: Mapping[str, str], *, local: bool) -> tuple[bytes, list[str]]:
    """The statement that sets parameters, for one transaction or for good."""
    calls = ", ".join(
        f"set_config(${2 * at + 1}, ${2 * at + 2}, {str(local).lower()})"
        for at in range(len(settings))
    )
    return f"SELECT {calls}".encode(), [each for setting in settings.items() for each in setting]


def _parameters(conninfo: str) -> dict[str, Any]:
    try:
        return conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError:
        pass  # its text may repeat the password, and is not to be this one's context
    raise InvalidQueryError(
        "conninfo is no PostgreSQL URL or connection string that libpq can read"
    )
