"""One search, and the searches of many scopes as one ranking."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeAlias

import attrs

from soev_retrieval.domain import (
    AnyOf,
    Filter,
    Hit,
    InvalidQueryError,
    SearchScope,
    Target,
    check_alpha,
    check_filter,
    check_limit,
    check_query,
    finite_vector,
)
from soev_retrieval.engine._combine import Combine
from soev_retrieval.store import VectorStore
from soev_retrieval.together import together

Embed: TypeAlias = Callable[[str], Awaitable[Sequence[float]]]
"""An async function that embeds one query text into one vector.

Give a search the embedder that the index of its store was built with, so that the query vector
and the stored vectors compare.
"""


@attrs.frozen
class SearchGroup:
    """The scopes one store serves, with the embedder its index was built with.

    Args:
        store: The store that serves the scopes.
        scopes: The scopes to search in the store.
        embed: The embedder of the store's index, or None to leave embedding to the store.
    """

    store: VectorStore
    scopes: Sequence[SearchScope]
    embed: Embed | None = None


async def hybrid_search(
    store: VectorStore,
    target: Target,
    query: str,
    *,
    limit: int,
    alpha: float | None = None,
    vector: Sequence[float] | None = None,
    where: Filter | None = None,
    embed: Embed | None = None,
) -> Sequence[Hit]:
    """Return at most `limit` chunks of `target` matching `query`, best first.

    The query vector is `vector` when given, else `embed(query)` when an embedder is given, else
    left to the store. `alpha` and `where` go to the store unchanged. See `VectorStore.hybrid` for
    their meaning.

    Args:
        store: The store to search.
        target: The target to search.
        query: The query text.
        limit: The maximum number of hits.
        alpha: The weight of the vector side, or None for the store's own default.
        vector: The query embedding. When it is given, `embed` is not called.
        where: The filter that restricts the candidates, or None to restrict nothing.
        embed: The embedder for the query when `vector` is None.

    Returns:
        At most `limit` hits, best first.

    Raises:
        InvalidQueryError: The store rejected the call, or the embedder returned no vector.
        StoreUnavailable: The store gave no answer.
        Unconfigured: No vector and no embedder are given, and the store cannot embed the query.
    """
    _check(query, limit, alpha)
    if where is not None:
        check_filter(where, "where")
    if vector is None and embed is not None:
        [vector] = await together([_embedded(query, embed)])
    return await store.hybrid(
        target, query=query, vector=vector, limit=limit, where=where, alpha=alpha
    )


async def search_scopes(
    groups: Sequence[SearchGroup],
    query: str,
    *,
    limit: int,
    combine: Combine,
    alpha: float | None = None,
) -> Sequence[Hit]:
    """Search every group's scopes for `query` and return one ranking from `combine`, best first.

    Every search names one target of one store. Scopes in one target are one search, which matches
    any of their filters, so the store scores their hits against each other. An unfiltered scope
    makes its whole target unfiltered. Lists from different targets or stores meet only in
    `combine`, which receives one list per search, in group and scope order. Each search returns at
    most `limit` hits. The query is embedded once per group, with the group's own embedder. A group
    with no scopes embeds and searches nothing.

    Groups and searches run at once; a group's searches start when its own embedding is there. The
    first error cancels the others, waits for them, and is raised as itself.

    Args:
        groups: The stores to search, each with its scopes and its embedder.
        query: The query text.
        limit: The maximum number of hits of each search.
        combine: The strategy that turns the lists of all searches into one ranking.
        alpha: The weight of the vector side for every search, or None for each store's own default.

    Returns:
        The ranking that `combine` returns, or no hits when no group has a scope.

    Raises:
        InvalidQueryError: A store rejected a search, an embedder returned no vector, or `combine`
            no ranking.
        StoreUnavailable: A store gave no answer.
        Unconfigured: A group has no embedder, and its store cannot embed the query.
    """
    _check(query, limit, alpha)
    searching: list[Coroutine[Any, Any, Sequence[Hit]]] = []
    embedding: list[Coroutine[Any, Any, None]] = []
    # What is wrong with any scope is found before a coroutine is made that nobody would await.
    for group, targets in [(group, _by_target(group.scopes)) for group in groups]:
        embedded = _Embedded(query, group.embed)
        if group.embed is not None and targets:
            embedding.append(embedded.make())
        searching += [
            _search(group.store, target, where, embedded, query=query, limit=limit, alpha=alpha)
            for target, where in targets.items()
        ]
    if not searching:
        return []
    # All at one level, so that the first error anywhere is the one that is raised.
    done = await together([*searching, *embedding])
    ranked = [hits for hits in done[: len(searching)] if hits is not None]
    [combined] = await together([_combined(combine, query, ranked)])
    return combined


async def _combined(combine: Combine, query: str, ranked: Sequence[Sequence[Hit]]) -> Sequence[Hit]:
    combined = await combine(query, ranked)
    if not isinstance(combined, Sequence) or isinstance(combined, str | bytes):
        raise InvalidQueryError(
            f"combine returned {type(combined).__name__}; it must return a sequence of hits"
        )
    return combined


class _Embedded:
    """The query's vector of one group: made once, waited for by each of its searches."""

    def __init__(self, query: str, embed: Embed | None) -> None:
        self._query, self._embed = query, embed
        self._made = asyncio.Event()
        self._vector: Sequence[float] | None = None

    async def make(self) -> None:
        if self._embed is not None:
            self._vector = await _embedded(self._query, self._embed)
        self._made.set()

    async def vector(self) -> Sequence[float] | None:
        """The vector, or None where the store is to embed."""
        if self._embed is not None:
            await self._made.wait()
        return self._vector


async def _search(
    store: VectorStore,
    target: Target,
    where: Filter | None,
    embedded: _Embedded,
    *,
    query: str,
    limit: int,
    alpha: float | None,
) -> Sequence[Hit]:
    vector = await embedded.vector()
    return await hybrid_search(
        store, target, query, limit=limit, alpha=alpha, vector=vector, where=where
    )


def _by_target(scopes: Sequence[SearchScope]) -> dict[Target, Filter | None]:
    """The filter of each target's one search: any of its scopes', or None for the whole."""
    filters: dict[Target, list[Filter | None]] = {}
    for scope in scopes:
        filters.setdefault(scope.target, []).append(scope.where)
    return {target: _any_of(each) for target, each in filters.items()}


def _any_of(filters: list[Filter | None]) -> Filter | None:
    given = [one for one in filters if one is not None]
    if len(given) < len(filters):
        return None
    return given[0] if len(given) == 1 else AnyOf(given)


async def _embedded(query: str, embed: Embed) -> Sequence[float]:
    vector = await embed(query)
    finite_vector(vector, what="what the embedder returned")
    return vector


def _check(query: str, limit: int, alpha: float | None) -> None:
    """What is wrong whichever store answers, before anything is embedded."""
    check_query(query)
    check_limit(limit)
    check_alpha(alpha)
