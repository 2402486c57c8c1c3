"""What the stand-in answers when it is told to, and what the client makes of it."""

from collections.abc import AsyncIterator
from typing import Any

import grpc
import httpx
import pytest
from qdrant_client import AsyncQdrantClient
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from tests.adapters.qdrant._standin_client import Code, client_of, fill, refusal, status
from tests.adapters.qdrant.standin import (
    NO_REPLICA,
    GrpcAnswer,
    RefusedError,
    RestAnswer,
    StandIn,
    Unanswered,
)


@pytest.fixture
async def by_grpc(server: StandIn) -> AsyncIterator[AsyncQdrantClient]:
    opened = client_of(server, "grpc", timeout=1)
    yield opened
    await opened.close()


async def test_answers_otherwise_when_told(client: AsyncQdrantClient, server: StandIn) -> None:
    """What it is told holds for its operation, as often as it was told, until it recovers."""
    await fill(client)
    server.answer(NO_REPLICA, "scroll", times=1)
    assert "currently unavailable" in (await refusal(client.scroll("x")))[1]
    assert (await client.scroll("x"))[0]
    server.answer(RefusedError("shard unavailable", "gone"))
    assert (await refusal(client.count("x")))[1] == "gone"
    server.recover()
    assert (await client.count("x")).count == 3


@pytest.mark.parametrize(
    ("kind", "number", "code"),
    [
        ("forbidden", 403, Code.PERMISSION_DENIED),
        ("timeout", 408, Code.DEADLINE_EXCEEDED),
        ("internal", 500, Code.INTERNAL),
        ("shard unavailable", 503, Code.UNAVAILABLE),
        ("no space", 507, Code.RESOURCE_EXHAUSTED),
    ],
)
async def test_errors_on_either_protocol(
    client: AsyncQdrantClient, server: StandIn, protocol: str, kind: str, number: int, code: Any
) -> None:
    """An error of the server has its status on the protocol that was asked."""
    server.answer(RefusedError(kind, "why"))
    assert await refusal(client.scroll("x")) == (status(protocol, number, code), "why")


@pytest.mark.parametrize("number", [301, 400, 401, 403, 404, 408, 422, 500, 502, 503, 504])
async def test_rest_statuses(rest: AsyncQdrantClient, server: StandIn, number: int) -> None:
    """A status arrives as it is, a plain text body too."""
    server.answer(RestAnswer(number, b"Must provide an API key", {"Content-Type": "text/plain"}))
    with pytest.raises(UnexpectedResponse) as caught:
        await rest.scroll("x")
    assert caught.value.status_code == number
    assert caught.value.content == b"Must provide an API key"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Retry-After": "7"}, ResourceExhaustedResponse),
        ({"Retry-After": "0"}, ResourceExhaustedResponse),
        ({}, UnexpectedResponse),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, QdrantException),
    ],
)
async def test_rest_rate_limits(
    rest: AsyncQdrantClient, server: StandIn, headers: dict[str, str], expected: type[Exception]
) -> None:
    """429 is one of three exceptions, by the form of Retry-After."""
    server.answer(RestAnswer.error(429, "Rate limiting exceeded: slow down", headers))
    with pytest.raises(expected) as caught:
        await rest.scroll("x")
    assert type(caught.value) is expected
    if isinstance(caught.value, ResourceExhaustedResponse):
        assert caught.value.retry_after_s == int(headers["Retry-After"])


@pytest.mark.parametrize(
    ("answer", "expected", "source"),
    [
        (RestAnswer(body=b"<html>"), ValueError, None),
        (RestAnswer(body=b"{}"), AssertionError, None),
        (RestAnswer(body=b'{"result": null}'), AssertionError, None),
        (RestAnswer(body=b'{"result": {"points": 7}}'), ResponseHandlingException, ValueError),
        (
            RestAnswer(body=b'{"result": []}', cut=5),
            ResponseHandlingException,
            httpx.RemoteProtocolError,
        ),
        (Unanswered.CLOSED, ResponseHandlingException, httpx.RemoteProtocolError),
        (Unanswered.SILENT, ResponseHandlingException, httpx.ReadTimeout),
    ],
)
async def test_rest_answers_that_are_none(
    rest: AsyncQdrantClient,
    server: StandIn,
    answer: RestAnswer | Unanswered,
    expected: type[Exception],
    source: type[Exception] | None,
) -> None:
    """Broken, cut and missing answers are what the client makes of them."""
    server.answer(answer)
    with pytest.raises(expected) as caught:
        await rest.scroll("x")
    if source is not None:
        assert isinstance(getattr(caught.value, "source", None), source)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (GrpcAnswer(Code.UNAUTHENTICATED, "no key"), Code.UNAUTHENTICATED),
        (GrpcAnswer(Code.RESOURCE_EXHAUSTED, "full"), Code.RESOURCE_EXHAUSTED),
        (
            GrpcAnswer(Code.RESOURCE_EXHAUSTED, "slow down", (("retry-after", "0"),)),
            Code.RESOURCE_EXHAUSTED,
        ),
        (Unanswered.CLOSED, Code.UNAVAILABLE),
        (Unanswered.SILENT, Code.DEADLINE_EXCEEDED),
    ],
)
async def test_grpc_statuses(
    by_grpc: AsyncQdrantClient, server: StandIn, answer: GrpcAnswer | Unanswered, code: Any
) -> None:
    """A gRPC status arrives as it is, also where there is no answer."""
    server.answer(answer)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await by_grpc.scroll("x")
    assert caught.value.code() == code


async def test_grpc_rate_limits(by_grpc: AsyncQdrantClient, server: StandIn) -> None:
    """RESOURCE_EXHAUSTED that says when to come back is the client's own exception."""
    trailers = (("retry-after", "7"),)
    server.answer(GrpcAnswer(Code.RESOURCE_EXHAUSTED, "slow down", trailers))
    with pytest.raises(ResourceExhaustedResponse) as caught:
        await by_grpc.scroll("x")
    assert caught.value.retry_after_s == 7
