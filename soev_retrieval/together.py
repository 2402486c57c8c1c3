"""Run several at once, and let none run on when one has failed."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

__all__ = ["alone", "ended", "together"]

R = TypeVar("R")


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
