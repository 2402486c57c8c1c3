"""A call that is cancelled: nothing of it goes on at a server, and nothing is lost."""

import asyncio

import pytest

from soev_retrieval.domain import StoreUnavailable
from tests.adapters.asking import until
from tests.adapters.weaviate.outages import (
    METHODS,
    SEARCHES,
    answers,
    answers_again,
    between,
    cancelled,
    failed,
    filled,
)
from tests.adapters.weaviate.standin import StandIn, Unanswered
from tests.adapters.weaviate.stores import EVERYWHERE, Where, up


@pytest.mark.parametrize("method", METHODS)
async def test_the_server_stops_too(standing: StandIn, method: str) -> None:
    """A call that is cancelled is given up at the server, and the store answers afterwards."""
    async with Where(standing.url, standing.grpc_port).store() as store:
        await filled(store)
        await answers(store)
        before = asyncio.all_tasks()  # those of the stand-in too: it serves in this event loop
        count = len(standing.requests)
        standing.answer(Unanswered.SILENT)
        call = asyncio.ensure_future(METHODS[method](store))
        await until(lambda: len(standing.requests) > count)
        await cancelled(call)
        async with asyncio.timeout(20):
            assert await standing.given_up(len(standing.requests) - count)
        await until(lambda: asyncio.all_tasks() <= before)
        standing.recover()
        await answers(store)


async def test_the_first_call(standing: StandIn) -> None:
    """So is one that is cancelled while the store connects, and the next one connects."""
    where = Where(standing.url, standing.grpc_port)
    async with where.store() as filler:
        await filled(filler)
    async with where.store() as store:
        standing.answer(Unanswered.SILENT, "meta")
        count = len(standing.requests)
        call = asyncio.ensure_future(SEARCHES["fetch"](store))
        await until(lambda: len(standing.requests) > count)
        await cancelled(call)
        standing.recover()
        await answers(store)


async def test_one_of_the_first_calls(standing: StandIn) -> None:
    """Of calls that wait for the same connection one can be cancelled, and the others answer."""
    where = Where(standing.url, standing.grpc_port)
    async with where.store() as filler:
        await filled(filler)
    async with where.store() as store:
        standing.answer(Unanswered.SILENT, "meta", times=1)
        count = len(standing.requests)
        calls = [asyncio.ensure_future(SEARCHES["bm25"](store)) for _ in range(5)]
        await until(lambda: len(standing.requests) > count)
        await cancelled(calls[0])  # which is the one that connects
        assert [len(each) for each in await asyncio.gather(*calls[1:])] == [2] * 4


async def test_waiting_for_a_connection_takes_too_long(standing: StandIn) -> None:
    """Calls that wait for a connection are bound by timeout_seconds, each for itself."""
    async with Where(standing.url, standing.grpc_port).store(timeout_seconds=0.5) as store:
        standing.answer(Unanswered.SILENT, "meta")
        calls = [failed(store, "fetch", SEARCHES["fetch"], StoreUnavailable) for _ in range(5)]
        async with asyncio.timeout(20):
            await asyncio.gather(*calls)
        standing.recover()
        await filled(store)
        await answers(store)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_the_caller_s_time_out(place: str) -> None:
    """asyncio.timeout around a call is the caller's TimeoutError, not an outage."""
    async with up(place) as where, where.store() as store:
        await filled(store)
        for ask in SEARCHES.values():
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0):
                    await ask(store)
        await answers(store)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_frozen_server(place: str) -> None:
    """A call of a server that takes all and answers nothing can be cancelled, and it thaws."""
    async with up(place) as where, between(where) as (network, there), there.store() as store:
        await filled(store)
        await answers(store)
        network.stall()
        for ask in METHODS.values():
            sent = network.rest.sent + network.grpc.sent
            call = asyncio.ensure_future(ask(store))
            await until(lambda sent=sent: network.rest.sent + network.grpc.sent > sent)  # type: ignore[misc]
            await cancelled(call)
        network.heal()
        await answers_again(store)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_many_at_once(place: str) -> None:
    """A hundred calls, every second one cancelled at another moment: the others answer."""
    async with up(place) as where, where.store() as store:
        await filled(store)
        calls = [asyncio.ensure_future(SEARCHES["bm25"](store)) for _ in range(100)]
        for call in calls[::2]:
            await asyncio.sleep(0)
            call.cancel()
        came = await asyncio.gather(*calls, return_exceptions=True)
        assert [len(each) for each in came[1::2]] == [2] * 50  # type: ignore[arg-type]
        for each in came[::2]:
            assert isinstance(each, asyncio.CancelledError) or len(each) == 2  # type: ignore[arg-type]
        await answers_again(store)
