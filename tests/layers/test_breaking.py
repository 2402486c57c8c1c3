"""CircuitBreaker: against a plain model, with a clock that the test sets."""

import asyncio
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from soev_retrieval.calls import Bm25, Call
from soev_retrieval.domain import InvalidQueryError, StoreUnavailable, Unconfigured
from soev_retrieval.engine import CircuitBreaker
from soev_retrieval.testing.faults import Hang, Scripted

FAILURES, SECONDS = 2, 10
CALL: Call[Any] = Bm25("docs", "cat", 3, None)
ENDINGS: dict[str, Any] = {
    "answer": ["hit"],
    "unavailable": StoreUnavailable("down"),
    "invalid": InvalidQueryError("no"),
    "unconfigured": Unconfigured("no"),
    "bug": ZeroDivisionError(),
    "cancelled": None,
}


class Clock:
    """Tells the time that it is set to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@attrs.define
class Model:
    """The circuit as its docstring has it, as plain as it can be said."""

    state: str = "closed"
    row: int = 0
    opened: float = 0.0
    probe: int | None = None
    era: int = 0
    """Counts every opening and closing."""

    def begins(self, call: int, now: float) -> float | None:
        """What is left where it is refused, None where it goes through."""
        if self.state == "closed":
            return None
        left = max(0.0, self.opened + SECONDS - now)
        if left == 0 and self.probe is None:
            self.probe = call
            return None
        return left

    def ends(self, call: int, era: int, how: str, now: float) -> None:
        if call == self.probe:
            self.probe = None
            if how == "answer":
                self.state, self.row, self.era = "closed", 0, self.era + 1
            elif how == "unavailable":
                self.opened, self.era = now, self.era + 1
        elif self.state == "closed" and era == self.era:
            if how == "answer":
                self.row = 0
            elif how == "unavailable":
                self.row += 1
                if self.row == FAILURES:
                    self.state, self.opened, self.era = "open", now, self.era + 1


@attrs.define
class Flight:
    """A call that the model let through, with the answer the test will give it."""

    number: int
    era: int
    task: asyncio.Task[Any]
    answer: asyncio.Future[Any]


class Breaking(RuleBasedStateMachine):
    """Calls that begin and end in any order and at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.clock, self.model = Clock(), Model()
        self.waiting: list[asyncio.Future[Any]] = []
        self.store = Scripted(self.answer)
        self.breaker = CircuitBreaker(self.store, FAILURES, SECONDS, self.clock)
        self.flights: list[Flight] = []
        self.sent = self.begun = 0

    def answer(self, call: Any) -> asyncio.Future[Any]:
        self.waiting.append(self.loop.create_future())
        return self.waiting[-1]

    def turns(self) -> None:
        for _ in range(5):
            self.loop.run_until_complete(asyncio.sleep(0))

    @rule(several=st.integers(1, 4))
    def begin(self, several: int) -> None:
        """Several at once: each is sent or refused as the model has it, in the order they came."""

        async def ask() -> Any:
            return await CALL.on(self.breaker)

        tasks = [self.loop.create_task(ask()) for _ in range(several)]
        self.turns()
        numbers = [self.begun + each for each in range(several)]
        left = [self.model.begins(number, self.clock.now) for number in numbers]
        sent = self.waiting[-left.count(None) :] if None in left else []
        self.begun += several
        self.sent += len(sent)
        assert len(self.store.calls) == self.sent
        assert [task.done() for task in tasks] == [each is not None for each in left]
        for number, task, each in zip(numbers, tasks, left, strict=True):
            if each is None:
                self.flights.append(Flight(number, self.model.era, task, sent.pop(0)))
                continue
            error = task.exception()
            assert isinstance(error, StoreUnavailable)
            assert error.retry_after == each

    @precondition(lambda self: self.flights)
    @rule(which=st.integers(0, 9), how=st.sampled_from(["unavailable", "unavailable", *ENDINGS]))
    def end(self, which: int, how: str) -> None:
        """A call ends, and its caller sees what the store did."""
        flight = self.flights.pop(which % len(self.flights))
        ending = ENDINGS[how]
        if how == "cancelled":
            flight.task.cancel()
        elif isinstance(ending, Exception):
            flight.answer.set_exception(ending)
        else:
            flight.answer.set_result(ending)
        self.turns()
        self.model.ends(flight.number, flight.era, how, self.clock.now)
        assert flight.task.done()
        if how == "cancelled":
            assert flight.task.cancelled()
        elif isinstance(ending, Exception):
            assert flight.task.exception() is ending
        else:
            assert flight.task.result() is ending

    @rule(seconds=st.sampled_from([1, 4, SECONDS, 25]))
    def time_passes(self, seconds: int) -> None:
        """The clock goes on."""
        self.clock.now += seconds

    @invariant()
    def nothing_but_the_probe_is_sent_while_open(self) -> None:
        """Of the calls under way, at most one was sent since the circuit opened."""
        if self.model.state == "open":
            assert sum(each.era == self.model.era for each in self.flights) <= 1

    def teardown(self) -> None:
        for flight in self.flights:
            flight.task.cancel()
        self.turns()
        self.loop.close()


TestAgainstAModel = Breaking.TestCase
TestAgainstAModel.settings = settings(max_examples=200, stateful_step_count=40)


def broken(*steps: Any, failures: int = 2) -> tuple[Scripted, Clock, CircuitBreaker]:
    store, clock = Scripted(*steps), Clock()
    return store, clock, CircuitBreaker(store, failures, 10.0, clock)


async def fail(breaker: CircuitBreaker, times: int) -> None:
    for _ in range(times):
        with pytest.raises(StoreUnavailable, match="down"):
            await CALL.on(breaker)


def test_a_closed_circuit_is_invisible(invisible: Callable[..., None]) -> None:
    """While the store answers, wrong calls or not, nothing is different."""
    invisible(lambda store: CircuitBreaker(store, 2, 10.0))


async def test_an_open_circuit_refuses_at_once(asked: Any, method: str) -> None:
    """The error names the operation and what is left, and the store is not asked."""
    store, clock, breaker = broken(StoreUnavailable("down"))
    await fail(breaker, 2)
    clock.now += 4
    with pytest.raises(StoreUnavailable, match=f"{method} was not sent") as raised:
        await asked(method).on(breaker)
    assert (raised.value.operation, raised.value.retry_after) == (method, 6.0)
    assert len(store.calls) == 2


@pytest.mark.parametrize("error", [InvalidQueryError("no"), Unconfigured("no")], ids=repr)
async def test_the_callers_mistakes_are_no_part_of_a_row(error: Exception) -> None:
    """They neither count nor reset: two failures around one are a row of two."""
    down = StoreUnavailable("down")
    store, _, breaker = broken(error, error, down, error, down, ["hit"])
    for _ in range(2):
        with pytest.raises(type(error)):
            await CALL.on(breaker)
    await fail(breaker, 1)
    with pytest.raises(type(error)):
        await CALL.on(breaker)
    await fail(breaker, 1)
    with pytest.raises(StoreUnavailable, match="was not sent"):
        await CALL.on(breaker)
    assert len(store.calls) == 5


async def test_an_answer_ends_a_row() -> None:
    """Failures with an answer between them do not open the circuit."""
    down = StoreUnavailable("down")
    _, _, breaker = broken(down, ["hit"], down, ["hit"])
    await fail(breaker, 1)
    await CALL.on(breaker)
    await fail(breaker, 1)
    assert await CALL.on(breaker) == ["hit"]


async def test_one_probe_of_many_callers_goes_through() -> None:
    """The others are refused while it is under way, with nothing left to wait for."""
    down = StoreUnavailable("down")
    store, clock, breaker = broken(down, down, Hang())
    await fail(breaker, 2)
    clock.now += 10
    callers = [asyncio.ensure_future(CALL.on(breaker)) for _ in range(5)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert [each.done() for each in callers] == [False, True, True, True, True]
    assert [each.exception().retry_after for each in callers[1:]] == [0.0] * 4  # type: ignore[union-attr]
    assert len(store.calls) == 3
    callers[0].cancel()
    await asyncio.wait(callers)


@pytest.mark.parametrize("how", ["invalid", "unconfigured", "bug", "cancelled"])
async def test_a_probe_that_finds_nothing_out_makes_way(how: str) -> None:
    """The next call is the probe at once, and its answer closes the circuit."""
    down, ending = StoreUnavailable("down"), ENDINGS[how] or Hang()
    store, clock, breaker = broken(down, down, ending, ["hit"])
    await fail(breaker, 2)
    clock.now += 10
    probe = asyncio.ensure_future(CALL.on(breaker))
    await asyncio.sleep(0)
    probe.cancel()
    with pytest.raises(asyncio.CancelledError if how == "cancelled" else type(ending)):
        await probe
    assert [list(await CALL.on(breaker)) for _ in range(2)] == [["hit"], ["hit"]]
    assert len(store.calls) == 5


async def test_a_probe_that_fails_opens_the_circuit_anew() -> None:
    """For all of its seconds, counted from then."""
    store, clock, breaker = broken(StoreUnavailable("down"))
    await fail(breaker, 2)
    clock.now += 25
    await fail(breaker, 1)
    clock.now += 9
    with pytest.raises(StoreUnavailable, match="was not sent") as raised:
        await CALL.on(breaker)
    assert (raised.value.retry_after, len(store.calls)) == (1.0, 3)


async def test_the_default_clock_is_monotonic() -> None:
    """What is left is counted in real seconds from the opening."""
    breaker = CircuitBreaker(Scripted(StoreUnavailable("down")), 1, 3600.0)
    await fail(breaker, 1)
    with pytest.raises(StoreUnavailable, match="was not sent") as raised:
        await CALL.on(breaker)
    assert raised.value.retry_after is not None
    assert 0 < raised.value.retry_after <= 3600


@pytest.mark.parametrize("failures", [0, -1, True, 1.0, None])
def test_failures_is_an_int_of_at_least_one(failures: Any) -> None:
    """Anything else is refused when the layer is made."""
    with pytest.raises(ValueError, match="failures must be an int of at least 1"):
        CircuitBreaker(Scripted([]), failures, 1.0)


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), float("inf"), "1", None])
def test_seconds_is_above_zero_and_finite(seconds: Any) -> None:
    """Anything else is refused when the layer is made."""
    with pytest.raises(ValueError, match="seconds must be a finite number above 0"):
        CircuitBreaker(Scripted([]), 1, seconds)


def test_the_repr_says_the_rule() -> None:
    """And neither the clock nor where the circuit stands."""
    store = Scripted([])
    assert repr(CircuitBreaker(store, 3, 30.0)) == (
        f"CircuitBreaker(failures=3, seconds=30.0) > {store!r}"
    )
