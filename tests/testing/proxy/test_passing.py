"""FaultProxy without a fault: what it passes on, counts, and waits for."""

import asyncio
import random
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from soev_retrieval.testing.faults import FaultProxy

Echo = Any  # of conftest.py
Dial = Callable[[FaultProxy], Awaitable[Any]]
Elsewhere = Callable[[], Awaitable[None]]
BIG = random.Random(0).randbytes(20_000_000)


async def test_it_passes_both_ways(echo: Echo, proxy: FaultProxy, dial: Dial) -> None:
    """What a client sends reaches the server, and its answer the client."""
    client = await dial(proxy)
    assert await client.ask(b"ping") == b"ping"
    assert echo.got == b"ping"


async def test_it_counts(proxy: FaultProxy, dial: Dial) -> None:
    """It knows how many connections came and are open, and how many bytes came each way."""
    first, second = await dial(proxy), await dial(proxy)
    await first.ask(b"ping")
    await second.ask(b"pong!")
    assert (proxy.connections, proxy.open, proxy.sent, proxy.replied) == (2, 2, 9, 9)
    first.sock.close()
    await proxy.until(lambda: proxy.open == 1)
    assert proxy.connections == 2


async def test_connections_do_not_mix(proxy: FaultProxy, dial: Dial) -> None:
    """Each of many clients gets its own answer."""
    clients = [await dial(proxy) for _ in range(20)]
    asked = [str(number).encode() * 1000 for number in range(20)]
    answers = await asyncio.gather(
        *(client.ask(data) for client, data in zip(clients, asked, strict=True))
    )
    assert answers == asked


async def test_much_at_once(proxy: FaultProxy, dial: Dial) -> None:
    """Megabytes in both directions at once arrive whole and in order."""
    client = await dial(proxy)
    _, answer = await asyncio.gather(client.send(BIG), client.read(len(BIG)))
    assert answer == BIG


async def test_a_slow_client_slows_the_server(
    proxy: FaultProxy, dial: Dial, elsewhere: Elsewhere
) -> None:
    """Of what a client does not read, the proxy takes no more than fits in some buffers."""
    client, replied = await dial(proxy), -1
    sending = asyncio.create_task(client.send(BIG * 4))
    while proxy.replied > replied:  # until it has come to rest
        replied = proxy.replied
        await proxy.until(lambda: proxy.replied > 0)
        await elsewhere()
    assert replied < 2 * len(BIG)
    sending.cancel()
    await asyncio.wait([sending])


async def test_a_client_that_has_said_all(proxy: FaultProxy, dial: Dial) -> None:
    """A client may end its side and still be answered."""
    client = await dial(proxy)
    await client.send(b"ping")
    client.sock.shutdown(socket.SHUT_WR)
    assert await client.read() == b"pingbye"


async def test_what_has_ended_is_closed(
    echo: Echo, proxy: FaultProxy, dial: Dial, sockets: Any
) -> None:
    """When client and server have said all, nothing of their connection stays open."""
    before = sockets()
    for times in range(1, 4):
        client = await dial(proxy)
        client.sock.shutdown(socket.SHUT_WR)
        assert await client.read() == b"bye"
        client.sock.close()
        await echo.until_ended(times)
        assert sockets() == before


async def test_a_client_that_resets(echo: Echo, proxy: FaultProxy, dial: Dial) -> None:
    """A reset by the client is one to the server."""
    client = await dial(proxy)
    await client.ask(b"ping")
    client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    client.sock.close()
    await proxy.until(lambda: proxy.open == 0)
    assert await echo.until_ended() == ["reset"]


async def test_a_server_on_a_path(tmp_path: Path, dial: Dial, echoing: Any) -> None:
    """The server may listen on a socket in the file system."""
    path = tmp_path / "socket"
    async with echoing(path) as (echo, _), FaultProxy(path=path) as proxy:
        client = await dial(proxy)
        assert await client.ask(b"ping") == b"ping"
        proxy.reset()
        with pytest.raises(ConnectionResetError):
            await client.read()
        assert echo.got == b"ping"


async def test_a_server_that_is_not_there(proxy: FaultProxy, dial: Dial, nobodys_port: int) -> None:
    """Where nobody listens behind the proxy, a client is accepted and reset."""
    async with FaultProxy("127.0.0.1", nobodys_port) as lonely:
        client = await dial(lonely)
        with pytest.raises(ConnectionResetError):
            await client.read()
        assert lonely.open == 0


async def test_until_is_woken(proxy: FaultProxy, dial: Dial) -> None:
    """All who wait for something learn of it: a connection, bytes, a hang-up."""
    waiting = [
        asyncio.create_task(proxy.until(lambda: proxy.connections == 1)),
        asyncio.create_task(proxy.until(lambda: proxy.sent == 4)),
        asyncio.create_task(proxy.until(lambda: proxy.replied == 4)),
        asyncio.create_task(proxy.until(lambda: proxy.connections == 1 and proxy.open == 0)),
    ]
    client = await dial(proxy)
    await waiting[0]
    await client.ask(b"ping")
    await waiting[1]
    await waiting[2]
    client.sock.close()
    await waiting[3]


@pytest.mark.parametrize(
    "given", [{}, {"host": "h"}, {"port": 1}, {"host": "h", "port": 1, "path": "p"}], ids=str
)
def test_where_is_the_server(given: dict[str, Any]) -> None:
    """A proxy without one place to pass on to is refused when it is made."""
    with pytest.raises(ValueError, match="path"):
        FaultProxy(**given)


async def test_it_must_be_entered() -> None:
    """A proxy that was not entered has nothing to refuse with, and says so."""
    with pytest.raises(RuntimeError, match="async with"):
        FaultProxy("127.0.0.1", 1).refuse()
