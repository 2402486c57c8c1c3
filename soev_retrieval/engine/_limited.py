"""Send the store no more calls at once than it can take."""

import asyncio
from itertools import islice

import attrs

from soev_retrieval.calls import Call, Layer, R
from soev_retrieval.domain import StoreUnavailable
from soev_retrieval.engine._settings import at_least


@attrs.frozen(repr=False, eq=False)
class Limited(Layer):
    """VectorStore over another, with at most `at_most` calls to it under way.

    The others wait, first come, first served. A call that is cancelled gives its place back, be it
    running or waiting. Where `waiting` calls wait, one more raises StoreUnavailable at once.

    Args:
        inner: The store that answers each call.
        at_most: How many calls may run at once, at least 1.
        waiting: How many calls may wait, at least 0, or None for any number.

    Raises:
        ValueError: When the instance is made: a number is not such an int.
    """

    at_most: int = attrs.field(validator=at_least(1))
    waiting: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(at_least(0))
    )
    _line: dict[asyncio.Future[None], None] = attrs.field(init=False, repr=False, factory=dict)

    async def send(self, call: Call[R]) -> R:
        """Perform `call` when its turn has come."""
        if self.waiting is not None and len(self._line) >= self.at_most + self.waiting:
            message = f"{call.operation} was not sent: {self.waiting} calls wait already"
            raise StoreUnavailable(message, operation=call.operation)
        turn = asyncio.get_running_loop().create_future()
        self._line[turn] = None
        try:
            self._let_in()
            await turn
            return await call.on(self.inner)
        finally:
            del self._line[turn]
            self._let_in()

    def _let_in(self) -> None:
        for turn in islice(self._line, self.at_most):
            if not turn.done():
                turn.set_result(None)
