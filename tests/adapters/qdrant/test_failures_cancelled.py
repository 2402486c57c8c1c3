"""A call that is cancelled: nothing of it goes on at a server, and nothing is lost."""

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest
from qdrant_client.local.async_qdrant_local import AsyncQdrantLocal

from soev_retrieval.domain import StoreUnavailable
from tests.adapters.asking import until
from tests.adapters.qdrant.outages import METHODS, SEARCHES, answers, answers_again, filled
from tests.adapters.qdrant.standin import Unanswered
from tests.adapters.qdrant.stores import REMOTE, STAND_IN, opened, up

METHOD = pytest.mark.parametrize("method", METHODS)


class Gate:
    """Where local mode waits, in its thread, as if it worked."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def held(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """The method, behind the gate."""

        async def waiting(*args: Any, **kwargs: Any) -> Any:
            self.reached.set()
            self.opened.wait(30)
            return await method(*args, **kwargs)

        return waiting

    async def busy(self) -> None:
        """Come back when somebody waits here: the event loop goes on meanwhile."""
        assert await asyncio.get_running_loop().run_in_executor(None, self.reached.wait, 30)


@contextmanager
def held_up() -> Iterator[Gate]:
    """Local mode takes as long as the gate is closed, whatever it does."""
    gate = Gate()
    held: Any = {
        name: gate.held(method)
        for name, method in inspect.getmembers(AsyncQdrantLocal, inspect.iscoroutinefunction)
        if name not in {"close", "info"} and not name.startswith("_")
    }
    with patch.multiple(AsyncQdrantLocal, **held):
        try:
            yield gate
        finally:
            gate.opened.set()


async def cancelled(call: "asyncio.Task[Any]") -> None:
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


@pytest.mark.parametrize("place", STAND_IN)
async def test_the_server_stops_too(place: str) -> None:
    """A call that is cancelled is cancelled at the server, and the store answers afterwards."""
    async with up(place) as where, where.store() as store:
        await filled(store)
        server = where.stand_in
        assert server is not None
        for ask in METHODS.values():
            await answers(store)
            before = asyncio.all_tasks()  # those of the stand-in too: it serves in this event loop
            count = len(server.requests)
            server.answer(Unanswered.SILENT)
            call = asyncio.ensure_future(ask(store))
            await until(lambda count=count: len(server.requests) > count)  # type: ignore[misc]
            await cancelled(call)
            await until(lambda before=before: asyncio.all_tasks() <= before)  # type: ignore[misc]
            server.recover()
        await answers(store)


@METHOD
async def test_local_mode(method: str) -> None:
    """A call that is cancelled while local mode works ends at once, and the next one answers."""
    async with opened("local") as store:
        await filled(store)
        with held_up() as gate:
            call = asyncio.ensure_future(METHODS[method](store))
            await gate.busy()
            await cancelled(call)
        await filled(store)  # what was cancelled goes on to its end before this
        await answers(store)


async def test_local_mode_in_the_line() -> None:
    """A call that is cancelled before its turn never begins."""
    async with opened("local") as store:
        await filled(store)
        with held_up() as gate:
            first = asyncio.ensure_future(SEARCHES["fetch"](store))
            await gate.busy()
            second = asyncio.ensure_future(store.delete("rules", ["a"]))
            await asyncio.sleep(0)
            await cancelled(second)
            gate.opened.set()
            assert len(await first) == 2
        await answers(store)


async def test_the_event_loop_goes_on() -> None:
    """While local mode works other tasks run: one of them lets it come to its end."""
    async with opened("local") as store:
        await filled(store)
        with held_up() as gate:

            async def other() -> None:
                await gate.busy()
                gate.opened.set()

            async with asyncio.timeout(20):
                found, _ = await asyncio.gather(SEARCHES["bm25"](store), other())
            assert len(found) == 2


@METHOD
async def test_local_mode_takes_too_long(method: str) -> None:
    """Local mode that works longer than timeout_seconds is unavailable; the next call answers."""
    async with opened("local", timeout_seconds=0.5) as store:
        await filled(store)
        with held_up() as gate, pytest.raises(StoreUnavailable, match="in time") as caught:
            await METHODS[method](store)
        assert gate.reached.is_set()
        assert caught.value.operation == method
        await filled(store)
        await answers(store)


@pytest.mark.parametrize("place", REMOTE)
async def test_the_caller_s_time_out(place: str) -> None:
    """asyncio.timeout around a call is the caller's TimeoutError, not an outage."""
    async with up(place) as where, where.store() as store:
        await filled(store)
        for ask in SEARCHES.values():
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0):
                    await ask(store)
        await answers(store)


async def test_the_caller_s_time_out_in_local_mode() -> None:
    """So in local mode."""
    async with opened("local") as store:
        await filled(store)
        with held_up() as gate, pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await SEARCHES["fetch"](store)
        gate.opened.set()
        await answers(store)


@pytest.mark.parametrize("place", REMOTE)
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
