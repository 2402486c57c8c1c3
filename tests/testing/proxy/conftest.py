"""What the tests of the proxy share: a server behind it, plain clients, and what is left open."""

import asyncio
import os
import socket
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    closing,
    suppress,
)
from typing import Any, TypeAlias

import pytest

from soev_retrieval.testing.faults import FaultProxy

Address: TypeAlias = tuple[str, int]


class Echo:
    """A server that sends back what it gets, says bye when the client does, and keeps account."""

    def __init__(self) -> None:
        self.ends: list[str] = []
        self.came = 0
        self._got = bytearray()
        self._news = asyncio.Event()

    @property
    def got(self) -> bytes:
        """All that it got."""
        return bytes(self._got)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, to its end."""
        self.came += 1
        try:
            while data := await reader.read(65536):
                self._got += data
                writer.write(data)
                await writer.drain()
            end = "closed"
            writer.write(b"bye")
        except ConnectionError:
            end = "reset"
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        self.ends.append(end)
        self._news.set()

    async def until_ended(self, connections: int = 1) -> list[str]:
        """How its connections ended, when so many did."""
        while len(self.ends) < connections:
            self._news.clear()
            await self._news.wait()
        return self.ends


class Client:
    """A plain socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    async def send(self, data: bytes) -> None:
        """Send all of it."""
        await asyncio.get_running_loop().sock_sendall(self.sock, data)

    async def read(self, count: int | None = None) -> bytes:
        """So many bytes, or all until the end."""
        loop, got = asyncio.get_running_loop(), bytearray()
        while count is None or len(got) < count:
            data = await loop.sock_recv(self.sock, 65536 if count is None else count - len(got))
            if not data:
                assert count is None, f"it ended after {bytes(got)!r}"
                break
            got += data
        return bytes(got)

    async def ask(self, data: bytes) -> bytes:
        """Send, and read as much."""
        await self.send(data)
        return await self.read(len(data))

    @property
    def silent(self) -> bool:
        """Whether there is nothing to read now: no byte, no end, no error."""
        try:
            self.sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        return False


async def _connected(host: str, port: int) -> Client:
    sock = socket.socket()
    sock.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(sock, (host, port))
    except BaseException:
        sock.close()
        raise
    return Client(sock)


@asynccontextmanager
async def _echoing(path: os.PathLike[str] | None = None) -> AsyncIterator[tuple[Echo, Address]]:
    """The server, and its address unless it is given a path."""
    echo = Echo()
    if path:
        async with await asyncio.start_unix_server(echo.serve, path):
            yield echo, ("", 0)
    else:
        async with await asyncio.start_server(echo.serve, "127.0.0.1", 0) as server:
            yield echo, server.sockets[0].getsockname()
    await echo.until_ended(echo.came)


async def _elsewhere() -> None:
    async with _echoing() as (_, address), FaultProxy(*address) as other:
        client = await _connected(other.host, other.port)
        with closing(client.sock):
            await client.ask(b"elsewhere")


def _sockets() -> set[int]:
    found = set()
    for number in range(1024):
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                found.add(number)
    return found


def _others() -> set[asyncio.Task[Any]]:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    return {task for task in tasks if "Echo.serve" not in repr(task.get_coro())}


@pytest.fixture
def echoing() -> Callable[..., AbstractAsyncContextManager[tuple[Echo, Address]]]:
    """A server as a context."""
    return _echoing


@pytest.fixture
def elsewhere() -> Callable[[], Awaitable[None]]:
    """A round trip through another proxy: what the server or the client was to get is there by then."""
    return _elsewhere


@pytest.fixture
def sockets() -> Callable[[], set[int]]:
    """The sockets that this process has open."""
    return _sockets


@pytest.fixture
def others() -> Callable[[], set[asyncio.Task[Any]]]:
    """The tasks that run beside this one and the server's."""
    return _others


@pytest.fixture
def nobodys_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@pytest.fixture
async def running() -> AsyncIterator[tuple[Echo, FaultProxy]]:
    """A server with a proxy before it."""
    async with _echoing() as (echo, address), FaultProxy(*address) as proxy:
        yield echo, proxy


@pytest.fixture
def echo(running: tuple[Echo, FaultProxy]) -> Echo:
    """The server behind the proxy."""
    return running[0]


@pytest.fixture
def proxy(running: tuple[Echo, FaultProxy]) -> FaultProxy:
    """A proxy before the server, entered."""
    return running[1]


@pytest.fixture
async def dial() -> AsyncIterator[Callable[[FaultProxy], Awaitable[Client]]]:
    """Connects to a proxy, and hangs up at the end."""
    async with AsyncExitStack() as stack:

        async def dialled(proxy: FaultProxy) -> Client:
            client = await _connected(proxy.host, proxy.port)
            stack.callback(client.sock.close)
            return client

        yield dialled
