"""What the laws ask a store, and what they draw for it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from soev_retrieval.domain import (
    NOTHING,
    AllOf,
    AnyOf,
    Chunk,
    DeclaredFilter,
    Filter,
    Hit,
    InvalidQueryError,
    Not,
    Unconfigured,
)
from soev_retrieval.store import VectorStore
from soev_retrieval.testing import strategies
from soev_retrieval.testing.laws._law import Held, LawBroken, Refused

R = TypeVar("R")
Ask: TypeAlias = Callable[[], Awaitable[Sequence[Hit | Chunk]]]


def vectors_of(held: Held) -> SearchStrategy[list[float]]:
    """Query vectors: those of chunks, and any other."""
    if held.spec.dimension is None:
        return st.just([])
    there = [list(each.vector) for each in held.records if each.vector is not None]
    anything = strategies.vectors(dimension=held.spec.dimension)
    return (st.sampled_from(there) | anything) if there else anything


def words_of(held: Held) -> SearchStrategy[str]:
    """Query texts: a few words that chunks have, and one that none has."""
    texts = [text for id in held.by_id for text in held.texts(id)]
    known = sorted({word for text in texts for word in text.split() if word.isalpha()})
    some = st.lists(st.sampled_from([*known, "xylophone"]), min_size=1, max_size=3, unique=True)
    return some.map(" ".join)


def filters_of(held: Held) -> SearchStrategy[Filter]:
    """Filters that the spec serves: where it serves no operator, those without a predicate."""
    if not has_filters(held):
        return st.sampled_from([AllOf(()), NOTHING, Not(NOTHING), AnyOf([NOTHING, AllOf(())])])
    return strategies.filters(held.spec)


def predicates_of(held: Held) -> SearchStrategy[DeclaredFilter]:
    """Single predicates that the spec serves."""
    return strategies.predicates(held.spec)


def limits_of(held: Held) -> SearchStrategy[int]:
    """Limits from one to beyond all that there is."""
    return st.integers(1, 8) | st.integers(1, held.limit)


def has_vectors(held: Held) -> bool:
    """Whether near_vector has something to say."""
    return held.spec.dimension is not None


def has_words(held: Held) -> bool:
    """Whether bm25 has something to say."""
    return bool(held.searchable)


def has_both(held: Held) -> bool:
    """Whether hybrid has something to say."""
    return has_vectors(held) and has_words(held)


def has_terms(held: Held) -> bool:
    """Whether it is known which words bm25 finds a text by."""
    return has_words(held) and held.terms("zebra") is not None


def has_filters(held: Held) -> bool:
    """Whether any field serves any operator."""
    return any(field.operators for field in held.spec)


def undeclared(held: Held) -> str:
    """A name that no field of the target has."""
    name = "undeclared"
    while name in held.spec:
        name += "_"
    return name


async def allowed(asked: Awaitable[Sequence[R]], held: Held, where: Filter | None) -> Sequence[R]:
    """The answer, or none where the store may refuse the filter and does."""
    try:
        return await asked
    except InvalidQueryError as refused:
        if where is not None and held.may_refuse(where):
            raise Refused from refused
        raise LawBroken(
            f"where    {where}\nit was refused although the spec serves it: {refused}"
        ) from refused


async def ask_all(
    store: VectorStore,
    held: Held,
    *,
    where: Filter | None,
    limit: int,
    vector: Sequence[float],
    query: str,
) -> dict[str, Sequence[Hit | Chunk]]:
    """The answers of every method that the spec serves, under one filter and limit."""
    asks = methods(store, held, where=where, limit=limit, vector=vector, query=query)
    return {method: await allowed(ask(), held, where) for method, ask in asks.items()}


def methods(
    store: VectorStore,
    held: Held,
    *,
    where: Filter | None = None,
    limit: Any = 3,
    vector: Any = None,
    query: Any = "zebra",
) -> dict[str, Ask]:
    """A call of every method that the spec serves, by name."""
    target = held.target
    vector = [1.0] * (held.spec.dimension or 1) if vector is None else vector
    asks: dict[str, Ask] = {"fetch": lambda: store.fetch(target, where=where, limit=limit)}
    if has_vectors(held):
        asks["near_vector"] = lambda: store.near_vector(
            target, vector=vector, limit=limit, where=where
        )
    if has_words(held):
        asks["bm25"] = lambda: store.bm25(target, query=query, limit=limit, where=where)
    if has_both(held):
        asks["hybrid"] = lambda: store.hybrid(
            target, query=query, vector=vector, limit=limit, where=where, alpha=0.5
        )
    return asks


async def expect_refusal(asked: Awaitable[object], *facts: str) -> None:
    """Break the law unless the call is refused with InvalidQueryError."""
    try:
        came = await asked
    except InvalidQueryError:
        return
    except Unconfigured as other:
        raise LawBroken("\n".join([*facts, f"came Unconfigured: {other}"])) from other
    raise LawBroken("\n".join([*facts, "expected InvalidQueryError", f"came     {came!r}"]))
