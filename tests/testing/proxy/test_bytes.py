"""Faults of what passes: cut, late, garbled."""

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
HOUR = 3600.0


@pytest.mark.parametrize("after_bytes", [0, 1, 6, 7])
async def test_truncate(proxy: FaultProxy, dial: Dial, after_bytes: int) -> None:
    """So many bytes of the next reply come, and then the end."""
    client = await dial(proxy)
    await client.ask(b"before")
    proxy.truncate(after_bytes)
    await client.send(b"one two")
    assert await client.read() == b"one two"[:after_bytes]


async def test_truncate_counts_over_replies(echo: Echo, proxy: FaultProxy, dial: Dial) -> None:
    """A reply that is shorter passes whole, and the next of that connection is cut."""
    client, other = await dial(proxy), await dial(proxy)
    proxy.truncate(6)
    assert await client.ask(b"ping") == b"ping"
    assert await other.ask(b"another") == b"another"
    await client.send(b"pong")
    assert await client.read() == b"po"
    assert await echo.until_ended() == ["closed"]


async def test_truncate_is_exact(echo: Echo, proxy: FaultProxy, dial: Dial, sockets: Any) -> None:
    """Also a client that goes on sending gets just so many bytes; when it hangs up all is closed."""
    before = sockets()
    client = await dial(proxy)
    proxy.truncate(10_000_001)
    data = random.Random(0).randbytes(20_000_000)
    _, got = await asyncio.gather(client.send(data), client.read())
    assert got == data[:10_000_001]
    client.sock.close()
    await proxy.until(lambda: proxy.open == 0)
    await echo.until_ended()
    assert sockets() == before


async def test_truncate_is_once(proxy: FaultProxy, dial: Dial) -> None:
    """One connection is cut; those after it are not."""
    proxy.truncate(1)
    client = await dial(proxy)
    await client.send(b"ping")
    assert await client.read() == b"p"
    assert await (await dial(proxy)).ask(b"ping") == b"ping"


async def test_truncate_is_healed(proxy: FaultProxy, dial: Dial) -> None:
    """Healed, it cuts nothing, also where it had begun to count."""
    client = await dial(proxy)
    proxy.truncate(5)
    await client.ask(b"ping")
    proxy.heal()
    assert await client.ask(b"pong") == b"pong"
    proxy.truncate(5)
    proxy.heal()
    assert await client.ask(b"whole again") == b"whole again"


async def test_delay_is_not_before(proxy: FaultProxy, dial: Dial) -> None:
    """A request and its reply are both late: two delays have passed when the reply is there."""
    client, passed = await dial(proxy), asyncio.Event()
    proxy.delay(0.02)
    asyncio.get_running_loop().call_later(0.04, passed.set)
    assert await client.ask(b"ping") == b"ping"
    assert passed.is_set()


async def test_delay_waits(echo: Echo, proxy: FaultProxy, dial: Dial, elsewhere: Elsewhere) -> None:
    """What is delayed is nowhere before its time; healed, it passes at once."""
    client = await dial(proxy)
    proxy.delay(HOUR)
    await client.send(b"ping")
    await proxy.until(lambda: proxy.sent == 4)
    await elsewhere()
    assert not echo.got
    proxy.heal()
    assert await client.read(4) == b"ping"


async def test_delay_keeps_the_order(
    echo: Echo, proxy: FaultProxy, dial: Dial, elsewhere: Elsewhere
) -> None:
    """What comes later, and is delayed less, does not overtake; not even the end."""
    client = await dial(proxy)
    proxy.delay(HOUR)
    await client.send(b"first ")
    await proxy.until(lambda: proxy.sent == 6)
    proxy.delay(0)
    await client.send(b"second ")
    client.sock.shutdown(socket.SHUT_WR)
    await proxy.until(lambda: proxy.sent == 13 and proxy.open == 0)
    await elsewhere()
    assert not echo.got
    proxy.heal()
    assert await client.read() == b"first second bye"


async def _garbled(proxy: FaultProxy, dial: Dial, pieces: list[bytes]) -> bytes:
    client = await dial(proxy)
    return b"".join([await client.ask(piece) for piece in pieces])


async def test_garbage(echo: Echo, proxy: FaultProxy, dial: Dial) -> None:
    """Replies are as long as they were, and something else; requests are as they were."""
    proxy.garbage()
    garbled = await _garbled(proxy, dial, [b"0123456789"])
    assert len(garbled) == 10
    assert garbled != b"0123456789"
    assert echo.got == b"0123456789"
    proxy.heal()
    assert await (await dial(proxy)).ask(b"ping") == b"ping"


async def test_garbage_is_seeded(dial: Dial, echoing: Any) -> None:
    """One seed gives one garbage, in whichever pieces it comes; another seed, or connection, another."""
    async with echoing() as (_, address):
        got = []
        for seed, pieces in (
            (1, [b"0123456789"]),
            (1, [b"0", b"123", b"456789"]),
            (2, [b"0" * 10]),
        ):
            async with FaultProxy(*address, seed=seed) as proxy:
                proxy.garbage()
                got.append([await _garbled(proxy, dial, pieces) for _ in range(2)])
    assert got[0] == got[1]
    assert len({each for pair in got for each in pair}) == 4


async def test_faults_add_up(proxy: FaultProxy, dial: Dial) -> None:
    """Faults go together: a garbled reply can be delayed, and cut."""
    client = await dial(proxy)
    proxy.garbage()
    proxy.delay(0.001)
    proxy.truncate(3)
    await client.send(b"ping")
    garbled = await client.read()
    assert len(garbled) == 3
    assert garbled != b"pin"


@pytest.mark.parametrize(
    "command",
    [
        lambda proxy: proxy.truncate(-1),
        lambda proxy: proxy.truncate(1.5),
        lambda proxy: proxy.delay(-1),
        lambda proxy: proxy.delay(float("nan")),
        lambda proxy: proxy.delay(float("inf")),
    ],
)
async def test_commands_that_are_none(
    proxy: FaultProxy, dial: Dial, command: Callable[[FaultProxy], None]
) -> None:
    """A command that cannot be meant is refused, and changes nothing."""
    with pytest.raises(ValueError, match="at least 0"):
        command(proxy)
    assert await (await dial(proxy)).ask(b"ping") == b"ping"
