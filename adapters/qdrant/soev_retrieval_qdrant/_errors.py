"""What qdrant-client raises, as ours."""

import json
import re
import sqlite3

import grpc
import httpx
from google.protobuf.message import DecodeError
from grpc.aio import AioRpcError, UsageError
from pydantic import ValidationError
from qdrant_client.common.client_exceptions import QdrantException
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
from soev_retrieval_qdrant._words import form, retry_after, said, status, trailers

_STORE = "QdrantStore"


class Closed(RuntimeError):
    """The store was closed."""


class ClosedMeanwhile(RuntimeError):
    """The store was closed while the call was under way."""


class Elsewhere(RuntimeError):
    """The store was first called in another event loop."""


class GivenUp(RuntimeError):
    """The client gave the request up, and nobody had asked for it."""


class Unreadable(ValueError):
    """The answer does not fit the request."""


_Becomes = tuple[type[RetrievalError], str]

_UNREADABLE = "what came is no answer of Qdrant's"
_BUSY: _Becomes = (StoreUnavailable, "the server asks for less at once")
_FULL: _Becomes = (StoreUnavailable, "the server is out of storage")
_GONE_ASTRAY: _Becomes = (Unconfigured, "this is no address of Qdrant's")
_NO_ANSWER: _Becomes = (StoreUnavailable, "the server gave no answer")

_BY_STATUS: dict[int, _Becomes] = {
    400: (InvalidQueryError, "the server does not take the request"),
    401: (Unconfigured, "the server refuses these credentials"),
    403: (Unconfigured, "the server refuses these credentials, or is locked"),
    404: (Unconfigured, "it is not there"),
    405: (Unconfigured, "the server does not serve this, as it is set up"),
    408: (StoreUnavailable, "the server took too long"),
    409: (InvalidQueryError, "it is there already"),
    413: (InvalidQueryError, "too much for one request"),
    422: (InvalidQueryError, "the server does not take the request"),
    429: _BUSY,
    500: (StoreUnavailable, "the server failed inside"),
    502: (StoreUnavailable, "a proxy gave no answer"),
    503: (StoreUnavailable, "the server or a shard of it is unavailable"),
    504: (StoreUnavailable, "a proxy gave no answer in time"),
    507: _FULL,
}

_Code = grpc.StatusCode
_BY_CODE: dict[grpc.StatusCode, _Becomes] = {
    _Code.ABORTED: (StoreUnavailable, "the server gave up"),
    _Code.ALREADY_EXISTS: (InvalidQueryError, "it is there already"),
    _Code.CANCELLED: (StoreUnavailable, "the server gave up"),
    _Code.DATA_LOSS: (StoreUnavailable, "the server failed inside"),
    _Code.DEADLINE_EXCEEDED: (StoreUnavailable, "the server took too long"),
    _Code.FAILED_PRECONDITION: (StoreUnavailable, "the server is in no state to answer"),
    _Code.INTERNAL: (StoreUnavailable, "the server failed inside"),
    _Code.INVALID_ARGUMENT: (InvalidQueryError, "the server does not take the request"),
    _Code.NOT_FOUND: (Unconfigured, "it is not there"),
    _Code.OUT_OF_RANGE: (InvalidQueryError, "too much for one request"),
    _Code.PERMISSION_DENIED: (Unconfigured, "the server refuses these credentials, or is locked"),
    _Code.RESOURCE_EXHAUSTED: _BUSY,
    _Code.UNAUTHENTICATED: (Unconfigured, "the server refuses these credentials"),
    _Code.UNAVAILABLE: (StoreUnavailable, "the server or a shard of it is unavailable"),
    _Code.UNIMPLEMENTED: (Unconfigured, "the server does not serve this, as it is set up"),
    _Code.UNKNOWN: (StoreUnavailable, "the server failed inside"),
}

_BY_CLASS: tuple[tuple[type[Exception], type[RetrievalError], str], ...] = (
    (Closed, Unconfigured, "the store is closed"),
    (ClosedMeanwhile, Unconfigured, "the store was closed meanwhile"),
    (Elsewhere, Unconfigured, "the store serves another event loop; make one for each"),
    (GivenUp, StoreUnavailable, "the request was given up"),
    (TimeoutError, StoreUnavailable, "it did not answer in time"),
    (Unreadable, StoreUnavailable, _UNREADABLE),
    (json.JSONDecodeError, StoreUnavailable, _UNREADABLE),
    (UnicodeDecodeError, StoreUnavailable, _UNREADABLE),
    (AssertionError, StoreUnavailable, _UNREADABLE),
    # Over gRPC an answer that cannot be parsed is None, of which the client takes an attribute.
    (AttributeError, StoreUnavailable, _UNREADABLE),
    (LookupError, StoreUnavailable, _UNREADABLE),
    (UsageError, Unconfigured, "the store was closed meanwhile"),
    (DecodeError, InvalidQueryError, "the filter nests too deep"),
    (RecursionError, InvalidQueryError, "the filter nests too deep"),
    (NotImplementedError, Unconfigured, "local mode does not serve this"),
    (QdrantException, *_BUSY),
    (ApiException, StoreUnavailable, _UNREADABLE),
    (grpc.RpcError, StoreUnavailable, "the connection failed"),
    (ImportError, Unconfigured, "qdrant-client lacks a package"),
    (sqlite3.Error, StoreUnavailable, "the folder of local mode failed"),
    (OSError, StoreUnavailable, "the connection, or the folder of local mode, failed"),
    (RuntimeError, Unconfigured, "it cannot be used"),
    (ValidationError, InvalidQueryError, "qdrant-client does not take the request"),
    (ValueError, InvalidQueryError, "local mode, or qdrant-client, does not take the request"),
    (TypeError, InvalidQueryError, "local mode, or qdrant-client, does not take the request"),
)
"""Errors that carry no status, the more specific first. What is none of these is no answer."""

_GONE = re.compile(r"Collection .* (not found|doesn't exist)")
# The client's conversions, of a message that it does not know.
_UNKNOWN_MESSAGE = re.compile(r"invalid \w+ model")
_UNTRUSTED = "CERTIFICATE_VERIFY_FAILED"
_NO_POINT = "No point with id"
_FULL_MARK = "qdrant-insufficient-storage"


def ours(error: Exception, operation: str) -> RetrievalError:
    """One of our errors for what qdrant-client raised."""
    if isinstance(error, ResponseHandlingException) and isinstance(error.source, Exception):
        kind, what = _of_source(error.source)
        name = type(error.source).__name__
        return _made(kind, f"Qdrant: {what} ({name})", operation, None)
    kind, what = _kind(error)
    told = " ".join(each for each in (status(error), form(error)) if each)
    message = f"Qdrant: {what} ({type(error).__name__}{f': {told}' if told else ''})"
    return _made(kind, message, operation, retry_after(error))


def unusable(error: Exception, operation: str, *, is_local: bool) -> RetrievalError:
    """One of our errors for a client that cannot be made."""
    what = "no client can be made of these settings"
    if is_local:
        what = "the folder of local mode cannot be used"
    told = form(error)
    message = f"Qdrant: {what} ({type(error).__name__}{f': {told}' if told else ''})"
    return _made(Unconfigured, message, operation, None)


def is_not_found(error: RetrievalError) -> bool:
    """Whether the collection is not there: by Qdrant's own words, which a proxy does not have."""
    cause = error.__cause__
    return isinstance(cause, Exception) and _is_gone(cause)


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


def is_missing_point(error: RetrievalError) -> bool:
    """Whether a point that was to be changed is not there."""
    match error.__cause__:
        case UnexpectedResponse() | AioRpcError() as cause:
            return _NO_POINT in said(cause)
        case _:
            return False


def may_be_outdated(error: RetrievalError) -> bool:
    """Whether the collection may not be any more what it was when it was looked at."""
    return isinstance(error, InvalidQueryError | Unconfigured)


def _made(
    kind: type[RetrievalError], message: str, operation: str, wait: float | None
) -> RetrievalError:
    if kind is StoreUnavailable:
        return StoreUnavailable(message, store=_STORE, operation=operation, retry_after=wait)
    if kind is Unconfigured:
        return Unconfigured(message, store=_STORE, operation=operation)
    return InvalidQueryError(message)


def _of_source(source: Exception) -> _Becomes:
    """What happened under the REST client: on the way, or to what came."""
    if isinstance(source, httpx.TimeoutException):
        return StoreUnavailable, "the server took too long"
    if isinstance(source, httpx.UnsupportedProtocol | httpx.InvalidURL):
        return _GONE_ASTRAY
    if _UNTRUSTED in str(source):
        return Unconfigured, "its certificate cannot be trusted"
    if isinstance(source, httpx.TransportError):
        return StoreUnavailable, "the connection failed"
    if isinstance(source, ValidationError | httpx.DecodingError | httpx.TooManyRedirects):
        return StoreUnavailable, _UNREADABLE
    if type(source) is RuntimeError and "closed" in str(source):
        return Unconfigured, "the store was closed meanwhile"
    return StoreUnavailable, "the request failed on its way"


def _kind(error: Exception) -> _Becomes:
    match error:
        case UnexpectedResponse():
            return _of_status(error)
        case AioRpcError():
            return _of_code(error)
        case ValueError() if _is_gone(error):
            return _BY_STATUS[404]
        case ValueError() if _UNKNOWN_MESSAGE.match(str(error)):
            return StoreUnavailable, _UNREADABLE
        case _:
            rows = ((kind, what) for of, kind, what in _BY_CLASS if isinstance(error, of))
            return next(rows, _NO_ANSWER)


def _of_status(error: UnexpectedResponse) -> _Becomes:
    number = error.status_code or 0
    if number == 404 and not said(error):
        return _GONE_ASTRAY
    if (found := _BY_STATUS.get(number)) is not None:
        return found
    return _NO_ANSWER if number >= 500 else _GONE_ASTRAY


def _of_code(error: AioRpcError) -> _Becomes:
    code = error.code()
    if code is _Code.RESOURCE_EXHAUSTED and _FULL_MARK in trailers(error):
        return _FULL
    if code is _Code.FAILED_PRECONDITION and said(error).startswith("Storage locked"):
        return _BY_STATUS[403]
    if code is _Code.UNAVAILABLE and _UNTRUSTED in said(error):
        return Unconfigured, "its certificate cannot be trusted"
    return _BY_CODE.get(code, _NO_ANSWER)


def _is_gone(error: Exception) -> bool:
    match error:
        case UnexpectedResponse():
            there = error.status_code == 404
        case AioRpcError():
            there = error.code() is _Code.NOT_FOUND
        case _:
            there = isinstance(error, ValueError)
    return there and _GONE.search(said(error)) is not None
