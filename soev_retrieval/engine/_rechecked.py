"""Look again whether what came back matches the filter."""

import logging
from collections.abc import Callable
from typing import Any, cast

import attrs

from soev_retrieval.calls import Call, Layer, R
from soev_retrieval.domain import Filter, Target, matches


def _warn(target: Target, dropped: int) -> None:
    logging.getLogger(__name__).warning(
        "dropped %d results of target %r: the store returned them, and its filter excludes them",
        dropped,
        target,
    )


@attrs.frozen(repr=False, eq=False)
class Rechecked(Layer):
    """VectorStore over another, returning only results that match the filter of the call.

    Each result is matched again, by its properties as they came back. What does not match is
    dropped and not replaced, and `report` is told how many there were: a store that owes what
    VectorStore owes never gets there. It fails closed, so it sits where filter and results speak of
    the same fields: inside a PreFiltered, not around it.

    Args:
        inner: The store that answers each call.
        report: Called with the target and the number of results dropped from one answer, where
            there were any. Logs a warning by default, without filter and query.
    """

    report: Callable[[Target, int], object] = attrs.field(default=_warn, repr=False)

    async def send(self, call: Call[R]) -> R:
        """Perform `call` and pass on the results that match its filter."""
        results: Any = await call.on(self.inner)
        where: Filter | None = getattr(call, "where", None)  # Fields has none
        if where is None:
            return cast("R", results)
        kept = [result for result in results if matches(where, result.properties)]
        if dropped := len(results) - len(kept):
            self.report(call.target, dropped)
        return cast("R", kept)
