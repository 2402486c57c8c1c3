"""What qdrant-client raises, as ours."""

import json
import re
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import grpc
import httpx
from google.protobuf.message import DecodeError
from grpc.aio import AioRpcError, UsageError
from pydantic import ValidationError
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
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

_STORE = "QdrantStore"


class Closed(RuntimeError):
    """The store was closed."""


class Elsewhere(RuntimeError):
    """The store was first called in another event loop."""


RAISED: tuple[type[Exception], ...] = (
    ApiException,
    QdrantException,
    grpc.RpcError,
    UsageError,
    DecodeError,
    AssertionError,
    ImportError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    sqlite3.Error,
)
"""What qdrant-client lets through: its own errors, and those of what it is built on."""

_BY_STATUS: dict[int, tuple[type[RetrievalError], str]] = {
    400: (InvalidQueryError, "the server does not take the request"),
    401: (Unconfigured, "the server refuses these credentials"),
    403: (Unconfigured, "the server refuses these credentials, or is locked"),
    404: (Unconfigured, "it is not there"),
    405: (Unconfigured, "the server does not serve this, as it is set up"),
    408: (StoreUnavailable, "the server took too long"),
    409: (InvalidQueryError, "it is there already"),
    413: (InvalidQueryError, "too much for one request"),
    422: (InvalidQueryError, "the server does not take the request"),
    429: (StoreUnavailable, "the server asks for less at once"),
    500: (StoreUnavailable, "the server failed inside"),
    502: (StoreUnavailable, "a proxy gave no answer"),
    503: (StoreUnavailable, "the server or a shard of it is unavailable"),
    504: (StoreUnavailable, "a proxy gave no answer in time"),
    507: (Unconfigured, "the server is out of storage"),
}

_Code = grpc.StatusCode
_BY_CODE: dict[grpc.StatusCode, tuple[type[RetrievalError], str]] = {
    _Code.ABORTED: (StoreUnavailable, "the server gave up"),
    _Code.ALREADY_EXISTS: (InvalidQueryError, "it is there already"),
    _Code.CANCELLED: (StoreUnavailable, "the server gave up"),
    _Code.DATA_LOSS: (StoreUnavailable, "the server failed inside"),
    _Code.DEADLINE_EXCEEDED: (StoreUnavailable, "the server took too long"),
    _Code.FAILED_PRECONDITION: (Unconfigured, "the server does not serve this, as it is set up"),
    _Code.INTERNAL: (StoreUnavailable, "the server failed inside"),
    _Code.INVALID_ARGUMENT: (InvalidQueryError, "the server does not take the request"),
    _Code.NOT_FOUND: (Unconfigured, "it is not there"),
    _Code.OUT_OF_RANGE: (InvalidQueryError, "too much for one request"),
    _Code.PERMISSION_DENIED: (Unconfigured, "the server refuses these credentials, or is locked"),
    _Code.RESOURCE_EXHAUSTED: (StoreUnavailable, "the server asks for less at once"),
    _Code.UNAUTHENTICATED: (Unconfigured, "the server refuses these credentials"),
    _Code.UNAVAILABLE: (StoreUnavailable, "the server or a shard of it is unavailable"),
    _Code.UNIMPLEMENTED: (Unconfigured, "the server does not serve this, as it is set up"),
    _Code.UNKNOWN: (StoreUnavailable, "the server failed inside"),
}

_UNREADABLE = "what came is no answer of Qdrant's"

_BY_CLASS: tuple[tuple[type[Exception], type[RetrievalError], str], ...] = (
    (Closed, Unconfigured, "the store is closed"),
    (Elsewhere, Unconfigured, "the store serves another event loop; make one for each"),
    (TimeoutError, StoreUnavailable, "it did not answer in time"),
    (json.JSONDecodeError, StoreUnavailable, _UNREADABLE),
    (UnicodeDecodeError, StoreUnavailable, _UNREADABLE),
    (AssertionError, StoreUnavailable, _UNREADABLE),
    (UsageError, Unconfigured, "the store was closed meanwhile"),
    (DecodeError, InvalidQueryError, "the filter nests too deep"),
    (RecursionError, InvalidQueryError, "the filter nests too deep"),
    (NotImplementedError, Unconfigured, "local mode does not serve this"),
    (QdrantException, StoreUnavailable, "the server asks for less at once"),
    (ApiException, StoreUnavailable, _UNREADABLE),
    (grpc.RpcError, StoreUnavailable, "the connection failed"),
    (ImportError, Unconfigured, "qdrant-client lacks a package"),
    (sqlite3.Error, StoreUnavailable, "the folder of local mode cannot be used"),
    (OSError, Unconfigured, "the folder of local mode cannot be used"),
    (RuntimeError, Unconfigured, "it cannot be used"),
    (ValidationError, InvalidQueryError, "qdrant-client does not take the request"),
    (ValueError, InvalidQueryError, "local mode, or qdrant-client, does not take the request"),
    (TypeError, InvalidQueryError, "local mode, or qdrant-client, does not take the request"),
)
"""Errors that carry no status, the more specific first."""

# What the server says of a request names collections, vectors and keys; of a body that it cannot
# read it may repeat a part.
_SAID = re.compile(
    r"(Not found: )?(Collection|Vector|Shard|Wrong input|Bad request|Service|Index required"
    r"|Storage folder|Not existing|No range index|Dense vector|Sparse vector)"
)
_REPEATS = re.compile("format error|json body|parse", re.IGNORECASE)
# A date is as good as a number in HTTP; qdrant-client takes it for an error.
_DATE = re.compile(r"not a valid integer: (.+)")
_GONE = re.compile(r"Collection .* (not found|doesn't exist)")


def ours(error: Exception, operation: str) -> RetrievalError:
    """One of our errors for what qdrant-client raised."""
    if isinstance(error, ResponseHandlingException) and isinstance(error.source, Exception):
        return _of_source(error.source, operation)
    kind, what = _kind(error)
    said = _said(error)
    message = f"Qdrant: {what} ({type(error).__name__}{f': {said}' if said else ''})"
    return _made(kind, message, operation, _retry_after(error))


def is_not_found(error: RetrievalError) -> bool:
    """Whether the collection is not there."""
    match error.__cause__:
        case UnexpectedResponse(status_code=404):
            return True
        case AioRpcError() as cause:
            return bool(cause.code() is _Code.NOT_FOUND)
        case ValueError() as cause:
            return _GONE.search(str(cause)) is not None
        case _:
            return False


def is_there_already(error: RetrievalError) -> bool:
    """Whether the collection that was to be made is there."""
    match error.__cause__:
        case UnexpectedResponse(status_code=409):
            return True
        case AioRpcError() as cause:
            return bool(cause.code() is _Code.ALREADY_EXISTS)
        case ValueError() as cause:
            return "already exists" in str(cause)
        case _:
            return False


def may_be_outdated(error: RetrievalError) -> bool:
    """Whether the collection may not be any more what it was when it was looked at."""
    return isinstance(error, InvalidQueryError | Unconfigured)


def _of_source(source: Exception, operation: str) -> RetrievalError:
    """What happened under the REST client: on the way, or to what came."""
    kind, what = StoreUnavailable, "the connection failed"
    if isinstance(source, ValidationError):
        what = _UNREADABLE
    elif isinstance(source, httpx.TimeoutException):
        what = "the server took too long"
    elif isinstance(source, RuntimeError):
        kind, what = Unconfigured, "the store was closed meanwhile"  # type: ignore[assignment]
    elif "CERTIFICATE_VERIFY_FAILED" in str(source):
        kind, what = Unconfigured, "its certificate cannot be trusted"  # type: ignore[assignment]
    elif not isinstance(source, httpx.TransportError):
        what = _UNREADABLE
    return _made(kind, f"Qdrant: {what} ({type(source).__name__})", operation, None)


def _made(
    kind: type[RetrievalError], message: str, operation: str, retry_after: float | None
) -> RetrievalError:
    if kind is StoreUnavailable:
        return StoreUnavailable(message, store=_STORE, operation=operation, retry_after=retry_after)
    if kind is Unconfigured:
        return Unconfigured(message, store=_STORE, operation=operation)
    return InvalidQueryError(message)


def _kind(error: Exception) -> tuple[type[RetrievalError], str]:
    match error:
        case UnexpectedResponse():
            return _of_status(error.status_code or 0)
        case AioRpcError():
            if error.code() is _Code.RESOURCE_EXHAUSTED and _is_full(error):
                return _BY_STATUS[507]
            return _BY_CODE.get(error.code(), (StoreUnavailable, "the server gave no answer"))
        case ValueError() if _GONE.search(str(error)):
            return _BY_STATUS[404]
        case _:
            return next((kind, what) for of, kind, what in _BY_CLASS if isinstance(error, of))


def _of_status(status: int) -> tuple[type[RetrievalError], str]:
    if (found := _BY_STATUS.get(status)) is not None:
        return found
    if status >= 500:
        return StoreUnavailable, "the server gave no answer"
    return Unconfigured, "this is no address of Qdrant's"


def _is_full(error: AioRpcError) -> bool:
    """Out of storage has the code of too many requests, and a mark of its own."""
    keys = {str(key) for key, _ in error.trailing_metadata() or ()}
    return any("insufficient" in key and "storage" in key for key in keys)


def _said(error: Exception) -> str:
    """What the server said, unless it may repeat a value or a text."""
    said = _TELLS.get(type(error), str)(error)
    known = _SAID.match(said) is not None and _REPEATS.search(said) is None
    status = getattr(error, "status_code", None)
    return f"{status} {said if known else ''}".strip() if status else said if known else ""


def _told_by_rest(error: Any) -> str:
    try:
        return str(json.loads(error.content)["status"]["error"])
    except (ValueError, KeyError, TypeError):
        return ""


def _told_by_grpc(error: Any) -> str:
    return f"{error.details() or ''}"


_TELLS: dict[type[Exception], Callable[[Any], str]] = {
    UnexpectedResponse: _told_by_rest,
    AioRpcError: _told_by_grpc,
}


def _retry_after(error: Exception) -> float | None:
    """In seconds, where the server said so."""
    if isinstance(error, ResourceExhaustedResponse):
        return float(max(0, error.retry_after_s))
    if isinstance(error, QdrantException) and (date := _DATE.search(str(error))):
        try:
            wait = parsedate_to_datetime(date[1]) - datetime.now(UTC)
        except ValueError:
            return None
        return max(0.0, wait.total_seconds())
    return None
