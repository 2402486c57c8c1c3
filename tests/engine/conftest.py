"""What the tests of the engine share: a virtual clock, an observer of calls, the five methods."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from typing import Any

import attrs
import looptime
import pytest

from soev_retrieval.calls import Bm25, Call, Fetch, Fields, Hybrid, NearVector
from soev_retrieval.domain import Filter
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.faults import Scripted

HOUR = 3600.0
METHODS = ("hybrid", "near_vector", "bm25", "fetch", "fields")
Ask = Callable[[VectorStore], Awaitable[Any]]


@attrs.frozen(kw_only=True)
class Outcome:
    """How a call ended, seen at the very moment it did."""

    value: Any
    """What it returned."""
    error: BaseException | None
    """What it raised."""
    at: float
    """When, in virtual seconds since its start."""
    left: frozenset[str]
    """The tasks it started that had not ended."""
    running: int
    """The calls of the stores that had not ended."""
    cancelled: bool
    """Whether the caller was cancelled before the end."""
    cancelling: int
    """How many cancellations the caller's task counted."""


@attrs.define
class _Ending:
    at: float
    left: frozenset[str] = frozenset()
    running: int = 0
    cancelling: int = 0


async def _observed(
    call: Callable[[], Awaitable[Any]],
    *,
    stores: Iterable[Scripted] = (),
    cancel_at: float | None = None,
    after: int = 0,
) -> Outcome:
    """Make a call in a task of its own, and cancel it at a time, `after` turns of the loop later."""
    loop = asyncio.get_running_loop()
    start, others = loop.time(), asyncio.all_tasks()
    ending = _Ending(0.0)

    async def caller() -> Any:
        try:
            return await call()
        finally:
            ending.at = loop.time() - start
            ours = asyncio.all_tasks() - others - {task, canceller}
            ending.left = frozenset(map(str, ours))
            ending.running = sum(store.running for store in stores)
            ending.cancelling = task.cancelling()

    async def cancel() -> bool:
        await asyncio.sleep(2 * HOUR if cancel_at is None else cancel_at)
        for _ in range(after):
            await asyncio.sleep(0)
        ending.at = loop.time() - start  # a call that never began ends here
        return task.cancel()

    task = asyncio.create_task(caller())
    canceller = asyncio.create_task(cancel())
    await asyncio.wait([task], timeout=HOUR)
    cancelled = canceller.done() and canceller.result()
    canceller.cancel()
    assert task.done(), "the call hangs"
    error = asyncio.CancelledError() if task.cancelled() else task.exception()
    return Outcome(
        value=None if error else task.result(),
        error=error,
        at=ending.at,
        left=ending.left,
        running=ending.running,
        cancelled=cancelled,
        cancelling=ending.cancelling,
    )


def _virtual(main: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=partial(looptime.new_event_loop, noop_cycles=0)) as runner:
        return runner.run(main)


def _asked(method: str, where: Filter | None = None, vector: Any = (0.5, 1.0)) -> tuple[Any, Ask]:
    call: Call[Any]
    match method:
        case "hybrid":
            call = Hybrid("t", "what", vector, 7, where, 0.25)
            return call, lambda store: store.hybrid(
                "t", query="what", vector=vector, limit=7, where=where, alpha=0.25
            )
        case "near_vector":
            call = NearVector("t", vector, 7, where)
            return call, lambda store: store.near_vector("t", vector=vector, limit=7, where=where)
        case "bm25":
            call = Bm25("t", "what", 7, where)
            return call, lambda store: store.bm25("t", query="what", limit=7, where=where)
        case "fetch":
            call = Fetch("t", where, 7, "year", True)
            return call, lambda store: store.fetch(
                "t", where=where, limit=7, order_by="year", descending=True
            )
        case _:
            call = Fields("t")
            return call, lambda store: store.fields("t")


@pytest.fixture(scope="session")
def virtual() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Runs a coroutine on a loop of its own, whose clock jumps to the next thing that happens."""
    return _virtual


@pytest.fixture(scope="session")
def observed() -> Callable[..., Coroutine[Any, Any, Outcome]]:
    """Makes a call, cancels it perhaps, and tells how it ended."""
    return _observed


@pytest.fixture(scope="session")
def asked() -> Callable[..., tuple[Any, Ask]]:
    """One call of a method with every argument given: its value, and how to ask a store for it."""
    return _asked


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> str:
    """Each of the five methods."""
    return str(request.param)


@pytest.fixture(params=METHODS[:4])
def filtered_method(request: pytest.FixtureRequest) -> str:
    """Each of the four methods that take a filter."""
    return str(request.param)
