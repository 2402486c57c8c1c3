"""A server that the tests of failures stop, kill and freeze, and what they ask of it."""

import atexit
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from functools import cache
from typing import Any
from unittest.mock import patch

import psycopg
from psycopg.conninfo import make_conninfo

from soev_retrieval.domain import Field, FieldSpec, Record, StoreUnavailable
from soev_retrieval_pgvector import PgvectorStore
from tests.adapters.asking import Methods, searches_of, until
from tests.servers import Postgres, own_postgres

TARGET = "rules"
SPEC = FieldSpec([Field("text", "text", searchable=True), Field("year", "int")], 3)
RECORDS = [
    Record("a", {"text": "sesame opens the door", "year": 987654321}, (1.0, 0.0, 0.0)),
    Record("b", {"text": "sesame seeds", "year": 987654321}, (0.0, 1.0, 0.0)),
]
NEW = [
    Record("a", {"text": "barley", "year": 987654322}, (0.0, 0.0, 1.0)),
    Record("c", {"text": "barley soup", "year": 987654322}, (0.0, 0.0, 1.0)),
]
PASSWORD = "hunter2"
SECRETS = ("sesame", "0.1234", "987654321", PASSWORD, "barley", "987654322")

SEARCHES = searches_of(TARGET)
"""A call of each search. It finds both of the records."""

WRITES: Methods = {
    "create": lambda store: store.create(TARGET, SPEC),
    "upsert": lambda store: store.upsert(TARGET, RECORDS),
    "delete": lambda store: store.delete(TARGET, ["nobody"]),
    "drop": lambda store: store.drop("Nothing"),
}
"""A call of each method of the Loader. It leaves all as it was."""

METHODS = {**SEARCHES, **WRITES}


@cache
def server() -> Postgres:
    """The server of the tests of failures, which ends with this process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(own_postgres())


def address(**parameters: Any) -> str:
    """The address of a database of it."""
    return make_conninfo(server().url, **parameters)


def admin(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    """The rows of a statement of somebody else."""
    with psycopg.connect(server().url, autocommit=True) as connection:
        cursor = connection.execute(sql.encode(), values)
        return cursor.fetchall() if cursor.description else []


def sessions(name: str, condition: str = "true") -> list[int]:
    """The process ids of the sessions of an application."""
    sql = f"SELECT pid FROM pg_stat_activity WHERE application_name = %s AND {condition}"
    return sorted(pid for (pid,) in admin(sql, name))


@asynccontextmanager
async def rules(name: str, **settings: Any) -> AsyncIterator[PgvectorStore]:
    """A store with the records in it, whose sessions have a name."""
    async with PgvectorStore(address(application_name=name), **settings) as store:
        await store.drop(TARGET)
        await store.create(TARGET, SPEC)
        await store.upsert(TARGET, RECORDS)
        yield store


@contextmanager
def locked(table: str = TARGET) -> Iterator[psycopg.Connection]:
    """Whoever reads or writes the table waits. The connection that holds it."""
    with psycopg.connect(server().url) as connection:
        connection.execute(f'LOCK TABLE "{table}" IN ACCESS EXCLUSIVE MODE'.encode())
        yield connection
        with suppress(psycopg.OperationalError):  # the server may have been killed meanwhile
            connection.rollback()


async def waiting(name: str, count: int = 1) -> list[int]:
    """Come back when so many sessions wait for a lock: their process ids."""
    found: list[int] = []

    def true() -> bool:
        nonlocal found
        found = sessions(name, "wait_event_type = 'Lock'")
        return len(found) == count

    await until(true)
    return found


async def answers(store: Any) -> None:
    """Every search finds both records."""
    for name, ask in SEARCHES.items():
        found = await ask(store)
        assert sorted(each.id for each in found) == ["a", "b"], name


def state() -> dict[str, Any]:
    """What the table holds: the year of each id."""
    return dict(admin(f"SELECT chunk_id, year FROM {TARGET}"))


def restarted() -> None:
    """The server is stopped and started."""
    server().restart()


def killed() -> None:
    """The server is killed and started."""
    server().kill()
    server().start()


REOPENED = 2
"""How many connections a pool costs: one that says why if there can be none, and its first."""

_COUNTS: list[list[None]] = []


@contextmanager
def counted_connections() -> Iterator[None]:
    """Every connection that anybody tries to make is counted, for those who ask `connects`."""
    connect = psycopg.AsyncConnection.connect

    async def counted(*args: Any, **parameters: Any) -> Any:
        for tried in _COUNTS:
            tried.append(None)
        return await connect(*args, **parameters)

    with patch.object(psycopg.AsyncConnection, "connect", counted):
        yield
    _COUNTS.clear()


def connects(_: PgvectorStore) -> list[None]:
    """A list that grows with each connection that is tried from now on."""
    _COUNTS.append([])
    return _COUNTS[-1]


def said(error: BaseException) -> BaseException:
    """The error of the driver behind one of ours, which says all that it owes and no secret."""
    for each in (str(error), repr(error)):
        assert not any(secret in each for secret in SECRETS), each
    if isinstance(error, StoreUnavailable):
        assert error.store == "PgvectorStore"
        assert error.operation
        assert error.retry_after is None
        assert error.cause is error.__cause__
    assert isinstance(error.__cause__, psycopg.Error)
    return error.__cause__


@asynccontextmanager
async def stopped() -> AsyncIterator[None]:
    """The server is stopped, and started again."""
    server().stop()
    try:
        yield
    finally:
        server().start()
