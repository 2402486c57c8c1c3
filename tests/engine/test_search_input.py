"""Bad input to hybrid_search and search_scopes is refused before anything is asked."""

import gc
import math
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from soev_retrieval.domain import (
    MAX_DEPTH,
    FieldSpec,
    Filter,
    InvalidQueryError,
    SearchScope,
    field,
)
from soev_retrieval.engine import Rrf, SearchGroup, hybrid_search, search_scopes
from soev_retrieval.memory import MemoryStore
from soev_retrieval.testing.faults import Scripted

QUERIES = ["", "  ", "\n\t\u00a0", None, 3, b"q", ["q"], "a\0b", "a\ud800b"]
LIMITS = [0, -1, 2.5, 3.0, True, "3", None, math.nan]
ALPHAS = [1.2, -0.1, math.nan, math.inf, "0.5", True, [0.5]]
NO_VECTORS: list[Any] = [
    *(None, "abc", b"abc", 3.0, {}, {1.0: 2.0}, {1.0}, (n for n in [1.0])),
    *([], [math.nan], [1.0, math.inf], [1e39], [10**400], ["1"], [None], [[1.0, 2.0]], [1j]),
    *(np.array([]), np.array([[1.0]]), np.array(["1"]), np.float64(1.0), np.array([math.nan])),
]


class Embedding:
    """An Embed that counts its calls."""

    def __init__(self, vector: Any) -> None:
        self.vector, self.calls = vector, 0

    async def __call__(self, query: str) -> Any:
        self.calls += 1
        return self.vector


Search = Callable[..., Awaitable[Any]]


async def one(store: Any, embed: Any, query: Any = "q", **arguments: Any) -> Any:
    return await hybrid_search(store, "t", query, embed=embed, **{"limit": 3, **arguments})


async def many(store: Any, embed: Any, query: Any = "q", **arguments: Any) -> Any:
    groups = [SearchGroup(store, [SearchScope("t"), SearchScope("u")], embed)]
    return await search_scopes(groups, query, **{"limit": 3, "combine": Rrf(), **arguments})


async def refused(search: Search, **arguments: Any) -> str:
    """The message of the refusal, which came before the embedder and the store were asked."""
    store, embed = Scripted([]), Embedding([1.0])
    with pytest.raises(InvalidQueryError) as raised:
        await search(store, embed, **arguments)
    assert (embed.calls, store.calls) == (0, [])
    return str(raised.value)


@pytest.mark.parametrize("query", QUERIES, ids=ascii)
@pytest.mark.parametrize("search", [one, many])
async def test_a_bad_query_is_refused(search: Search, query: Any) -> None:
    """A query that is blank, no text or not portable is refused, and not repeated in the error."""
    assert "query" in await refused(search, query=query)


@pytest.mark.parametrize("limit", LIMITS, ids=repr)
@pytest.mark.parametrize("search", [one, many])
async def test_a_bad_limit_is_refused(search: Search, limit: Any) -> None:
    """A limit that is no whole number of at least 1 is refused, and the error says what would do."""
    assert "limit must be an int of at least 1" in await refused(search, limit=limit)


@pytest.mark.parametrize("alpha", ALPHAS, ids=repr)
@pytest.mark.parametrize("search", [one, many])
async def test_a_bad_alpha_is_refused(search: Search, alpha: Any) -> None:
    """An alpha outside 0 to 1 is refused, and the error says what would do."""
    assert "alpha must be a number from 0" in await refused(search, alpha=alpha)


@pytest.mark.parametrize("where", ["year >= 2020", {"year": 2020}, True, []], ids=repr)
async def test_a_filter_that_is_none_is_refused(where: Any) -> None:
    """A filter in some other form is refused before it costs an embedding."""
    assert "must be a filter" in await refused(one, where=where)


async def test_scopes_too_deep_to_be_one_search_are_refused() -> None:
    """Filters that cannot be joined are refused before any group is asked, and nothing is left."""
    deep: Filter = field("a") == 1
    while deep.depth < MAX_DEPTH:
        deep = ~deep
    store, embed = Scripted([]), Embedding([1.0])
    groups = [
        SearchGroup(store, [SearchScope("t"), SearchScope("u")], embed),
        SearchGroup(store, [SearchScope("t", deep), SearchScope("t", deep)], embed),
    ]
    with pytest.raises(InvalidQueryError, match="nests more than 100 deep"):
        await search_scopes(groups, "q", limit=3, combine=Rrf())
    gc.collect()  # a coroutine that is never awaited warns when it is collected
    assert (embed.calls, store.calls) == (0, [])


@pytest.mark.parametrize("groups", [[], [SearchGroup(Scripted([]), [])]], ids=["none", "no scope"])
@pytest.mark.parametrize(
    "arguments", [{"query": " "}, {"limit": 0}, {"alpha": 2}], ids=lambda given: next(iter(given))
)
async def test_bad_input_is_refused_where_there_is_nothing_to_search(
    groups: list[SearchGroup], arguments: dict[str, Any]
) -> None:
    """A mistake is one with no scope to search too: it does not wait for the first scope."""
    with pytest.raises(InvalidQueryError):
        await search_scopes(
            groups, **{"query": "q", "limit": 3, "alpha": None, "combine": Rrf(), **arguments}
        )


@pytest.mark.parametrize("vector", NO_VECTORS, ids=lambda vector: type(vector).__name__)
@pytest.mark.parametrize("search", [one, many])
async def test_an_embedder_that_returns_no_vector_is_refused(search: Search, vector: Any) -> None:
    """What is no sequence of finite numbers never reaches a store, and the error blames the embedder."""
    store = Scripted([])
    with pytest.raises(InvalidQueryError, match="what the embedder returned"):
        await search(store, Embedding(vector))
    assert store.calls == []


@pytest.mark.parametrize("search", [one, many])
async def test_a_vector_of_the_wrong_length_is_the_stores_to_refuse(search: Search) -> None:
    """A vector that does not fit the target is refused by the store that knows its length."""
    store = MemoryStore()
    for target in ("t", "u"):
        await store.create(target, FieldSpec([], dimension=2))
    with pytest.raises(InvalidQueryError, match="has 3 numbers"):
        await search(store, Embedding([1.0, 2.0, 3.0]), alpha=1)
