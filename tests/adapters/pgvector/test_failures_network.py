"""A network that fails between store and server: the same store answers after it is healed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from soev_retrieval.domain import StoreUnavailable
from soev_retrieval.engine import Timed
from soev_retrieval.testing.faults import FaultProxy
from soev_retrieval_pgvector import PgvectorStore
from tests.adapters.asking import until
from tests.adapters.pgvector.outages import (
    METHODS,
    NEW,
    RECORDS,
    REOPENED,
    SEARCHES,
    TARGET,
    address,
    answers,
    connects,
    locked,
    rules,
    said,
    server,
    sessions,
    state,
    waiting,
)

NAME = "network"
BEFORE = {"a": 987654321, "b": 987654321}

METHOD = pytest.mark.parametrize("method", METHODS)
SEARCH = pytest.mark.parametrize("method", SEARCHES)


@asynccontextmanager
async def through(proxy: FaultProxy, **settings: float) -> AsyncIterator[PgvectorStore]:
    """A store that is connected through a proxy."""
    url = address(host=proxy.host, port=proxy.port, application_name=NAME)
    async with PgvectorStore(url, **settings) as store:  # type: ignore[arg-type]
        await answers(store)
        yield store


@pytest.fixture(scope="module", autouse=True)
def filled() -> None:
    async def fill() -> None:
        async with rules("filled"):
            pass

    asyncio.run(fill())


@pytest.fixture
async def proxy() -> AsyncIterator[FaultProxy]:
    async with FaultProxy(path=server().socket) as made:
        yield made
        await made.until(lambda: made.open == 0)
    await until(lambda: sessions(NAME) == [])


@pytest.fixture
async def store(proxy: FaultProxy) -> AsyncIterator[PgvectorStore]:
    async with through(proxy) as made:
        yield made


async def healed(proxy: FaultProxy, store: PgvectorStore) -> None:
    """All is well again, and no more is open than before."""
    proxy.heal()
    await answers(store)
    assert state() == BEFORE
    pool = store._connections._pool
    await until(lambda: proxy.open == pool.idle == len(sessions(NAME)))
    assert pool.idle <= 2  # a new one, and the one that was given up, where that came back


@METHOD
async def test_reset(proxy: FaultProxy, store: PgvectorStore, method: str) -> None:
    """A connection that was reset is replaced, and the call answers."""
    tried = connects(store)
    proxy.reset()
    await METHODS[method](store)
    assert len(tried) == REOPENED
    await healed(proxy, store)


@METHOD
async def test_reset_under_way(proxy: FaultProxy, store: PgvectorStore, method: str) -> None:
    """So is one that is reset while the server works."""
    if method in {"create", "drop"}:
        pytest.skip("it does not wait for this lock")
    tried = connects(store)
    with locked():
        call = asyncio.ensure_future(METHODS[method](store))
        await waiting(NAME)
        proxy.reset()
        await until(lambda: len(sessions(NAME, "wait_event_type = 'Lock'")) == 2)
    await call
    assert len(tried) == REOPENED
    await healed(proxy, store)


@METHOD
@pytest.mark.parametrize("after_bytes", [0, 7, 100])
async def test_truncate(
    proxy: FaultProxy, store: PgvectorStore, method: str, after_bytes: int
) -> None:
    """An answer that is cut off, wherever, is asked for once more, on a new connection."""
    tried = connects(store)
    proxy.truncate(after_bytes)
    await METHODS[method](store)
    assert len(tried) <= REOPENED
    await healed(proxy, store)


@METHOD
async def test_refuse(proxy: FaultProxy, store: PgvectorStore, method: str) -> None:
    """Where a connection breaks and none can be made, the call is unavailable."""
    tried = connects(store)
    proxy.refuse()
    proxy.reset()
    with pytest.raises(StoreUnavailable) as caught:
        await METHODS[method](store)
    said(caught.value)
    assert caught.value.operation == method
    assert len(tried) == 1
    await healed(proxy, store)


@SEARCH
@pytest.mark.parametrize("fault", [FaultProxy.stall, FaultProxy.half_open])
async def test_silence(
    proxy: FaultProxy, store: PgvectorStore, method: str, fault: Callable[[FaultProxy], None]
) -> None:
    """A connection on which nothing comes any more is given up in time, and not used again."""
    fault(proxy)
    with pytest.raises(StoreUnavailable, match="within"):
        await SEARCHES[method](Timed(store, 0.05))
    await healed(proxy, store)


async def test_silence_while_connecting(proxy: FaultProxy) -> None:
    """A connection that is taken, and then hears nothing, is given up after wait_seconds."""
    async with through(proxy, wait_seconds=0.1) as store:
        proxy.reset()
        proxy.stall()
        with pytest.raises(StoreUnavailable) as caught:
            await SEARCHES["fetch"](store)
        assert type(said(caught.value)).__name__ == "ConnectionTimeout"
        await healed(proxy, store)


@SEARCH
@pytest.mark.parametrize("seed", range(8))
async def test_garbage(method: str, seed: int) -> None:
    """Random bytes for an answer are unavailable, and no result."""
    async with FaultProxy(path=server().socket, seed=seed) as proxy, through(proxy) as store:
        proxy.garbage()
        with pytest.raises(StoreUnavailable):
            await SEARCHES[method](Timed(store, 0.2))
        await healed(proxy, store)


@pytest.mark.parametrize("seed", range(8))
async def test_garbage_for_a_write(seed: int) -> None:
    """A write whose answers are random bytes is unavailable, and made or not, as a whole."""
    async with FaultProxy(path=server().socket, seed=seed) as proxy, through(proxy) as store:
        proxy.garbage()
        call = asyncio.ensure_future(store.upsert(TARGET, NEW))
        await asyncio.wait([call], timeout=0.2)
        call.cancel()
        proxy.heal()
        with pytest.raises((StoreUnavailable, asyncio.CancelledError)):
            await call
        assert state() in (BEFORE, {"a": 987654322, "b": 987654321, "c": 987654322})
        await store.delete(TARGET, ["c"])
        await store.upsert(TARGET, RECORDS)
        await healed(proxy, store)


@METHOD
async def test_delay(proxy: FaultProxy, store: PgvectorStore, method: str) -> None:
    """A slow network is slow, and nothing else."""
    proxy.delay(0.002)
    await METHODS[method](store)
    await healed(proxy, store)


async def test_a_write_is_made_twice(proxy: FaultProxy, store: PgvectorStore) -> None:
    """Where the answer to a write is lost it is made again, which changes nothing."""
    tried = connects(store)
    with locked():
        call = asyncio.ensure_future(store.upsert(TARGET, RECORDS))
        await waiting(NAME)
        proxy.truncate(0)
    await call
    assert len(tried) == REOPENED
    await healed(proxy, store)
