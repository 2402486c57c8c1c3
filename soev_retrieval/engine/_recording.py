"""Write down what a store answers."""

from typing import Any, TypeAlias

import attrs

from soev_retrieval.calls import Call, Layer, R
from soev_retrieval.engine._calls import settled

Recorded: TypeAlias = tuple[Call[Any], Any]
"""A call and its outcome: what it returned, lists as tuples, or the error that it raised."""


@attrs.frozen(repr=False, eq=False)
class Recording(Layer):
    """VectorStore over another, appending each call and its outcome to `into` when it has ended.

    A call that is cancelled has no outcome. Inside a Tenanted, the call says whose it is.
    """

    into: list[Recorded] = attrs.field(repr=False)

    async def send(self, call: Call[R]) -> R:
        """Perform `call` and append what came of it."""
        asked = settled(call)
        try:
            answer = await call.on(self.inner)
        except Exception as error:
            self.into.append((asked, error))
            raise
        self.into.append((asked, tuple(answer) if isinstance(answer, list) else answer))
        return answer
