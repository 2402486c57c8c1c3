"""PostFiltered: keep picks from what the inner store answered, and nothing else changes."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from soev_retrieval.domain import (
    Chunk,
    FieldSpec,
    Hit,
    InvalidQueryError,
    StoreUnavailable,
    Unconfigured,
    field,
)
from soev_retrieval.engine import PostFiltered, PreFiltered, Renamed
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.faults import Delay, Scripted

Asked = Callable[..., tuple[Any, Callable[[VectorStore], Any]]]

HITS = [Hit(id, score) for id, score in [("a", 3.0), ("b", 2.0), ("c", 1.0)]]
CHUNKS = [Chunk(id) for id in "abc"]


class Keeping:
    """A Keep that answers with what a function makes of the results, and records what it saw."""

    def __init__(self, rule: Callable[[Any], Any]) -> None:
        self.rule = rule
        self.seen: list[tuple[str, Any]] = []

    async def __call__(self, target: str, results: Any, /) -> Any:
        self.seen.append((target, results))
        return self.rule(results)


async def test_keep_sees_the_results_of_every_method(asked: Asked, filtered_method: str) -> None:
    """The hits of each search and the chunks of fetch go through `keep`, with their target."""
    call, ask = asked(filtered_method, field("year") == 1)
    answer = CHUNKS if filtered_method == "fetch" else HITS
    inner, keep = Scripted(answer), Keeping(lambda results: results[1:])
    assert list(await ask(PostFiltered(inner, keep))) == list(answer[1:])
    assert inner.calls == [call]
    assert [target for target, _ in keep.seen] == ["t"]
    assert keep.seen[0][1] is answer


async def test_the_vector_reaches_the_store_as_it_is(asked: Asked) -> None:
    """Every argument is handed on unchanged, the vector as the very same object."""
    vector = [0.5, 1.0]
    _, ask = asked("near_vector", None, vector)
    inner: Any = Scripted(HITS)
    await ask(PostFiltered(inner, Keeping(list)))
    assert inner.calls[0].vector is vector


async def test_fields_passes_through(asked: Asked) -> None:
    """`fields` comes back as the very same object, and `keep` is not called."""
    spec = FieldSpec([])
    inner, keep = Scripted(spec), Keeping(lambda results: [])
    assert await PostFiltered(inner, keep).fields("t") is spec
    assert keep.seen == []


@pytest.mark.parametrize("kept", [[], HITS[::-1], (HITS[2], HITS[0]), [HITS[1]] * 2])
async def test_what_keep_returns_is_returned(kept: Sequence[Hit]) -> None:
    """The results come in the order of `keep`, as the very same object that it returned."""
    store = PostFiltered(Scripted(HITS), Keeping(lambda results: kept))
    assert await store.bm25("t", query="q", limit=3) is kept


async def test_dropped_results_are_not_replaced() -> None:
    """The limit reaches the inner store as it is, which is asked once: a result may be short."""
    inner: Any = Scripted(HITS)
    store = PostFiltered(inner, Keeping(lambda results: results[:1]))
    assert await store.bm25("t", query="q", limit=3) == HITS[:1]
    assert [call.limit for call in inner.calls] == [3]


async def test_keep_is_asked_at_each_call() -> None:
    """A rule that changes is seen by the next call."""
    drop: set[str] = set()
    keep = Keeping(lambda results: [hit for hit in results if hit.id not in drop])
    store = PostFiltered(Scripted(HITS), keep)
    assert await store.bm25("t", query="q", limit=3) == HITS
    drop.add("a")
    assert await store.bm25("t", query="q", limit=3) == HITS[1:]


@pytest.mark.parametrize(
    "returned", [None, 2, "hits", {"a"}, {"a": 1}, iter(HITS)], ids=lambda kept: type(kept).__name__
)
async def test_a_keep_that_returns_no_results_is_refused(returned: Any) -> None:
    """A rule that forgot its return is the caller's mistake, not an empty result."""
    store = PostFiltered(Scripted(HITS), Keeping(lambda results: returned))
    with pytest.raises(InvalidQueryError, match="keep returned"):
        await store.bm25("t", query="q", limit=3)


async def test_a_keep_that_raises_is_raised_as_itself() -> None:
    """When the rule cannot be asked nothing is returned: its error is, as the very same object."""
    error = ConnectionError("no list of revocations")

    def rule(results: Any) -> Any:
        raise error

    with pytest.raises(ConnectionError) as raised:
        await PostFiltered(Scripted(HITS), Keeping(rule)).bm25("t", query="q", limit=3)
    assert raised.value is error


@pytest.mark.parametrize("error", [StoreUnavailable("x"), Unconfigured("x"), KeyError("x")])
async def test_the_error_of_the_store_is_raised_as_itself(error: Exception) -> None:
    """What the inner store raised is raised as the very same object, and `keep` is not called."""
    keep = Keeping(list)
    with pytest.raises(type(error)) as raised:
        await PostFiltered(Scripted(error), keep).bm25("t", query="q", limit=3)
    assert raised.value is error
    assert keep.seen == []


async def test_it_composes_with_prefiltered_in_either_order() -> None:
    """A rewrite under a keep and a keep under a rewrite answer alike."""
    rewrite, where = Renamed({"year": "published"}), field("year") == 1
    answers = []
    for stack in (
        lambda inner: PostFiltered(PreFiltered(inner, rewrite), Keeping(lambda r: r[1:])),
        lambda inner: PreFiltered(PostFiltered(inner, Keeping(lambda r: r[1:])), rewrite),
    ):
        inner: Any = Scripted(HITS)
        answers.append(await stack(inner).bm25("t", query="q", limit=3, where=where))
        assert inner.calls[0].where == (field("published") == 1)
    assert answers == [HITS[1:], HITS[1:]]


@pytest.mark.looptime
@pytest.mark.parametrize("at", [1, 3], ids=["in the store", "in keep"])
async def test_a_cancel_gets_through(observed: Callable[..., Any], at: float) -> None:
    """A cancelled call ends where it is, in the inner store or in `keep`."""

    async def keep(target: str, results: Any, /) -> Any:
        await asyncio.sleep(2)
        return results

    inner = Scripted(Delay(2, HITS))
    store = PostFiltered(inner, keep)
    outcome = await observed(
        lambda: store.bm25("t", query="q", limit=3), stores=[inner], cancel_at=at
    )
    assert isinstance(outcome.error, asyncio.CancelledError)
    assert (outcome.at, outcome.running, outcome.left) == (at, 0, frozenset())
