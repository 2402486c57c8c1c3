"""Retrying: when it calls again, how long it waits, and what it lets through."""

import asyncio
import math
from collections.abc import Callable
from typing import Any

import pytest

from soev_retrieval.domain import (
    FieldSpec,
    Hit,
    InvalidQueryError,
    RetrievalError,
    StoreUnavailable,
    Unconfigured,
)
from soev_retrieval.engine import Retrying
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.faults import Delay, Scripted

FOUND = [Hit("found", 1.0)]
Asked = Callable[..., tuple[Any, Callable[[VectorStore], Any]]]


class Waits(list[float]):
    """A sleep that records its seconds."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def down(retry_after: float | None = None) -> StoreUnavailable:
    return StoreUnavailable("no answer", retry_after=retry_after)


async def search(store: VectorStore) -> Any:
    return await store.bm25("t", query="q", limit=1)


async def test_every_method_is_called_again_with_the_same_arguments(
    asked: Asked, method: str
) -> None:
    """Each of the five methods is tried again as it was asked, and its answer is the store's own."""
    call, ask = asked(method)
    answer: Any = FieldSpec([]) if method == "fields" else FOUND
    inner, waits = Scripted(down(), down(), answer), Waits()
    assert await ask(Retrying(inner, attempts=3, sleep=waits)) is answer
    assert inner.calls == [call] * 3
    assert waits == [1, 2]


async def test_every_method_lets_the_last_error_through(asked: Asked, method: str) -> None:
    """Each of the five methods raises the last StoreUnavailable as the very same object."""
    call, ask = asked(method)
    errors = [down(), down(), down()]
    inner = Scripted(*errors)
    with pytest.raises(StoreUnavailable) as raised:
        await ask(Retrying(inner, 3, sleep=Waits()))
    assert raised.value is errors[-1]
    assert inner.calls == [call] * 3


async def test_an_answer_is_not_asked_for_again() -> None:
    """A call that is answered at once is made once, and nothing waits."""
    inner, waits = Scripted(FOUND), Waits()
    assert await search(Retrying(inner, 5, sleep=waits)) is FOUND
    assert (len(inner.calls), waits) == (1, [])


async def test_an_empty_answer_is_an_answer() -> None:
    """No hits means that nothing matched: it is no reason to call again."""
    inner = Scripted([], FOUND)
    assert await search(Retrying(inner, 5, sleep=Waits())) == []
    assert len(inner.calls) == 1


@pytest.mark.parametrize("attempts", [1, 2, 3, 6])
async def test_it_calls_as_often_as_it_may(attempts: int) -> None:
    """There are `attempts` calls and one wait fewer: none comes after the last attempt."""
    inner, waits = Scripted(down()), Waits()
    with pytest.raises(StoreUnavailable):
        await search(Retrying(inner, attempts, sleep=waits))
    assert len(inner.calls) == attempts
    assert waits == [2.0**n for n in range(attempts - 1)]


@pytest.mark.parametrize("backoff", [0, 0.0, 0.25, 3, 1e-9])
async def test_waits_double_from_the_backoff(backoff: float) -> None:
    """The first wait is `backoff` seconds, and each further one twice the one before."""
    waits = Waits()
    with pytest.raises(StoreUnavailable):
        await search(Retrying(Scripted(down()), 5, backoff, waits))
    assert waits == [backoff, 2 * backoff, 4 * backoff, 8 * backoff]


async def test_two_calls_do_not_see_each_other() -> None:
    """Each call begins with the first wait: no state is kept between calls."""
    waits = Waits()
    inner = Scripted(down(), down(), FOUND, down(), FOUND)
    store = Retrying(inner, 3, sleep=waits)
    await search(store)
    await search(store)
    assert waits == [1, 2, 1]


@pytest.mark.looptime
async def test_it_sleeps_on_the_clock_of_the_loop() -> None:
    """Without a `sleep` it waits in seconds of the event loop, between attempts only."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    with pytest.raises(StoreUnavailable):
        await search(Retrying(Scripted(Delay(10, down())), 4, backoff=0.5))
    assert loop.time() - start == 4 * 10 + 0.5 + 1 + 2


@pytest.mark.parametrize(
    ("asked_for", "expected"),
    [
        ([None, None, None], [1, 2, 4]),
        ([5.0, None, None], [5, 2, 4]),
        ([None, 5.0, 5.0], [1, 5, 5]),
        ([0.5, 0.0, 3.0], [1, 2, 4]),
        ([30.0, 1.0, 60.0], [30, 2, 60]),
    ],
)
async def test_the_store_may_ask_for_a_longer_wait(
    asked_for: list[float | None], expected: list[float]
) -> None:
    """It waits for the greater of the backoff, which doubles all the same, and `retry_after`."""
    waits = Waits()
    inner = Scripted(*map(down, asked_for), FOUND)
    assert await search(Retrying(inner, 4, sleep=waits)) is FOUND
    assert waits == expected


async def test_what_the_last_attempt_asks_for_is_not_waited_for() -> None:
    """`retry_after` in the last error is the caller's to read."""
    waits = Waits()
    with pytest.raises(StoreUnavailable) as raised:
        await search(Retrying(Scripted(down(), down(60)), 2, sleep=waits))
    assert (raised.value.retry_after, waits) == (60, [1])


@pytest.mark.parametrize(
    "error",
    [
        InvalidQueryError("x"),
        Unconfigured("x"),
        RetrievalError("x"),
        ConnectionError("x"),
        TimeoutError("x"),
        KeyError("x"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("before", [0, 1])
async def test_another_error_is_raised_at_once(error: Exception, before: int) -> None:
    """Only StoreUnavailable is worth a retry: any other error is raised as the very same object."""
    inner, waits = Scripted(*[down()] * before, error), Waits()
    with pytest.raises(type(error)) as raised:
        await search(Retrying(inner, 5, sleep=waits))
    assert raised.value is error
    assert len(inner.calls) == before + 1
    assert waits == [1] * before


async def test_a_kind_of_unavailable_is_unavailable() -> None:
    """A subclass of StoreUnavailable is tried again like it."""

    class Overloaded(StoreUnavailable):
        pass

    inner = Scripted(Overloaded("busy"), FOUND)
    assert await search(Retrying(inner, 2, sleep=Waits())) is FOUND


async def test_an_error_carries_no_earlier_one() -> None:
    """The last error came of its own attempt alone: no earlier one is its context."""
    with pytest.raises(StoreUnavailable) as raised:
        await search(Retrying(Scripted(lambda call: down()), 3, sleep=Waits()))
    assert raised.value.__context__ is None


@pytest.mark.looptime
@pytest.mark.parametrize("at", [1, 12, 24], ids=["first call", "wait", "second call"])
async def test_a_cancel_gets_through(observed: Callable[..., Any], at: float) -> None:
    """A cancelled call ends where it is, during an attempt or a wait, and is not tried again."""
    inner = Scripted(Delay(10, down()))
    store = Retrying(inner, 5, backoff=10)
    outcome = await observed(lambda: search(store), stores=[inner], cancel_at=at)
    assert isinstance(outcome.error, asyncio.CancelledError)
    assert (outcome.at, outcome.running, outcome.left) == (at, 0, frozenset())
    assert len(inner.calls) == (2 if at > 20 else 1)


async def test_a_sleep_that_fails_is_raised_as_itself() -> None:
    """An error of `sleep` ends the call: it is not the store's."""
    error = RuntimeError("no clock")

    async def sleep(seconds: float) -> None:
        raise error

    with pytest.raises(RuntimeError) as raised:
        await search(Retrying(Scripted(down()), 3, sleep=sleep))
    assert raised.value is error


async def test_retries_multiply() -> None:
    """A retry around a retry makes attempts times attempts calls."""
    inner, waits = Scripted(down()), Waits()
    with pytest.raises(StoreUnavailable):
        await search(Retrying(Retrying(inner, 3, sleep=waits), 2, sleep=waits))
    assert len(inner.calls) == 6
    assert waits == [1, 2, 1, 1, 2]


@pytest.mark.parametrize("attempts", [0, -1, 2.0, 1.5, True, "3", None, math.nan], ids=repr)
def test_attempts_that_are_none_are_refused(attempts: Any) -> None:
    """`attempts` is an int of at least 1, or there is no layer."""
    with pytest.raises(ValueError, match="attempts must be"):
        Retrying(Scripted(FOUND), attempts=attempts)


@pytest.mark.parametrize("backoff", [-1, -0.001, math.nan, math.inf, "1", None], ids=repr)
def test_a_backoff_that_is_none_is_refused(backoff: Any) -> None:
    """`backoff` is a finite number of seconds of at least 0, or there is no layer."""
    with pytest.raises(ValueError, match="backoff must be"):
        Retrying(Scripted(FOUND), attempts=2, backoff=backoff)
