"""What weaviate-client raises, as ours."""

import struct

import grpc
import httpx
from google.protobuf.message import DecodeError, EncodeError
from grpc.aio import UsageError
from pydantic import ValidationError
from weaviate.exceptions import (
    AdditionalPropertiesError,
    AuthenticationFailedError,
    BackupCanceledError,
    BackupFailedError,
    EmptyResponseError,
    ExportCanceledError,
    ExportFailedError,
    InsufficientPermissionsError,
    InvalidDataModelError,
    MissingScopeError,
    ObjectAlreadyExistsError,
    ResponseCannotBeDecodedError,
    SchemaValidationError,
    UnexpectedStatusCodeError,
    WeaviateAddInvalidPropertyError,
    WeaviateAgentsNotInstalledError,
    WeaviateBatchFailedToReestablishStreamError,
    WeaviateBatchValidationError,
    WeaviateClosedClientError,
    WeaviateConnectionError,
    WeaviateEmbeddedInvalidVersionError,
    WeaviateGRPCUnavailableError,
    WeaviateInsertInvalidPropertyError,
    WeaviateInsertManyAllFailedError,
    WeaviateInvalidInputError,
    WeaviateProtobufIncompatibility,
    WeaviateQueryError,
    WeaviateRetryError,
    WeaviateStartUpError,
    WeaviateTimeoutError,
    WeaviateUnsupportedFeatureError,
)

from soev_retrieval.domain import (
    InvalidQueryError,
    RetrievalError,
    StoreUnavailable,
    Unconfigured,
)
from soev_retrieval_weaviate._sayings import (
    AGREED_GONE,
    BUSY,
    CREDENTIALS,
    LATE,
    NOT_KNOWN_HERE,
    NOT_TAKEN,
    THERE,
    TOO_MUCH,
    Becomes,
    of_text,
)
from soev_retrieval_weaviate._words import (
    Astray,
    Busy,
    Refused,
    Unanswered,
    form,
    is_usage_limit,
    retry_after,
    rpc,
    said,
    status,
)

__all__ = [
    "Astray",
    "Busy",
    "Closed",
    "ClosedMeanwhile",
    "Elsewhere",
    "GivenUp",
    "Refused",
    "Unanswered",
    "Unreadable",
    "is_gone",
    "is_there_already",
    "may_be_outdated",
    "ours",
    "unusable",
]

_STORE = "WeaviateStore"


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


_UNREADABLE = "what came is no answer of Weaviate's"
_UNFIT = "weaviate-client does not take the request"
_LIMITED: Becomes = (Unconfigured, "a limit that the server was set up with is reached")
_GONE_ASTRAY: Becomes = (Unconfigured, "this is no address of Weaviate's")
_UNTRUSTED: Becomes = (Unconfigured, "its certificate cannot be trusted")
_FAILED: Becomes = (StoreUnavailable, "the server failed inside")
_LOST: Becomes = (StoreUnavailable, "the connection failed")
_NO_ANSWER: Becomes = (StoreUnavailable, "the server gave no answer")
_NOT_SERVED: Becomes = (Unconfigured, "the server does not serve this, as it is set up")
_NOT_THERE: Becomes = (InvalidQueryError, "it is not there")

_BY_STATUS: dict[int, Becomes] = {
    400: NOT_TAKEN,
    401: CREDENTIALS,
    403: CREDENTIALS,
    404: _NOT_THERE,
    405: _NOT_SERVED,
    408: LATE,
    409: THERE,
    413: TOO_MUCH,
    422: NOT_TAKEN,
    429: BUSY,
    500: _FAILED,
    501: _NOT_SERVED,
    502: (StoreUnavailable, "a proxy gave no answer"),
    503: (StoreUnavailable, "the server is unavailable"),
    504: (StoreUnavailable, "a proxy gave no answer in time"),
    507: (StoreUnavailable, "the server is out of storage"),
}

_Code = grpc.StatusCode
_BY_CODE: dict[grpc.StatusCode, Becomes] = {
    _Code.ABORTED: (StoreUnavailable, "the server gave up"),
    _Code.ALREADY_EXISTS: THERE,
    _Code.CANCELLED: (StoreUnavailable, "the server gave up"),
    _Code.DATA_LOSS: _FAILED,
    _Code.DEADLINE_EXCEEDED: LATE,
    _Code.FAILED_PRECONDITION: _NOT_SERVED,
    _Code.INTERNAL: _FAILED,
    _Code.INVALID_ARGUMENT: NOT_TAKEN,
    _Code.NOT_FOUND: _NOT_THERE,
    _Code.OUT_OF_RANGE: TOO_MUCH,
    _Code.PERMISSION_DENIED: CREDENTIALS,
    _Code.RESOURCE_EXHAUSTED: BUSY,
    _Code.UNAUTHENTICATED: CREDENTIALS,
    _Code.UNAVAILABLE: (StoreUnavailable, "the server is unavailable"),
    _Code.UNIMPLEMENTED: _NOT_SERVED,
    _Code.UNKNOWN: _FAILED,
}

_BY_CLASS: tuple[tuple[type[BaseException], type[RetrievalError], str], ...] = (
    (Closed, Unconfigured, "the store is closed"),
    (ClosedMeanwhile, Unconfigured, "the store was closed meanwhile"),
    (Elsewhere, Unconfigured, "the store serves another event loop; make one for each"),
    (GivenUp, StoreUnavailable, "the request was given up"),
    (Astray, *_GONE_ASTRAY),
    (Busy, *BUSY),
    (Unanswered, StoreUnavailable, "the server is unavailable"),
    (Unreadable, StoreUnavailable, _UNREADABLE),
    (TimeoutError, StoreUnavailable, "it did not answer in time"),
    # weaviate-client's own
    (WeaviateClosedClientError, Unconfigured, "the store was closed meanwhile"),
    (WeaviateTimeoutError, *LATE),
    (WeaviateConnectionError, *_LOST),
    (WeaviateStartUpError, Unconfigured, "weaviate-client serves no server of this version"),
    (WeaviateGRPCUnavailableError, StoreUnavailable, "the server is unavailable over gRPC"),
    (WeaviateRetryError, *_NO_ANSWER),
    (WeaviateBatchFailedToReestablishStreamError, *_LOST),
    (WeaviateQueryError, *_NO_ANSWER),
    (AuthenticationFailedError, *CREDENTIALS),
    (MissingScopeError, *CREDENTIALS),
    (WeaviateUnsupportedFeatureError, Unconfigured, "the server is too old for this"),
    (WeaviateEmbeddedInvalidVersionError, Unconfigured, "there is no such version to embed"),
    (WeaviateAgentsNotInstalledError, Unconfigured, "weaviate-client lacks a package"),
    (WeaviateProtobufIncompatibility, Unconfigured, "weaviate-client lacks a fitting package"),
    (ResponseCannotBeDecodedError, StoreUnavailable, _UNREADABLE),
    (EmptyResponseError, StoreUnavailable, _UNREADABLE),
    (SchemaValidationError, Unconfigured, "weaviate-client cannot read this collection"),
    (ObjectAlreadyExistsError, *THERE),
    (BackupFailedError, *_FAILED),
    (BackupCanceledError, *_FAILED),
    (ExportFailedError, *_FAILED),
    (ExportCanceledError, *_FAILED),
    (AdditionalPropertiesError, InvalidQueryError, _UNFIT),
    (InvalidDataModelError, InvalidQueryError, _UNFIT),
    (WeaviateInvalidInputError, InvalidQueryError, _UNFIT),
    (WeaviateAddInvalidPropertyError, InvalidQueryError, _UNFIT),
    (WeaviateBatchValidationError, InvalidQueryError, _UNFIT),
    (WeaviateInsertInvalidPropertyError, InvalidQueryError, _UNFIT),
    # its drivers'
    (httpx.UnsupportedProtocol, *_GONE_ASTRAY),
    (httpx.InvalidURL, *_GONE_ASTRAY),
    (httpx.TimeoutException, *LATE),
    (httpx.TransportError, *_LOST),
    (httpx.HTTPError, StoreUnavailable, _UNREADABLE),
    (UsageError, Unconfigured, "the store was closed meanwhile"),
    (grpc.RpcError, *_LOST),
    # what it lets through
    (DecodeError, InvalidQueryError, "the filter nests too deep"),
    (EncodeError, InvalidQueryError, _UNFIT),
    (RecursionError, InvalidQueryError, "the filter nests too deep"),
    (ValidationError, InvalidQueryError, _UNFIT),
    (UnicodeEncodeError, InvalidQueryError, _UNFIT),
    (struct.error, InvalidQueryError, _UNFIT),
    (OverflowError, InvalidQueryError, _UNFIT),
    (AssertionError, StoreUnavailable, _UNREADABLE),
    # Over gRPC an answer that cannot be parsed is None, of which the client takes an attribute.
    (AttributeError, StoreUnavailable, _UNREADABLE),
    (LookupError, StoreUnavailable, _UNREADABLE),
    (ValueError, StoreUnavailable, _UNREADABLE),
    (TypeError, StoreUnavailable, _UNREADABLE),
    (ImportError, Unconfigured, "weaviate-client lacks a package"),
    (OSError, *_LOST),
    (RuntimeError, Unconfigured, "it cannot be used"),
)
"""Errors that carry no status, the more specific first. What is none of these is no answer."""

_UNTRUSTED_MARK = "CERTIFICATE_VERIFY_FAILED"


def ours(error: BaseException, operation: str) -> RetrievalError:
    """One of our errors for what weaviate-client raised."""
    kind, what = _kind(error)
    if isinstance(error, Refused):
        which = "some objects are" if error.id is None else f"record {error.id!r} is"
        more = f", nor are {error.count - 1} more" if error.id and error.count > 1 else ""
        what = f"{which} not written{more}: {what}"
    return _made(kind, _message(what, error), operation, retry_after(error))


def unusable(error: BaseException, operation: str) -> RetrievalError:
    """One of our errors for a client that cannot be made."""
    what = "no client can be made of these settings"
    return _made(Unconfigured, _message(what, error), operation, None)


def is_gone(error: RetrievalError) -> bool:
    """Whether the collection is not there: by what knows, which a search and a proxy do not."""
    match error.__cause__:
        case UnexpectedStatusCodeError(status_code=404) as cause:
            return not cause.error  # so the schema answers
        case cause:
            return AGREED_GONE.search(said(cause)) is not None


def is_there_already(error: RetrievalError) -> bool:
    """Whether what was to be made is there."""
    return "already exists" in said(error.__cause__)


def may_be_outdated(error: RetrievalError) -> bool:
    """Whether the collection may not be any more what it was when it was looked at."""
    told = said(error.__cause__)
    if isinstance(error, StoreUnavailable):
        return NOT_KNOWN_HERE.search(told) is not None
    return of_text(told) is not None or is_gone(error)


def _message(what: str, error: BaseException) -> str:
    told = " ".join(each for each in (status(error), form(error)) if each)
    return f"Weaviate: {what} ({type(error).__name__}{f': {told}' if told else ''})"


def _made(
    kind: type[RetrievalError], message: str, operation: str, wait: float | None
) -> RetrievalError:
    if kind is StoreUnavailable:
        return StoreUnavailable(message, store=_STORE, operation=operation, retry_after=wait)
    if kind is Unconfigured:
        return Unconfigured(message, store=_STORE, operation=operation)
    return InvalidQueryError(message)


def _kind(error: BaseException) -> Becomes:
    match error:
        case InsufficientPermissionsError():
            return CREDENTIALS
        case UnexpectedStatusCodeError():
            return _of_status(error)
        case Refused() | WeaviateInsertManyAllFailedError():
            return of_text(said(error)) or _FAILED
        case WeaviateStartUpError() | AuthenticationFailedError() if under := _under(error):
            return _kind(under)
    if _UNTRUSTED_MARK in str(_under(error) or error):
        return _UNTRUSTED
    if (found := rpc(error)) is not None:
        return _of_code(found)
    if type(error).__module__.startswith("authlib."):  # of which the client makes its OAuth
        return CREDENTIALS
    rows = ((kind, what) for of, kind, what in _BY_CLASS if isinstance(error, of))
    return next(rows, _NO_ANSWER)


def _under(error: BaseException) -> BaseException | None:
    """What of the connection is under an error of the client's."""
    for each in (error.__cause__, error.__context__):
        if isinstance(each, WeaviateConnectionError | httpx.TransportError):
            return each
    return None


def _of_status(error: UnexpectedStatusCodeError) -> Becomes:
    number = error.status_code
    if is_usage_limit(error):
        return _LIMITED
    if number != 401 and (found := of_text(said(error))) is not None:
        return found
    if (known := _BY_STATUS.get(number)) is not None:
        return known
    return _NO_ANSWER if number >= 500 else _GONE_ASTRAY


def _of_code(error: grpc.aio.AioRpcError) -> Becomes:
    code, text = error.code(), error.details() or ""
    if code is _Code.RESOURCE_EXHAUSTED and is_usage_limit(error):
        return _LIMITED
    if code in (_Code.UNKNOWN, _Code.RESOURCE_EXHAUSTED, _Code.INTERNAL):
        return of_text(text) or _BY_CODE[code]
    if code is _Code.UNAVAILABLE and _UNTRUSTED_MARK in text:
        return _UNTRUSTED
    return _BY_CODE.get(code, _NO_ANSWER)
