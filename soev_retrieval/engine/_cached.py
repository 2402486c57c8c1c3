"""Answer a call again without asking the store again."""

import time
from collections.abc import Callable, Hashable
from typing import Any, cast

import attrs

from soev_retrieval.calls import Call, Fields, Layer, R
from soev_retrieval.engine._answers import Answers
from soev_retrieval.engine._calls import key_of, settled
from soev_retrieval.engine._flights import Flights, cancelled
from soev_retrieval.engine._settings import above_zero, at_least
from soev_retrieval.engine._tenanted import current_tenant

_ANSWERS: Any = attrs.Factory(lambda of: Answers(of.size, of.seconds, of.clock), takes_self=True)


@attrs.frozen(repr=False, eq=False)
class Cached(Layer):
    """VectorStore over another, answering a call that has been answered without asking again.

    Calls are the same when their values are and they come from one tenant. The same call several
    times at once is one call to `inner`, which is cancelled when the last who waits for it is.
    Errors are not kept. It knows nothing of writes: an answer may be `seconds` old.

    Args:
        inner: The store that answers each call.
        size: The number of answers that it keeps, those used last, at least 1.
        seconds: How long it keeps one, above 0, or None for as long as it is among them.
        clock: What tells the time in seconds. Tests set it.

    Raises:
        ValueError: When the instance is made: `size` or `seconds` is not such a number.
    """

    size: int = attrs.field(validator=at_least(1))
    seconds: float | None = attrs.field(
        default=None, validator=attrs.validators.optional(above_zero)
    )
    clock: Callable[[], float] = attrs.field(default=time.monotonic, repr=False)
    _answers: Answers = attrs.field(init=False, repr=False, default=_ANSWERS)
    _flights: Flights = attrs.field(init=False, repr=False, factory=Flights)

    async def send(self, call: Call[R]) -> R:
        """Give the answer that is there, or perform `call` and keep its answer."""
        call = settled(call)
        if (key := key_of(call, current_tenant())) is None:
            return await call.on(self.inner)
        if (answer := self._answers.get(key)) is None:
            answer = await self._flights.join(key, lambda: self._ask(key, call))
        return cast("R", answer)

    async def _ask(self, key: Hashable, call: Call[Any]) -> Any:
        answer = await call.on(self.inner)
        answer = answer if isinstance(call, Fields) else tuple(answer)
        if not cancelled():  # what comes of a cancellation that was swallowed is good for nobody
            self._answers.keep(key, answer)
        return answer
