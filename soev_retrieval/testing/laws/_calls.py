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
from soev_retrieval.testing.laws._law import (
    Held,
    LawBroken,
    expect,
    expect_ids,
    expect_properties,
    expect_same_ranking,
    law,
    shown,
)


def _kinds(held: Held) -> list[SearchStrategy[Call[Any]]]:
    """Calls that the spec serves, one strategy for each kind."""
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
    return kinds


def calls_of(held: Held) -> SearchStrategy[Call[Any]]:
    """Any call that the spec serves."""
    return st.one_of(_kinds(held))


def _several(held: Held) -> SearchStrategy[Sequence[list[Call[Any]]]]:
    """A few calls of each kind, which share most of a store's code, and a few of any."""
    kinds = [*_kinds(held), calls_of(held)]
    return st.tuples(*(st.lists(kind, min_size=2, max_size=3) for kind in kinds))


def _expect_same(held: Held, came: Any, expected: Any, call: Call[Any], told: str) -> None:
    """The same answer: results in their order, those of a fetch without one in any."""
    told = f"{told}\ncall     {shown(call)}"
    if isinstance(call, Fields):
        expect(came, expected, told)
    elif isinstance(call, Fetch):
        _expect_same_chunks(held, came, expected, call, told)
    else:
        expect_same_ranking(came, expected, told)


def _expect_same_chunks(
    held: Held, came: Sequence[Chunk], expected: Sequence[Chunk], call: Fetch, told: str
) -> None:
    properties = {chunk.id: chunk.properties for chunk in expected}
    expect_ids(held, came, set(properties), told)
    for chunk in came:
        expect_properties(chunk.properties, properties[chunk.id], f"{told}\nbrought {chunk.id!r}")
    if call.order_by is not None:
        expect([chunk.id for chunk in came], [chunk.id for chunk in expected], told)


def _plain(answer: Any) -> Any:
    return list(answer) if not isinstance(answer, FieldSpec) else answer


@law(groups=_several)
async def calls_do_not_see_each_other(
    store: VectorStore, held: Held, *, groups: Sequence[list[Call[Any]]]
) -> None:
    """Calls that run at once answer as they do one after the other."""
    for calls in groups:
        alone = [await call.on(store) for call in calls]
        at_once = await asyncio.gather(*(_perform(call, store) for call in calls))
        for call, expected, came in zip(calls, alone, at_once, strict=True):
            others = ", ".join(shown(other) for other in calls if other is not call)
            _expect_same(held, came, expected, call, f"at once with {others}")


async def _perform(call: Call[Any], store: VectorStore) -> Any:
    return await call.on(store)


@law(groups=_several)
async def calls_repeat(
    store: VectorStore, held: Held, *, groups: Sequence[list[Call[Any]]]
) -> None:
    """The same call has the same answer, and an answer does not change when others are given."""
    for call, *others in groups:
        first = await call.on(store)
        kept = copy.deepcopy(_plain(first))
        for other in others:
            await other.on(store)
        after = f"after {', '.join(map(shown, others))}"
        expect(_plain(first), kept, f"the answer changed {after}", f"call     {shown(call)}")
        _expect_same(held, await call.on(store), kept, call, f"again {after}")


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
            _expect_same(held, await task, expected, call, f"cancelled after {turns} turns")
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
        except LawBroken:
            raise
        except Exception as other:
            raise LawBroken(
                f"cancelled after {turns} turns: {shown(call)}\ncame {other!r}"
            ) from other
    _expect_same(held, await call.on(store), expected, call, "after cancellations")
