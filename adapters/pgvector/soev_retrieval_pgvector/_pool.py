"""Connections that are kept, and used again."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from soev_retrieval_pgvector._errors import Busy, Closed, Elsewhere


class Pool:
    """At most so many connections, in a pool of psycopg_pool that is there while the server is.

    A pool that has lost its server looks for it by itself, waits longer after each attempt, and
    leaves the calls waiting without a reason. So the call that finds no pool tries to connect
    first, and says why it cannot, at once; and the call that finds its connection lost gives up
    the pool and all that is in it.

    Args:
        parameters: What each connection is made with.
        configure: Sets a connection up, once.
        max_size: How many connections there are at the most.
        wait_seconds: How long a call waits for one.
    """

    def __init__(
        self,
        parameters: Mapping[str, Any],
        configure: Callable[[AsyncConnection], Awaitable[None]],
        *,
        max_size: int,
        wait_seconds: float,
    ) -> None:
        self._parameters = dict(parameters)
        self._configure = configure
        self._max_size, self._wait = max_size, wait_seconds
        self._pool: AsyncConnectionPool[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opening = asyncio.Lock()
        self._closing: set[asyncio.Future[None]] = set()
        self._in_use = 0
        self._closed = False

    @property
    def idle(self) -> int:
        """How many connections there are that nobody uses."""
        return 0 if self._pool is None else self._pool.get_stats().get("pool_available", 0)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection]:
        """A connection for oneself. It is kept in the end if it is whole.

        Raises:
            Busy: None was put back in time.
            psycopg.OperationalError: None could be made.
            Closed: The pool is closed.
        """
        pool, connection = await self._taken()
        self._in_use += 1
        try:
            yield connection
        finally:
            self._in_use -= 1
            await pool.putconn(connection)

    async def drop(self) -> None:
        """Close the connections that nobody uses, and the others when they come back."""
        pool, self._pool = self._pool, None
        if pool is not None:  # it waits for its workers, which the call need not
            closing = asyncio.ensure_future(pool.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
            await asyncio.sleep(0)  # it refuses calls from here on

    async def close(self) -> None:
        """Close every connection, those in use when they come back."""
        self._closed = True
        await self.drop()
        if self._closing:
            await asyncio.wait(self._closing)

    async def _taken(self) -> tuple[AsyncConnectionPool[Any], AsyncConnection]:
        try:
            async with asyncio.timeout(self._wait):
                while True:
                    pool = await self._opened()
                    try:
                        return pool, await pool.getconn()
                    except PoolClosed:  # somebody found its server lost while this call waited
                        continue
        except (TimeoutError, PoolTimeout):
            if self._in_use >= self._max_size:
                raise Busy(f"all {self._max_size} were in use for {self._wait} s") from None
            raise psycopg.errors.ConnectionTimeout(
                f"the server did not take the connection within {self._wait} s"
            ) from None

    async def _opened(self) -> AsyncConnectionPool[Any]:
        self._refuse_elsewhere()
        async with self._opening:
            self._refuse_closed()
            if self._pool is None:
                await self._try()
                self._pool = await self._made()
            return self._pool

    async def _made(self) -> AsyncConnectionPool[Any]:
        pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
            kwargs=self._parameters,
            configure=self._configure,
            min_size=0,
            max_size=self._max_size,
            timeout=self._wait,
            open=False,
        )
        await pool.open()
        return pool

    async def _try(self) -> None:
        """Connect once, for what the server says if it cannot be."""
        try:
            connection = await AsyncConnection.connect(**self._parameters)
        except asyncio.CancelledError as cancelled:
            # psycopg's frames hold what is half connected: whoever kept the error would keep it.
            raise cancelled.with_traceback(None)  # noqa: B904  (it is the same one)
        try:
            await self._configure(connection)
        finally:
            await connection.close()

    def _refuse_elsewhere(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop not in {None, loop}:
            raise Elsewhere("it was first called in another event loop")
        self._loop = loop

    def _refuse_closed(self) -> None:
        if self._closed:
            raise Closed("close was called")
