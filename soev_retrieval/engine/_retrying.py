"""Call again while the store gives no answer."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from numbers import Real

import attrs

from soev_retrieval.calls import Call, Layer, R
from soev_retrieval.domain import StoreUnavailable


@attrs.frozen(repr=False, eq=False)
class Retrying(Layer):
    """VectorStore over another, calling it up to `attempts` times while it raises StoreUnavailable.

    Waits `backoff` seconds before the second attempt, doubling before each further one, and raises
    the last StoreUnavailable when every attempt failed. Where the store said `retry_after`, it
    waits at least as long. A rejected call (InvalidQueryError) or an Unconfigured store is raised
    at once: calling again would get the same answer.

    Args:
        inner: The store that answers each call.
        attempts: The maximum number of calls to `inner` for one call. It must be at least 1.
        backoff: The seconds to wait before the second attempt.
        sleep: What waits. Tests pass a recorder.

    Raises:
        ValueError: When the instance is made: `attempts` is less than 1, or `backoff` is not a
            finite number of at least 0.
    """

    attempts: int
    backoff: float = 1.0
    sleep: Callable[[float], Awaitable[None]] = attrs.field(default=asyncio.sleep, repr=False)

    def __attrs_post_init__(self) -> None:
        if type(self.attempts) is not int or self.attempts < 1:
            raise ValueError(f"attempts must be an int of at least 1, not {self.attempts!r}")
        if not isinstance(self.backoff, Real) or not 0 <= float(self.backoff) < math.inf:
            raise ValueError(f"backoff must be seconds, at least 0, not {self.backoff!r}")

    async def send(self, call: Call[R]) -> R:
        """Perform `call`, again while the inner store raises StoreUnavailable."""
        wait = self.backoff
        for _ in range(self.attempts - 1):
            try:
                return await call.on(self.inner)
            except StoreUnavailable as unavailable:
                asked = unavailable.retry_after or 0.0
            await self.sleep(max(wait, asked))
            wait *= 2
        return await call.on(self.inner)
