"""Timed: the bound holds on a virtual clock, whatever is inside."""

import asyncio
import contextlib
import gc
import weakref
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.calls import Call
from soev_retrieval.domain import InvalidQueryError, StoreUnavailable
from soev_retrieval.engine import Timed
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.faults import Delay, Hang, Scripted

STUBBORN = 10.0
"""The seconds that a driver on a frozen server swallows a cancellation for."""


async def stubborn(answer: Any, takes: float) -> Any:
    """Answers after `takes` seconds, or `STUBBORN` after it was cancelled."""
    try:
        await asyncio.sleep(takes)
    except asyncio.CancelledError:
        await asyncio.sleep(STUBBORN)
    if isinstance(answer, Exception):
        raise answer
    return answer


async def grouped(answer: Any, takes: float) -> Any:
    """Obeys, from two tasks within a task: an adapter that runs the legs of a search at once."""
    async with asyncio.TaskGroup() as group:
        legs = [group.create_task(asyncio.sleep(takes, answer)) for _ in range(2)]
    if isinstance(answer, Exception):
        raise answer
    return legs[0].result()


async def plain(answer: Any, takes: float) -> Any:
    """Obeys."""
    await asyncio.sleep(takes)
    if isinstance(answer, Exception):
        raise answer
    return answer


@attrs.frozen
class Seen:
    """How a call ended: when, with what, and how many of its tasks had not ended by then."""

    at: float
    value: Any
    left: int


async def seen(call: Call[Any], store: VectorStore, *, cancel_at: float | None = None) -> Seen:
    """Make a call in a task of its own, cancel it perhaps, and wait until all of it is over."""
    loop = asyncio.get_running_loop()
    start, others = loop.time(), asyncio.all_tasks()
    ended: list[Seen] = []

    async def caller() -> None:
        try:
            value: Any = await call.on(store)
        except (Exception, asyncio.CancelledError) as error:
            value = error
        ours = asyncio.all_tasks() - others - {task}
        ended.append(Seen(loop.time() - start, value, len(ours)))

    task = asyncio.create_task(caller())
    if cancel_at is not None:
        loop.call_later(cancel_at, task.cancel)
    await asyncio.sleep(100)
    assert asyncio.all_tasks() == others, "a task never ended"
    return ended[0]


def test_a_bound_that_is_not_met_is_invisible(invisible: Any) -> None:
    """A store that answers in time is as it is without the layer."""
    invisible(lambda store: Timed(store, 60.0))


@pytest.mark.parametrize("inner", [plain, grouped, stubborn], ids=lambda inner: inner.__name__)
@pytest.mark.parametrize("layers", [1, 3])
def test_it_comes_back_within_the_bound(
    virtual: Any, asked: Any, inner: Callable[..., Any], layers: int
) -> None:
    """At the answer, the bound or the cancellation, whichever is first, to the instant.

    What obeys has ended by then, and what does not ends later without a trace.
    """
    answers = st.sampled_from([["hit"], StoreUnavailable("down"), ZeroDivisionError()])

    @given(answers, st.integers(0, 30), st.integers(1, 30), st.none() | st.integers(0, 30))
    def law(answer: Any, takes: int, bound: int, cancel: int | None) -> None:
        # Never two of them in one instant: answers on full seconds, bounds and cancels between.
        seconds, cancel_at = bound - 0.5, None if cancel is None else cancel + 0.25
        store: VectorStore = Scripted(lambda call: inner(answer, takes))
        for layer in range(layers):
            store = Timed(store, seconds + layer)
        outcome = virtual(seen(asked("bm25"), store, cancel_at=cancel_at))
        assert outcome.at == min(takes, seconds, 99 if cancel_at is None else cancel_at)
        if outcome.at == cancel_at:
            assert isinstance(outcome.value, asyncio.CancelledError)
        elif outcome.at == takes:
            assert outcome.value is answer
        else:
            assert isinstance(outcome.value, StoreUnavailable)
            assert outcome.value is not answer
        if inner is not stubborn:
            assert outcome.left == 0

    law()


@pytest.mark.looptime
async def test_the_error_says_what_was_not_answered(asked: Any, method: str) -> None:
    """It names the operation and the bound, and neither query nor filter."""
    with pytest.raises(StoreUnavailable) as raised:
        await asked(method).on(Timed(Scripted(Hang()), 2.5))
    assert raised.value.operation == method
    assert str(raised.value) == f"no answer to {method} within 2.5 s"


@pytest.mark.looptime
async def test_the_call_is_cancelled(asked: Any) -> None:
    """A call that hangs is told to end, once, and has ended when Timed returns."""
    store = Scripted(Hang())
    with pytest.raises(StoreUnavailable):
        await asked("fetch").on(Timed(store, 1.0))
    assert (store.cancelled, store.running) == (1, 0)


@pytest.mark.looptime
async def test_a_result_that_is_there_counts(asked: Any) -> None:
    """An answer that comes in the very instant of the bound, but first, is the answer."""
    loop = asyncio.get_running_loop()
    answer = loop.create_future()
    loop.call_later(2.0, answer.set_result, ["hit"])
    assert await asked("fetch").on(Timed(Scripted(lambda call: answer), 2.0)) == ["hit"]


@pytest.mark.looptime
async def test_what_comes_of_the_cancellation_does_not_count(asked: Any) -> None:
    """A driver that turns its cancellation into an empty answer found nothing out."""

    async def turned(call: Call[Any]) -> Any:
        try:
            await asyncio.sleep(9)
        except asyncio.CancelledError:
            return []

    with pytest.raises(StoreUnavailable):
        await asked("fetch").on(Timed(Scripted(turned), 1.0))


@pytest.mark.looptime
async def test_an_inner_call_that_cancels_itself_is_no_timeout(asked: Any) -> None:
    """Its CancelledError gets through as it would without the layer."""
    with pytest.raises(asyncio.CancelledError):
        await asked("fetch").on(Timed(Scripted(asyncio.CancelledError()), 1.0))


def test_an_error_that_comes_late_is_dropped(virtual: Any, asked: Any) -> None:
    """The loop is not told of an error that was never retrieved, whoever gave up first."""

    async def main() -> None:
        for cancel_at in (None, 0.5):
            store = Timed(Scripted(lambda call: stubborn(ZeroDivisionError(), 9.0)), 1.0)
            await seen(asked("fetch"), store, cancel_at=cancel_at)
        gc.collect()

    virtual(main())


@pytest.mark.looptime
async def test_a_task_that_runs_on_is_kept_alive(asked: Any) -> None:
    """What cannot be stopped ends by itself: it is not collected while it waits."""
    loop, ended = asyncio.get_running_loop(), []

    def wake(waiting: weakref.ref[asyncio.Future[None]]) -> None:
        if (future := waiting()) is not None:
            future.set_result(None)

    async def frozen(call: Call[Any]) -> Any:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(9)
        answer = loop.create_future()  # nothing refers to it but the task that waits for it
        loop.call_later(STUBBORN, wake, weakref.ref(answer))
        await answer
        ended.append(call)

    with pytest.raises(StoreUnavailable):
        await asked("fetch").on(Timed(Scripted(frozen), 1.0))
    gc.collect()
    await asyncio.sleep(STUBBORN + 1)
    assert len(ended) == 1


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), float("inf"), "1", None])
def test_a_bound_is_above_zero_and_finite(seconds: Any) -> None:
    """Anything else is refused when the layer is made."""
    with pytest.raises(ValueError, match="seconds must be a finite number above 0"):
        Timed(Scripted([]), seconds)


async def test_it_bounds_every_call_by_itself(asked: Any) -> None:
    """Nothing of one call is left for the next: two of them together have as long as one."""
    store = Timed(Scripted(Delay(0, InvalidQueryError("no")), ["hit"]), 1.0)
    with pytest.raises(InvalidQueryError):
        await asked("fetch").on(store)
    assert await asked("fetch").on(store) == ["hit"]
