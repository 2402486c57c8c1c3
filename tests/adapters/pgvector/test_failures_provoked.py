"""Each failure of the server for real: what it becomes, and that the same store answers after it."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors

from soev_retrieval.domain import RetrievalError, StoreUnavailable, Unconfigured
from soev_retrieval_pgvector import PgvectorStore
from soev_retrieval_pgvector._errors import Busy
from tests.adapters.asking import until
from tests.adapters.pgvector.outages import (
    NEW,
    PASSWORD,
    RECORDS,
    SEARCHES,
    SECRETS,
    TARGET,
    WRITES,
    address,
    admin,
    answers,
    connects,
    locked,
    rules,
    said,
    server,
    sessions,
    state,
    waiting,
)

NAME = "provoked"


@pytest.fixture(autouse=True)
def logs(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No log says a secret, at any level."""
    with caplog.at_level(logging.DEBUG):
        yield
    for record in caplog.records:
        if record.name.startswith(("psycopg", "soev")):
            assert not any(secret in record.getMessage() for secret in SECRETS)


@pytest.fixture
async def store() -> AsyncIterator[PgvectorStore]:
    async with rules(NAME, max_connections=2) as made:
        yield made


async def raised(call: Any, kind: type[RetrievalError] = StoreUnavailable) -> BaseException:
    """What the driver raised where a call raises `kind`."""
    with pytest.raises(kind) as caught:
        await call
    assert type(caught.value) is kind
    return said(caught.value)


async def unreachable(url: str, kind: type[RetrievalError], **settings: Any) -> BaseException:
    """What the driver raised where each method of a store finds nobody."""
    async with PgvectorStore(url, **settings) as store:
        tried = connects(store)
        cause = await raised(store.fields(TARGET), kind)
        assert len(tried) == 1  # one call, one attempt: nobody is locked out by our retries
        for call in {**SEARCHES, **WRITES}.values():
            with pytest.raises(kind):
                await call(store)
    return cause


@contextmanager
def listening() -> Iterator[int]:
    """A port that takes connections and says nothing."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


async def test_refused() -> None:
    """A port that nobody listens on is unavailable."""
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        port = unheard.getsockname()[1]
        url = f"postgresql://me:{PASSWORD}@127.0.0.1:{port}/shop"
        cause = await unreachable(url, StoreUnavailable)
    assert isinstance(cause, psycopg.OperationalError)
    assert "refused" in str(cause)


async def test_no_socket(tmp_path: Path) -> None:
    """A socket that is not there is unavailable: the server may start yet."""
    await unreachable(f"host={tmp_path} password={PASSWORD}", StoreUnavailable)


async def test_a_connection_stalls() -> None:
    """A server that takes the connection and says nothing is unavailable after wait_seconds."""
    with listening() as port:
        url = f"postgresql://me:{PASSWORD}@127.0.0.1:{port}/shop"
        cause = await unreachable(url, StoreUnavailable, wait_seconds=0.01)
    assert isinstance(cause, errors.ConnectionTimeout)


@pytest.mark.parametrize("parameter", ["dbname", "user"])
async def test_no_such_database_or_role(parameter: str) -> None:
    """A database or a role that there is not is a matter of configuration."""
    await unreachable(address(**{parameter: "nobody"}), Unconfigured)


@contextmanager
def role(name: str, settings: str = "") -> Iterator[str]:
    """The address of a role of its own."""
    admin(f"CREATE ROLE {name} LOGIN {settings}")
    try:
        yield address(user=name)
    finally:
        admin(f"DROP OWNED BY {name}; DROP ROLE {name}")


async def test_wrong_password() -> None:
    """A wrong password is a matter of configuration, and stands in no message and no log."""
    rules_of_access = Path(str(server().data)) / "pg_hba.conf"
    before = rules_of_access.read_text()
    with role("guarded", "PASSWORD 'right'"):
        rules_of_access.write_text(f"local all guarded scram-sha-256\n{before}")
        admin("SELECT pg_reload_conf()")
        try:
            wrong = await unreachable(address(user="guarded", password=PASSWORD), Unconfigured)
            await unreachable(address(user="guarded"), Unconfigured)
            async with PgvectorStore(address(user="guarded", password="right")) as store:
                with pytest.raises(RetrievalError, match="no target"):
                    await store.fields("nothing")
        finally:
            rules_of_access.write_text(before)
            admin("SELECT pg_reload_conf()")
    assert "password authentication failed" in str(wrong)


async def test_too_many_connections() -> None:
    """A server without a place for one more connection is unavailable, and the next call tries."""
    with role("limited", "CONNECTION LIMIT 0") as url:
        await unreachable(url, StoreUnavailable)
        async with PgvectorStore(url) as store:
            await raised(store.fields(TARGET))
            admin("ALTER ROLE limited CONNECTION LIMIT 1")
            with pytest.raises(RetrievalError, match="no target"):
                await store.fields("nothing")


@pytest.mark.parametrize("method", SEARCHES)
async def test_all_connections_are_in_use(method: str) -> None:
    """A call that finds every connection in use is unavailable after wait_seconds."""
    async with rules(NAME, max_connections=1, wait_seconds=0.05) as store:
        with locked():
            first = asyncio.ensure_future(SEARCHES["fetch"](store))
            await waiting(NAME)
            cause = await raised(SEARCHES[method](store))
        assert isinstance(cause, Busy)
        assert len(await first) == 2
        await answers(store)


@pytest.mark.parametrize("method", [*SEARCHES, "upsert", "delete"])
async def test_a_backend_is_terminated(store: PgvectorStore, method: str) -> None:
    """A call that loses its connection is sent once more, on a new one, and answers."""
    with locked():
        call = asyncio.ensure_future(_ask(store, method))
        (first,) = await waiting(NAME)
        admin("SELECT pg_terminate_backend(%s)", first)
        await until(lambda: sessions(NAME, "wait_event_type = 'Lock'") not in ([], [first]))
    await call
    await answers(store)
    assert first not in sessions(NAME)


@pytest.mark.parametrize("method", [*SEARCHES, "upsert", "delete"])
async def test_a_backend_is_terminated_twice(store: PgvectorStore, method: str) -> None:
    """A call that loses two connections is unavailable, and is not sent a third time."""
    with locked():
        call = asyncio.ensure_future(_ask(store, method))
        (first,) = await waiting(NAME)
        admin("SELECT pg_terminate_backend(%s)", first)
        await until(lambda: sessions(NAME, "wait_event_type = 'Lock'") not in ([], [first]))
        (second,) = await waiting(NAME)
        admin("SELECT pg_terminate_backend(%s)", second)
        cause = await raised(call)
        assert isinstance(cause, errors.AdminShutdown)
        assert sessions(NAME, "wait_event_type = 'Lock'") == []
    await answers(store)


def _ask(store: PgvectorStore, method: str) -> Any:
    return {**SEARCHES, **WRITES}[method](store)


@pytest.mark.parametrize("method", [*SEARCHES, "upsert", "delete"])
async def test_a_statement_takes_too_long(method: str) -> None:
    """A statement that the server stops after statement_seconds is unavailable, asked once."""
    async with rules(NAME, statement_seconds=0.05) as store:
        tried = connects(store)
        with locked():
            assert isinstance(await raised(_ask(store, method)), errors.QueryCanceled)
        await answers(store)
        assert not tried


@pytest.mark.parametrize("method", SEARCHES)
async def test_a_statement_is_cancelled_by_an_administrator(
    store: PgvectorStore, method: str
) -> None:
    """So is one that an administrator stops, on a connection that goes on."""
    with locked():
        call = asyncio.ensure_future(_ask(store, method))
        (pid,) = await waiting(NAME)
        admin("SELECT pg_cancel_backend(%s)", pid)
        assert isinstance(await raised(call), errors.QueryCanceled)
    await answers(store)
    assert pid in sessions(NAME)


async def test_a_lock_takes_too_long() -> None:
    """A lock that is not to be had within lock_timeout is unavailable."""
    async with rules(NAME) as store:
        options = "-c lock_timeout=20ms"
        async with PgvectorStore(address(options=options)) as impatient:
            await impatient.fields(TARGET)
            with locked():
                cause = await raised(impatient.fetch(TARGET, limit=1))
                assert isinstance(cause, errors.LockNotAvailable)
            await answers(impatient)
        await answers(store)


async def test_no_privilege(store: PgvectorStore) -> None:
    """A role that may not read the table is a matter of configuration, until it may."""
    with role("reader") as url:
        async with PgvectorStore(url) as theirs:
            with pytest.raises(Unconfigured):
                await theirs.fetch(TARGET, limit=1)
            admin(f"GRANT SELECT ON {TARGET} TO reader")
            await answers(theirs)
            assert isinstance(
                await raised(theirs.upsert(TARGET, RECORDS), Unconfigured),
                errors.InsufficientPrivilege,
            )
            admin(f"REVOKE SELECT ON {TARGET} FROM reader")
            with pytest.raises(Unconfigured):
                await theirs.fetch(TARGET, limit=1)


@pytest.mark.parametrize("method", ["upsert", "delete"])
async def test_a_read_only_server(store: PgvectorStore, method: str) -> None:
    """A write on a server that is read-only is a matter of configuration; it answers searches."""
    async with PgvectorStore(address(options="-c default_transaction_read_only=on")) as theirs:
        cause = await raised(_ask(theirs, method), Unconfigured)
        assert isinstance(cause, errors.ReadOnlySqlTransaction)
        await answers(theirs)


@pytest.mark.parametrize("method", ["upsert", "delete"])
async def test_a_transaction_gives_way(store: PgvectorStore, method: str) -> None:
    """A write that another transaction came before is made once more, and says nothing of it."""
    options = "-c default_transaction_isolation=serializable"
    async with PgvectorStore(address(application_name="giving", options=options)) as theirs:
        with psycopg.connect(server().url) as other:
            other.execute(f"UPDATE {TARGET} SET year = 1 WHERE chunk_id = 'a'".encode())
            writes = {
                "upsert": lambda: theirs.upsert(TARGET, NEW),
                "delete": lambda: theirs.delete(TARGET, ["a", "b"]),
            }
            call = asyncio.ensure_future(writes[method]())
            await waiting("giving")
            other.commit()
        await call
    after = {"upsert": {"a": 987654322, "b": 987654321, "c": 987654322}, "delete": {}}
    assert state() == after[method]


async def test_a_deadlock() -> None:
    """A write that the server sacrifices to end a deadlock is made once more."""
    async with rules("deadlock") as store:
        with psycopg.connect(server().url) as other:
            other.execute("SET deadlock_timeout = '20s'")
            other.execute(f"UPDATE {TARGET} SET year = 1 WHERE chunk_id = 'b'".encode())
            call = asyncio.ensure_future(store.upsert(TARGET, [*NEW, RECORDS[1]]))
            await waiting("deadlock")
            # It holds what the other wants, and looks for a deadlock a second after it began.
            update = f"UPDATE {TARGET} SET year = 1 WHERE chunk_id = 'a'".encode()
            await asyncio.to_thread(other.execute, update)
            await asyncio.to_thread(other.commit)
        await call
        assert state() == {"a": 987654322, "b": 987654321, "c": 987654322}


async def test_a_trigger_refuses(store: PgvectorStore) -> None:
    """What a trigger says of a record may be anything, and is not repeated."""
    admin(
        "CREATE OR REPLACE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION USING MESSAGE = NEW.text; END $$"
    )
    admin(f"CREATE TRIGGER no BEFORE INSERT ON {TARGET} FOR EACH ROW EXECUTE FUNCTION no()")
    with pytest.raises(RetrievalError) as caught:
        await store.upsert(TARGET, NEW)
    assert isinstance(said(caught.value), errors.RaiseException)
    await answers(store)
