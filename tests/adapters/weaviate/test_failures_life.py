"""The life of a store: when it connects, where it may be called, and what is left in the end."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from soev_retrieval.domain import Unconfigured
from soev_retrieval_weaviate import WeaviateStore
from tests.adapters.asking import until
from tests.adapters.weaviate.outages import (
    METHODS,
    SEARCHES,
    TARGET,
    answers,
    answers_again,
    failed,
    filled,
    said,
)
from tests.adapters.weaviate.standin import StandIn, Unanswered
from tests.adapters.weaviate.stores import EVERYWHERE, Where, opened, up

EVERY_METHOD: dict[str, Callable[[Any], Awaitable[Any]]] = {
    **METHODS,
    "fields": lambda store: store.fields(TARGET),
}
PLACE = pytest.mark.parametrize("place", EVERYWHERE)


def store_of(standing: StandIn, **settings: Any) -> WeaviateStore:
    return Where(standing.url, standing.grpc_port).store(**settings)


async def test_it_connects_when_it_is_called() -> None:
    """A store that was only made has no connection, no thread and no task, and needs no close."""
    before = threading.enumerate()
    WeaviateStore("http://nowhere")
    assert threading.enumerate() == before
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_it_is_made_without_a_loop() -> None:
    """A store may be made where no event loop runs."""
    WeaviateStore("http://nowhere")


async def test_it_asks_nobody_else(standing: StandIn) -> None:
    """To connect it asks the server for its version, once however many call, and nothing more."""
    async with store_of(standing) as store:
        await asyncio.gather(*(store.drop(TARGET) for _ in range(10)))
        assert [each.operation for each in standing.requests].count("meta") == 1
        assert {each.operation for each in standing.requests} == {"meta", "schema_get"}


@pytest.mark.parametrize("used", [True, False])
@PLACE
async def test_it_is_closed_twice(place: str, used: bool) -> None:
    """Closing again does nothing, whether the store was used or not."""
    async with up(place) as where:
        store = where.store()
        if used:
            await filled(store)
            await answers(store)
        await store.close()
        await store.close()


@PLACE
async def test_it_is_closed(place: str) -> None:
    """Every method of a closed store is Unconfigured, and says why."""
    async with opened(place) as store:
        await filled(store)
    for name, ask in EVERY_METHOD.items():
        if name == "fields":
            store._targets.forget(TARGET)  # what is kept needs no connection
        await failed(store, name, ask, Unconfigured, "the store is closed")


@pytest.mark.parametrize("method", METHODS)
async def test_it_is_closed_meanwhile(standing: StandIn, method: str) -> None:
    """A call under way at a server is given up when the store is closed, and says why."""
    async with store_of(standing) as store:
        await filled(store)
        standing.answer(Unanswered.SILENT)
        count = len(standing.requests)
        call = asyncio.ensure_future(METHODS[method](store))
        await until(lambda: len(standing.requests) > count)
        await store.close()
        with pytest.raises(Unconfigured, match="closed") as caught:
            await call
        said(caught.value, method)
        assert not call.cancelled()


async def test_it_is_closed_while_it_connects(standing: StandIn) -> None:
    """A connection that is made when the store is closed is closed with it."""
    store = store_of(standing)
    reached, free = asyncio.Event(), asyncio.Event()

    async def hold(_: Any) -> None:
        reached.set()
        await free.wait()

    standing.arriving(hold, "meta")
    calls = [asyncio.ensure_future(SEARCHES["fetch"](store)) for _ in range(2)]
    await reached.wait()
    await store.close()
    free.set()
    for call in calls:
        with pytest.raises(Unconfigured, match="closed") as caught:
            await call
        said(caught.value, "fetch")


@PLACE
def test_one_loop_after_another(place: str) -> None:
    """A store serves the event loop that it was first called in, and says so elsewhere."""

    async def elsewhere(store: WeaviateStore) -> None:
        for name, ask in METHODS.items():
            await failed(store, name, ask, Unconfigured, "another event loop")
        with pytest.raises(Unconfigured, match="another event loop"):
            await store.close()

    async def first() -> None:
        async with opened(place) as store:
            await filled(store)
            await asyncio.to_thread(asyncio.run, elsewhere(store))
            await answers(store)

    asyncio.run(first())


@PLACE
async def test_a_hundred_at_once(place: str) -> None:
    """A hundred calls at once answer, the first ones of a store too."""
    async with up(place) as where, where.store() as filler:
        await filled(filler)
        async with where.store() as store:
            asks = [*SEARCHES.values()] * 25
            found = await asyncio.gather(*(ask(store) for ask in asks))
            assert [len(each) for each in found] == [2] * 100


async def test_a_server_that_comes_back(standing: StandIn) -> None:
    """A store whose server went away and is back on its ports answers again, written to or asked."""
    async with store_of(standing) as store:
        await filled(store)
        for _ in range(3):
            await standing.stop()
            await standing.start()
            await answers_again(store)
            await store.upsert(TARGET, [])


@pytest.mark.parametrize("seconds", [1e10, 1e300])
async def test_all_the_time_in_the_world(standing: StandIn, seconds: float) -> None:
    """A time limit of centuries is none, and not one that is over."""
    async with store_of(standing, timeout_seconds=seconds) as store:
        await filled(store)
        await answers(store)
        assert all((each.deadline or 0) > 10_000 for each in standing.sent("search"))


async def test_the_time_that_a_server_has(standing: StandIn) -> None:
    """A server is told how long anybody waits for its answer."""
    async with store_of(standing, timeout_seconds=7) as store:
        await filled(store)
        await answers(store)
    for each in standing.requests:
        assert each.protocol == "rest" or 0 < (each.deadline or 0) < 8
