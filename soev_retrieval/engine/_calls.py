"""What layers do with the value of a call besides performing it."""

from collections.abc import Hashable, Sequence
from typing import Any, cast

import attrs

from soev_retrieval.calls import Bm25, Call, FilteredCall, Hybrid, NearVector, R
from soev_retrieval.domain import (
    MAX_DEPTH,
    AllOf,
    DeclaredFilter,
    InvalidQueryError,
    check_alpha,
    check_filter,
    check_limit,
    check_query,
    finite_vector,
)


def check_call(call: FilteredCall) -> None:
    """Refuse an argument of `call` that no store takes, whatever its target declares.

    Raises:
        InvalidQueryError: The limit, the query, the weight or the vector is none.
    """
    if isinstance(call, Hybrid | Bm25):
        check_query(call.query)
    check_limit(call.limit)
    if isinstance(call, Hybrid):
        check_alpha(call.alpha)
    if isinstance(call, NearVector) or (isinstance(call, Hybrid) and call.vector is not None):
        finite_vector(call.vector, what="the query vector")


def narrowed(call: Call[R], by: DeclaredFilter, layer: str) -> Call[R]:
    """`call` with `by` ANDed to its filter. `fields` has none and cannot be narrowed.

    Raises:
        InvalidQueryError: The filter is none, or nests too deep to be ANDed. The error names
            `layer`, as the caller did not ask for it.
    """
    asked = cast("FilteredCall", call)
    if asked.where is None:
        return cast("Call[R]", asked.filtered(by))
    check_filter(asked.where, "where")
    if asked.where.depth == MAX_DEPTH and not isinstance(asked.where, AllOf):
        message = (
            f"{layer} ANDs a predicate to the filter, which then nests more than {MAX_DEPTH} deep;"
            f" keep to {MAX_DEPTH - 1}: AllOf and AnyOf take any number of filters"
        )
        raise InvalidQueryError(message, target=call.target)
    return cast("Call[R]", asked.filtered(by & asked.where))


def settled(call: Call[R]) -> Call[R]:
    """`call` with its vector as a tuple, so that nobody can change it any more."""
    vector: Any = getattr(call, "vector", None)
    numbers = vector.tolist() if hasattr(vector, "tolist") else vector
    if not isinstance(numbers, Sequence) or isinstance(numbers, str | bytes | bytearray | tuple):
        return call
    return cast("Call[R]", attrs.evolve(cast("Any", call), vector=tuple(numbers)))


@attrs.frozen(cache_hash=True)
class _Key:
    """Hashed once: a vector is long."""

    parts: tuple[Hashable, ...]


def key_of(call: Call[Any], *more: Hashable) -> Hashable | None:
    """A key that only the same call has, types and all: a limit of `True` is not one of 1.

    None where the call holds what does not hash, which no store accepts.

    Args:
        call: The call, settled.
        more: What else must be the same.
    """
    key = _Key((*more, *map(type, attrs.astuple(cast("Any", call), recurse=False)), call))
    try:
        hash(key)
    except TypeError:
        return None
    return key
