"""search_scopes, one fact at a time."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from soev_retrieval.calls import Hybrid
from soev_retrieval.domain import (
    NOTHING,
    AnyOf,
    Hit,
    InvalidQueryError,
    SearchScope,
    StoreUnavailable,
    Unconfigured,
    field,
)
from soev_retrieval.engine import Rrf, SearchGroup, search_scopes
from soev_retrieval.testing.faults import Delay, Scripted

RECENT, LAW = field("year") >= 2020, field("kind") == "law"


class Combining:
    """A Combine that records what it is given and answers with one ranking."""

    def __init__(self, ranking: Any) -> None:
        self.ranking = ranking
        self.given: list[tuple[str, Sequence[Sequence[Hit]]]] = []

    async def __call__(self, query: str, ranked: Sequence[Sequence[Hit]], /) -> Any:
        self.given.append((query, ranked))
        return self.ranking


class Embedding:
    """An Embed that records its queries and when they came."""

    def __init__(self, vector: Any, seconds: float = 0) -> None:
        self.vector, self.seconds = vector, seconds
        self.queries: list[str] = []

    async def __call__(self, query: str) -> Any:
        self.queries.append(query)
        await asyncio.sleep(self.seconds)
        if isinstance(self.vector, Exception):
            raise self.vector
        return self.vector


def calls_of(store: Any) -> list[tuple[str, Any]]:
    return [(call.target, call.where) for call in store.calls]


async def test_every_argument_reaches_each_store() -> None:
    """Target, query, vector, limit, filter and alpha reach the store of each group."""
    vector = [0.5, 1.0]
    one, two = Scripted([]), Scripted([])
    groups = [
        SearchGroup(one, [SearchScope("cases", LAW)], Embedding(vector)),
        SearchGroup(two, [SearchScope("policies")]),
    ]
    await search_scopes(groups, "pension transfer", limit=3, combine=Rrf(), alpha=0.25)
    assert one.calls == [Hybrid("cases", "pension transfer", vector, 3, LAW, 0.25)]
    assert two.calls == [Hybrid("policies", "pension transfer", None, 3, None, 0.25)]


async def test_the_vector_is_handed_on_as_it_is() -> None:
    """What the embedder returned reaches the store as the very same object."""
    store: Any = Scripted([])
    vector = [0.5, 1.0]
    await search_scopes(
        [SearchGroup(store, [SearchScope("t"), SearchScope("u")], Embedding(vector))],
        "q",
        limit=1,
        combine=Rrf(),
    )
    assert all(call.vector is vector for call in store.calls)


async def test_scopes_in_one_target_are_one_search() -> None:
    """Scopes in one target are one search for any of their filters, others between them or not."""
    store = Scripted([])
    scopes = [SearchScope("a", LAW), SearchScope("b"), SearchScope("a", RECENT)]
    await search_scopes([SearchGroup(store, scopes)], "q", limit=1, combine=Rrf())
    assert calls_of(store) == [("a", AnyOf([LAW, RECENT])), ("b", None)]


@pytest.mark.parametrize("place", [0, 1, 2])
async def test_an_unfiltered_scope_makes_its_target_unfiltered(place: int) -> None:
    """One scope without a filter, wherever it stands, and its target is searched whole."""
    store = Scripted([])
    scopes = [SearchScope("a", LAW), SearchScope("a", RECENT)]
    scopes.insert(place, SearchScope("a"))
    await search_scopes(
        [SearchGroup(store, [*scopes, SearchScope("b", LAW)])], "q", limit=1, combine=Rrf()
    )
    assert calls_of(store) == [("a", None), ("b", LAW)]


async def test_a_scope_of_nothing_does_not_widen_its_target() -> None:
    """NOTHING is a filter, not the absence of one."""
    store = Scripted([])
    await search_scopes(
        [SearchGroup(store, [SearchScope("a", NOTHING), SearchScope("b", NOTHING)])],
        "q",
        limit=1,
        combine=Rrf(),
    )
    assert calls_of(store) == [("a", NOTHING), ("b", NOTHING)]


async def test_two_groups_on_one_target_are_two_searches() -> None:
    """Scopes meet within their group only: each group has its own embedder."""
    store: Any = Scripted([])
    groups = [
        SearchGroup(store, [SearchScope("a", LAW)], Embedding([1.0])),
        SearchGroup(store, [SearchScope("a", RECENT)], Embedding([2.0])),
    ]
    combine = Combining([])
    await search_scopes(groups, "q", limit=1, combine=combine)
    assert sorted((list(call.vector or ()), str(call.where)) for call in store.calls) == [
        ([1.0], str(LAW)),
        ([2.0], str(RECENT)),
    ]
    assert len(combine.given[0][1]) == 2


@pytest.mark.looptime
async def test_lists_come_in_group_and_scope_order() -> None:
    """The order of the lists is that of groups and scopes, whichever search is the fastest."""
    waits = {"a": 5.0, "b": 3.0, "c": 4.0}
    store = Scripted(lambda call: Delay(waits[call.target], [Hit(call.target, 1.0)]))
    late = SearchGroup(store, [SearchScope("a"), SearchScope("b")], Embedding([1.0], 9))
    combine = Combining([])
    await search_scopes(
        [late, SearchGroup(store, [SearchScope("c")])], "q", limit=1, combine=combine
    )
    assert combine.given == [("q", [[Hit("a", 1.0)], [Hit("b", 1.0)], [Hit("c", 1.0)]])]


async def test_a_search_that_finds_nothing_is_still_a_list() -> None:
    """`combine` gets one list per search, the empty ones too."""
    combine = Combining([])
    await search_scopes(
        [SearchGroup(Scripted([]), [SearchScope("a"), SearchScope("b")])],
        "q",
        limit=1,
        combine=combine,
    )
    assert combine.given == [("q", [[], []])]


async def test_the_ranking_is_what_combine_returns() -> None:
    """What `combine` returned is returned as it is: no order, limit or duplicate is changed."""
    ranking = (Hit("b", 1.0), Hit("a", 2.0), Hit("b", 1.0))
    store = Scripted([Hit("a", 1.0)])
    result = await search_scopes(
        [SearchGroup(store, [SearchScope("a")])], "q", limit=1, combine=Combining(ranking)
    )
    assert result is ranking


async def test_each_group_embeds_once() -> None:
    """One group embeds the query once, however many targets it has, and each with its own."""
    one, two, unused = Embedding([1.0]), Embedding([2.0]), Embedding([3.0])
    scopes = [SearchScope("a"), SearchScope("b"), SearchScope("a", LAW)]
    groups = [
        SearchGroup(Scripted([]), scopes, one),
        SearchGroup(Scripted([]), scopes, two),
        SearchGroup(Scripted([]), [], unused),
    ]
    await search_scopes(groups, "q", limit=1, combine=Rrf())
    assert (one.queries, two.queries, unused.queries) == (["q"], ["q"], [])


@pytest.mark.parametrize("groups", [[], [SearchGroup(Scripted([]), [])] * 2])
async def test_no_scope_is_no_hits(groups: list[SearchGroup]) -> None:
    """Without a scope in any group there are no hits, and `combine` is not called."""
    combine = Combining(None)
    assert await search_scopes(groups, "q", limit=1, combine=combine) == []
    assert combine.given == []
    assert not any(store.calls for store in map(store_of, groups))


def store_of(group: SearchGroup) -> Scripted:
    assert isinstance(group.store, Scripted)
    return group.store


@pytest.mark.looptime
async def test_a_search_starts_when_its_own_embedding_is_there() -> None:
    """A slow embedder holds up its own group's searches and no others."""
    started: list[tuple[str, float]] = []
    loop = asyncio.get_running_loop()
    start = loop.time()

    def answer(call: Hybrid) -> Delay:
        started.append((call.target, loop.time() - start))
        return Delay(1, [])

    store = Scripted(answer)
    groups = [
        SearchGroup(store, [SearchScope("slow"), SearchScope("slower")], Embedding([1.0], 5)),
        SearchGroup(store, [SearchScope("quick")], Embedding([1.0], 2)),
        SearchGroup(store, [SearchScope("at once")]),
    ]
    await search_scopes(groups, "q", limit=1, combine=Rrf())
    assert sorted(started) == [("at once", 0), ("quick", 2), ("slow", 5), ("slower", 5)]
    assert loop.time() - start == 6


@pytest.mark.looptime
async def test_sixteen_targets_take_as_long_as_the_slowest() -> None:
    """Searches run at once, over groups and over the scopes of a group."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    store = Scripted(lambda call: Delay(int(call.target), []))
    groups = [
        SearchGroup(store, [SearchScope(str(four * 4 + one)) for one in range(4)])
        for four in range(4)
    ]
    await search_scopes(groups, "q", limit=1, combine=Rrf())
    assert loop.time() - start == 15
    assert len(store.calls) == 16


@pytest.mark.parametrize("kind", [StoreUnavailable, Unconfigured, InvalidQueryError, KeyError])
@pytest.mark.parametrize("searches", [1, 3])
async def test_an_error_is_raised_as_itself(
    observed: Callable[..., Any], kind: type[Exception], searches: int
) -> None:
    """The error of a store is raised as the very same object, in no group."""
    error = kind("on purpose")
    store = Scripted(lambda call: error if call.target == "0" else [])
    group = SearchGroup(store, [SearchScope(str(n)) for n in range(searches)])
    outcome = await observed(lambda: search_scopes([group], "q", limit=1, combine=Rrf()))
    assert outcome.error is error


@pytest.mark.parametrize("others", [0, 1])
async def test_an_embedder_that_raises_is_raised_as_itself(
    observed: Callable[..., Any], others: int
) -> None:
    """The error of an embedder is raised as the very same object, and its group is not searched."""
    error, store = ConnectionError("no embedder"), Scripted([])
    groups = [SearchGroup(store, [SearchScope("a")], Embedding(error))]
    groups += [SearchGroup(Scripted([]), [SearchScope("a")])] * others
    outcome = await observed(lambda: search_scopes(groups, "q", limit=1, combine=Rrf()))
    assert outcome.error is error
    assert store.calls == []


async def test_a_combine_that_raises_is_raised_as_itself(observed: Callable[..., Any]) -> None:
    """The error of `combine` is raised as the very same object."""
    error = ConnectionError("no reranker")

    async def combine(query: str, ranked: Sequence[Sequence[Hit]], /) -> Sequence[Hit]:
        raise error

    groups = [SearchGroup(Scripted([]), [SearchScope("a"), SearchScope("b")])]
    outcome = await observed(lambda: search_scopes(groups, "q", limit=1, combine=combine))
    assert outcome.error is error


@pytest.mark.parametrize("ranking", [None, 3, "hits", {"a": 1.0}, {Hit("a", 1.0)}])
async def test_a_combine_that_returns_no_ranking_is_refused(ranking: Any) -> None:
    """A `combine` that forgot its return is the caller's mistake, not an empty result."""
    with pytest.raises(InvalidQueryError, match="combine returned"):
        await search_scopes(
            [SearchGroup(Scripted([]), [SearchScope("a")])],
            "q",
            limit=1,
            combine=Combining(ranking),
        )
