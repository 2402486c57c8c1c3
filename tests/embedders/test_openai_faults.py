"""OpenAIEmbedder behind a network that fails: no answer each time, and as good as new afterwards."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from soev_retrieval.domain import StoreUnavailable
from soev_retrieval.embedders.openai import OpenAIEmbedder
from soev_retrieval.testing.faults import FaultProxy

Server = Any  # of conftest.py
Made = Callable[..., OpenAIEmbedder]
Fault = Callable[[FaultProxy], None]


@pytest.fixture
async def proxy(server: Server) -> AsyncIterator[FaultProxy]:
    parts = urlsplit(server.url)
    async with FaultProxy(parts.hostname, parts.port) as proxy:
        yield proxy


def _url(proxy: FaultProxy) -> str:
    return f"http://{proxy.host}:{proxy.port}/v1"


@pytest.mark.parametrize(
    "fault",
    [
        FaultProxy.refuse,
        FaultProxy.stall,
        FaultProxy.garbage,
        lambda proxy: proxy.truncate(0),
        lambda proxy: proxy.truncate(30),
        lambda proxy: proxy.delay(3600),
    ],
    ids=["refuse", "stall", "garbage", "nothing", "truncate", "delay"],
)
async def test_a_fault_is_no_answer(
    server: Server, embedder: Made, proxy: FaultProxy, fault: Fault
) -> None:
    """Whatever the network does to a request, it is no answer; healed, the next one is right."""
    embed = embedder(url=_url(proxy), seconds=0.5)
    fault(proxy)
    with pytest.raises(StoreUnavailable):
        await embed("cats")
    proxy.heal()
    patient = embedder(url=_url(proxy))
    assert await patient("cats") == server.vector("cats")


async def test_a_reset_under_way(server: Server, embedder: Made, proxy: FaultProxy) -> None:
    """A request whose connection is reset while it waits ends at once."""
    embed = embedder(url=_url(proxy), seconds=3600)
    proxy.stall()
    call = asyncio.create_task(embed("cats"))
    await proxy.until(lambda: proxy.sent > 0)
    proxy.reset()
    with pytest.raises(StoreUnavailable):
        await call
    proxy.heal()
    assert await embed("cats") == server.vector("cats")


async def test_a_connection_that_was_kept(
    server: Server, embedder: Made, proxy: FaultProxy
) -> None:
    """A kept connection whose server is gone costs one request, which hangs up when it ends."""
    embed = embedder(url=_url(proxy), seconds=1)
    await embed("cats")
    proxy.half_open()
    with pytest.raises(StoreUnavailable):
        await embed("cats")
    await proxy.until(lambda: proxy.open == 0)
    assert await embedder(url=_url(proxy))("cats") == server.vector("cats")
