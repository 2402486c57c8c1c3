"""Limited: never more than so many at once, first come, first served."""

import asyncio
import heapq
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.calls import Bm25, Call
from soev_retrieval.domain import StoreUnavailable
from soev_retrieval.engine import Limited
from soev_retrieval.testing.faults import Delay, Hang, Scripted


@attrs.frozen
class Caller:
    """When it comes, how long its call takes, and how many seconds after it is cancelled."""

    comes: int
    takes: int
    patience: int | None
    fails: bool


@attrs.frozen
class Seen:
    """When its call was sent and when it ended, in units of time, and how."""

    sent: int | None
    ended: int
    how: str


callers = st.builds(
    Caller, st.integers(0, 6), st.integers(1, 6), st.none() | st.integers(0, 9), st.booleans()
)


SECOND = 100_000
"""In units of time. What each caller adds to full seconds is a power of two of its own, twice, so
that no two things fall into one instant, however its times add up with those of others."""


def takes(index: int, caller: Caller) -> int:
    return SECOND * caller.takes + (1 << index)


def cancelled_at(index: int, caller: Caller) -> int | None:
    if caller.patience is None:
        return None
    return SECOND * (caller.comes + caller.patience) + (256 << index)


def expected(plan: Sequence[Caller], at_most: int, waiting: int | None) -> list[Seen]:
    """The plain reading: a line, and as many places as there may be calls."""
    seen: dict[int, Seen] = {}
    line: list[int] = []
    running: dict[int, int] = {}
    happenings = [(SECOND * caller.comes, index, "comes") for index, caller in enumerate(plan)]
    for index, caller in enumerate(plan):
        if (at := cancelled_at(index, caller)) is not None:
            happenings.append((at, index, "cancelled"))
    heapq.heapify(happenings)
    while happenings:
        now, index, what = heapq.heappop(happenings)
        if index in seen:
            continue
        if what == "comes":
            if waiting is not None and len(running) == at_most and len(line) >= waiting:
                seen[index] = Seen(None, now, "refused")
            else:
                line.append(index)
        elif what == "cancelled":
            seen[index] = Seen(running.pop(index, None), now, "cancelled")
            line = [each for each in line if each != index]
        else:
            how = "failed" if plan[index].fails else "answered"
            seen[index] = Seen(running.pop(index), now, how)
        while line and len(running) < at_most:
            running[line[0]] = now
            heapq.heappush(happenings, (now + takes(line[0], plan[line[0]]), line.pop(0), "ends"))
    return [seen[index] for index in range(len(plan))]


async def observed(plan: Sequence[Caller], at_most: int, waiting: int | None) -> list[Seen]:
    loop = asyncio.get_running_loop()
    start, sent = loop.time(), dict[int, int]()

    def now() -> int:
        return round(SECOND * (loop.time() - start))

    def step(call: Any) -> Delay:
        index = call.limit
        sent[index] = now()
        assert store.running <= at_most
        failing = plan[index].fails
        answer = StoreUnavailable("down") if failing else ["hit"]
        return Delay(takes(index, plan[index]) / SECOND, answer)

    async def ask(index: int) -> Seen:
        try:
            await Bm25("docs", "cat", index, None).on(layer)
            how = "answered"
        except StoreUnavailable:
            how = "failed" if index in sent else "refused"
        except asyncio.CancelledError:
            if plan[index].patience is None:
                raise
            how = "cancelled"
        return Seen(sent.get(index), now(), how)

    store = Scripted(step)
    layer = Limited(store, at_most, waiting)
    tasks: dict[int, asyncio.Task[Seen]] = {}
    for index in sorted(range(len(plan)), key=lambda index: (plan[index].comes, index)):
        await asyncio.sleep(plan[index].comes - (loop.time() - start))
        tasks[index] = asyncio.create_task(ask(index))
        if (at := cancelled_at(index, plan[index])) is not None:
            loop.call_later(at / SECOND - (loop.time() - start), tasks[index].cancel)
    return [await tasks[index] for index in range(len(plan))]


@given(st.lists(callers, max_size=8), st.integers(1, 3), st.none() | st.integers(0, 3))
def test_it_is_a_fair_line(
    virtual: Any, plan: list[Caller], at_most: int, waiting: int | None
) -> None:
    """Each call is sent, refused, cancelled and ended when a plain line of callers says so."""
    assert virtual(observed(plan, at_most, waiting)) == expected(plan, at_most, waiting)


def test_places_enough_are_invisible(invisible: Any) -> None:
    """A limit that is not reached changes nothing, and one of a single call no answer either."""
    invisible(lambda store: Limited(store, 100))
    invisible(lambda store: Limited(store, 1))


@pytest.mark.looptime
async def test_a_cancelled_waiter_takes_no_place(asked: Any) -> None:
    """Also when it is cancelled in the very turn in which its place was given to it."""
    loop = asyncio.get_running_loop()

    async def leaving(call: Call[Any]) -> Any:
        await asyncio.sleep(1)
        loop.call_soon(tasks[1].cancel)  # runs before the second hears that it may go
        return ["first"]

    store = Scripted(leaving, ["third"], Hang())
    layer = Limited(store, 1)
    tasks = [asyncio.create_task(asked("bm25").on(layer)) for _ in range(3)]
    assert [await tasks[0], await tasks[2]] == [["first"], ["third"]]
    assert tasks[1].cancelled()
    assert len(store.calls) == 2


@pytest.mark.looptime
async def test_a_full_queue_refuses_at_once(asked: Any, method: str) -> None:
    """The error names the operation and how many wait, and the store is not asked."""
    store = Scripted(Hang())
    layer = Limited(store, 1, waiting=1)
    asking = [asyncio.create_task(asked("bm25").on(layer)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(StoreUnavailable, match=f"{method} was not sent: 1 call") as raised:
        await asked(method).on(layer)
    assert raised.value.operation == method
    assert len(store.calls) == 1
    for each in asking:
        each.cancel()
    await asyncio.wait(asking)
    assert store.running == 0


def test_it_serves_one_loop_after_another(virtual: Any, asked: Any) -> None:
    """A queue that was used in one event loop is used in the next."""
    layer = Limited(Scripted(Delay(1, ["hit"])), 1)

    async def main() -> Any:
        return await asyncio.gather(*(asked("bm25").on(layer) for _ in range(3)))

    assert virtual(main()) == virtual(main()) == [["hit"]] * 3


async def test_a_call_that_is_not_performed_leaves_its_place(asked: Any) -> None:
    """A store that raises before it awaits anything does not use up the places."""

    class Broken(Scripted):
        def send(self, call: Any) -> Any:
            raise ZeroDivisionError

    layer = Limited(Broken([]), 1, waiting=0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            await asked("bm25").on(layer)


@pytest.mark.parametrize("at_most", [0, -1, True, 1.0, None])
def test_at_most_is_an_int_of_at_least_one(at_most: Any) -> None:
    """Anything else is refused when the layer is made."""
    with pytest.raises(ValueError, match="at_most must be an int of at least 1"):
        Limited(Scripted([]), at_most)


@pytest.mark.parametrize("waiting", [-1, True, 1.0])
def test_waiting_is_none_or_an_int_of_at_least_zero(waiting: Any) -> None:
    """Anything else is refused when the layer is made."""
    with pytest.raises(ValueError, match="waiting must be an int of at least 0"):
        Limited(Scripted([]), 1, waiting)


def test_the_repr_says_the_limits() -> None:
    """And not who waits."""
    store = Scripted([])
    assert repr(Limited(store, 4, 9)) == f"Limited(at_most=4, waiting=9) > {store!r}"
