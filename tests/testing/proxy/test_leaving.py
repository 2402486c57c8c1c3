"""A proxy that is left leaves nothing behind, however it is left."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from soev_retrieval.testing.faults import FaultProxy

Dial = Callable[[FaultProxy], Awaitable[Any]]
HOUR = 3600.0


async def test_it_closes_all(dial: Dial, echoing: Any, sockets: Any, others: Any) -> None:
    """Leaving the context ends every connection, refuses new ones, leaves no task and no socket."""
    async with echoing() as (echo, address):
        before = sockets()
        async with FaultProxy(*address) as proxy:
            clients = [await dial(proxy) for _ in range(4)]
            await proxy.until(lambda: proxy.connections == 4)
            proxy.half_open()
            clients.append(await dial(proxy))
            await clients[-1].ask(b"ping")
            proxy.delay(HOUR)
            await clients[-1].send(b"late")
            await proxy.until(lambda: proxy.sent == 8)
            proxy.stall()
            clients.append(await dial(proxy))
            await proxy.until(lambda: proxy.connections == 6)
        assert not others()
        for client in clients:
            assert await client.read() == b""
            client.sock.close()
        await echo.until_ended(echo.came)
        assert sockets() == before
        with pytest.raises(ConnectionRefusedError):
            await dial(proxy)


async def test_it_closes_while_it_refuses(dial: Dial, echoing: Any, sockets: Any) -> None:
    """A proxy that refuses leaves no socket behind either, and serves when it is entered again."""
    async with echoing() as (echo, address):
        before, proxy = sockets(), FaultProxy(*address)
        for times in range(1, 3):
            async with proxy:
                client = await dial(proxy)
                assert await client.ask(b"ping") == b"ping"
                proxy.refuse()
                with pytest.raises(ConnectionRefusedError):
                    await dial(proxy)
            client.sock.close()
            await echo.until_ended(times)
            assert sockets() == before


async def test_no_timer_is_left(dial: Dial, echoing: Any) -> None:
    """What was delayed is not waited for any more."""
    loop: Any = asyncio.get_running_loop()
    async with echoing() as (_, address), FaultProxy(*address) as proxy:
        client = await dial(proxy)
        proxy.delay(HOUR)
        await client.send(b"late")
        await proxy.until(lambda: proxy.sent == 4)
        assert [timer for timer in loop._scheduled if not timer.cancelled()]
        proxy.reset()
        assert not [timer for timer in loop._scheduled if not timer.cancelled()]


async def _busy(proxy: FaultProxy, dial: Dial) -> None:
    """A life with every fault, that ends when it is cancelled."""
    async with proxy:
        first, second = await dial(proxy), await dial(proxy)
        await first.ask(b"ping")
        proxy.half_open()
        third = await dial(proxy)
        proxy.delay(HOUR)
        await third.send(b"ping")
        proxy.refuse()
        proxy.heal()
        await third.read(4)
        proxy.stall()
        await dial(proxy)
        await second.read(4)


async def test_cancelled_at_any_moment(dial: Dial, echoing: Any, sockets: Any, others: Any) -> None:
    """Whichever turn of the loop a cancellation comes in, neither a task nor a socket is left."""
    clients: list[Any] = []

    async def dialled(proxy: FaultProxy) -> Any:
        clients.append(await dial(proxy))
        return clients[-1]

    async with echoing() as (echo, address):
        before, most = sockets(), 0
        for turns in range(60):
            proxy = FaultProxy(*address)
            life = asyncio.create_task(_busy(proxy, dialled))
            for _ in range(turns):
                await asyncio.sleep(0)
            life.cancel()
            await asyncio.wait([life])
            assert not others()
            while clients:
                clients.pop().sock.close()
            await echo.until_ended(echo.came)
            assert sockets() == before, f"after {turns} turns"
            most = max(most, proxy.connections)
    assert most == 4  # it came to its end


async def test_cancelled_as_it_is_left(dial: Dial, nobodys_port: int, others: Any) -> None:
    """A cancellation on the way out does not stop the clean-up, and is not lost."""
    left = False

    async def life() -> None:
        nonlocal left
        async with FaultProxy("127.0.0.1", nobodys_port) as proxy:
            proxy.stall()
            await dial(proxy)
            await proxy.until(lambda: proxy.connections == 1)
            asyncio.get_running_loop().call_soon(task.cancel)
            left = True

    task = asyncio.create_task(life())
    await asyncio.wait([task])
    assert left
    assert task.cancelled()
    assert not others()
