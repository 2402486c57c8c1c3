"""Stores that fail on purpose."""

import asyncio
from collections import deque
from collections.abc import Awaitable
from typing import Any, cast

from soev_retrieval.calls import Call, CallStore, R


class Hang:
    """A script step that never answers; only a cancellation ends it."""


class Delay:
    """A script step that waits before it does the next thing.

    Args:
        seconds: How long, on the clock of the event loop.
        then: What it does then: a step, as in `Scripted`.
    """

    def __init__(self, seconds: float, then: Any) -> None:
        self.seconds = seconds
        self.then = then


class Scripted(CallStore):
    """A VectorStore that answers by script and records its calls.

    Each call takes the next step of the script; the last one goes for all that follow. A step is a
    result, an exception to raise, a `Delay`, a `Hang`, or a function, async or not, from the call
    to one of these.

    Args:
        steps: The script.
    """

    def __init__(self, *steps: Any) -> None:
        if not steps:
            raise ValueError("a script needs at least one step")
        self._steps = deque(steps)
        self.calls: list[Call[Any]] = []
        """Every call, in the order it came."""
        self.cancelled = 0
        """How many calls were cancelled while they waited."""
        self.running = 0
        """How many calls are waiting now."""

    async def send(self, call: Call[R]) -> R:
        """Do the next step."""
        self.calls.append(call)
        step = self._steps.popleft() if len(self._steps) > 1 else self._steps[0]
        self.running += 1
        try:
            return cast("R", await self._do(step, call))
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1

    async def _do(self, step: Any, call: Call[Any]) -> Any:
        match step:
            case Hang():
                return await asyncio.get_running_loop().create_future()
            case Delay():
                await asyncio.sleep(step.seconds)
                return await self._do(step.then, call)
            case BaseException():
                raise step
            case _ if callable(step):
                made = step(call)
                return await self._do(await made if isinstance(made, Awaitable) else made, call)
            case _:
                return step
