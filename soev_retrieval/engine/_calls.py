"""What layers do with the value of a call besides performing it."""

from collections.abc import Hashable, Sequence
from typing import Any, cast

import attrs

from soev_retrieval.calls import (
    Bm25,
    Call,
    Fetch,
    Fields,
    FilteredCall,
    Hybrid,
    NearVector,
    R,
)
from soev_retrieval.domain import Filter, check_filter

_OPERATIONS: dict[type[Call[Any]], str] = {
    Hybrid: "hybrid",
    NearVector: "near_vector",
    Bm25: "bm25",
    Fetch: "fetch",
    Fields: "fields",
}


def operation_of(call: Call[Any]) -> str:
    """The name of the method that it is a call of."""
    return _OPERATIONS[type(call)]


def narrowed(call: Call[R], by: Filter) -> Call[R]:
    """`call` with `by` ANDed to its filter. `fields` has none and cannot be narrowed."""
    asked = cast("FilteredCall", call)
    if asked.where is None:
        return cast("Call[R]", asked.filtered(by))
    check_filter(asked.where, "where")
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
