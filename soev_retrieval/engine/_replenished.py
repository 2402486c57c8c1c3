"""Ask deeper where too little was kept."""

from collections.abc import Sequence
from typing import Any, cast

import attrs

from soev_retrieval.calls import Call, Fields, Layer, R
from soev_retrieval.domain import InvalidQueryError, check_limit
from soev_retrieval.engine._postfiltered import Keep
from soev_retrieval.engine._settings import at_least


@attrs.frozen(repr=False, eq=False)
class Replenished(Layer):
    """PostFiltered that asks deeper until `limit` results are kept, or `inner` has no more.

    It asks for the caller's limit, then for twice as many, up to `deepest`, and returns the first
    `limit` of what `keep` returns of the last answer, each chunk once. The last answer counts as
    a whole, and nothing is taken from those before: a deeper search may rank differently (a hybrid
    one scales scores over a deeper pool). `fields` passes through untouched.

    Args:
        inner: The store that answers each call.
        keep: The rule that picks the results to return.
        deepest: The most results it asks for of its own accord, at least 1. A caller's greater
            limit is asked for once.

    Raises:
        ValueError: When the instance is made: `deepest` is not such an int.
    """

    keep: Keep
    deepest: int = attrs.field(validator=at_least(1))

    async def send(self, call: Call[R]) -> R:
        """Perform `call`, again and deeper while too few results are kept."""
        if isinstance(call, Fields):
            return cast("R", await call.on(self.inner))
        asked: Any = call
        limit = depth = check_limit(asked.limit)
        while True:
            results = await attrs.evolve(asked, limit=depth).on(self.inner)
            kept = await self.keep(call.target, results)
            if not isinstance(kept, Sequence) or isinstance(kept, str | bytes):
                raise InvalidQueryError(f"keep must return results, not {type(kept).__name__}")
            once: dict[str, Any] = {}
            for result in kept:
                once.setdefault(result.id, result)
            if len(once) >= limit or len(results) < depth or depth >= self.deepest:
                return cast("R", list(once.values())[:limit])
            depth = min(2 * depth, self.deepest)
