"""Cached: callers who ask for the same at once share one flight, and nobody disturbs another."""

import asyncio
import gc
import weakref
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.calls import Bm25, Call
from soev_retrieval.domain import Hit, StoreUnavailable
from soev_retrieval.engine import Cached
from soev_retrieval.testing.faults import Delay, Scripted

TAKES = 5
"""The seconds that a store takes for an answer."""


@attrs.frozen
class Caller:
    """When it asks, and how many seconds later it is cancelled."""

    comes: int
    patience: int | None


@attrs.frozen
class Seen:
    """When it ended, and with which of the store's answers: None where it was cancelled."""

    at: float
    answer: int | None


def expected(plan: Sequence[Caller]) -> tuple[list[Seen], int]:
    """The plain reading of a single flight: what each caller sees, and how often was asked."""
    seen: dict[int, Seen] = {}
    aboard: set[int] = set()
    lands, flights, kept = None, 0, None
    events = [(float(caller.comes), index, "comes") for index, caller in enumerate(plan)]
    events += [
        (caller.comes + caller.patience + 0.5, index, "cancelled")
        for index, caller in enumerate(plan)
        if caller.patience is not None
    ]
    events += [(second + 0.25, 0, "lands") for second in range(40)]
    for now, index, what in sorted(events):
        if what == "comes" and kept is not None:
            seen[index] = Seen(now, kept)
        elif what == "comes":
            if not aboard:
                lands, flights = now + TAKES + 0.25, flights + 1
            aboard.add(index)
        elif what == "cancelled" and index in aboard:
            aboard.remove(index)
            seen[index] = Seen(now, None)
        elif what == "lands" and aboard and now == lands:
            kept = flights - 1
            seen |= {each: Seen(now, kept) for each in aboard}
            aboard.clear()
    return [seen[index] for index in range(len(plan))], flights


callers = st.builds(Caller, st.integers(0, 9), st.none() | st.integers(0, 9))


@given(st.lists(callers, min_size=1, max_size=6))
def test_concurrent_calls_are_one_flight(virtual: Any, plan: list[Caller]) -> None:
    """Who is cancelled leaves at once and disturbs nobody; the last to leave ends the flight."""

    async def main() -> None:
        loop, numbers = asyncio.get_running_loop(), iter(range(100))
        store = Scripted(lambda call: Delay(TAKES + 0.25, [next(numbers)]))
        layer = Cached(store, 10)
        start, before = loop.time(), asyncio.all_tasks()

        async def ask(caller: Caller) -> Seen:
            try:
                [answer] = await Bm25("docs", "cat", 3, None).on(layer)
            except asyncio.CancelledError:
                if caller.patience is None:
                    raise
                return Seen(loop.time() - start, None)
            return Seen(loop.time() - start, answer)  # type: ignore[arg-type]

        tasks: dict[int, asyncio.Task[Seen]] = {}
        for index in sorted(range(len(plan)), key=lambda index: plan[index].comes):
            await asyncio.sleep(plan[index].comes - (loop.time() - start))
            tasks[index] = asyncio.create_task(ask(plan[index]))
            if (patience := plan[index].patience) is not None:
                loop.call_later(patience + 0.5, tasks[index].cancel)
        seen = [await tasks[index] for index in range(len(plan))]
        assert asyncio.all_tasks() == before, "something runs on"
        assert store.running == 0
        assert (seen, len(store.calls)) == expected(plan)

    virtual(main())


@pytest.mark.looptime
async def test_all_who_share_a_flight_see_its_error(asked: Any) -> None:
    """The same one, and the store was asked once."""
    error = StoreUnavailable("down")
    store = Scripted(Delay(1, error))
    layer = Cached(store, 100)
    seen = await asyncio.gather(
        *(asked("bm25").on(layer) for _ in range(3)), return_exceptions=True
    )
    assert seen == [error] * 3
    assert len(store.calls) == 1


@pytest.mark.looptime
async def test_who_asks_when_a_flight_has_just_failed_asks_anew(asked: Any) -> None:
    """An error is for those who waited, not for who comes in the turn in which it came."""

    async def later() -> Any:
        await asyncio.sleep(1)
        return await asked("bm25").on(layer)

    store = Scripted(Delay(1, StoreUnavailable("down")), ["anew"])
    layer = Cached(store, 100)
    first = asyncio.create_task(asked("bm25").on(layer))
    for _ in range(5):
        await asyncio.sleep(0)
    assert store.running == 1
    newcomer = asyncio.create_task(later())  # wakes right after the flight has failed
    with pytest.raises(StoreUnavailable):
        await first
    assert await newcomer == ("anew",)


@pytest.mark.looptime
async def test_what_a_swallowed_cancellation_makes_is_not_kept(asked: Any) -> None:
    """A driver that answers its cancellation with nothing does not make it the answer."""

    async def turned(call: Call[Any]) -> Any:
        try:
            await asyncio.sleep(9)
        except asyncio.CancelledError:
            return []

    layer = Cached(Scripted(turned, ["hit"]), 100)
    task = asyncio.create_task(asked("bm25").on(layer))
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert await asked("bm25").on(layer) == ("hit",)


@pytest.mark.looptime
async def test_the_last_to_leave_waits_for_the_end(asked: Any) -> None:
    """As it would without the layer: nothing is left running behind a cancelled call."""
    loop = asyncio.get_running_loop()

    async def slow_to_end(call: Call[Any]) -> Any:
        try:
            await asyncio.sleep(9)
        finally:
            await asyncio.sleep(3)

    store = Scripted(slow_to_end, Delay(5, ["anew"]))
    layer, start = Cached(store, 100), loop.time()
    first = asyncio.create_task(asked("bm25").on(layer))
    await asyncio.sleep(1)
    first.cancel()
    await asyncio.sleep(1)
    assert not first.done()
    newcomer = asyncio.create_task(asked("bm25").on(layer))  # does not join the dying flight
    await asyncio.wait([first])
    assert (first.cancelled(), loop.time() - start) == (True, 4.0)
    assert await asked("bm25").on(layer) == await newcomer == ("anew",)
    assert (len(store.calls), store.running) == (2, 0)


@pytest.mark.looptime
async def test_every_cancellation_reaches_a_flight_that_resists(asked: Any) -> None:
    """A driver that swallows the first one is told again by the second."""
    heard: list[float] = []

    async def deaf(call: Call[Any]) -> Any:
        while len(heard) < 2:
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                heard.append(asyncio.get_running_loop().time())
        raise asyncio.CancelledError

    store = Scripted(deaf)
    task = asyncio.create_task(asked("bm25").on(Cached(store, 100)))
    for _ in range(2):
        await asyncio.sleep(1)
        task.cancel()
    await asyncio.wait([task])
    assert (task.cancelled(), len(heard), store.running) == (True, 2, 0)


def test_an_error_that_nobody_waits_for_is_dropped(virtual: Any, asked: Any) -> None:
    """The loop is not told of it where a flight fails on its cancellation."""

    async def failing(call: Call[Any]) -> Any:
        try:
            await asyncio.sleep(9)
        finally:
            raise ZeroDivisionError

    async def main() -> None:
        task = asyncio.create_task(asked("bm25").on(Cached(Scripted(failing), 100)))
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        del task
        gc.collect()

    virtual(main())


async def test_a_flight_that_has_landed_is_forgotten() -> None:
    """An answer that is kept no more is held by nothing."""
    layer = Cached(Scripted(lambda call: [Hit(str(call.limit), 1.0)]), 1)
    [hit] = await layer.bm25("docs", query="cat", limit=1)
    gone = weakref.ref(hit)
    del hit
    await layer.bm25("docs", query="cat", limit=2)
    await asyncio.sleep(0)
    gc.collect()
    assert gone() is None
