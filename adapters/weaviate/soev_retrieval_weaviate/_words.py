"""What a server said of an error, as far as it may be told."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from grpc.aio import AioRpcError
from weaviate.exceptions import (
    InsufficientPermissionsError,
    ResponseCannotBeDecodedError,
    UnexpectedStatusCodeError,
    WeaviateInsertManyAllFailedError,
    WeaviateQueryError,
    WeaviateRetryError,
)

# What a server says may repeat a part of the request. Of it is told what has one of these forms,
# whose blanks are names and numbers.
_NAME = r"(?:'[\w-]{1,255}'|\"[\w-]{1,255}\"|[\w-]{1,255})"
_FORMS = re.compile(
    rf"[Cc]lass (?:name )?{_NAME} (?:not (?:found|present)|already exists)"
    rf"|could not find class {_NAME} in schema|could not find index for class {_NAME}"
    rf"|no such prop with name {_NAME} found in class {_NAME}"
    rf"|class {_NAME} has multiple vectors, but no target vectors"
    rf"|(?:class|collection) {_NAME} does not have (?:named|configuration for) vector {_NAME}"
    rf"|class {_NAME} has multi-tenancy (?:enabled|disabled), but request was with(?:out)? tenant"
    rf"|multi-tenancy is not enabled for class {_NAME}"
    rf"|tenant not (?:found|active): {_NAME}"
    r"|: \d+ vs \d+: vector lengths don't match"
    r"|new node has a vector with length \d+\. Existing nodes have vectors with length \d+"
    r"|vector of the wrong size: \d+\. Saved length: \d+"
    r"|offset '-?\d+' and limit '-?\d+' exceeds the configured value"
    rf"|(?:Filtering|Searching) by property {_NAME} requires inverted index"
    r"|(?:Nullstate|Property length|Timestamps) must be indexed to be filterable"
    rf"|prop {_NAME} is of type uuid"
    rf"|invalid [\w \[\]-]{{1,40}} property {_NAME} on class {_NAME}"
    r"|data type filter cannot use \"\w+\" on type \"[\w\[\]]+\""
    r"|only stopwords provided"
    rf"|no module with name {_NAME} present"
    r"|\d+ available, \d+ requested"
    r"|larger than max \(\d+ vs\.? \d+\)"
    rf"|non-existing index for {_NAME}"
    r"|connection refused|connection reset by peer"
    r"|no (?:read|write) replica found"
    r"|cannot reach enough replicas"
    r"|read-only"
    r"|429 Too many requests"
)


class Unanswered(Exception):
    """The server was not there, or its connection broke: `__cause__` is what gRPC raised."""


class Astray(Exception):
    """Something answered that is not Weaviate.

    Args:
        status_code: The HTTP status that it gave.
    """

    def __init__(self, status_code: int) -> None:
        super().__init__(status_code)
        self.status_code = status_code


class Busy(Exception):
    """The server, or a proxy before it, asks to come back later.

    Args:
        status_code: The HTTP status that it gave.
        seconds: After how many of them.
    """

    def __init__(self, status_code: int, seconds: float) -> None:
        super().__init__(status_code, seconds)
        self.status_code = status_code
        self.seconds = seconds


class Refused(RuntimeError):
    """Objects that the server did not write, or did not delete.

    Args:
        id: The id of the first chunk among them, or None where the server does not name it.
        count: How many there are.
        said: What the server said of the first. It does not show.
    """

    def __init__(self, id: str | None, count: int, said: str) -> None:
        super().__init__(f"{count} objects failed")
        self.id = id
        self.count = count
        self.said = said


def rpc(error: BaseException | None) -> AioRpcError | None:
    """What gRPC raised, under what the client made of it.

    An error's context may be another call's, which the caller is just handling: only where the
    client always has a call of its own is it looked for.
    """
    if isinstance(error, AioRpcError):
        return error
    if isinstance(error, WeaviateQueryError | WeaviateRetryError | Unanswered):
        return rpc(error.__cause__ or error.__context__)
    return None


def status(error: BaseException | None) -> str:
    """The status of an answer that is an error; empty where there is none."""
    match error:
        case InsufficientPermissionsError(status_code=7):
            return "PERMISSION_DENIED"
        case UnexpectedStatusCodeError() | ResponseCannotBeDecodedError() | Astray() | Busy():
            return str(error.status_code)
        case _:
            found = rpc(error)
            return "" if found is None else str(found.code().name)


def form(error: BaseException | None) -> str:
    """What was said, as far as it has a form that repeats no value."""
    found = _FORMS.search(said(error))
    return "" if found is None else found[0].removeprefix(": ")


def said(error: BaseException | None) -> str:
    """All that was said. It may repeat what was asked: it is to look at, not to tell."""
    match error:
        case Refused():
            return error.said
        case UnexpectedStatusCodeError():
            return _said_by_rest(error.error)
        case WeaviateInsertManyAllFailedError():
            return str(error)
        case _:
            found = rpc(error)
            return "" if found is None else f"{found.details() or ''}"


def _said_by_rest(body: Any) -> str:
    match body:
        case {"error": [{"message": message}, *_]} | {"message": message}:
            return str(message)
        case _:
            return body if isinstance(body, str) else ""


def is_usage_limit(error: BaseException | None) -> bool:
    """Whether a limit is reached that the server was set up with."""
    if isinstance(error, UnexpectedStatusCodeError):
        body: Any = error.error
        return isinstance(body, dict) and body.get("errorCode") == _USAGE_LIMIT
    return _USAGE_LIMIT in " ".join(_trailers(error).values())


_USAGE_LIMIT = "USAGE_LIMIT_EXCEEDED"


def retry_after(error: BaseException | None) -> float | None:
    """After how many seconds to come back, where the server, or a proxy before it, said so."""
    return error.seconds if isinstance(error, Busy) else seconds(_trailers(error))


def seconds(headers: Mapping[str, str]) -> float | None:
    """As `retry_after`, of the headers of an answer."""
    told = headers.get("retry-after", "")
    try:
        wait = float(told)
    except ValueError:
        return _until(told)
    return max(0.0, wait) if math.isfinite(wait) else None


def _until(date: str) -> float | None:
    try:
        then = parsedate_to_datetime(date)
    except ValueError:
        return None
    if then.tzinfo is None:  # "-0000" is UTC of which nobody says that it is
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())


def _trailers(error: BaseException | None) -> dict[str, str]:
    """The metadata that came with a gRPC status."""
    found = rpc(error)
    if found is None:
        return {}
    return {
        str(key): value.decode("latin-1") if isinstance(value, bytes) else str(value)
        for key, value in found.trailing_metadata() or ()
    }
