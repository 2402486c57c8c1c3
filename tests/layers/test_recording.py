"""Recording and Replaying: what a store answered, word for word, without the store."""

import asyncio
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.calls import Bm25, Call, Fields, Layer, NearVector
from soev_retrieval.domain import (
    Hit,
    InvalidQueryError,
    Record,
    StoreUnavailable,
    Unconfigured,
    field,
)
from soev_retrieval.engine import Recorded, Recording, Replaying
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.faults import Hang, Scripted

HITS = [Hit("a", 2.0), Hit("b", 1.0)]


def test_recording_is_invisible(invisible: Any) -> None:
    """Whatever is recorded, the caller sees what the store does."""
    invisible(lambda store: Recording(store, []))


def test_a_recording_replays(worlds: Any, virtual: Any, outcome: Any) -> None:
    """Every call of a session is answered as it was then, errors and all."""

    @given(
        worlds.records(),
        st.lists(worlds.calls() | worlds.wrong_calls().filter(hashes), max_size=5),
    )
    def law(records: Sequence[Record], calls: list[Call[Any]]) -> None:
        async def main() -> None:
            store, into = await worlds.store(records), list[Recorded]()
            then = [await outcome(call, Recording(store, into)) for call in calls]
            replaying = Replaying(into)
            assert [await outcome(call, replaying) for call in calls] == then

        virtual(main())

    law()


def hashes(call: Call[Any]) -> bool:
    try:
        hash(call)
    except TypeError:
        return False
    return True


async def test_each_call_is_written_with_its_outcome() -> None:
    """In the order they ended, an error as itself, a list as a tuple."""
    error, into = StoreUnavailable("down"), list[Recorded]()
    store = Recording(Scripted(HITS, error), into)
    first, second = Bm25("docs", "cat", 2, None), Bm25("docs", "dog", 2, field("year") == 1)
    assert await first.on(store) == HITS
    with pytest.raises(StoreUnavailable):
        await second.on(store)
    assert into == [(first, tuple(HITS)), (second, error)]


async def test_what_was_written_stays() -> None:
    """Neither the list that came back nor the vector that went out changes it afterwards."""
    into, vector, hits = list[Recorded](), [1.0, 0.0], list(HITS)
    await Recording(Scripted(hits), into).near_vector("docs", vector=vector, limit=2)
    vector[0] = 9.0
    hits.clear()
    assert into == [(NearVector("docs", (1.0, 0.0), 2, None), tuple(HITS))]


async def test_a_cancelled_call_has_no_outcome() -> None:
    """Nothing is written of it."""
    into: list[Recorded] = []
    task = asyncio.create_task(Recording(Scripted(Hang()), into).fetch("docs", limit=1))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert into == []


async def test_a_call_of_several_outcomes_replays_them_in_order() -> None:
    """And then the last for ever."""
    call: Call[Any] = Bm25("docs", "cat", 2, None)
    other: Call[Any] = Bm25("docs", "cat", 3, None)
    down = StoreUnavailable("down")
    store = Replaying([(call, ("first",)), (call, down), (other, ("other",)), (call, ("last",))])
    assert await call.on(store) == ("first",)
    with pytest.raises(StoreUnavailable) as raised:
        await call.on(store)
    assert raised.value is down
    assert [await call.on(store) for _ in range(3)] == [("last",)] * 3
    assert await other.on(store) == ("other",)


async def test_an_error_that_is_replayed_often_does_not_grow() -> None:
    """Each time it is raised with the traceback of that time alone."""
    call = Bm25("docs", "cat", 2, None)
    store, depths = Replaying([(call, StoreUnavailable("down"))]), []
    for _ in range(3):
        with pytest.raises(StoreUnavailable) as raised:
            await call.on(store)
        depths.append(len(raised.traceback))
    assert len(set(depths)) == 1


@pytest.mark.parametrize(
    "vector", [[0.5, 1.0], (0.5, 1), np.array([0.5, 1.0], np.float32)], ids=repr
)
async def test_a_vector_is_its_numbers(vector: Any) -> None:
    """A call finds its outcome whichever sequence the numbers come in."""
    store: Any = Replaying([(NearVector("docs", [0.5, 1.0], 2, None), ("there",))])
    assert await store.near_vector("docs", vector=vector, limit=2) == ("there",)


async def test_an_unrecorded_call_is_refused(asked: Any, method: str) -> None:
    """The error names the call without its query, the operation, and is not worth a retry."""
    store = Replaying([(asked("bm25", limit=99), ())])
    with pytest.raises(Unconfigured) as raised:
        await asked(method, field("year") == 1, query="salaries").on(store)
    assert raised.value.operation == method
    assert "'docs'" in str(raised.value)
    assert "was not recorded" in str(raised.value)
    assert "salaries" not in str(raised.value)


async def test_a_call_that_differs_in_type_alone_was_not_recorded() -> None:
    """A limit of True is refused by every store, and not answered as one of 1."""
    store = Replaying([(Bm25("docs", "cat", 1, None), ("there",))])
    with pytest.raises(Unconfigured):
        await Bm25("docs", "cat", True, None).on(store)


async def test_a_call_that_is_no_value_is_not_replayed() -> None:
    """A recorded mistake that does not hash does no harm to the rest of the recording."""
    call: Any = Bm25("docs", "cat", 1, {"year": 1})  # type: ignore[arg-type]
    store: Any = Replaying([(call, InvalidQueryError("no")), (Fields("docs"), "spec")])
    assert await store.fields("docs") == "spec"
    with pytest.raises(Unconfigured):
        await call.on(store)


async def test_a_recording_outlives_its_process() -> None:
    """It pickles, and replays from the copy."""
    into: list[Recorded] = []
    recording = Recording(Scripted(HITS, StoreUnavailable("down", retry_after=2.0)), into)
    await recording.bm25("docs", query="cat", limit=2, where=field("year") == 1)
    with pytest.raises(StoreUnavailable):
        await recording.fetch("docs", limit=2)
    store = Replaying(pickle.loads(pickle.dumps(into)))
    assert await store.bm25("docs", query="cat", limit=2, where=field("year") == 1) == tuple(HITS)
    with pytest.raises(StoreUnavailable) as raised:
        await store.fetch("docs", limit=2)
    assert raised.value.retry_after == 2.0


def test_replaying_is_a_store() -> None:
    """It stands where the store stood, and prints no query."""
    store: VectorStore = Replaying([(Bm25("docs", "salaries", 1, None), ())])
    assert isinstance(store, VectorStore)
    assert repr(Layer(store)) == "Layer() > Replaying(calls=1)"
    assert "salaries" not in repr(Recording(store, [(Bm25("docs", "salaries", 1, None), ())]))
