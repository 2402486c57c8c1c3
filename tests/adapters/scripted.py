"""What a stand-in can be told to answer, and what it remembers of each request."""

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from typing import Any, Literal, NoReturn, Self

import attrs
import grpc
from google.protobuf.message import Message


class RefusedError(Exception):
    """An error as the server itself makes it.

    Args:
        text: The server's message.
    """

    def __init__(self, text: str):
        super().__init__(text)
        self.text = text


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
    def json(cls, body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Self:
        """A body in JSON."""
        return cls(status, json.dumps(body).encode() + b"\n", headers or {})


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


@attrs.frozen(eq=False)
class Request:
    """A request as it arrived.

    Args:
        operation: What it asks for, such as `search`.
        protocol: Which of the two it came by.
        headers: Its headers or its metadata, names in lower case.
        message: The protobuf message; None over REST.
        method: The HTTP method; empty over gRPC.
        path: The path, escapes and all; over gRPC the method's full name.
        query: The query of the URL, such as `output=verbose`; empty over gRPC.
        body: The parsed JSON body; None where there is none, and over gRPC.
        deadline: The seconds that a gRPC call has left; None is as many as it takes.
    """

    operation: str
    protocol: Literal["rest", "grpc"]
    headers: Mapping[str, str]
    message: Message | None = None
    method: str = ""
    path: str = ""
    query: str = ""
    body: Any = None
    deadline: float | None = None


Hook = Callable[[Request], Awaitable[None] | None]
"""What is called as a request arrives, before it is looked at."""


@attrs.define
class _Told:
    what: Any
    operation: str | None
    left: float

    def fits(self, request: Request) -> bool:
        if self.operation not in (None, request.operation) or self.left < 1:
            return False
        if isinstance(self.what, RestAnswer):
            return request.protocol == "rest"
        return not isinstance(self.what, GrpcAnswer) or request.protocol == "grpc"


@attrs.define
class Script:
    """What was told and what came: the part that both protocols share."""

    requests: list[Request] = attrs.field(factory=list)
    given_up: list[Request] = attrs.field(factory=list)
    _left: asyncio.Event = attrs.field(factory=asyncio.Event)
    _answers: list[_Told] = attrs.field(factory=list)
    _hooks: list[_Told] = attrs.field(factory=list)

    def tell(self, answer: Answer, operation: str | None, times: int | None) -> None:
        """Answer so from now on; the last that was told of an operation goes first."""
        self._answers.insert(0, _Told(answer, operation, _times(times)))

    def call(self, hook: Hook, operation: str | None, times: int | None) -> None:
        """Call it as requests arrive from now on."""
        self._hooks.append(_Told(hook, operation, _times(times)))

    def leave(self, request: Request) -> None:
        """Note that nobody waits for its answer any more."""
        self.given_up.append(request)
        self._left.set()

    async def abandoned(self, count: int) -> list[Request]:
        """The requests that were given up, once there are so many."""
        while len(self.given_up) < count:
            self._left.clear()
            await self._left.wait()
        return self.given_up

    def forget(self) -> None:
        """Answer truthfully again."""
        self._answers.clear()
        self._hooks.clear()

    async def take(self, request: Request) -> Answer | None:
        """Note the request; what to answer in place of the truth."""
        self.requests.append(request)
        for told in [each for each in self._hooks if each.fits(request)]:
            told.left -= 1
            called = told.what(request)
            if inspect.isawaitable(called):
                await called
        for told in self._answers:
            if told.fits(request):
                told.left -= 1
                answer: Answer = told.what
                return answer
        return None


def _times(times: int | None) -> float:
    return float("inf") if times is None else times


async def tell(told: Any, context: Any) -> NoReturn:
    """Answer a gRPC call as it is told, in place of the truth."""
    if isinstance(told, RefusedError):
        raise told
    assert not isinstance(told, RestAnswer)
    if told is Unanswered.SILENT:
        await asyncio.Event().wait()  # until the client gives up, or its deadline does
    if told is Unanswered.CLOSED:
        told = GrpcAnswer(grpc.StatusCode.UNAVAILABLE, "Socket closed")
    await context.abort(told.code, told.details, trailing_metadata=told.trailers)
    raise AssertionError("abort raises")
