"""Pick, from what the store answered, the results to pass on."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

import attrs

from soev_retrieval.calls import Call, Fields, Layer, R
from soev_retrieval.domain import Chunk, Hit, InvalidQueryError, Target

Result = TypeVar("Result", Hit, Chunk)
"""What a Keep picks from: hits of a search, or chunks of a fetch."""


@runtime_checkable
class Keep(Protocol):
    """The rule that picks, from the results a store answered with, the ones to return.

    It gets the target and the results, in order, and returns the ones to pass on.

    PostFiltered calls it with the hits of each search and with the chunks of each fetch.
    """

    async def __call__(self, target: Target, results: Sequence[Result], /) -> Sequence[Result]:
        """Return the results to pass on, in the order to return them.

        Args:
            target: The target that the call named.
            results: What the inner store answered with, in its order: hits from a search, chunks
                from a fetch.

        Returns:
            The results to return to the caller. They are of the same type as `results`.
        """
        ...


@attrs.frozen(repr=False, eq=False)
class PostFiltered(Layer):
    """VectorStore over another, returning only what `keep` returns.

    `keep` sees every result the inner store answered with (Hits from a search, Chunks from a
    fetch) and returns those to pass on. It runs after the inner store applied `limit`, so a call
    can return fewer results than asked for. The store does not fetch more results to replace them.
    It is for a rule the index cannot apply itself: a revocation the index does not know about yet,
    a blocklist, a score floor, deduplication. Every argument reaches the inner store unchanged,
    and `fields` passes through untouched.

    Args:
        inner: The store that answers each call.
        keep: The rule that picks the results to return.
    """

    keep: Keep

    async def send(self, call: Call[R]) -> R:
        """Perform `call` and pass on what `keep` returns of its results."""
        results: Any = await call.on(self.inner)
        if isinstance(call, Fields):
            return cast(R, results)
        kept = await self.keep(call.target, results)
        if type(kept) not in (list, tuple) and (
            not isinstance(kept, Sequence) or isinstance(kept, str | bytes)
        ):
            raise InvalidQueryError(
                f"keep returned {type(kept).__name__}; it must return the results to pass on"
            )
        return cast(R, kept)
