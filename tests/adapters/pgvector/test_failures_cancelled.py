"""A call that is cancelled: nothing of it goes on, and nothing is lost."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from soev_retrieval.domain import Record, StoreUnavailable
from soev_retrieval.testing.faults import FaultProxy
from soev_retrieval_pgvector import PgvectorStore
from tests.adapters.asking import until
from tests.adapters.pgvector.outages import (
    NEW,
    RECORDS,
    SEARCHES,
    TARGET,
    WRITES,
    address,
    admin,
    answers,
    connects,
    locked,
    rules,
    server,
    sessions,
    state,
    waiting,
)

NAME = "cancelled"
BEFORE = {"a": 987654321, "b": 987654321}


@pytest.fixture
async def store() -> AsyncIterator[PgvectorStore]:
    async with rules(NAME, max_connections=2) as made:
        yield made


async def cancelled(call: "asyncio.Task[object]") -> None:
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


@pytest.mark.parametrize("method", [*SEARCHES, "upsert", "delete"])
async def test_the_server_stops_too(store: PgvectorStore, method: str) -> None:
    """A call that is cancelled is cancelled in the server, and its connection is used again."""
    tried = connects(store)
    with locked():
        call = asyncio.ensure_future({**SEARCHES, **WRITES}[method](store))
        (pid,) = await waiting(NAME)
        await cancelled(call)
        # The lock is still held: nothing but the cancellation can have ended the statement.
        assert sessions(NAME, "state = 'idle'") == [pid]
        assert store._connections._pool.idle == 1
    await answers(store)
    assert sessions(NAME) == [pid]
    assert not tried


@pytest.mark.parametrize("method", SEARCHES)
async def test_a_time_out_is_a_cancellation(store: PgvectorStore, method: str) -> None:
    """asyncio.timeout around a call is TimeoutError, on a connection that goes on."""
    with locked(), pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await SEARCHES[method](store)
    await answers(store)
    assert len(sessions(NAME)) == 1


async def test_in_a_transaction(store: PgvectorStore) -> None:
    """An upsert that is cancelled is rolled back: its table of staged rows is gone as well."""
    with locked():
        call = asyncio.ensure_future(store.upsert(TARGET, NEW))
        await waiting(NAME)
        await cancelled(call)
    assert state() == BEFORE
    assert admin("SELECT count(*) FROM pg_class WHERE relname = 'soev_staged'") == [(0,)]
    await store.upsert(TARGET, NEW)
    assert len(state()) == 3


async def test_in_the_middle_of_copy(store: PgvectorStore) -> None:
    """So is one that is cancelled while its rows are copied."""
    text = "barley " * 10_000
    many = [Record(str(n), {"text": text}, (1.0, 0.0, 0.0)) for n in range(400)]
    async with FaultProxy(path=server().socket) as proxy:
        url = address(host=proxy.host, port=proxy.port, application_name="copying")
        async with PgvectorStore(url) as far:
            await answers(far)
            before, tried = proxy.sent, connects(far)
            call = asyncio.ensure_future(far.upsert(TARGET, many))
            await proxy.until(lambda: proxy.sent > before + 500_000)
            proxy.stall()
            (pid,) = sessions("copying", "query LIKE 'COPY%%'")
            call.cancel()
            proxy.heal()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert state() == BEFORE
            await answers(far)
            assert sessions("copying") == [pid]
            assert not tried
        await until(lambda: proxy.open == 0)


async def test_while_it_waits_for_a_connection(store: PgvectorStore) -> None:
    """A call that is cancelled in the line takes nobody's place."""
    with locked():
        first = [asyncio.ensure_future(SEARCHES["fetch"](store)) for _ in range(2)]
        await waiting(NAME, 2)
        second = [asyncio.ensure_future(SEARCHES["fetch"](store)) for _ in range(3)]
        third = asyncio.ensure_future(SEARCHES["fetch"](store))
        await asyncio.sleep(0)
        for call in second:
            await cancelled(call)
    assert [len(each) for each in await asyncio.gather(*first, third)] == [2] * 3
    await answers(store)
    assert len(sessions(NAME)) == 2


async def test_while_it_connects() -> None:
    """A call that is cancelled while it connects leaves no connection behind."""
    async with rules(NAME), FaultProxy(path=server().socket) as proxy:
        url = address(host=proxy.host, port=proxy.port, application_name="connecting")
        async with PgvectorStore(url, max_connections=1) as far:
            for sent in (0, 1):  # before the server hears of it, and after
                proxy.stall()
                call = asyncio.ensure_future(far.fetch(TARGET, limit=5))
                count = proxy.connections
                await proxy.until(lambda n=count + 1 - sent: proxy.connections >= n)  # type: ignore[misc]
                await cancelled(call)
                await proxy.until(lambda: proxy.open == 0)
                proxy.heal()
            assert len(await far.fetch(TARGET, limit=5)) == 2
            assert proxy.open == 1
        await until(lambda: sessions("connecting") == [])


async def test_many_at_once(store: PgvectorStore) -> None:
    """A hundred calls, every second one cancelled at another moment, leave two connections."""
    calls = [asyncio.ensure_future(SEARCHES["bm25"](store)) for _ in range(100)]
    for call in calls[::2]:
        await asyncio.sleep(0)
        call.cancel()
    came = await asyncio.gather(*calls, return_exceptions=True)
    assert all(len(each) == 2 for each in came[1::2])  # type: ignore[arg-type]
    for each in came[::2]:
        assert isinstance(each, asyncio.CancelledError) or len(each) == 2  # type: ignore[arg-type]
    pool = store._connections._pool
    await until(lambda: len(sessions(NAME)) == pool.idle <= 2)
    await answers(store)


async def test_it_is_not_taken_for_an_outage(store: PgvectorStore) -> None:
    """A cancellation is never StoreUnavailable."""
    with locked():
        call = asyncio.ensure_future(SEARCHES["hybrid"](store))
        await waiting(NAME)
        call.cancel()
        try:
            await call
        except StoreUnavailable:
            pytest.fail("a cancellation became an outage")
        except asyncio.CancelledError:
            pass
    assert call.cancelled()
    assert RECORDS
