"""The order of layers that wait, fail and remember: a pair one way round and the other.

Every number in docs/order-of-layers.md is asserted here, on a virtual clock.
"""

import asyncio
from typing import Any

import attrs
import pytest

from soev_retrieval.calls import Bm25, Call
from soev_retrieval.domain import StoreUnavailable
from soev_retrieval.engine import Cached, CircuitBreaker, Limited, Retrying, Timed
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.faults import Delay, Hang, Scripted

CALL: Call[Any] = Bm25("docs", "cat", 3, None)
DOWN = StoreUnavailable("down")


@attrs.frozen
class End:
    """How a call ended: its answer or error, and after how many seconds."""

    value: Any
    after: float

    @property
    def unavailable(self) -> bool:
        return isinstance(self.value, StoreUnavailable)


async def end_of(store: VectorStore, call: Call[Any] = CALL, *, begin: float = 0) -> End:
    """Call, `begin` seconds from now."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    await asyncio.sleep(begin)
    try:
        value = await call.on(store)
    except StoreUnavailable as error:
        value = error
    return End(value, round(loop.time() - start, 6))


def now() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.looptime
async def test_timed_inside_retrying_bounds_an_attempt() -> None:
    """Three attempts of 1 s with a backoff of 1 end after 3 * 1 + 1 + 2 = 6 s at most."""
    store = Scripted(Hang())
    end = await end_of(Retrying(Timed(store, 1.0), 3, 1.0))
    assert (end.unavailable, end.after, len(store.calls)) == (True, 6.0, 3)


@pytest.mark.looptime
async def test_timed_outside_retrying_bounds_them_all() -> None:
    """A store that hangs is asked once in that 1 s, and one that fails at once twice in 2.5 s."""
    hanging, failing = Scripted(Hang()), Scripted(DOWN)
    end = await end_of(Timed(Retrying(hanging, 3, 1.0), 1.0))
    assert (end.unavailable, end.after, len(hanging.calls)) == (True, 1.0, 1)
    end = await end_of(Timed(Retrying(failing, 3, 1.0), 2.5))
    assert (end.unavailable, end.after, len(failing.calls)) == (True, 2.5, 2)


@pytest.mark.looptime
async def test_timed_on_both_sides_of_retrying() -> None:
    """An attempt that hangs is given up in time for another, and all of them within the bound."""
    store = Scripted(Hang(), ["hit"])
    assert await end_of(Timed(Retrying(Timed(store, 1.0), 3, 1.0), 4.0)) == End(["hit"], 2.0)
    end = await end_of(Timed(Retrying(Timed(Scripted(Hang()), 1.0), 3, 1.0), 4.0))
    assert (end.unavailable, end.after) == (True, 4.0)


@pytest.mark.looptime
async def test_a_breaker_outside_retrying_counts_calls() -> None:
    """One of two failures opens after 2 calls, which are 6 attempts, and then refuses at once."""
    store = Scripted(DOWN)
    stack = CircuitBreaker(Retrying(store, 3, 1.0), 2, 30.0, now)
    ends = [await end_of(stack) for _ in range(3)]
    assert [end.after for end in ends] == [3.0, 3.0, 0.0]
    assert ends[2].value.retry_after == 30.0
    assert len(store.calls) == 6


@pytest.mark.looptime
async def test_a_breaker_inside_retrying_counts_attempts() -> None:
    """It opens after 2 attempts, within the first call; each after it takes 30 s to be refused."""
    store = Scripted(DOWN)
    stack = Retrying(CircuitBreaker(store, 2, 30.0, now), 3, 1.0)
    first = await end_of(stack)
    assert (first.after, first.value.retry_after, len(store.calls)) == (3.0, 28.0, 2)
    for attempts in (3, 4):
        # It is refused with 28 s left and waits them, fails as the probe, waits 2 s, is refused.
        assert ((await end_of(stack)).after, len(store.calls)) == (30.0, attempts)


@pytest.mark.looptime
async def test_a_breaker_outside_timed_opens_on_a_store_that_hangs() -> None:
    """Each bound that is met is a failure; a probe is over within it."""
    store = Scripted(Hang())
    stack = CircuitBreaker(Timed(store, 1.0), 2, 30.0, now)
    assert [(await end_of(stack)).after for _ in range(4)] == [1.0, 1.0, 0.0, 0.0]
    await asyncio.sleep(30)
    assert [(await end_of(stack)).after for _ in range(2)] == [1.0, 0.0]
    assert len(store.calls) == 3


@pytest.mark.looptime
async def test_a_breaker_inside_timed_never_opens_on_a_store_that_hangs() -> None:
    """It sees cancellations, and these are no failures: every caller waits in vain."""
    store = Scripted(Hang())
    stack = Timed(CircuitBreaker(store, 2, 30.0, now), 1.0)
    assert [(await end_of(stack)).after for _ in range(4)] == [1.0] * 4
    assert len(store.calls) == 4


@pytest.mark.looptime
async def test_limited_inside_retrying_is_free_during_a_backoff() -> None:
    """With one place and calls of 1 s, the second call is done at 2 s, before the first."""
    store = Scripted(Delay(1, DOWN), Delay(1, ["hit"]))
    stack = Retrying(Limited(store, 1), 2, 1.0)
    ends = list(await asyncio.gather(end_of(stack), end_of(stack)))
    assert ends == [End(["hit"], 3.0), End(["hit"], 2.0)]


@pytest.mark.looptime
async def test_limited_outside_retrying_is_taken_during_a_backoff() -> None:
    """With one place and calls of 1 s, the second call waits for the first: 4 s."""
    store = Scripted(Delay(1, DOWN), Delay(1, ["hit"]))
    stack = Limited(Retrying(store, 2, 1.0), 1)
    ends = list(await asyncio.gather(end_of(stack), end_of(stack)))
    assert ends == [End(["hit"], 3.0), End(["hit"], 4.0)]


@pytest.mark.looptime
async def test_timed_inside_limited_does_not_count_the_wait() -> None:
    """With one place, calls of 2 s and a bound of 3 s, the second is answered after 4 s."""
    stack = Limited(Timed(Scripted(Delay(2, ["hit"])), 3.0), 1)
    assert [end.after for end in await asyncio.gather(end_of(stack), end_of(stack))] == [2.0, 4.0]


@pytest.mark.looptime
async def test_timed_outside_limited_counts_the_wait() -> None:
    """With one place, calls of 2 s and a bound of 3 s, the second is given up after 3 s."""
    stack = Timed(Limited(Scripted(Delay(2, ["hit"])), 1), 3.0)
    first, second = await asyncio.gather(end_of(stack), end_of(stack))
    assert (first.after, second.after, second.unavailable) == (2.0, 3.0, True)


@pytest.mark.looptime
@pytest.mark.parametrize(("outside", "running"), [("limited", 2), ("timed", 1)])
async def test_only_limited_inside_timed_counts_what_cannot_be_stopped(
    outside: str, running: int
) -> None:
    """A driver that swallows its cancellation for 10 s keeps the place it has, if it is asked."""

    async def stubborn(call: Call[Any]) -> Any:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(10)

    store = Scripted(stubborn)
    stack = Limited(Timed(store, 1.0), 1) if outside == "limited" else Timed(Limited(store, 1), 1.0)
    await end_of(stack)
    second = asyncio.create_task(end_of(stack))
    await asyncio.sleep(0.5)
    assert store.running == running
    await second


@pytest.mark.looptime
async def test_a_full_queue_inside_retrying_is_tried_again() -> None:
    """A refusal of Limited is a StoreUnavailable like another: outside it is the last word."""
    store = Scripted(Delay(1.5, ["hit"]))
    inside = Retrying(Limited(store, 1, waiting=0), 2, 2.0)
    ends = list(await asyncio.gather(end_of(inside), end_of(inside)))
    assert ends == [End(["hit"], 1.5), End(["hit"], 3.5)]
    outside = Limited(Retrying(store, 2, 2.0), 1, waiting=0)
    ends = list(await asyncio.gather(end_of(outside), end_of(outside)))
    assert [(end.unavailable, end.after) for end in ends] == [(False, 1.5), (True, 0.0)]


async def test_a_breaker_outside_limited_counts_a_full_queue() -> None:
    """A store that cannot keep up is left alone; with the breaker inside it is not."""
    for wrap, opens in (
        (lambda store: CircuitBreaker(Limited(store, 1, waiting=0), 1, 30.0), True),
        (lambda store: Limited(CircuitBreaker(store, 1, 30.0), 1, waiting=0), False),
    ):
        store = Scripted(Hang(), ["hit"])
        stack = wrap(store)
        busy = asyncio.ensure_future(CALL.on(stack))
        await asyncio.sleep(0)
        assert (await end_of(stack)).unavailable
        busy.cancel()
        await asyncio.wait([busy])
        assert (await end_of(stack)).unavailable is opens


@pytest.mark.looptime
async def test_timed_inside_cached_bounds_the_flight() -> None:
    """Of two callers a second apart, a flight of 3 s and a bound of 2.5 s, neither is answered."""
    stack = Cached(Timed(Scripted(Delay(3, ["hit"])), 2.5), 10)
    ends = await asyncio.gather(end_of(stack), end_of(stack, begin=1))
    assert [(end.unavailable, end.after) for end in ends] == [(True, 2.5), (True, 2.5)]


@pytest.mark.looptime
async def test_timed_outside_cached_bounds_the_caller() -> None:
    """The second, whose own 2.5 s are not over, keeps the flight going and is answered at 3 s."""
    store = Scripted(Delay(3, ["hit"]))
    stack = Timed(Cached(store, 10), 2.5)
    first, second = await asyncio.gather(end_of(stack), end_of(stack, begin=1))
    assert (first.unavailable, first.after) == (True, 2.5)
    assert second == End(("hit",), 3.0)
    assert len(store.calls) == 1


async def test_cached_outside_a_breaker_answers_while_it_is_open() -> None:
    """What is kept needs no store."""
    store = Scripted(["hit"], DOWN)
    stack = Cached(CircuitBreaker(store, 1, 30.0), 10)
    await CALL.on(stack)
    assert (await end_of(stack, Bm25("docs", "dog", 3, None))).unavailable
    assert list(await CALL.on(stack)) == ["hit"]


async def test_cached_inside_a_breaker_is_cut_off_with_it() -> None:
    """An open circuit refuses what is kept too."""
    store = Scripted(["hit"], DOWN)
    stack = CircuitBreaker(Cached(store, 10), 1, 30.0)
    await CALL.on(stack)
    assert (await end_of(stack, Bm25("docs", "dog", 3, None))).unavailable
    assert (await end_of(stack)).unavailable


async def test_cached_outside_limited_answers_without_a_place() -> None:
    """What is kept is not waited for in line; inside it is, or refused where the line is full."""
    outside = Cached(Limited(Scripted(["hit"], Hang()), 1, waiting=0), 10)
    inside = Limited(Cached(Scripted(["hit"], Hang()), 10), 1, waiting=0)
    for stack in (outside, inside):
        await CALL.on(stack)
        busy = asyncio.create_task(stack.bm25("docs", query="dog", limit=3))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (await end_of(stack)).unavailable is (stack is inside)
        busy.cancel()
        await asyncio.wait([busy])
