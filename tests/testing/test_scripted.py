"""Scripted: a store that answers, fails, waits and hangs as it is told."""

import asyncio
from typing import Any

import pytest

from soev_retrieval.calls import Bm25, Call, Fetch, Fields, Hybrid, NearVector
from soev_retrieval.domain import Hit, InvalidQueryError, StoreUnavailable, field
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.faults import Delay, Hang, Scripted

WHERE = field("year") == 1
CALLS: list[Call[Any]] = [
    Hybrid("docs", "cat", (1.0, 0.5), 3, WHERE, 0.25),
    NearVector("docs", (1.0, 0.5), 3, WHERE),
    Bm25("docs", "cat", 3, WHERE),
    Fetch("docs", WHERE, 3, "year", True),
    Fields("docs"),
]


async def outcome(store: VectorStore, call: Call[Any] = CALLS[2]) -> Any:
    try:
        return await call.on(store)
    except Exception as error:
        return error


def test_it_is_a_store() -> None:
    """It stands where a store stands."""
    assert isinstance(Scripted([]), VectorStore)


async def test_it_records_every_call() -> None:
    """Each of the five methods, with every argument, as the value of the call."""
    store = Scripted([])
    for call in CALLS:
        await call.on(store)
    assert store.calls == CALLS


async def test_steps_come_in_order_and_the_last_stays() -> None:
    """Results and errors one after the other, whatever the methods."""
    hits, down, wrong = [Hit("a", 1.0)], StoreUnavailable("down"), InvalidQueryError("no")
    store = Scripted(hits, down, wrong, [])
    assert [await outcome(store, call) for call in CALLS] == [hits, down, wrong, [], []]


@pytest.mark.looptime
async def test_a_delay_waits_before_its_step() -> None:
    """On the clock of the loop, and what comes then may be any step."""
    loop, down = asyncio.get_running_loop(), StoreUnavailable("down")
    store = Scripted(Delay(2, ["hit"]), Delay(3, Delay(4, down)))
    start = loop.time()
    assert await outcome(store) == ["hit"]
    assert loop.time() - start == 2
    assert await outcome(store) is down
    assert loop.time() - start == 9


async def test_a_function_makes_a_step_of_the_call() -> None:
    """Async or not, and what it returns is a step like another."""

    async def later(call: Any) -> Any:
        return StoreUnavailable(call.query)

    store = Scripted(lambda call: [call.limit], later)
    assert await outcome(store) == [3]
    assert str(await outcome(store)) == "cat"


@pytest.mark.looptime
async def test_a_hang_ends_by_cancellation_only() -> None:
    """It counts as running until then, and as cancelled after."""
    store = Scripted(Hang())
    task = asyncio.create_task(outcome(store))
    await asyncio.sleep(1_000_000)
    assert (store.running, store.cancelled, task.done()) == (1, 0, False)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (store.running, store.cancelled) == (0, 1)


def test_a_script_has_a_step() -> None:
    """Without one there is nothing to answer with."""
    with pytest.raises(ValueError, match="at least one step"):
        Scripted()
