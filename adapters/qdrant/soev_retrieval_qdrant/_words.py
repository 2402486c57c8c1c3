"""What a server, or local mode, said of an error, as far as it may be told."""

import json
import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import grpc
from grpc.aio import AioRpcError
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import UnexpectedResponse

# What a server says may repeat a part of the request. Of it is told what has one of these forms,
# whose blanks are names and numbers.
_FORMS = re.compile(
    r"Collection `?[^`\n]{1,255}?`? (?:doesn't exist|not found|already exists)"
    r"|Vector dimension error: expected dim: \d+, got \d+"
    r"|Not existing vector name error: [^\n]{0,255}"
    r"|No range index for `order_by` key: `[^`\n]{1,255}`"
    r"|Index required but not found for [^\n]{1,255}"
    r"|Storage folder [^\n]{1,255} is already accessed by another instance"
    r"|JSON payload \(\d+ bytes\) is larger than allowed \(limit: \d+ bytes\)"
    r"|Shard key [^\n]{1,255} not found"
    r"|recursion limit exceeded"
    r"|no active replica|currently unavailable"
)
# A date is as good as a number in HTTP; qdrant-client takes it for an error.
_DATE = re.compile(r"not a valid integer: (.+)")


def status(error: Exception) -> str:
    """The status of an answer that is an error; empty where there is none."""
    match error:
        case UnexpectedResponse():
            return str(error.status_code)
        case AioRpcError():
            return str(error.code().name)
        case _:
            return ""


def form(error: Exception) -> str:
    """What was said, as far as it has a form that repeats no value."""
    found = _FORMS.search(said(error))
    return "" if found is None else found[0]


def said(error: Exception) -> str:
    """All that was said. It may repeat what was asked: it is to look at, not to tell."""
    return _SAYS.get(type(error), str)(error)


def _said_by_rest(error: Any) -> str:
    try:
        return str(json.loads(error.content)["status"]["error"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _said_by_grpc(error: Any) -> str:
    return f"{error.details() or ''}"


_SAYS: dict[type[Exception], Callable[[Any], str]] = {
    UnexpectedResponse: _said_by_rest,
    AioRpcError: _said_by_grpc,
}


def trailers(error: Any) -> dict[str, str]:
    """The metadata that came with a gRPC status."""
    return {str(key): str(value) for key, value in error.trailing_metadata() or ()}


def retry_after(error: Exception) -> float | None:
    """After how many seconds to come back, where the server said so."""
    match error:
        case ResourceExhaustedResponse():
            return _seconds(error.retry_after_s)
        case AioRpcError() if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
            return _seconds(trailers(error).get("retry-after"))
        case QdrantException() if date := _DATE.search(str(error)):
            return _until(date[1])
        case _:
            return None


def _seconds(given: Any) -> float | None:
    try:
        seconds = float(given)
    except (OverflowError, TypeError, ValueError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _until(date: str) -> float | None:
    try:
        then = parsedate_to_datetime(date)
    except ValueError:
        return _seconds(date)
    if then.tzinfo is None:  # "-0000" is UTC of which nobody says that it is
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())
