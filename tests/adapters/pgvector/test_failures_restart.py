"""A server that stops or is killed, and comes back: the same store answers again."""

import asyncio
from collections.abc import Callable
from typing import Any

import psutil
import psycopg
import pytest

from soev_retrieval.domain import StoreUnavailable
from soev_retrieval_pgvector import PgvectorStore
from soev_retrieval_pgvector._loader import _LOCK
from tests.adapters.asking import until
from tests.adapters.pgvector.outages import (
    METHODS,
    NEW,
    RECORDS,
    REOPENED,
    SEARCHES,
    SPEC,
    TARGET,
    address,
    admin,
    answers,
    connects,
    killed,
    locked,
    restarted,
    rules,
    said,
    server,
    sessions,
    state,
    stopped,
    waiting,
)

NAME = "restarted"
BEFORE = {"a": 987654321, "b": 987654321}
AFTER = {"a": 987654322, "b": 987654321, "c": 987654322}


AGAIN = pytest.mark.parametrize("again", [restarted, killed])


async def warm(store: PgvectorStore, count: int) -> None:
    """Have so many idle connections."""
    with locked():
        calls = [asyncio.ensure_future(SEARCHES["fetch"](store)) for _ in range(count)]
        await waiting(NAME, count)
    await asyncio.gather(*calls)
    assert store._connections._pool.idle == count


@AGAIN
async def test_the_first_call_answers(again: Callable[[], None]) -> None:
    """After a restart four dead connections cost one statement and one new connection."""
    async with rules(NAME) as store:
        await warm(store, 4)
        again()
        tried = connects(store)
        assert len(await SEARCHES["fetch"](store)) == 2
        assert len(tried) == REOPENED
        await answers(store)
        assert len(tried) == REOPENED


@AGAIN
async def test_many_first_calls_answer(again: Callable[[], None]) -> None:
    """So do many calls at once, with no more connections than calls."""
    async with rules(NAME) as store:
        await warm(store, 4)
        again()
        tried = connects(store)
        found = await asyncio.gather(*(SEARCHES["fetch"](store) for _ in range(8)))
        assert [len(each) for each in found] == [2] * 8
        assert len(tried) <= 8


@pytest.mark.parametrize("method", METHODS)
async def test_each_method_answers_first(method: str) -> None:
    """Any method may be the first one that finds its connections dead."""
    async with rules(NAME) as store:
        await warm(store, 2)
        for pid in sessions(NAME):
            admin("SELECT pg_terminate_backend(%s, 10000)", pid)
        tried = connects(store)
        await METHODS[method](store)
        assert len(tried) == REOPENED
        await answers(store)
        assert state() == BEFORE


async def test_it_is_down() -> None:
    """While the server is down each method raises StoreUnavailable, after one attempt."""
    async with rules(NAME) as store:
        async with stopped():
            for method, ask in METHODS.items():
                tried = connects(store)
                with pytest.raises(StoreUnavailable) as caught:
                    await ask(store)
                said(caught.value)
                assert caught.value.operation == method
                assert len(tried) == 1
            await until(lambda: len(asyncio.all_tasks()) == 1)  # nothing waits to try again
        await answers(store)
        assert len(sessions(NAME)) == 1


async def test_it_was_down_at_first() -> None:
    """A store that was made while the server was down answers once it is up."""
    async with rules(NAME):
        pass
    store = PgvectorStore(address(application_name=NAME))
    async with stopped():
        for ask in SEARCHES.values():
            with pytest.raises(StoreUnavailable):
                await ask(store)
        with pytest.raises(StoreUnavailable) as caught:
            await store.fields(TARGET)
        assert caught.value.operation == "fields"
    await answers(store)
    await store.close()


async def test_a_backend_is_killed() -> None:
    """A backend that dies makes the server start over; the same store answers after it."""
    async with rules(NAME) as store, rules(NAME) as other:
        with locked():
            call = asyncio.ensure_future(SEARCHES["bm25"](store))
            (pid,) = await waiting(NAME)
            psutil.Process(pid).kill()
            came: Any = (await asyncio.gather(call, return_exceptions=True))[0]
            if isinstance(came, BaseException):  # most likely: it takes nobody while it does
                assert isinstance(came, StoreUnavailable)
                said(came)
            else:
                assert len(came) == 2
        for each in (store, other):
            await _until_it_answers(each)
            await answers(each)


async def _until_it_answers(store: PgvectorStore) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                assert len(await SEARCHES["fetch"](store)) == 2  # never an empty list
            except StoreUnavailable:
                await asyncio.sleep(0.01)
            else:
                return


async def test_a_write_is_interrupted_for_good() -> None:
    """An upsert whose server is killed leaves nothing, raises, and can be done again."""
    async with rules(NAME) as store:
        with locked() as other:
            call = asyncio.ensure_future(store.upsert(TARGET, NEW))
            await waiting(NAME)
            server().kill()
            with pytest.raises(StoreUnavailable) as caught:
                await call
            said(caught.value)
            other.close()
        server().start()
        assert state() == BEFORE
        await store.upsert(TARGET, NEW)
        assert state() == AFTER


@AGAIN
async def test_a_write_is_interrupted_and_made_again(again: Callable[[], None]) -> None:
    """An upsert whose server restarts under it is made again from its beginning."""
    async with rules(NAME) as store:
        with locked() as other:
            call = asyncio.ensure_future(store.upsert(TARGET, NEW))
            await waiting(NAME)
            again()
            other.close()
            await call
        assert state() == AFTER
        await answers_new(store)


async def answers_new(store: PgvectorStore) -> None:
    found = await store.bm25(TARGET, query="barley", limit=5)
    assert sorted(hit.id for hit in found) == ["a", "c"]


async def test_a_deletion_is_made_again() -> None:
    """So is a deletion."""
    async with rules(NAME) as store:
        with locked() as other:
            call = asyncio.ensure_future(store.delete(TARGET, ["a"]))
            await waiting(NAME)
            server().restart()
            other.close()
            await call
        assert state() == {"b": 987654321}


async def test_a_table_is_made_again() -> None:
    """So is a table that was not all made: it is there with all that belongs to it."""
    async with rules(NAME) as store:
        await store.drop(TARGET)
        with psycopg.connect(server().url) as other:
            other.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
            call = asyncio.ensure_future(store.create(TARGET, SPEC))
            (pid,) = await waiting(NAME)
            admin("SELECT pg_terminate_backend(%s)", pid)
            await until(lambda: sessions(NAME, "wait_event_type = 'Lock'") not in ([], [pid]))
        await call
        assert await store.fields(TARGET) == SPEC
        await store.upsert(TARGET, RECORDS)
        await answers(store)
