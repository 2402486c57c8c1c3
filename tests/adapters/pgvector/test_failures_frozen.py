"""A server that takes all and answers nothing."""

import asyncio
from collections.abc import AsyncIterator

import psutil
import pytest

from soev_retrieval.domain import StoreUnavailable
from soev_retrieval.engine import Timed
from soev_retrieval_pgvector import PgvectorStore
from tests.adapters.asking import until
from tests.adapters.pgvector.outages import (
    METHODS,
    NEW,
    SEARCHES,
    TARGET,
    address,
    answers,
    rules,
    server,
    sessions,
    state,
)

NAME = "frozen"


@pytest.fixture
async def store() -> AsyncIterator[PgvectorStore]:
    async with rules(NAME, max_connections=4) as made:
        yield made


async def settled(store: PgvectorStore) -> None:
    """The server has as many sessions as there are idle connections: none is under way or lost."""
    pool = store._connections._pool
    await until(lambda: pool._in_use == 0 and len(sessions(NAME)) == pool.idle)


async def test_each_search_comes_back_in_time(store: PgvectorStore) -> None:
    """While the server is frozen each search raises StoreUnavailable within the bound of Timed."""
    timed = Timed(store, 0.2)
    with server().frozen():
        for operation, ask in SEARCHES.items():
            with pytest.raises(StoreUnavailable, match=r"within 0\.2 s") as caught:
                await ask(timed)
            assert caught.value.operation == operation
    await answers(timed)
    await settled(store)


async def test_it_has_no_connections(store: PgvectorStore) -> None:
    """So it is for a store that has yet to connect."""
    async with PgvectorStore(address(application_name=NAME)) as fresh:
        timed = Timed(fresh, 0.2)
        with server().frozen(), pytest.raises(StoreUnavailable):
            await timed.fetch(TARGET, limit=1)
        await answers(timed)


async def test_more_calls_than_connections(store: PgvectorStore) -> None:
    """Twenty calls on four connections come back in time, and leave all four in place."""
    timed = Timed(store, 0.2)
    with server().frozen():
        came = await asyncio.gather(
            *(SEARCHES["fetch"](timed) for _ in range(20)), return_exceptions=True
        )
    assert {type(each) for each in came} == {StoreUnavailable}
    await answers(timed)
    await settled(store)
    found = await asyncio.gather(*(SEARCHES["fetch"](timed) for _ in range(20)))
    assert {len(each) for each in found} == {2}
    assert len(sessions(NAME)) <= 4


async def test_one_backend_is_frozen(store: PgvectorStore) -> None:
    """One connection that hangs affects no other: the next calls take others."""
    timed = Timed(store, 0.2)
    (pid,) = sessions(NAME)
    backend = psutil.Process(pid)
    backend.suspend()
    try:
        with pytest.raises(StoreUnavailable):
            await SEARCHES["fetch"](timed)
        await answers(store)
        assert len(sessions(NAME)) == 2
    finally:
        backend.resume()
    await settled(store)
    await answers(store)


async def test_a_write_that_comes_back_too_late(store: PgvectorStore) -> None:
    """An upsert that was given up is written as a whole or not at all, and can be done again."""
    with server().frozen(), pytest.raises(StoreUnavailable):
        await asyncio.wait_for(_unavailable(store), 5)
    await settled(store)
    assert state() in ({"a": 987654321, "b": 987654321}, AFTER)
    await store.upsert(TARGET, NEW)
    assert state() == AFTER


AFTER = {"a": 987654322, "b": 987654321, "c": 987654322}


async def _unavailable(store: PgvectorStore) -> None:
    """Timed bounds the five methods of a store; an application bounds a write like this."""
    writing = asyncio.ensure_future(store.upsert(TARGET, NEW))
    done, _ = await asyncio.wait([writing], timeout=0.2)
    if not done:
        writing.cancel()
        raise StoreUnavailable("too late")


async def test_it_does_not_end_frozen(store: PgvectorStore) -> None:
    """Every method answers after the thaw, the writes too."""
    with server().frozen(), pytest.raises(StoreUnavailable):
        await Timed(store, 0.1).bm25(TARGET, query="sesame", limit=1)
    for ask in METHODS.values():
        await ask(store)
    await settled(store)
