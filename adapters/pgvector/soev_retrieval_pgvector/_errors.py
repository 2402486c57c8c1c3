"""What psycopg raises, as ours."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from soev_retrieval.domain import (
    InvalidQueryError,
    RetrievalError,
    StoreUnavailable,
    Unconfigured,
)

_STORE = "PgvectorStore"


class Busy(psycopg.OperationalError):
    """Every connection was in use for too long."""


class Closed(psycopg.InterfaceError):
    """The store was closed."""


class Elsewhere(psycopg.InterfaceError):
    """The store was first called in another event loop."""


_BY_STATE: tuple[tuple[str, type[RetrievalError], str], ...] = (
    ("25006", Unconfigured, "the server is read-only"),
    ("25P03", StoreUnavailable, "the transaction took too long"),
    ("25P04", StoreUnavailable, "the transaction took too long"),
    ("42501", Unconfigured, "this role lacks a privilege"),
    ("42703", Unconfigured, "a column is not there any more"),
    ("42P01", Unconfigured, "the table is not there any more"),
    ("42P05", StoreUnavailable, "the connection is another session's, as behind a pooler"),
    ("55006", StoreUnavailable, "the table is in use"),
    ("55P03", StoreUnavailable, "a lock was not to be had in time"),
    ("57014", StoreUnavailable, "the statement was stopped: its time limit, or an administrator"),
    ("57P04", Unconfigured, "the database was dropped"),
    ("HV00N", StoreUnavailable, "a foreign server gave no answer"),
    ("P0001", InvalidQueryError, "a function or a trigger of the database refuses it"),
    ("08", StoreUnavailable, "the connection failed"),
    ("0A", Unconfigured, "the server does not support this statement"),
    ("22", InvalidQueryError, "a value does not fit what the table holds"),
    ("23", InvalidQueryError, "a record breaks a constraint of the table"),
    ("25", Unconfigured, "the transaction does not allow it"),
    ("26", StoreUnavailable, "the connection is another session's, as behind a pooler"),
    ("28", Unconfigured, "the server refuses these credentials"),
    ("3D", Unconfigured, "there is no such database"),
    ("3F", Unconfigured, "there is no such schema"),
    ("40", StoreUnavailable, "the transaction was rolled back"),
    ("42", Unconfigured, "the table does not serve this statement"),
    ("44", InvalidQueryError, "a record breaks a condition of the view"),
    ("53", StoreUnavailable, "the server lacks resources"),
    ("54", InvalidQueryError, "too much for one statement or one row of PostgreSQL"),
    ("55", Unconfigured, "the table is in no state to serve this statement"),
    ("57", StoreUnavailable, "the server is shutting down or starting up"),
    ("58", StoreUnavailable, "the server's system failed"),
    ("72", StoreUnavailable, "the statement's snapshot is gone"),
    ("F0", StoreUnavailable, "the server's configuration file is wrong"),
    ("HV", Unconfigured, "a foreign table does not serve this statement"),
    ("XX", StoreUnavailable, "the server failed inside"),
    *(
        (each, Unconfigured, "a function or a trigger of the database failed")
        for each in ("09", "20", "21", "24", "27", "2F", "34", "38", "39", "3B", "P0")
    ),
    *(
        (each, Unconfigured, "the server does not take this statement")
        for each in ("02", "03", "0B", "0F", "0L", "0P", "0Z", "10", "2B", "2D")
    ),
)
"""The beginning of a SQLSTATE, the more specific first, and what it comes to."""

_BY_CLASS: tuple[tuple[type[psycopg.Error], type[RetrievalError], str], ...] = (
    (Busy, StoreUnavailable, "no connection was to be had in time"),
    (Closed, Unconfigured, "the store is closed"),
    (Elsewhere, Unconfigured, "the store serves another event loop; make one for each"),
    (psycopg.errors.ConnectionTimeout, StoreUnavailable, "the server did not answer in time"),
    (psycopg.OperationalError, StoreUnavailable, "the connection failed"),
    (psycopg.InterfaceError, StoreUnavailable, "the connection failed"),
    (psycopg.DataError, Unconfigured, "a value cannot be sent or read"),
    (psycopg.NotSupportedError, Unconfigured, "psycopg does not support it"),
    (psycopg.Error, StoreUnavailable, "the server gave no answer"),
)
"""Errors without a SQLSTATE, the more specific first."""

# Connecting fails without a SQLSTATE, whatever the reason, so the text has to do. Where the server
# speaks another language this is StoreUnavailable.
_REFUSED = re.compile(
    "authentication failed|no password supplied|no pg_hba.conf entry"
    '|(role|database) ".*" does not exist|permission denied for database'
    "|is not permitted to log in|is not currently accepting connections"
    r"|invalid \w+ value|SSL was required|certificate verify failed|root certificate file",
    re.DOTALL,
)
_DIMENSIONS = re.compile(r"(expected \d+ dimensions, not \d+|different \w+ dimensions \d+ and \d+)")

# The states whose message names tables and types, and no value of a row.
_SAID = ("08", "0A", "25", "26", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58", "XX")

_LOST = ("08", "26", "42P05", "57P01", "57P02", "57P05")
_OUTDATED = ("0A", "22", "3F", "42")


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection went away under a statement, so that another one may answer."""
    if (state := error.sqlstate) is not None:
        return state.startswith(_LOST)
    return isinstance(error, psycopg.OperationalError)


def is_rolled_back(error: psycopg.Error) -> bool:
    """Whether the transaction had to give way to another one, and may be tried again."""
    return (error.sqlstate or "").startswith("40")


def may_be_outdated(error: RetrievalError) -> bool:
    """Whether the table may not be any more what its catalog said when it was read.

    So it is where PostgreSQL refuses what the catalog allowed, and where we refuse what it did
    not: somebody may have created just the column that was asked for.
    """
    if error.__cause__ is None:
        return isinstance(error, InvalidQueryError | Unconfigured)
    return _state(error).startswith(_OUTDATED)


def was_prepared(error: RetrievalError) -> bool:
    """Whether the statement was prepared before its table changed: a new connection takes it."""
    return _state(error) == "0A000"


def _state(error: RetrievalError) -> str:
    cause = error.__cause__
    return (cause.sqlstate or "") if isinstance(cause, psycopg.Error) else ""


@contextmanager
def translated(operation: str) -> Iterator[None]:
    """Raise what psycopg raises as one of ours."""
    try:
        yield
    except psycopg.Error as error:
        raise _ours(error, operation) from error


def _ours(error: psycopg.Error, operation: str) -> RetrievalError:
    kind, what = _kind(error)
    message = f"PostgreSQL: {what} ({_detail(error)})"
    if kind is InvalidQueryError:
        return InvalidQueryError(message)
    return kind(message, store=_STORE, operation=operation)  # type: ignore[call-arg]


def _kind(error: psycopg.Error) -> tuple[type[RetrievalError], str]:
    if (state := error.sqlstate) is not None:
        for beginning, kind, what in _BY_STATE:
            if state.startswith(beginning):
                return kind, what
        return StoreUnavailable, "the server gave no answer"
    if isinstance(error, psycopg.OperationalError) and _REFUSED.search(str(error)):
        return Unconfigured, "the server refuses these credentials, or this address"
    return next((kind, what) for of, kind, what in _BY_CLASS if isinstance(error, of))


def _detail(error: psycopg.Error) -> str:
    """What the server said, unless it may repeat a value."""
    name = type(error).__name__
    if (state := error.sqlstate) is None:
        return (
            f"{name}: {error}"
            if isinstance(error, psycopg.OperationalError | Closed | Elsewhere)
            else name
        )
    said = error.diag.message_primary
    if state.startswith(_SAID) or _DIMENSIONS.fullmatch(said or ""):
        return f"{name} {state}: {said}"
    return f"{name} {state}"
