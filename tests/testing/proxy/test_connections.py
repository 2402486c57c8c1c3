"""Faults of whole connections: refused, reset, stalled, half open."""

import asyncio
import random
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from soev_retrieval.testing.faults import FaultProxy

Echo = Any  # of conftest.py
Dial = Callable[[FaultProxy], Awaitable[Any]]
Elsewhere = Callable[[], Awaitable[None]]
BIG = random.Random(0).randbytes(20_000_000)


async def test_refuse(echo: Echo, proxy: FaultProxy, dial: Dial) -> None:
    """New connections are refused, at once, and do not count; open ones go on."""
    client = await dial(proxy)
    proxy.refuse()
    for _ in range(3):
        with pytest.raises(ConnectionRefusedError):
            await dial(proxy)
    assert await client.ask(b"ping") == b"ping"
    assert (proxy.connections, echo.came) == (1, 1)


async def test_refuse_keeps_the_port(proxy: FaultProxy) -> None:
    """While it refuses, nobody else can take its port."""
    proxy.refuse()
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind((proxy.host, proxy.port))


async def test_refuse_and_heal(proxy: FaultProxy, dial: Dial) -> None:
    """Healed, it serves on the same port, as often as it is asked to; saying it twice is saying it."""
    port, clients = proxy.port, []
    for _ in range(3):
        clients.append(await dial(proxy))
        proxy.refuse()
        proxy.refuse()
        with pytest.raises(ConnectionRefusedError):
            await dial(proxy)
        proxy.heal()
        proxy.heal()
        assert proxy.port == port
    for client in clients:
        assert await client.ask(b"ping") == b"ping"


async def test_reset(echo: Echo, proxy: FaultProxy, dial: Dial) -> None:
    """Open connections end with a reset, for the client and for the server; new ones are served."""
    client = await dial(proxy)
    await client.ask(b"ping")
    proxy.reset()
    assert proxy.open == 0
    with pytest.raises(ConnectionResetError):
        await client.read()
    assert await echo.until_ended() == ["reset"]
    assert await (await dial(proxy)).ask(b"ping") == b"ping"


async def test_reset_while_stalled(echo: Echo, proxy: FaultProxy, dial: Dial) -> None:
    """A request that is under way can be reset before the server has it."""
    client = await dial(proxy)
    proxy.stall()
    await client.send(b"ping")
    await proxy.until(lambda: proxy.sent == 4)
    proxy.reset()
    with pytest.raises(ConnectionResetError):
        await client.read()
    assert await echo.until_ended() == ["reset"]
    assert not echo.got


async def test_stall(echo: Echo, proxy: FaultProxy, dial: Dial, elsewhere: Elsewhere) -> None:
    """Nothing passes either way; healed, what waited passes in its order."""
    client = await dial(proxy)
    await client.send(b"a")
    await proxy.until(lambda: proxy.sent == 1)
    await client.read(1)
    proxy.stall()
    await client.send(b"b")
    await proxy.until(lambda: proxy.sent == 2)
    await client.send(b"c")
    await proxy.until(lambda: proxy.sent == 3)
    await elsewhere()
    assert (echo.got, client.silent) == (b"a", True)
    proxy.heal()
    assert await client.ask(b"d") == b"b"
    assert await client.read(2) == b"cd"


async def test_stall_holds_a_reply(
    echo: Echo, proxy: FaultProxy, dial: Dial, elsewhere: Elsewhere
) -> None:
    """A reply that the server gives while the proxy stalls waits in it."""
    client = await dial(proxy)
    await client.send(b"ping")
    await proxy.until(lambda: proxy.sent == 4)
    proxy.stall()
    await proxy.until(lambda: proxy.replied == 4)
    await elsewhere()
    assert (echo.got, client.silent) == (b"ping", True)
    proxy.heal()
    assert await client.read(4) == b"ping"


async def test_stall_new_connections(
    echo: Echo, proxy: FaultProxy, dial: Dial, elsewhere: Elsewhere
) -> None:
    """A new connection is accepted and silent, the server hears of it when the proxy heals."""
    proxy.stall()
    client = await dial(proxy)
    await client.send(b"ping")
    await proxy.until(lambda: proxy.sent == 4)
    await elsewhere()
    assert (echo.came, client.silent) == (0, True)
    proxy.heal()
    assert await client.read(4) == b"ping"


async def test_stall_fills_up(proxy: FaultProxy, dial: Dial, elsewhere: Elsewhere) -> None:
    """A client that sends much to a stalled proxy has to wait, as with a server that is frozen."""
    client = await dial(proxy)
    proxy.stall()
    sending = asyncio.create_task(client.send(BIG))
    await proxy.until(lambda: proxy.sent > 0)
    await elsewhere()
    assert not sending.done()
    assert proxy.sent < 1_000_000
    proxy.heal()
    assert await client.read(len(BIG)) == BIG
    await sending


async def test_stall_sees_who_hangs_up(
    echo: Echo, proxy: FaultProxy, dial: Dial, elsewhere: Elsewhere
) -> None:
    """A client that gives up on a stalled proxy is no longer counted; the server hears of it later."""
    client = await dial(proxy)
    await client.ask(b"ping")
    proxy.stall()
    client.sock.close()
    await proxy.until(lambda: proxy.open == 0)
    await elsewhere()
    assert not echo.ends
    proxy.heal()
    assert await echo.until_ended() == ["closed"]


async def test_half_open(echo: Echo, proxy: FaultProxy, dial: Dial, elsewhere: Elsewhere) -> None:
    """The server's end is closed, the client's is open, takes what it sends, and says nothing."""
    client = await dial(proxy)
    await client.ask(b"ping")
    proxy.half_open()
    assert await echo.until_ended() == ["closed"]
    await client.send(b"pong")
    await proxy.until(lambda: proxy.sent == 8)
    await elsewhere()
    assert (echo.got, client.silent, proxy.open) == (b"ping", True, 1)


async def test_half_open_and_new(proxy: FaultProxy, dial: Dial) -> None:
    """New connections beside a half-open one are served; healed, that one is reset."""
    client = await dial(proxy)
    await client.ask(b"ping")
    proxy.half_open()
    other = await dial(proxy)
    assert await other.ask(b"ping") == b"ping"
    proxy.heal()
    with pytest.raises(ConnectionResetError):
        await client.read()
    assert await other.ask(b"pong") == b"pong"


async def test_half_open_before_the_server_knew(
    echo: Echo, proxy: FaultProxy, dial: Dial, elsewhere: Elsewhere
) -> None:
    """A connection that had not got to the server yet does not get there any more."""
    proxy.stall()
    client = await dial(proxy)
    await proxy.until(lambda: proxy.connections == 1)
    proxy.half_open()
    proxy.heal()
    with pytest.raises(ConnectionResetError):
        await client.read()
    await elsewhere()
    assert echo.came == 0


async def test_half_open_as_it_connects(
    echo: Echo, proxy: FaultProxy, dial: Dial, elsewhere: Elsewhere
) -> None:
    """A connection that is on its way to the server stays half open, and does not arrive."""
    proxy.stall()
    client = await dial(proxy)
    await proxy.until(lambda: proxy.connections == 1)
    proxy.heal()
    proxy.half_open()
    await elsewhere()
    assert (echo.came, client.silent, proxy.open) == (0, True, 1)
