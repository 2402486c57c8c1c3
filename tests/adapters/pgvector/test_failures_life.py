"""The life of a store: when it connects, and what is left of it in the end."""

import asyncio
import socket
import traceback

import pytest

from soev_retrieval.domain import InvalidQueryError, StoreUnavailable, Unconfigured
from soev_retrieval.testing.faults import FaultProxy
from soev_retrieval_pgvector import PgvectorStore
from soev_retrieval_pgvector._connections import Connections
from tests.adapters.asking import until
from tests.adapters.pgvector.outages import (
    METHODS,
    PASSWORD,
    SEARCHES,
    TARGET,
    address,
    answers,
    connects,
    locked,
    rules,
    said,
    server,
    sessions,
    waiting,
)

NAME = "life"


def url() -> str:
    return address(application_name=NAME)


async def test_it_connects_when_it_is_called() -> None:
    """A store that was only made has no connection and no task, and needs no close."""
    store = PgvectorStore(url())
    assert sessions(NAME) == []
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert repr(store) == "PgvectorStore()"


def test_it_is_made_without_a_loop() -> None:
    """A store may be made where no event loop runs."""
    PgvectorStore("postgresql://nowhere")


async def test_as_many_connections_as_calls_at_once() -> None:
    """One call after the other takes one connection; many at once take max_connections."""
    async with rules(NAME, max_connections=3) as store:
        for _ in range(3):
            await answers(store)
        assert len(sessions(NAME)) == 1
        with locked():
            calls = [asyncio.ensure_future(SEARCHES["fetch"](store)) for _ in range(9)]
            await waiting(NAME, 3)
            assert len(sessions(NAME)) == 3
        assert [len(each) for each in await asyncio.gather(*calls)] == [2] * 9
        assert len(sessions(NAME)) == 3


@pytest.mark.parametrize("count", [1, 3, 30])
async def test_the_first_calls_at_once(count: int) -> None:
    """However many calls come first, and at once, all of them answer."""
    async with rules("filler"), PgvectorStore(url(), max_connections=3) as store:
        found = await asyncio.gather(*(SEARCHES["hybrid"](store) for _ in range(count)))
        assert [len(each) for each in found] == [2] * count
        assert len(sessions(NAME)) <= 3


async def test_the_first_calls_at_once_fail() -> None:
    """Where the first calls of all find nobody, the next ones find the server."""
    async with rules("filler"), FaultProxy(path=server().socket) as proxy:
        proxy.refuse()
        url = address(host=proxy.host, port=proxy.port)
        async with PgvectorStore(url, max_connections=2) as store:
            came = await asyncio.gather(
                *(SEARCHES["bm25"](store) for _ in range(9)), return_exceptions=True
            )
            assert {type(each) for each in came} == {StoreUnavailable}
            proxy.heal()
            await answers(store)


@pytest.mark.parametrize("used", [True, False])
async def test_it_is_closed_twice(used: bool) -> None:
    """Closing again does nothing, whether the store was used or not."""
    async with rules("filler"):
        store = PgvectorStore(url())
        if used:
            await answers(store)
        await store.close()
        await store.close()
        await until(lambda: sessions(NAME) == [])


@pytest.mark.parametrize("method", METHODS)
async def test_it_is_closed(method: str) -> None:
    """Every method of a closed store is Unconfigured, and says why."""
    async with rules(NAME) as store:
        pass
    with pytest.raises(Unconfigured, match="the store is closed") as caught:
        await METHODS[method](store)
    said(caught.value)
    assert (caught.value.store, caught.value.operation) == ("PgvectorStore", method)


async def test_it_is_closed_meanwhile() -> None:
    """A call under way ends well, one in the line does not begin, and no connection is left."""
    async with rules(NAME, max_connections=1) as store:
        with locked():
            first = asyncio.ensure_future(SEARCHES["fetch"](store))
            await waiting(NAME)
            second = asyncio.ensure_future(SEARCHES["fetch"](store))
            await asyncio.sleep(0)
            await store.close()
        assert len(await first) == 2
        with pytest.raises(Unconfigured, match="closed"):
            await second
        await until(lambda: sessions(NAME) == [])


def test_one_loop_after_another() -> None:
    """A store serves the event loop that it was first called in, and says so in another."""
    store = PgvectorStore(url())

    async def first() -> None:
        async with rules("filler"):
            await answers(store)
            await store.close()

    async def again() -> None:
        with pytest.raises(Unconfigured, match="event loop") as caught:
            await SEARCHES["fetch"](store)
        said(caught.value)

    asyncio.run(first())
    asyncio.run(again())


async def test_a_connection_in_a_transaction_is_rolled_back() -> None:
    """What comes back in the midst of a transaction is rolled back before it is used again."""
    async with rules(NAME, max_connections=1) as store:
        async with store._connections._pool.connection() as connection:
            await connection.execute("BEGIN")
            await connection.execute(f"DELETE FROM {TARGET}".encode())
        await answers(store)


async def test_a_connection_that_cannot_be_set_up() -> None:
    """Where setting it up fails, the connection is closed, and the next call tries again."""
    connections = Connections(url(), {"TimeZone": "No/Where"}, max_size=1, wait_seconds=5)
    for _ in range(3):
        with pytest.raises(InvalidQueryError):
            await connections.rows("SELECT 1", [], operation="fetch")
    connections._settings["TimeZone"] = "UTC"
    assert await connections.rows("SELECT 1", [], operation="fetch") == [(1,)]
    await until(lambda: len(sessions(NAME)) == 1)
    await connections.close()


async def test_an_error_of_the_caller_costs_no_connection() -> None:
    """A call that is refused leaves its connection for the next one."""
    async with rules(NAME) as store:
        tried = connects(store)
        for _ in range(3):
            with pytest.raises(InvalidQueryError):
                await store.fetch(TARGET, limit=0)
            with pytest.raises(InvalidQueryError):
                await store.fetch("nothing", limit=1)
        await answers(store)
        assert not tried


async def test_a_dead_peer_is_found_out() -> None:
    """TCP asks a silent peer after half a minute, unless the connection string says otherwise."""
    async with rules("filler"), FaultProxy(path=server().socket) as proxy:
        for given, expected in ({}, 30), ({"keepalives_idle": 7}, 7):
            url = address(host=proxy.host, port=proxy.port, **given)
            async with PgvectorStore(url) as store:
                await answers(store)
                async with store._connections._pool.connection() as connection:
                    with socket.socket(fileno=socket.dup(connection.fileno())) as same:
                        idle = same.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
                assert idle == expected


@pytest.mark.parametrize(
    "conninfo", [f"host=there {PASSWORD}", f"postgresql://me:{PASSWORD}@[there/shop", "what=ever"]
)
def test_a_bad_connection_string(conninfo: str) -> None:
    """What is no connection string is refused at once, and not repeated anywhere."""
    with pytest.raises(InvalidQueryError, match="conninfo") as caught:
        PgvectorStore(conninfo)
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan"), "5"])
@pytest.mark.parametrize("name", ["wait_seconds", "statement_seconds"])
def test_a_bad_number_of_seconds(name: str, seconds: object) -> None:
    """A time that is no time, or none at all, is refused."""
    with pytest.raises(InvalidQueryError, match=name):
        PgvectorStore("postgresql://nowhere", **{name: seconds})  # type: ignore[arg-type]


async def test_a_short_time_is_not_none_at_all() -> None:
    """A statement's limit under a millisecond is a millisecond: 0 would be no limit."""
    async with PgvectorStore(url(), statement_seconds=0.0001) as store:
        rows = await store._connections.rows("SHOW statement_timeout", [], operation="fetch")
    assert rows == [("1ms",)]
