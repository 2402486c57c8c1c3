"""Run several at once, and let none run on when one has failed, or when time is over."""

import asyncio
from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, TypeVar

__all__ = ["OverdueError", "alone", "ended", "together", "within"]

R = TypeVar("R")

_TURNS = 20  # of the loop: a task within a task hears of a cancellation a turn later
_running: set[asyncio.Future[Any]] = set()  # the loop itself keeps no task alive


class OverdueError(TimeoutError):
    """The time that was given is over."""


async def together(coroutines: Sequence[Coroutine[Any, Any, R]]) -> list[R]:
    """The results of `coroutines`, which run at once, in their order.

    The first error cancels the others, waits for them, and is raised as itself. A cancellation of
    the caller cancels them all, waits, and goes on, also where one of them failed meanwhile, or
    answers all the same.

    `asyncio.TaskGroup` does not serve: it raises groups, prefers an error to a cancellation, and
    on Python 3.11 leaves the caller's count of cancellations raised after an error.
    """
    if not coroutines:
        return []
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    failed: list[asyncio.Task[R]] = []
    running = len(tasks)
    over = asyncio.get_running_loop().create_future()

    def note(task: asyncio.Task[R]) -> None:
        nonlocal running
        running -= 1
        if task.cancelled() or task.exception() is not None:
            failed.append(task)
        if not over.done() and (failed or not running):
            over.set_result(None)

    for task in tasks:
        task.add_done_callback(note)
    try:
        await over
    finally:
        await ended(tasks)
    if failed:
        failed[0].result()  # raises
    return [task.result() for task in tasks]


async def alone(coroutine: Coroutine[Any, Any, R]) -> R:
    """The result of one coroutine, awaited as it is: a cancellation that it swallows goes on."""
    caller = asyncio.current_task()
    cancellations = caller.cancelling() if caller else 0
    try:
        return await coroutine
    finally:
        if caller and caller.cancelling() > cancellations:
            raise asyncio.CancelledError


async def ended(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel what still runs, once, and wait for it, however often the caller is cancelled."""
    cancelled: asyncio.CancelledError | None = None
    for task in tasks:
        task.cancel()
    while running := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(running)
        except asyncio.CancelledError as again:
            cancelled = again
    for task in tasks:
        _ = task.cancelled() or task.exception()  # retrieved: asyncio logs no error as lost
    if cancelled is not None:
        raise cancelled


async def within(seconds: float, awaitable: Awaitable[R]) -> R:
    """The result of what comes within so many seconds.

    What does not is cancelled, and has ended if it obeys. A driver that swallows cancellation, as
    some do on a frozen server, is not waited for, and what comes of it later is dropped. The
    caller's own cancellation gets through in the same way.

    Raises:
        OverdueError: There was none.
    """
    task = asyncio.ensure_future(awaitable)
    _running.add(task)
    task.add_done_callback(_ended)
    try:
        await asyncio.wait([task], timeout=seconds)
        if task.done():
            return task.result()
    finally:
        task.cancel()
        for _ in range(_TURNS):
            if not task.done():
                await asyncio.sleep(0)
    raise OverdueError(f"nothing came within {seconds} s")


def _ended(task: asyncio.Future[Any]) -> None:
    _running.discard(task)
    _ = task.cancelled() or task.exception()  # retrieved, as nobody may be left to look at it
