"""A TCP proxy that fails on command, to put between a real driver and its server."""

import asyncio
import math
import socket
from collections.abc import Callable
from os import PathLike, fspath
from random import Random
from types import TracebackType

from soev_retrieval.testing.faults._links import Address, Link, State


class FaultProxy:
    """Listens on a free port of this machine, passes bytes on to a server, and fails on command.

    The commands act at once, on connections that are open as well; give them from the event loop
    that the proxy was entered in. Those that last (refuse, stall, delay, garbage) last until
    `heal`, and add up. Leaving the context closes every connection.

    ```python
    >>> import asyncio
    >>> from soev_retrieval.testing.faults import FaultProxy
    >>> async def greet(reader, writer):
    ...     writer.write(b"hello")
    ...     writer.close()
    >>> async def main():
    ...     async with (
    ...         await asyncio.start_server(greet, "127.0.0.1", 0) as server,
    ...         FaultProxy(*server.sockets[0].getsockname()) as proxy,
    ...     ):
    ...         proxy.truncate(4)
    ...         reader, writer = await asyncio.open_connection(proxy.host, proxy.port)
    ...         print(await reader.read())
    ...         writer.close()
    >>> asyncio.run(main())
    b'hell'

    ```

    Args:
        host: The server's address, or its name, which is looked up in IPv4.
        port: The server's port.
        path: The server's socket in the file system, instead of host and port.
        seed: What `garbage` is drawn from.

    Raises:
        ValueError: When the instance is made: there must be a host and a port, or else a path.
    """

    host = "127.0.0.1"
    """The address to connect to."""
    port: int
    """The port to connect to, from when the proxy was entered."""

    def __init__(
        self,
        host: str | None = None,
        port: int | None = None,
        *,
        path: str | PathLike[str] | None = None,
        seed: int = 0,
    ) -> None:
        self._server = _address(host, port, path)
        self._seed = seed
        self._state = State()
        self._links: set[Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._listener: socket.socket | None = None
        self._refusing = False
        self._connections = 0

    @property
    def connections(self) -> int:
        """How many connections came so far; none that was refused did."""
        return self._connections

    @property
    def open(self) -> int:
        """How many connections there are whose client has not hung up."""
        return sum(not link.client.ended for link in self._links)

    @property
    def sent(self) -> int:
        """How many bytes came from clients so far, passed on or not."""
        return self._state.sent

    @property
    def replied(self) -> int:
        """How many bytes came from the server so far, passed on or not."""
        return self._state.replied

    def refuse(self) -> None:
        """Refuse new connections. Open ones go on."""
        if not self._refusing:
            self._refusing = True
            self._stop_listening()
            self._bind(self.port)  # so that nobody else gets it

    def reset(self) -> None:
        """Break every open connection with a reset, at both ends. New ones are served."""
        for link in list(self._links):
            link.close(reset=True)

    def stall(self) -> None:
        """Pass nothing on, in neither direction. New connections are accepted, and silent."""
        self._state.flowing.clear()

    def truncate(self, after_bytes: int) -> None:
        """Pass on so many bytes of what the server sends next, then end that one connection.

        Raises:
            ValueError: It is no int of at least 0.
        """
        if type(after_bytes) is not int or after_bytes < 0:
            raise ValueError(f"after_bytes must be an int of at least 0, not {after_bytes!r}")
        self._state.truncate = after_bytes

    def delay(self, seconds: float) -> None:
        """Pass on what comes from now on, in both directions, so much later, in its order.

        Raises:
            ValueError: It is no finite number of at least 0.
        """
        if not 0 <= seconds < math.inf:
            raise ValueError(f"seconds must be a finite number of at least 0, not {seconds!r}")
        self._state.delay = seconds

    def garbage(self) -> None:
        """Replace what the server sends by as many random bytes, the same for the same seed."""
        self._state.garbage = True

    def half_open(self) -> None:
        """Close the server's end of every open connection, and leave the client's open and silent.

        So it is for a client whose server was cut off. New connections are served.
        """
        for link in list(self._links):
            link.forsake()

    def heal(self) -> None:
        """Serve again as at the start.

        What stalled or is delayed is passed on now, in its order, as when a network recovers; a
        reply that waits is neither garbled nor truncated. A connection left half open is reset:
        its server knows it no more.
        """
        if self._refusing:
            self._refusing = False
            self._listen()
        state = self._state
        state.delay, state.garbage, state.truncate = 0.0, False, None
        state.flowing.set()
        for link in list(self._links):
            link.heal()

    async def until(self, true: Callable[[], bool]) -> None:
        """Return when something that came, or a client that hung up, has made `true` true.

        `await proxy.until(lambda: proxy.sent > 0)` waits for a request to be under way.
        """
        while not true():
            self._state.news.clear()
            await self._state.news.wait()

    async def __aenter__(self) -> "FaultProxy":
        self._refusing = False
        self._bind(0)
        self._listen()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop_listening()
        for link in list(self._links):
            link.close()
        cancelled: asyncio.CancelledError | None = None
        while running := [task for task in self._tasks if not task.done()]:
            try:
                await asyncio.wait(running)
            except asyncio.CancelledError as cancel:
                cancelled = cancel
        if cancelled:
            raise cancelled

    def _bind(self, port: int) -> None:
        self._listener = listener = socket.socket()
        listener.setblocking(False)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self.host, port))
        self.port = listener.getsockname()[1]

    def _listen(self) -> None:
        listener = self._listening()
        listener.listen()
        asyncio.get_running_loop().add_reader(listener, self._accept)

    def _stop_listening(self) -> None:
        listener, self._listener = self._listening(), None
        asyncio.get_running_loop().remove_reader(listener)
        listener.close()

    def _listening(self) -> socket.socket:
        if self._listener is None:
            raise RuntimeError("the proxy is not entered; use it as `async with FaultProxy(…)`")
        return self._listener

    def _accept(self) -> None:
        try:
            client, _ = self._listening().accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        self._connections += 1
        noise = Random(f"{self._seed} {self._connections}")  # noqa: S311  (no secret)
        link = Link(self._state, client, noise, self._links.discard)
        self._links.add(link)
        task = link.dial(self._server)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._state.news.set()


def _address(host: str | None, port: int | None, path: str | PathLike[str] | None) -> Address:
    if path is None and host is not None and port is not None:
        return host, port
    if path is not None and host is None and port is None:
        return fspath(path)
    raise ValueError("give the server's host and port, or else its path")
