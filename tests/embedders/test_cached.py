"""CachedEmbedder embeds each query once, remembers a bounded number, and never an error."""

import asyncio
import gc
from collections import OrderedDict
from collections.abc import Awaitable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.domain import InvalidQueryError, StoreUnavailable
from soev_retrieval.embedders.cached import CachedEmbedder
from soev_retrieval.testing import strategies


class Embedder:
    """Embeds at once, or when `go` is set, and counts what it was asked and what became of it."""

    def __init__(self, *, held: bool = False) -> None:
        self.asked: list[str] = []
        self.cancelled: list[str] = []
        self.go = asyncio.Event()
        if not held:
            self.go.set()

    async def __call__(self, query: str) -> Sequence[float]:
        self.asked.append(query)
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled.append(query)
            raise
        return [float(len(query)), float(len(self.asked))]

    def __repr__(self) -> str:
        return "Embedder()"


def _started(*calls: Awaitable[Sequence[float]]) -> list[asyncio.Task[Sequence[float]]]:
    """The calls as tasks."""
    return [asyncio.ensure_future(call) for call in calls]


async def _turns(number: int = 5) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_a_query_is_embedded_once() -> None:
    """A query that comes again gets the vector of the first time, and the embedder is not asked."""
    inner = Embedder()
    cached = CachedEmbedder(inner, 2)
    assert [await cached("cats") for _ in range(3)] == [(4.0, 1.0)] * 3
    assert inner.asked == ["cats"]


@given(st.integers(1, 4), st.lists(st.sampled_from("abcdef"), max_size=30))
async def test_what_was_used_last_is_kept(size: int, queries: list[str]) -> None:
    """It asks for exactly what a plain memory of the `size` queries used last does not hold."""
    inner, model, asked = Embedder(), OrderedDict[str, None](), list[str]()
    cached = CachedEmbedder(inner, size)
    for query in queries:
        await cached(query)
        if query not in model:
            asked.append(query)
        model[query] = None
        model.move_to_end(query)
        if len(model) > size:
            model.popitem(last=False)
    assert inner.asked == asked


@given(st.lists(strategies.queries(), unique=True, max_size=10))
async def test_queries_are_told_apart(queries: list[str]) -> None:
    """Queries that differ in case, in a space or in their normal form are not the same query."""
    inner = Embedder()
    cached = CachedEmbedder(inner, 10)
    vectors = [await cached(query) for query in queries + queries]
    assert inner.asked == queries
    assert vectors[: len(queries)] == vectors[len(queries) :]


async def test_calls_at_once_share_one_embedding() -> None:
    """Callers that ask for one query while it is embedded wait for that, each with its vector."""
    inner = Embedder(held=True)
    cached = CachedEmbedder(inner, 2)
    calls = _started(*(cached("cats") for _ in range(5)), cached("dogs"))
    await _turns()
    inner.go.set()
    assert [await call for call in calls] == [(4.0, 2.0)] * 6
    assert inner.asked == ["cats", "dogs"]


async def test_an_error_is_for_those_who_wait() -> None:
    """An error reaches every caller that waits, as itself, and the next call tries again."""
    inner = Embedder(held=True)

    async def fails_first(query: str) -> Sequence[float]:
        vector = await inner(query)
        if len(inner.asked) == 1:
            raise StoreUnavailable("no answer", retry_after=3)
        return vector

    cached = CachedEmbedder(fails_first, 2)
    calls = _started(*(cached("cats") for _ in range(3)))
    await _turns()
    inner.go.set()
    await asyncio.wait(calls)
    assert [repr(call.exception()) for call in calls] == ["StoreUnavailable('no answer')"] * 3
    assert await cached("cats") == (4.0, 2.0)


async def test_a_call_after_the_error_tries_again() -> None:
    """A call made as the error comes out, before those who waited have it, gets a new embedding."""
    later: list[asyncio.Task[Sequence[float]]] = []

    async def fails_first(query: str) -> Sequence[float]:
        if later:
            return [1.0]
        later.append(asyncio.ensure_future(_after_the_task_has_ended()))
        raise StoreUnavailable("no answer")

    async def _after_the_task_has_ended() -> Sequence[float]:
        return await cached("cats")

    cached = CachedEmbedder(fails_first, 2)
    with pytest.raises(StoreUnavailable):
        await cached("cats")
    assert await later[0] == (1.0,)


async def test_one_of_many_is_cancelled() -> None:
    """A caller that is cancelled leaves at once; the embedding goes on for the others."""
    inner = Embedder(held=True)
    cached = CachedEmbedder(inner, 2)
    first, second = _started(cached("cats"), cached("cats"))
    await _turns()
    first.cancel()
    await asyncio.wait([first])
    assert first.cancelled()
    inner.go.set()
    assert await second == (4.0, 1.0)
    assert not inner.cancelled


async def test_the_last_is_cancelled() -> None:
    """The embedding that nobody waits for any more is cancelled, and has ended with the call."""
    inner = Embedder(held=True)
    cached = CachedEmbedder(inner, 2)
    calls = _started(cached("cats"), cached("cats"))
    await _turns()
    for call in calls:
        call.cancel()
    await asyncio.wait(calls)
    assert inner.cancelled == ["cats"]
    assert asyncio.all_tasks() == {asyncio.current_task()}
    inner.go.set()
    assert await cached("cats") == (4.0, 2.0)


async def test_an_embedder_that_ends_slowly() -> None:
    """A second cancel does not hurry the end of an embedding, and a new call does not join it."""
    ending, end = asyncio.Event(), asyncio.Event()

    async def slow(query: str) -> Sequence[float]:
        if ending.is_set():
            return [1.0]
        try:
            await asyncio.Event().wait()
        finally:
            ending.set()
            await end.wait()
        return []

    cached = CachedEmbedder(slow, 2)
    [call] = _started(cached("cats"))
    await _turns()
    call.cancel()
    await ending.wait()
    assert await cached("cats") == (1.0,)
    call.cancel()
    await _turns()
    assert not call.done()
    end.set()
    await asyncio.wait([call])
    assert call.cancelled()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_an_error_that_nobody_waits_for(caplog: pytest.LogCaptureFixture) -> None:
    """An embedder that fails as it is cancelled fails for nobody, not for the log either."""

    async def fails(query: str) -> Sequence[float]:
        try:
            return await asyncio.Future()
        finally:
            raise StoreUnavailable("no answer")

    [call] = _started(CachedEmbedder(fails, 2)("cats"))
    await _turns()
    call.cancel()
    await asyncio.wait([call])
    assert call.cancelled()
    del call
    gc.collect()
    assert not caplog.records


async def test_cancelled_at_any_moment(caplog: pytest.LogCaptureFixture) -> None:
    """Whichever turn of the loop a cancel comes in, no task and no unseen error is left."""

    async def fails(query: str) -> Sequence[float]:
        await _turns(3)
        raise StoreUnavailable("no answer")

    for turns in range(12):
        cached = CachedEmbedder(fails, 2)
        [call] = _started(cached("cats"))
        await _turns(turns)
        call.cancel()
        await asyncio.wait([call])
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert call.cancelled() or call.exception()
        del cached, call
    gc.collect()  # asyncio logs an error that nobody saw when its task goes
    assert not caplog.records


async def test_what_is_remembered_does_not_change() -> None:
    """Neither the embedder's own list nor what a caller was given changes what is remembered."""
    owned = [1.0, 2.0]

    async def embed(query: str) -> Sequence[float]:
        return owned

    cached = CachedEmbedder(embed, 1)
    first = await cached("cats")
    owned[0] = 9.0
    assert isinstance(first, tuple)
    assert await cached("cats") == (1.0, 2.0)


async def test_an_array_is_a_vector() -> None:
    """An embedder may return an array of numpy; its numbers are remembered as they are."""

    async def embed(query: str) -> Any:
        return np.array([0.1, 2.0])

    assert await CachedEmbedder(embed, 1)("cats") == (0.1, 2.0)


@pytest.mark.parametrize("returned", [None, [], "12", [1.0, float("nan")], ["1"], 3.0], ids=repr)
async def test_what_is_no_vector(returned: Any) -> None:
    """What is no vector is refused as a search would refuse it, and is not remembered."""
    answers = [returned, [1.0]]

    async def embed(query: str) -> Any:
        return answers.pop(0)

    cached = CachedEmbedder(embed, 1)
    with pytest.raises(InvalidQueryError, match="embedder"):
        await cached("cats")
    assert await cached("cats") == (1.0,)


@pytest.mark.parametrize("query", ["", " ", None, "a\0"], ids=repr)
async def test_a_query_that_is_none(query: Any) -> None:
    """A blank or unportable query is refused, and the embedder is not asked."""
    inner = Embedder()
    with pytest.raises(InvalidQueryError):
        await CachedEmbedder(inner, 1)(query)
    assert not inner.asked


@pytest.mark.parametrize("size", [0, -1, 1.5, True, None], ids=repr)
def test_a_size_that_is_none(size: Any) -> None:
    """A size that is no int of at least 1 is refused."""
    with pytest.raises(ValueError, match="size"):
        CachedEmbedder(Embedder(), size)


async def test_its_repr() -> None:
    """Its repr tells its size and its embedder, and none of the queries."""
    cached = CachedEmbedder(Embedder(), 3)
    await cached("secret")
    assert repr(cached) == "CachedEmbedder(size=3) > Embedder()"
