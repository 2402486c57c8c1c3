"""What the stand-in can be told to answer, and what it remembers of each request."""

import json
from collections.abc import Mapping
from enum import Enum
from http import HTTPStatus
from typing import Any, Literal

import attrs
import grpc
from google.protobuf.message import Message

_KINDS: dict[str, tuple[HTTPStatus, grpc.StatusCode]] = {
    "bad input": (HTTPStatus.BAD_REQUEST, grpc.StatusCode.INVALID_ARGUMENT),
    "invalid": (HTTPStatus.UNPROCESSABLE_ENTITY, grpc.StatusCode.INVALID_ARGUMENT),
    "not found": (HTTPStatus.NOT_FOUND, grpc.StatusCode.NOT_FOUND),
    "exists": (HTTPStatus.CONFLICT, grpc.StatusCode.ALREADY_EXISTS),
    "forbidden": (HTTPStatus.FORBIDDEN, grpc.StatusCode.PERMISSION_DENIED),
    "timeout": (HTTPStatus.REQUEST_TIMEOUT, grpc.StatusCode.DEADLINE_EXCEEDED),
    "internal": (HTTPStatus.INTERNAL_SERVER_ERROR, grpc.StatusCode.INTERNAL),
    "shard unavailable": (HTTPStatus.SERVICE_UNAVAILABLE, grpc.StatusCode.UNAVAILABLE),
    "no space": (HTTPStatus.INSUFFICIENT_STORAGE, grpc.StatusCode.RESOURCE_EXHAUSTED),
}


class RefusedError(Exception):
    """An error as the server itself makes it, with its status on either protocol.

    Args:
        kind: One of "bad input", "invalid", "not found", "exists", "forbidden", "timeout",
            "internal", "shard unavailable", "no space".
        text: The server's message.
    """

    def __init__(self, kind: str, text: str):
        super().__init__(text)
        self.status, self.code = _KINDS[kind]
        self.text = text


NO_REPLICA = RefusedError(
    "internal",
    "Service internal error: 1 of 1 read operations failed:\n  Service internal error: "
    "The replica set for shard 0 on peer 1 has no active replica, currently unavailable",
)
"""What a cluster says whose only replica of a shard is gone: unavailable, though it is a 500."""


@attrs.frozen
class RestAnswer:
    """An HTTP answer, byte for byte.

    Args:
        status: The status of its first line.
        body: What follows the headers.
        headers: Beyond Content-Length and Content-Type; these two can be replaced.
        cut: How many bytes of the body are sent before the connection is closed; None is all.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = attrs.field(factory=dict)
    cut: int | None = None

    @classmethod
    def error(
        cls, status: int, text: str, headers: Mapping[str, str] | None = None
    ) -> "RestAnswer":
        """An error in the server's JSON."""
        body = json.dumps({"status": {"error": text}, "time": 0}).encode()
        return cls(status, body, headers or {})


@attrs.frozen
class GrpcAnswer:
    """A gRPC status.

    Args:
        code: The status.
        details: Its message.
        trailers: Its trailing metadata, such as `(("retry-after", "2"),)`.
    """

    code: grpc.StatusCode
    details: str = ""
    trailers: tuple[tuple[str, str], ...] = ()


class Unanswered(Enum):
    """No answer at all."""

    SILENT = "the request is taken, and the answer never comes"
    CLOSED = "the connection is closed; over gRPC the status of a connection that was"


Answer = RefusedError | RestAnswer | GrpcAnswer | Unanswered


@attrs.frozen
class Request:
    """A request as it arrived.

    Args:
        operation: The client's word for it: `query_points`, `upsert`, `get_collection`.
        protocol: Which of the two it came by.
        headers: Its headers or its metadata, names in lower case.
        message: The protobuf message; None over REST.
        method: The HTTP method; empty over gRPC.
        path: The path, escapes and all; over gRPC the method's full name.
        query: The query of the URL, such as `wait=true`; empty over gRPC.
        body: The parsed JSON body; None where there is none, and over gRPC.
    """

    operation: str
    protocol: Literal["rest", "grpc"]
    headers: Mapping[str, str]
    message: Message | None = None
    method: str = ""
    path: str = ""
    query: str = ""
    body: Any = None


@attrs.define
class _Told:
    answer: Answer
    operation: str | None
    left: float

    def fits(self, request: Request) -> bool:
        if self.operation not in (None, request.operation) or self.left < 1:
            return False
        if isinstance(self.answer, RestAnswer):
            return request.protocol == "rest"
        return not isinstance(self.answer, GrpcAnswer) or request.protocol == "grpc"


@attrs.define
class Script:
    """What was told and what came: the part that both protocols share."""

    requests: list[Request] = attrs.field(factory=list)
    _told: list[_Told] = attrs.field(factory=list)

    def tell(self, answer: Answer, operation: str | None, times: int | None) -> None:
        """Answer so from now on; the last that was told of an operation goes first."""
        self._told.insert(0, _Told(answer, operation, float("inf") if times is None else times))

    def forget(self) -> None:
        """Answer truthfully again."""
        self._told.clear()

    def take(self, request: Request) -> Answer | None:
        """Note the request; what to answer in place of the truth."""
        self.requests.append(request)
        for told in self._told:
            if told.fits(request):
                told.left -= 1
                return told.answer
        return None
