"""Come back in time, whatever the store does."""

import attrs

from soev_retrieval.calls import Call, Layer, R
from soev_retrieval.domain import StoreUnavailable
from soev_retrieval.engine._settings import above_zero
from soev_retrieval.together import OverdueError, within


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
        try:
            return await within(self.seconds, call.on(self.inner))
        except OverdueError:
            asked = call.operation
            message = f"no answer to {asked} within {self.seconds} s"
            raise StoreUnavailable(message, operation=asked) from None
