"""Run several at once, and let none run on when one has failed."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

R = TypeVar("R")


async def together(coroutines: Sequence[Coroutine[Any, Any, R]]) -> list[R]:
    """The results of `coroutines`, which run at once, in their order.

    The first error cancels the others, waits for them, and is raised as itself. A cancellation of
    the caller cancels them all, waits, and goes on, also where one of them failed meanwhile.
    """
    if len(coroutines) == 1:
        return [await coroutines[0]]
    caller = asyncio.current_task()
    cancellations = caller.cancelling() if caller else 0
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except BaseExceptionGroup as errors:
        first = errors.exceptions[0]
    else:
        return [task.result() for task in tasks]
    if caller and caller.cancelling() > cancellations:
        # The group gives the error precedence (CPython 3.11 to 3.12), and the cancel would be lost.
        raise asyncio.CancelledError
    raise first
