"""The connections of a FaultProxy: two sockets each, and what may go from one to the other."""

import asyncio
import socket
import struct
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import TypeAlias

Address: TypeAlias = tuple[str, int] | str
"""Where a server listens: host and port, or a path."""

_CHUNK = 64 * 1024
_MUCH = 64 * 1024  # bytes that wait; beyond them the sender has to wait as well
_AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER on, 0 seconds: closing sends a reset


class State:
    """What all connections of a proxy do at the moment, and what came over them so far."""

    def __init__(self) -> None:
        self.flowing = asyncio.Event()
        self.flowing.set()
        self.delay = 0.0
        self.garbage = False
        self.truncate: int | None = None
        self.sent = 0
        self.replied = 0
        self.news = asyncio.Event()


class End:
    """One socket of a link, what came in at it and waits, and what is to go out at it."""

    def __init__(self, link: "Link", sock: socket.socket) -> None:
        sock.setblocking(False)
        if sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.ended = False
        self.waiting: deque[tuple[float, bytes]] = deque()
        self.held = 0
        self.out = bytearray()
        self.timer: asyncio.TimerHandle | None = None
        self._link, self._sock = link, sock
        self._loop = asyncio.get_running_loop()
        self._reading = False
        self._then: Callable[[], None] | None = None
        self.read(True)

    def read(self, on: bool) -> None:
        """Read what comes, or leave it with the sender."""
        on = on and not self.ended
        if on and not self._reading:
            self._loop.add_reader(self._sock, self._readable)
        elif self._reading and not on:
            self._loop.remove_reader(self._sock)
        self._reading = on

    def write(self, data: bytes) -> None:
        """Send `data` as soon as the socket takes it."""
        self.out += data
        self._writable()

    def finish(self, then: Callable[[], None]) -> None:
        """Do `then` when all is sent."""
        self._then = then
        self._writable()

    def shutdown(self) -> None:
        """Say that no more comes."""
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_WR)

    def close(self, *, reset: bool = False) -> None:
        """Close the socket, now."""
        if self.timer:
            self.timer.cancel()
        self._loop.remove_reader(self._sock)
        self._loop.remove_writer(self._sock)
        if reset:
            with suppress(OSError):  # the other side was faster
                self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self._sock.close()

    def _readable(self) -> None:
        try:
            data = self._sock.recv(_CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self._link.close(reset=True)
            return
        if not data:
            self.ended = True
            self.read(False)
        self._link.came(self, data)

    def _writable(self) -> None:
        if self._link.closed:
            return
        try:
            if self.out:
                del self.out[: self._sock.send(self.out)]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self._link.close(reset=True)
            return
        if self.out:
            self._loop.add_writer(self._sock, self._writable)
        else:
            self._loop.remove_writer(self._sock)
            if self._then:
                then, self._then = self._then, None
                then()
        self._link.took()


class Link:
    """A connection of a client through the proxy to the server.

    Args:
        state: The proxy's.
        client: The client's socket.
        noise: What garbage is drawn from.
        forget: Called when the link is closed.
    """

    def __init__(
        self, state: State, client: socket.socket, noise: Random, forget: Callable[["Link"], None]
    ) -> None:
        self.closed = False
        self._state, self._noise, self._forget = state, noise, forget
        self._loop = asyncio.get_running_loop()
        self._forsaken = self._cut = False
        self._left: int | None = None
        self._shut: set[End] = set()
        self._dialling: asyncio.Task[None] | None = None
        self._server: End | None = None
        self.client = End(self, client)

    def dial(self, address: Address) -> asyncio.Task[None]:
        """Connect to the server, in the task returned."""
        self._dialling = self._loop.create_task(self._dial(address))
        return self._dialling

    def came(self, end: End, data: bytes) -> None:
        """Take what came in at an end; b"" says that no more does."""
        if end is self.client:
            self._state.sent += len(data)
        else:
            self._state.replied += len(data)
        self._state.news.set()
        if self._cut:
            # Read on for nothing: a socket closed with bytes unread resets, and the reset may
            # overtake what the client was to get.
            if not data:
                self.close()
            return
        end.waiting.append((self._loop.time() + self._state.delay, data))
        end.held += len(data)
        self._flow(end)

    def took(self) -> None:
        """Read an end only while little waits to go out at the other."""
        for end, peer in ((self.client, self._server), (self._server, self.client)):
            if end and not self.closed:
                end.read(end.held < _MUCH and (not peer or len(peer.out) < _MUCH))

    def forsake(self) -> None:
        """Close the server's end, and leave the client with nobody to talk to."""
        self._forsaken = True
        if self._dialling:
            self._dialling.cancel()
        self._drop_server()

    def heal(self) -> None:
        """Pass on what waits, or reset what has nobody to pass it on to."""
        if self._forsaken:
            self.close(reset=True)
        self._left = None
        for end in (self.client, self._server):
            if end:
                end.waiting = deque((0.0, data) for _, data in end.waiting)
                self._flow(end)

    def close(self, *, reset: bool = False) -> None:
        """Close both ends, now."""
        if self.closed:
            return
        self.closed = True
        if self._dialling:
            self._dialling.cancel()
        for end in (self.client, self._server):
            if end:
                end.close(reset=reset)
        self._forget(self)
        self._state.news.set()

    async def _dial(self, address: Address) -> None:
        await self._state.flowing.wait()
        try:
            sock = await _connected(address)
        except OSError:
            self._dialling = None
            self.close(reset=True)
            return
        self._dialling = None
        self._server = End(self, sock)
        self._flow(self.client)

    def _flow(self, end: End) -> None:
        """Pass on what came in at an end and is due, and come again for the rest."""
        peer = self._server if end is self.client else self.client
        while peer and end.waiting and self._flows() and end.waiting[0][0] <= self._loop.time():
            _, data = end.waiting.popleft()
            end.held -= len(data)
            self._pass(end, peer, data)
        if end.timer:
            end.timer.cancel()
        if peer and end.waiting and self._flows():
            end.timer = self._loop.call_at(end.waiting[0][0], self._flow, end)
        self.took()

    def _flows(self) -> bool:
        return self._state.flowing.is_set() and not self._cut and not self.closed

    def _pass(self, end: End, peer: End, data: bytes) -> None:
        if not data:
            peer.finish(lambda: self._hang_up(peer))
        elif end is self.client:
            peer.write(data)
        else:
            self._reply(data)

    def _reply(self, data: bytes) -> None:
        if self._state.garbage:
            # One by one, so that it does not matter in which pieces the reply comes.
            data = bytes(self._noise.getrandbits(8) for _ in data)
        if self._left is None:
            self._left, self._state.truncate = self._state.truncate, None
        if self._left is None:
            self.client.write(data)
            return
        self.client.write(data[: self._left])
        self._left -= len(data)
        if self._left <= 0:
            self._cut = True
            self._drop_server()
            self.client.finish(self.client.shutdown)

    def _drop_server(self) -> None:
        if self._server:
            self._server.close()
            self._server = None

    def _hang_up(self, end: End) -> None:
        end.shutdown()
        self._shut.add(end)
        if {self.client, self._server} <= self._shut:
            self.close()


async def _connected(address: Address) -> socket.socket:
    family = socket.AF_INET
    if isinstance(address, str):
        family = socket.AF_UNIX
    elif ":" in address[0]:
        family = socket.AF_INET6
    sock = socket.socket(family)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, address)
    except BaseException:
        sock.close()
        raise
    return sock
