"""Come back in time, whatever the store does."""

import asyncio
from typing import Any

import attrs

from soev_retrieval.calls import Call, Layer, R
from soev_retrieval.domain import StoreUnavailable
from soev_retrieval.engine._settings import above_zero

_TURNS = 20  # of the loop: a task within a task hears of a cancellation a turn later
_running: set[asyncio.Future[Any]] = set()  # the loop itself keeps no task alive


@attrs.frozen(repr=False, eq=False)
class Timed(Layer):
    """VectorStore over another, raising StoreUnavailable where it has no answer within `seconds`.

    The call is then cancelled, and has ended if it obeys. A driver that swallows cancellation, as
    some do on a frozen server, is not waited for, and what comes of it later is dropped. The
    caller's own cancellation gets through in the same way.

    Args:
        inner: The store that answers each call.
        seconds: The longest that a call may take, above 0.

    Raises:
        ValueError: When the instance is made: `seconds` is no such finite number.
    """

    seconds: float = attrs.field(validator=above_zero)

    async def send(self, call: Call[R]) -> R:
        """Perform `call` within the bound."""
        task = asyncio.ensure_future(call.on(self.inner))
        _running.add(task)
        task.add_done_callback(_ended)
        try:
            await asyncio.wait([task], timeout=self.seconds)
            if task.done():
                return task.result()
        finally:
            task.cancel()
            for _ in range(_TURNS):
                if not task.done():
                    await asyncio.sleep(0)
        asked = call.operation
        raise StoreUnavailable(f"no answer to {asked} within {self.seconds} s", operation=asked)


def _ended(task: asyncio.Future[Any]) -> None:
    _running.discard(task)
    _ = task.cancelled() or task.exception()  # retrieved, as nobody may be left to look at it
