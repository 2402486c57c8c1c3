"""Tasks that are waited for whatever happens."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any


async def together(coroutines: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Run all at once. The first error cancels the others, waits for them, and is raised as itself.

    A cancellation of the caller does so too, and goes on, also where one of them failed meanwhile.
    """
    # No TaskGroup: until CPython 3.13 one that fails leaves its caller counted as cancelled.
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    failed: list[BaseException] = []
    for task in tasks:
        task.add_done_callback(lambda done: failed.extend(_error(done)))
    try:
        if tasks:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        await ended(tasks)
    if failed:
        raise failed[0]


async def ended(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel those that go on, and return when all have ended, also to a caller in a hurry."""
    cancelled: asyncio.CancelledError | None = None
    for task in tasks:
        task.cancel()
    while running := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(running)
        except asyncio.CancelledError as error:
            cancelled = error
    for task in tasks:
        _error(task)
    if cancelled:
        raise cancelled


def _error(task: asyncio.Task[Any]) -> list[BaseException]:
    """What a task that is done failed with. Once asked for, asyncio does not log it as lost."""
    error = None if task.cancelled() else task.exception()
    return [error] if error else []
