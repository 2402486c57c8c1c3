"""Leave a store alone that has stopped answering."""

import time
from collections.abc import Callable
from typing import Any

import attrs

from soev_retrieval.calls import Call, Layer, R
from soev_retrieval.domain import StoreUnavailable
from soev_retrieval.engine._circuit import Circuit, Period
from soev_retrieval.engine._settings import above_zero, at_least

_NEW: Any = attrs.Factory(lambda of: Circuit(of.failures, of.seconds, of.clock), takes_self=True)


@attrs.frozen(repr=False, eq=False)
class CircuitBreaker(Layer):
    """VectorStore over another, which is left alone for `seconds` when it has stopped answering.

    `failures` StoreUnavailable in a row open the circuit: every call raises StoreUnavailable at
    once, `retry_after` what is left. Then one call goes through as a probe, and others still do
    not. Its answer closes the circuit, its StoreUnavailable opens it anew; when it ends in anything
    else, the next call is the probe. One that hangs keeps its place: put a Timed inside.

    An answer ends a row, other errors do not. What was called before the circuit opened or closed
    decides nothing any more.

    Args:
        inner: The store that answers each call.
        failures: How many in a row open the circuit, at least 1.
        seconds: How long it stays open before a probe, above 0.
        clock: What tells the time in seconds. Tests set it.

    Raises:
        ValueError: When the instance is made: `failures` or `seconds` is not such a number.
    """

    failures: int = attrs.field(validator=at_least(1))
    seconds: float = attrs.field(validator=above_zero)
    clock: Callable[[], float] = attrs.field(default=time.monotonic, repr=False)
    _circuit: Circuit = attrs.field(init=False, repr=False, default=_NEW)

    async def send(self, call: Call[R]) -> R:
        """Perform `call`, unless the circuit is open."""
        if not isinstance(period := self._circuit.enter(), Period):
            message = f"{call.operation} was not sent: the circuit is open"
            raise StoreUnavailable(message, operation=call.operation, retry_after=period)
        try:
            answer = await call.on(self.inner)
        except StoreUnavailable:
            self._circuit.failed(period)
            raise
        except BaseException:
            self._circuit.undecided(period)
            raise
        self._circuit.answered(period)
        return answer
