"""hybrid_search: where the vector comes from, and what reaches the store."""

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from soev_retrieval.calls import Hybrid
from soev_retrieval.domain import (
    NOTHING,
    Hit,
    InvalidQueryError,
    StoreUnavailable,
    Unconfigured,
    field,
)
from soev_retrieval.engine import hybrid_search
from soev_retrieval.testing.faults import Delay, Scripted

VECTOR = [0.5, 1.0]


class Embedding:
    """An Embed that records its queries."""

    def __init__(self, vector: Any) -> None:
        self.vector = vector
        self.queries: list[str] = []

    async def __call__(self, query: str) -> Any:
        self.queries.append(query)
        return self.vector


async def test_a_given_vector_is_the_vector() -> None:
    """With a vector given the embedder is not called."""
    store: Any = Scripted([])
    embed, vector = Embedding([9.0]), [0.5, 1.0]
    await hybrid_search(store, "t", "q", limit=3, vector=vector, embed=embed)
    assert store.calls[0].vector is vector
    assert embed.queries == []


async def test_an_empty_vector_is_not_no_vector() -> None:
    """A vector that is given, even an empty one, is the store's to refuse, never replaced."""
    store: Any = Scripted([])
    embed = Embedding(VECTOR)
    await hybrid_search(store, "t", "q", limit=3, vector=[], embed=embed)
    assert (list(store.calls[0].vector), embed.queries) == ([], [])


async def test_the_embedder_makes_the_vector() -> None:
    """Without a vector the embedder is asked once, and what it returns is handed on as it is."""
    store: Any = Scripted([])
    embed = Embedding(VECTOR)
    await hybrid_search(store, "t", "  what? ", limit=3, embed=embed)
    assert embed.queries == ["  what? "]
    assert store.calls[0].vector is VECTOR


@pytest.mark.parametrize(
    "vector", [(1.0, 2.0), [1, 2], np.array([1.0, 2.0]), np.array([1, 2], dtype=np.float32)]
)
async def test_any_sequence_of_numbers_is_a_vector(vector: Any) -> None:
    """Lists, tuples and arrays of numbers go to the store as they are."""
    store: Any = Scripted([])
    await hybrid_search(store, "t", "q", limit=3, embed=Embedding(vector))
    assert store.calls[0].vector is vector


async def test_neither_leaves_it_to_the_store() -> None:
    """Without a vector and an embedder the store gets None, and its refusal is raised as itself."""
    refusal = Unconfigured("cannot embed")
    store = Scripted(refusal)
    with pytest.raises(Unconfigured) as raised:
        await hybrid_search(store, "t", "q", limit=3)
    assert raised.value is refusal
    assert store.calls == [Hybrid("t", "q", None, 3, None, None)]


@pytest.mark.parametrize("alpha", [None, 0, 0.0, 0.3, 1])
@pytest.mark.parametrize("where", [None, NOTHING, (field("a") == 1) & ~(field("b") == "x")])
async def test_arguments_reach_the_store_unchanged(alpha: float | None, where: Any) -> None:
    """Target, query, limit, alpha and filter reach the store as they were given."""
    store: Any = Scripted([])
    await hybrid_search(store, "t/1", " Q! ", limit=7, alpha=alpha, vector=VECTOR, where=where)
    call = store.calls[0]
    assert call == Hybrid("t/1", " Q! ", VECTOR, 7, where, alpha)
    assert call.where is where
    assert type(call.alpha) is type(alpha)


async def test_the_answer_is_the_stores() -> None:
    """What the store answered comes back as the very same object."""
    hits = (Hit("b", 1.0), Hit("a", 2.0))
    assert await hybrid_search(Scripted(hits), "t", "q", limit=1) is hits


@pytest.mark.parametrize("error", [StoreUnavailable("x"), InvalidQueryError("x"), KeyError("x")])
async def test_the_error_is_the_stores(error: Exception) -> None:
    """What the store raised is raised as the very same object."""
    with pytest.raises(type(error)) as raised:
        await hybrid_search(Scripted(error), "t", "q", limit=1)
    assert raised.value is error


async def test_the_error_is_the_embedders() -> None:
    """What the embedder raised is raised as the very same object, and the store is not asked."""
    error, store = ConnectionError("no embedder"), Scripted([])

    async def embed(query: str) -> Sequence[float]:
        raise error

    with pytest.raises(ConnectionError) as raised:
        await hybrid_search(store, "t", "q", limit=1, embed=embed)
    assert raised.value is error
    assert store.calls == []


@pytest.mark.looptime
async def test_an_embedder_that_resists_a_cancel_searches_nothing() -> None:
    """An embedder that answers when it is cancelled does not undo the cancel."""
    store = Scripted([])

    async def embed(query: str) -> Sequence[float]:
        try:
            await asyncio.sleep(9)
        except asyncio.CancelledError:
            return VECTOR
        return VECTOR

    task = asyncio.create_task(hybrid_search(store, "t", "q", limit=1, embed=embed))
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert store.calls == []


@pytest.mark.looptime
async def test_a_cancel_gets_through() -> None:
    """A cancelled search is cancelled in the store."""
    store = Scripted(Delay(99, []))
    task = asyncio.create_task(hybrid_search(store, "t", "q", limit=1))
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (store.cancelled, store.running) == (1, 0)
