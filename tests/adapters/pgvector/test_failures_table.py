"""The table of errors: each class of the driver, and what it comes to."""

from collections.abc import Iterator

import psycopg
import psycopg_pool
import pytest

from soev_retrieval.domain import (
    InvalidQueryError,
    RetrievalError,
    StoreUnavailable,
    Unconfigured,
)
from soev_retrieval_pgvector import _errors
from soev_retrieval_pgvector._errors import (
    Busy,
    Closed,
    Elsewhere,
    is_lost,
    is_rolled_back,
    translated,
)

# What is worth another try, what is the caller's value, and what is the configuration's.
UNAVAILABLE = "08 26 40 53 57 58 72 F0 XX 25P03 25P04 42P05 55006 55P03 HV00N"
INVALID = "22 23 44 54 P0001"
UNCONFIGURED = (
    "02 03 09 0A 0B 0F 0L 0P 0Z 10 20 21 24 25 27 28 2B 2D 2F 34 38 39 3B 3D 3F 42 55 57P04 HV P0"
)
COMES_TO = {
    **dict.fromkeys(UNAVAILABLE.split(), StoreUnavailable),
    **dict.fromkeys(INVALID.split(), InvalidQueryError),
    **dict.fromkeys(UNCONFIGURED.split(), Unconfigured),
}
WITHOUT_STATE: dict[type[psycopg.Error], type[RetrievalError]] = {
    psycopg.Error: StoreUnavailable,
    psycopg.InterfaceError: StoreUnavailable,
    psycopg.DatabaseError: StoreUnavailable,
    psycopg.DataError: Unconfigured,
    psycopg.OperationalError: StoreUnavailable,
    psycopg.IntegrityError: StoreUnavailable,
    psycopg.InternalError: StoreUnavailable,
    psycopg.ProgrammingError: StoreUnavailable,
    psycopg.NotSupportedError: Unconfigured,
    psycopg.errors.ConnectionTimeout: StoreUnavailable,
    psycopg.errors.CancellationTimeout: StoreUnavailable,
    psycopg.errors.PipelineAborted: StoreUnavailable,
    psycopg.transaction.OutOfOrderTransactionNesting: StoreUnavailable,
    Busy: StoreUnavailable,
    Closed: Unconfigured,
    Elsewhere: Unconfigured,
    psycopg_pool.PoolTimeout: StoreUnavailable,
    psycopg_pool.PoolClosed: StoreUnavailable,  # it is the store's own that says Closed
    psycopg_pool.TooManyRequests: StoreUnavailable,
}


def kinds(of: type[psycopg.Error] = psycopg.Error) -> Iterator[type[psycopg.Error]]:
    """The classes of psycopg's errors, and of our own beside them."""
    yield of
    for each in of.__subclasses__():
        if each.__module__.split(".")[0] in {"psycopg", "psycopg_pool", "soev_retrieval_pgvector"}:
            yield from kinds(each)


STATED = {each.sqlstate: each for each in kinds() if each.sqlstate}


def ours(error: psycopg.Error) -> RetrievalError:
    with pytest.raises(RetrievalError) as caught, translated("fetch"):
        raise error
    assert caught.value.__cause__ is error
    return caught.value


@pytest.mark.parametrize("state", sorted(STATED))
def test_each_state_is_mapped_on_purpose(state: str) -> None:
    """Every SQLSTATE that psycopg has a class for stands in the table, and here."""
    expected = next(COMES_TO[state[:n]] for n in range(5, 1, -1) if state[:n] in COMES_TO)
    assert type(ours(STATED[state]("what a secret"))) is expected
    assert any(state.startswith(beginning) for beginning, _, _ in _errors._BY_STATE)


def test_the_driver_has_its_states() -> None:
    """The list is the driver's own: some hundreds of states."""
    assert len(STATED) > 200
    assert STATED["57014"] is psycopg.errors.QueryCanceled


def test_each_row_of_the_table_is_of_use() -> None:
    """No row is hidden by one before it, and each is for a state that there is."""
    used = {
        next(row[0] for row in _errors._BY_STATE if state.startswith(row[0])) for state in STATED
    }
    assert used == {row[0] for row in _errors._BY_STATE}


def test_each_class_without_a_state_is_mapped_on_purpose() -> None:
    """So is every class that has none, and a new one of the driver has to be put here."""
    found = {each for each in kinds() if each.sqlstate is None and each.__name__[0] != "_"}
    assert found == set(WITHOUT_STATE)
    for each, expected in WITHOUT_STATE.items():
        assert type(ours(each("what"))) is expected, each


def test_a_state_that_nobody_knows_is_unavailable() -> None:
    """An extension's own SQLSTATE is no answer, and does not raise something else."""
    unknown = type("Unknown", (psycopg.DatabaseError,), {"sqlstate": "ZZ999"})
    assert type(ours(unknown("what"))) is StoreUnavailable


@pytest.mark.parametrize(
    "text",
    [
        "server closed the connection unexpectedly",
        "connection refused",
        "FATAL:  sorry, too many clients already",
        'FATAL:  too many connections for role "reader"',
        'FATAL:  too many connections for database "shop"',
        "FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute",
        "FATAL:  the database system is starting up",
        "FATAL:  the database system is in recovery mode",
        "FATAL:  the database system is shutting down",
        "failed to resolve host 'nowhere': [Errno -2] Name or service not known",
        'invalid response to SSL negotiation: "x"',
        "connection timeout expired",
    ],
)
def test_a_connection_that_fails_is_unavailable(text: str) -> None:
    """What may be over in a moment is worth another try, whatever it names."""
    assert type(ours(psycopg.OperationalError(text))) is StoreUnavailable


@pytest.mark.parametrize(
    "text",
    [
        'FATAL:  password authentication failed for user "reader"',
        "fe_sendauth: no password supplied",
        'FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "reader", database "shop"',
        'FATAL:  role "nobody" does not exist',
        'FATAL:  database "nothing" does not exist',
        'FATAL:  permission denied for database "shop"',
        'FATAL:  role "group" is not permitted to log in',
        'FATAL:  database "shop" is not currently accepting connections',
        'invalid sslmode value: "maybe"',
        "server does not support SSL, but SSL was required",
        "SSL error: certificate verify failed",
    ],
)
def test_a_connection_that_is_refused_for_good_is_unconfigured(text: str) -> None:
    """What will not be over by itself is the configuration's."""
    assert type(ours(psycopg.OperationalError(text))) is Unconfigured


@pytest.mark.parametrize("state", ["57P01", "57P02", "57P05", "08006", "26000", "42P05"])
def test_a_lost_connection_is_worth_another(state: str) -> None:
    """A server that went away, or forgot its session, is asked once more on a new connection."""
    assert is_lost(STATED[state]("what"))


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_a_transaction_that_gave_way_is_worth_another(state: str) -> None:
    """So is a transaction that another one pushed aside."""
    assert is_rolled_back(STATED[state]("what"))
    assert not is_lost(STATED[state]("what"))


@pytest.mark.parametrize(
    "state", ["57014", "55P03", "42P01", "22000", "25006", "28000", "53300", "57P03", "0A000"]
)
def test_all_else_is_not_asked_again(state: str) -> None:
    """What another connection would not answer either is not asked again."""
    error = STATED[state]("what")
    assert not is_lost(error)
    assert not is_rolled_back(error)
