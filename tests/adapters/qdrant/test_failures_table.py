"""The table of errors: each class, status and code of the drivers, and what it comes to."""

import inspect
import json
import pickle
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import grpc
import httpx
import pytest
from grpc.aio import UsageError
from pydantic import BaseModel, ValidationError
from qdrant_client.common import client_exceptions
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http import exceptions
from qdrant_client.http.exceptions import (
    ApiException,
    ResponseHandlingException,
    UnexpectedResponse,
)

from soev_retrieval.domain import (
    InvalidQueryError,
    RetrievalError,
    StoreUnavailable,
    Unconfigured,
)
from soev_retrieval_qdrant import _errors
from soev_retrieval_qdrant._errors import ours
from tests.adapters.qdrant.outages import of_code, of_status

Code = grpc.StatusCode
Kind = type[RetrievalError]

STATUSES: dict[int, Kind] = {
    **dict.fromkeys((400, 409, 413, 422), InvalidQueryError),
    **dict.fromkeys((301, 304, 401, 402, 403, 404, 405, 410, 418), Unconfigured),
    **dict.fromkeys((408, 429, 500, 501, 502, 503, 504, 507, 520, 599), StoreUnavailable),
}
CODES: dict[grpc.StatusCode, Kind] = {
    **dict.fromkeys(
        (Code.INVALID_ARGUMENT, Code.ALREADY_EXISTS, Code.OUT_OF_RANGE), InvalidQueryError
    ),
    **dict.fromkeys(
        (Code.NOT_FOUND, Code.PERMISSION_DENIED, Code.UNAUTHENTICATED, Code.UNIMPLEMENTED),
        Unconfigured,
    ),
    **dict.fromkeys(
        (
            Code.ABORTED,
            Code.CANCELLED,
            Code.DATA_LOSS,
            Code.DEADLINE_EXCEEDED,
            Code.FAILED_PRECONDITION,
            Code.INTERNAL,
            Code.RESOURCE_EXHAUSTED,
            Code.UNAVAILABLE,
            Code.UNKNOWN,
        ),
        StoreUnavailable,
    ),
}
CLASSES: dict[type[Exception], tuple[Any, Kind]] = {
    ApiException: ((), StoreUnavailable),
    UnexpectedResponse: ((500, "", b"", httpx.Headers()), StoreUnavailable),
    ResponseHandlingException: ((httpx.ReadError(""),), StoreUnavailable),
    QdrantException: (("Retry-After header value is not a valid integer: x",), StoreUnavailable),
    ResourceExhaustedResponse: (("", 1), StoreUnavailable),
}
WRONG_ADDRESS = {httpx.UnsupportedProtocol}


def kinds(module: ModuleType) -> set[type[Exception]]:
    """The exceptions that a module defines."""
    return {
        each
        for _, each in inspect.getmembers(module, inspect.isclass)
        if issubclass(each, Exception) and each.__module__ == module.__name__
    }


def beneath(of: type[Exception]) -> Iterator[type[Exception]]:
    yield of
    for each in of.__subclasses__():
        if each.__module__ == "httpx":
            yield from beneath(each)


def owed(error: RetrievalError, kind: Kind) -> None:
    assert type(error) is kind
    if isinstance(error, StoreUnavailable | Unconfigured):
        assert (error.store, error.operation) == ("QdrantStore", "fetch")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (kind, str(error), vars(error))


@pytest.mark.parametrize("status", STATUSES)
def test_each_status(status: int) -> None:
    """Each HTTP status is mapped on purpose, and the error says which it was."""
    error = ours(of_status(status), "fetch")
    owed(error, STATUSES[status])
    assert str(status) in str(error)


@pytest.mark.parametrize("code", Code)
def test_each_code(code: grpc.StatusCode) -> None:
    """Each gRPC status that can be an error is mapped on purpose, and a new one has to be put here."""
    if code is Code.OK:
        return
    error = ours(of_code(code), "fetch")
    owed(error, CODES[code])
    assert code in _errors._BY_CODE
    assert code.name in str(error)


def test_each_class_of_the_client() -> None:
    """So is each exception of qdrant-client's own."""
    assert kinds(client_exceptions) | kinds(exceptions) == set(CLASSES)
    for each, (args, kind) in CLASSES.items():
        owed(ours(each(*args), "fetch"), kind)


def test_each_error_of_transport() -> None:
    """Whatever httpx says happened on the way is unavailable, but for an address that is none."""
    found = set(beneath(httpx.TransportError))
    assert len(found) > 12
    for each in found:
        kind: Kind = Unconfigured if each in WRONG_ADDRESS else StoreUnavailable
        owed(ours(ResponseHandlingException(each("")), "fetch"), kind)


class _Model(BaseModel):
    number: int


def _unvalidated() -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        _Model(number="many")  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        (_unvalidated(), StoreUnavailable, "no answer of Qdrant's"),
        (httpx.DecodingError(""), StoreUnavailable, "no answer of Qdrant's"),
        (httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED]"), Unconfigured, "certificate"),
        (RuntimeError("the client has been closed."), Unconfigured, "closed"),
        (KeyError("token"), StoreUnavailable, "on its way"),
    ],
)
def test_what_is_under_the_rest_client(source: Exception, kind: Kind, words: str) -> None:
    """What the REST client wraps is told apart."""
    error = ours(ResponseHandlingException(source), "fetch")
    owed(error, kind)
    assert words in str(error)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (json.JSONDecodeError("", "", 0), StoreUnavailable),
        (AssertionError(), StoreUnavailable),
        (AttributeError(), StoreUnavailable),
        (KeyError("result"), StoreUnavailable),
        (EOFError(), StoreUnavailable),
        (ValueError("invalid Distance model: 7"), StoreUnavailable),
        (TimeoutError(), StoreUnavailable),
        (OSError(28, "No space left on device"), StoreUnavailable),
        (UsageError("Channel is closed."), Unconfigured),
        (NotImplementedError(), Unconfigured),
        (ImportError(), Unconfigured),
        (ValueError("Collection zz not found"), Unconfigured),
        (ValueError("Value out of range"), InvalidQueryError),
        (TypeError(), InvalidQueryError),
        (RecursionError(), InvalidQueryError),
        (_unvalidated(), InvalidQueryError),
        (Exception(), StoreUnavailable),
    ],
)
def test_what_is_no_error_of_the_client(error: Exception, kind: Kind) -> None:
    """What comes from beneath it has its place, and what has none is no answer."""
    owed(ours(error, "fetch"), kind)


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (ResourceExhaustedResponse("", 7), 7.0),
        (ResourceExhaustedResponse("", 0), 0.0),
        (ResourceExhaustedResponse("", -7), 0.0),
        (ResourceExhaustedResponse("", 10**400), None),
        (QdrantException("value is not a valid integer: Wed, 21 Oct 2015 07:28:00 GMT"), 0.0),
        (QdrantException("value is not a valid integer: Wed, 21 Oct 2015 07:28:00 -0000"), 0.0),
        (QdrantException("value is not a valid integer: 1.5"), 1.5),
        (QdrantException("value is not a valid integer: nan"), None),
        (QdrantException("value is not a valid integer: soon"), None),
        (of_status(429), None),
        (of_code(Code.RESOURCE_EXHAUSTED), None),
        (of_code(Code.RESOURCE_EXHAUSTED, "", ("retry-after", "0")), 0.0),
        (of_code(Code.RESOURCE_EXHAUSTED, "", ("retry-after", "soon")), None),
    ],
)
def test_when_to_come_back(error: Exception, seconds: float | None) -> None:
    """retry_after is what the server said in any form that there is, in seconds, and else None."""
    mapped = ours(error, "fetch")
    assert isinstance(mapped, StoreUnavailable)
    assert mapped.retry_after == seconds


def test_a_date_to_come() -> None:
    """A date to come back at is so many seconds from now."""
    date = "Fri, 21 Oct 2050 07:28:00 GMT"
    mapped = ours(QdrantException(f"value is not a valid integer: {date}"), "fetch")
    assert isinstance(mapped, StoreUnavailable)
    assert (mapped.retry_after or 0) > 1e6


def test_out_of_storage() -> None:
    """A full server is told from a busy one by its mark, and both are unavailable."""
    full = of_code(Code.RESOURCE_EXHAUSTED, "", ("qdrant-insufficient-storage", "1"))
    for error in full, of_status(507):
        assert "out of storage" in str(ours(error, "fetch"))
    assert "less at once" in str(ours(of_code(Code.RESOURCE_EXHAUSTED), "fetch"))


def test_what_two_codes_mean() -> None:
    """A locked server is a matter of configuration over gRPC too, and so is its certificate."""
    locked = of_code(Code.FAILED_PRECONDITION, "Storage locked: maintenance")
    untrusted = of_code(Code.UNAVAILABLE, "Ssl handshake failed: CERTIFICATE_VERIFY_FAILED")
    for error in locked, untrusted:
        owed(ours(error, "fetch"), Unconfigured)
