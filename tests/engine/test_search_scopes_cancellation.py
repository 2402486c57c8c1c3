"""Errors and cancellation in search_scopes: nothing runs on, nothing partial comes back."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from soev_retrieval.domain import Hit, SearchScope, StoreUnavailable
from soev_retrieval.engine import Combine, Rrf, SearchGroup, search_scopes
from soev_retrieval.testing.faults import Delay, Hang, Scripted

pytestmark = pytest.mark.looptime

FOUND = [Hit("found", 1.0)]
WAYS = ("answers", "fails")


def group(store: Scripted, *targets: str, embed: Any = None) -> SearchGroup:
    return SearchGroup(store, [SearchScope(target) for target in targets], embed)


def searching(*groups: SearchGroup, combine: Combine | None = None) -> Callable[[], Awaitable[Any]]:
    return lambda: search_scopes(list(groups), "q", limit=1, combine=combine or Rrf())


def resisting(way: str, seconds: float = 9) -> Callable[[Any], Awaitable[Any]]:
    """A step that answers, or fails, when it is cancelled."""

    async def step(call: Any) -> Any:
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            return FOUND if way == "answers" else StoreUnavailable("cut off")
        return FOUND

    return step


def winding_up(seconds: float) -> Callable[[Any], Awaitable[Any]]:
    """A step that takes its time to end when it is cancelled."""

    async def step(call: Any) -> Any:
        try:
            await asyncio.sleep(99)
        except asyncio.CancelledError:
            await asyncio.sleep(seconds)
            raise

    return step


def by_target(**steps: Any) -> Scripted:
    return Scripted(lambda call: steps[call.target])


def this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


def assert_nothing_left(outcome: Any) -> None:
    assert (outcome.left, outcome.running) == (frozenset(), 0)


async def test_the_first_error_cancels_the_rest(observed: Callable[..., Any]) -> None:
    """When one search fails, those of its own and of other groups are cancelled at that instant."""
    error = StoreUnavailable("on purpose")
    one, two = by_target(a=Delay(2, error), b=Hang(), c=Delay(1, FOUND)), Scripted(Hang())
    outcome = await observed(searching(group(one, "a", "b", "c"), group(two, "a")), stores=[one])
    assert (outcome.error, outcome.at) == (error, 2)
    assert (one.cancelled, two.cancelled, two.running) == (1, 1, 0)
    assert_nothing_left(outcome)


async def test_the_first_error_is_the_one_that_came_first(observed: Callable[..., Any]) -> None:
    """Of two errors the earlier one is raised, wherever its search stands in the groups."""
    late, early = StoreUnavailable("late"), StoreUnavailable("early")
    one, two = by_target(a=Delay(3, late), b=Delay(4, late)), Scripted(Delay(2, early))
    outcome = await observed(searching(group(one, "a", "b"), group(two, "a")))
    assert outcome.error is early
    assert outcome.at == 2


async def test_the_error_waits_for_the_others_to_end(observed: Callable[..., Any]) -> None:
    """The error is raised when the cancelled searches have ended, not before."""
    error = StoreUnavailable("on purpose")
    store = by_target(a=Delay(1, error), b=winding_up(5))
    outcome = await observed(searching(group(store, "a", "b")), stores=[store])
    assert (outcome.error, outcome.at) == (error, 6)
    assert_nothing_left(outcome)


async def test_an_error_reaches_other_groups_at_once(observed: Callable[..., Any]) -> None:
    """An error cancels the other groups before its own has ended, so none of theirs replaces it."""
    first, later = StoreUnavailable("first"), StoreUnavailable("later")
    one, two = by_target(a=Delay(1, first), b=winding_up(5)), Scripted(Delay(2, later))
    outcome = await observed(searching(group(one, "a", "b"), group(two, "a")), stores=[one, two])
    assert outcome.error is first
    assert two.cancelled == 1
    assert_nothing_left(outcome)


@pytest.mark.parametrize("way", WAYS)
async def test_an_error_outlives_what_resists_it(observed: Callable[..., Any], way: str) -> None:
    """What a cancelled search answers or raises does not take the place of the first error."""
    error = StoreUnavailable("first")
    store = by_target(a=resisting(way), b=Delay(1, error), c=resisting(way))
    groups = [group(store, "a", "b", "c"), group(store, "c")]
    outcome = await observed(searching(*groups), stores=[store])
    assert (outcome.error, outcome.at) == (error, 1)
    assert_nothing_left(outcome)


async def test_a_caught_error_leaves_the_caller_uncancelled() -> None:
    """Who catches the error goes on: the failed search has not cancelled its caller."""
    store = by_target(a=StoreUnavailable("on purpose"), b=Delay(99, FOUND))
    with pytest.raises(StoreUnavailable):
        await searching(group(store, "a", "b"))()
    assert this_task().cancelling() == 0
    await asyncio.sleep(1)


SHAPES = {
    "one search": [["a"]],
    "one group": [["a", "b"]],
    "many groups": [["a"], ["b"], ["a", "b"]],
}


@pytest.mark.parametrize("seconds", [0, 5])
@pytest.mark.parametrize("shape", SHAPES)
async def test_a_cancel_ends_every_search(
    observed: Callable[..., Any], shape: str, seconds: float
) -> None:
    """A cancelled caller gets CancelledError when every search has ended, however long that takes."""
    store = Scripted(winding_up(seconds))
    groups = [group(store, *targets) for targets in SHAPES[shape]]
    outcome = await observed(searching(*groups), stores=[store], cancel_at=3)
    assert isinstance(outcome.error, asyncio.CancelledError)
    assert outcome.at == 3 + seconds
    assert store.cancelled == len(store.calls) > 0
    assert_nothing_left(outcome)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES)
async def test_a_cancel_outlives_what_resists_it(
    observed: Callable[..., Any], shape: str, way: str
) -> None:
    """Stores that answer or fail when they are cancelled do not undo the cancel."""
    store = Scripted(resisting(way))
    groups = [group(store, *targets) for targets in SHAPES[shape]]
    outcome = await observed(searching(*groups), stores=[store], cancel_at=3)
    assert isinstance(outcome.error, asyncio.CancelledError)
    assert outcome.at == 3
    assert_nothing_left(outcome)


@pytest.mark.parametrize("after", range(16))
@pytest.mark.parametrize("shape", ["one group", "many groups"])
async def test_a_cancel_outlives_an_error_of_the_same_instant(
    observed: Callable[..., Any], shape: str, after: int
) -> None:
    """A cancel that meets an error on its way up is CancelledError; one that is late is the error."""
    error = StoreUnavailable("on purpose")
    store = by_target(a=Delay(3, error), b=Hang())
    groups = [group(store, *targets) for targets in SHAPES[shape]]
    outcome = await observed(searching(*groups), stores=[store], cancel_at=3, after=after)
    if outcome.cancelled:
        assert isinstance(outcome.error, asyncio.CancelledError)
    else:
        assert outcome.error is error
    assert outcome.at == 3
    assert_nothing_left(outcome)


@pytest.mark.parametrize("after", range(16))
@pytest.mark.parametrize("shape", SHAPES)
async def test_a_cancel_outlives_an_answer_of_the_same_instant(
    observed: Callable[..., Any], shape: str, after: int
) -> None:
    """A cancel that meets the last answer on its way up is CancelledError, not the ranking."""
    store = by_target(a=Delay(3, FOUND), b=Delay(1, FOUND))
    groups = [group(store, *targets) for targets in SHAPES[shape]]
    outcome = await observed(searching(*groups), stores=[store], cancel_at=3, after=after)
    if outcome.cancelled:
        assert isinstance(outcome.error, asyncio.CancelledError)
    else:
        assert [hit.id for hit in outcome.value] == ["found"]
    assert outcome.at == 3
    assert_nothing_left(outcome)


async def test_a_second_cancel_leaves_nothing_running(observed: Callable[..., Any]) -> None:
    """A caller that is cancelled again while its searches end still waits for them."""
    store = Scripted(winding_up(5))

    async def cancelled_twice() -> Any:
        asyncio.get_running_loop().call_later(4, this_task().cancel)
        return await searching(group(store, "a", "b"), group(store, "a"))()

    outcome = await observed(cancelled_twice, stores=[store], cancel_at=3)
    assert isinstance(outcome.error, asyncio.CancelledError)
    assert_nothing_left(outcome)


async def test_a_cancel_while_embedding_starts_no_search(observed: Callable[..., Any]) -> None:
    """A caller that is cancelled while its query is embedded searches nothing."""
    store = Scripted(FOUND)

    async def embed(query: str) -> Sequence[float]:
        await asyncio.sleep(9)
        return [1.0]

    outcome = await observed(searching(group(store, "a", "b", embed=embed)), cancel_at=3)
    assert isinstance(outcome.error, asyncio.CancelledError)
    assert store.calls == []
    assert_nothing_left(outcome)


@pytest.mark.parametrize("shape", SHAPES)
async def test_an_embedder_that_resists_a_cancel_starts_no_search(
    observed: Callable[..., Any], shape: str
) -> None:
    """An embedder that answers when it is cancelled does not send its group searching."""
    store = Scripted(FOUND)

    async def embed(query: str) -> Sequence[float]:
        try:
            await asyncio.sleep(9)
        except asyncio.CancelledError:
            return [1.0]
        return [1.0]

    groups = [group(store, *targets, embed=embed) for targets in SHAPES[shape]]
    outcome = await observed(searching(*groups), stores=[store], cancel_at=3)
    assert isinstance(outcome.error, asyncio.CancelledError)
    assert store.calls == []
    assert_nothing_left(outcome)


@pytest.mark.parametrize("resists", [False, True])
async def test_a_cancel_while_combining_ends_it(
    observed: Callable[..., Any], resists: bool
) -> None:
    """A caller that is cancelled while `combine` works gets CancelledError, whatever it answers."""
    ended: list[bool] = []

    async def combine(query: str, ranked: Sequence[Sequence[Hit]], /) -> Sequence[Hit]:
        try:
            await asyncio.sleep(9)
        except asyncio.CancelledError:
            ended.append(True)
            if not resists:
                raise
        return ranked[0]

    found = Scripted(FOUND)
    outcome = await observed(searching(group(found, "a", "b"), combine=combine), cancel_at=3)
    assert isinstance(outcome.error, asyncio.CancelledError)
    assert (outcome.at, ended) == (3, [True])


@pytest.mark.parametrize("way", [*WAYS, "ends"])
@pytest.mark.parametrize("shape", SHAPES)
async def test_a_timeout_around_it_is_a_timeout(shape: str, way: str) -> None:
    """`asyncio.timeout` around a search times out, and the caller goes on uncancelled."""
    store = Scripted(Delay(99, FOUND) if way == "ends" else resisting(way))
    groups = [group(store, *targets) for targets in SHAPES[shape]]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(2):
            await searching(*groups)()
    assert (this_task().cancelling(), store.running) == (0, 0)


@pytest.mark.parametrize("fails", [False, True])
async def test_a_search_while_its_caller_cleans_up(
    observed: Callable[..., Any], fails: bool
) -> None:
    """A cancelled task that searches in its clean-up gets the ranking, or the error, as ever."""
    error = StoreUnavailable("on purpose")
    store = by_target(a=Delay(1, FOUND), b=Delay(2, error if fails else FOUND))
    seen: list[Any] = []

    async def cleaning_up() -> None:
        try:
            await asyncio.sleep(9)
        except asyncio.CancelledError:
            try:
                seen.append([hit.id for hit in await searching(group(store, "a", "b"))()])
            except StoreUnavailable as raised:
                seen.append(raised)
            raise

    outcome = await observed(cleaning_up, cancel_at=3)
    assert isinstance(outcome.error, asyncio.CancelledError)
    assert (seen, outcome.cancelling) == ([error] if fails else [["found"]], 1)


async def test_a_store_that_cancels_itself_is_no_answer(observed: Callable[..., Any]) -> None:
    """A search that ends in CancelledError of its own ends the others: no ranking is a partial one."""
    store = by_target(a=Delay(1, asyncio.CancelledError()), b=Hang())
    outcome = await observed(searching(group(store, "a", "b"), group(store, "b")), stores=[store])
    assert isinstance(outcome.error, asyncio.CancelledError)
    assert (outcome.at, outcome.cancelled) == (1, False)
    assert_nothing_left(outcome)
