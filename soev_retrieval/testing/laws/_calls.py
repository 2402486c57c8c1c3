"""Laws of calls: they change nothing, see no other, and end when they are told to."""

import asyncio
import copy
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from soev_retrieval.calls import Bm25, Call, Fetch, Fields, Hybrid, NearVector
from soev_retrieval.domain import Chunk, FieldSpec, Filter
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.laws._asking import (
    filters_of,
    has_both,
    has_vectors,
    has_words,
    limits_of,
    methods,
    vectors_of,
    words_of,
)
from soev_retrieval.testing.laws._law import Held, LawBroken, expect, expect_same_ranking, law


def calls_of(held: Held) -> SearchStrategy[Call[Any]]:
    """Any call that the spec serves."""
    target = st.just(held.target)
    where = st.none() | filters_of(held).filter(lambda each: not held.may_refuse(each))
    limit = limits_of(held)
    # Without an order it is the store's affair which chunks a limit cuts off.
    whole = st.builds(Fetch, target, where, st.just(held.limit), st.none(), st.booleans())
    kinds: list[SearchStrategy[Any]] = [whole, st.builds(Fields, target)]
    if order := [field.name for field in held.spec if field.sortable]:
        orders = st.sampled_from(order)
        kinds.append(st.builds(Fetch, target, where, limit, orders, st.booleans()))
    if has_vectors(held):
        kinds.append(st.builds(NearVector, target, vectors_of(held), limit, where))
    if has_words(held):
        kinds.append(st.builds(Bm25, target, words_of(held), limit, where))
    if has_both(held):
        alpha = st.sampled_from([None, 0.0, 0.5, 1.0])
        kinds.append(
            st.builds(Hybrid, target, words_of(held), vectors_of(held), limit, where, alpha)
        )
    return st.one_of(kinds)


def _several(held: Held) -> SearchStrategy[list[Call[Any]]]:
    return st.lists(calls_of(held), min_size=2, max_size=6)


def _expect_same(came: Any, expected: Any, call: Call[Any], told: str) -> None:
    """The same answer: results in their order, those of a fetch without one in any."""
    told = f"{told}: {call!r} of {getattr(call, 'query', '')!r} {getattr(call, 'vector', '')}"
    if isinstance(call, Fields) or (isinstance(call, Fetch) and call.order_by is not None):
        expect(_plain(came), _plain(expected), told)
    elif isinstance(call, Fetch):
        expect(sorted(came, key=_id), sorted(expected, key=_id), told)
    else:
        expect_same_ranking(came, expected, told)


def _id(chunk: Chunk) -> str:
    return chunk.id


def _plain(answer: Any) -> Any:
    return list(answer) if not isinstance(answer, FieldSpec) else answer


@law(calls=_several)
async def calls_do_not_see_each_other(
    store: VectorStore, held: Held, *, calls: list[Call[Any]]
) -> None:
    """Calls that run at once answer as they do one after the other."""
    alone = [await call.on(store) for call in calls]
    at_once = await asyncio.gather(*(_perform(call, store) for call in calls))
    for call, expected, came in zip(calls, alone, at_once, strict=True):
        _expect_same(came, expected, call, "at once with others")


async def _perform(call: Call[Any], store: VectorStore) -> Any:
    return await call.on(store)


@law(calls=_several)
async def calls_repeat(store: VectorStore, held: Held, *, calls: list[Call[Any]]) -> None:
    """The same call has the same answer, and an answer does not change when others are given."""
    call, *others = calls
    first = await call.on(store)
    kept = copy.deepcopy(_plain(first))
    for other in others:
        await other.on(store)
    expect(_plain(first), kept, f"an answer changed after it was given: {call!r}")
    _expect_same(await call.on(store), kept, call, "asked again")


@law(where=filters_of, vector=vectors_of, query=words_of)
async def arguments_are_left_alone(
    store: VectorStore, held: Held, *, where: Filter, vector: Sequence[float], query: str
) -> None:
    """A call changes neither the vector nor the filter that it is given."""
    if held.may_refuse(where):
        return
    given, filter = list(vector), copy.deepcopy(where)
    for method, ask in methods(
        store, held, where=filter, limit=3, vector=given, query=query
    ).items():
        await ask()
        expect(given, list(vector), f"{method} changed its vector")
        expect(repr(filter), repr(where), f"{method} changed its filter")


@law(call=calls_of)
async def cancellations_get_through(store: VectorStore, held: Held, *, call: Call[Any]) -> None:
    """A cancelled call ends as cancelled or with its answer, and the store answers after it."""
    expected = await call.on(store)
    for turns in range(3):
        task = asyncio.ensure_future(_perform(call, store))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        try:
            _expect_same(await task, expected, call, f"cancelled after {turns} turns")
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
        except LawBroken:
            raise
        except Exception as other:
            raise LawBroken(f"cancelled after {turns} turns: {call!r}\ncame {other!r}") from other
    _expect_same(await call.on(store), expected, call, "after cancellations")
