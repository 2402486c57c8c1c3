"""What the stand-in answers when it is told to, remembers, and does when it is down."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import grpc
import httpx
import pytest
import weaviate
from weaviate import WeaviateAsyncClient
from weaviate.config import AdditionalConfig, Timeout
from weaviate.exceptions import (
    InsufficientPermissionsError,
    UnexpectedStatusCodeError,
    WeaviateConnectionError,
    WeaviateQueryError,
    WeaviateTimeoutError,
)

from tests.adapters.weaviate._standin_client import Bare, Refused, bare, prop
from tests.adapters.weaviate.standin import (
    GrpcAnswer,
    RefusedError,
    Request,
    RestAnswer,
    StandIn,
    Unanswered,
)

Code = grpc.StatusCode


@pytest.fixture
async def server() -> AsyncIterator[StandIn]:
    """A stand-in of its own."""
    async with StandIn() as started:
        yield started


@pytest.fixture
async def place(server: StandIn) -> AsyncIterator[Bare]:
    """A bare client of it, and a collection."""
    async with bare(server.url, server.grpc_port) as asked:
        await asked.create("X", prop("n", "int"))
        assert not await asked.insert("X", {1: {"n": 1}})
        yield asked


@pytest.fixture
async def client(server: StandIn) -> AsyncIterator[WeaviateAsyncClient]:
    """The real client, which waits a second for what it asks."""
    host, port = server.url.removeprefix("http://").split(":")
    opened = weaviate.use_async_with_local(
        host,
        int(port),
        server.grpc_port,
        skip_init_checks=True,
        additional_config=AdditionalConfig(timeout=Timeout(query=1)),
    )
    await opened.connect()
    yield opened
    await opened.close()


async def test_answers_otherwise_when_told(place: Bare, server: StandIn) -> None:
    """What it is told holds for its operation, as often as it was told, until it recovers."""
    server.answer(RefusedError("gone"), "search", times=1)
    assert (await place.found("X")).text == "gone"
    assert await place.found("X") == [1]
    server.answer(RefusedError("gone too", 503))
    assert await place.count("X") == Refused(Code.UNKNOWN, "gone too")
    assert await place.ask("GET", "/schema") == Refused(503, "gone too")
    server.recover()
    assert await place.count("X") == 1


async def test_answers_each_protocol_in_its_way(place: Bare, server: StandIn) -> None:
    """A gRPC status does not answer REST, nor an HTTP answer gRPC."""
    server.answer(GrpcAnswer(Code.UNAVAILABLE, "down"))
    server.answer(RestAnswer.error(500, "what"))
    assert await place.found("X") == Refused(Code.UNAVAILABLE, "down")
    assert await place.ask("GET", "/nodes") == Refused(500, "what")


async def test_remembers_what_it_was_asked(place: Bare, server: StandIn) -> None:
    """Each request is there with its operation, its message or body, and its headers."""
    await place.found("X", limit=3)
    await place.ask("POST", "/schema/X/tenants", [{"name": "t"}])
    await place.ask("GET", "/nodes/X?output=verbose")
    search, tenants, nodes = server.requests[-3:]
    asked: Any = search.message
    assert (search.operation, asked.collection, asked.limit) == ("search", "X", 3)
    assert search.path == "/weaviate.v1.Weaviate/Search"
    assert "user-agent" in search.headers
    assert (tenants.operation, tenants.body) == ("tenants_add", [{"name": "t"}])
    assert (nodes.operation, nodes.query) == ("nodes", "output=verbose")
    assert server.sent("search") == [search]
    assert [each.operation for each in server.sent("batch_objects")] == ["batch_objects"]


@pytest.mark.parametrize("code", [Code.UNKNOWN, Code.RESOURCE_EXHAUSTED, Code.UNAUTHENTICATED])
async def test_grpc_statuses(client: WeaviateAsyncClient, server: StandIn, code: Any) -> None:
    """A gRPC status arrives at the client as it is."""
    server.answer(GrpcAnswer(code, "why"))
    with pytest.raises(WeaviateQueryError, match="why") as caught:
        await client.collections.use("X").query.fetch_objects()
    context: Any = caught.value.__context__
    assert context.code() == code


async def test_a_grpc_refusal_for_want_of_rights(
    client: WeaviateAsyncClient, server: StandIn
) -> None:
    """PERMISSION_DENIED is an exception of its own."""
    server.answer(GrpcAnswer(Code.PERMISSION_DENIED, "forbidden"))
    with pytest.raises(InsufficientPermissionsError):
        await client.collections.use("X").query.fetch_objects()


async def test_a_search_that_is_never_answered(
    client: WeaviateAsyncClient, server: StandIn
) -> None:
    """The client's deadline ends it, and the server sees that it was given up."""
    server.answer(Unanswered.SILENT, "search")
    with pytest.raises(WeaviateQueryError) as caught:
        await client.collections.use("X").query.fetch_objects()
    context: Any = caught.value.__context__
    assert context.code() == Code.DEADLINE_EXCEEDED
    assert server.sent("search")[0].deadline == pytest.approx(1, abs=0.5)
    assert await server.given_up() == server.sent("search")


async def test_a_search_that_is_cancelled(client: WeaviateAsyncClient, server: StandIn) -> None:
    """Who gives up waiting cancels the call, and the server sees it."""
    arrived, ended = asyncio.Event(), asyncio.Event()
    server.arriving(lambda _: arrived.set(), "search")
    server.answer(Unanswered.SILENT, "search")
    asking = asyncio.create_task(client.collections.use("X").query.fetch_objects())
    asking.add_done_callback(lambda _: ended.set())
    await arrived.wait()
    asking.cancel()
    await ended.wait()
    assert asking.cancelled()
    assert await server.given_up() == server.sent("search")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (RestAnswer.error(401, "no key"), UnexpectedStatusCodeError),
        (RestAnswer.error(429, "slow down"), UnexpectedStatusCodeError),
        (RestAnswer(500, b"<html>"), UnexpectedStatusCodeError),
        (RestAnswer(200, b"<html>"), json.JSONDecodeError),
        (RestAnswer(200, b'{"class": "X"}', cut=5), httpx.RemoteProtocolError),
        (Unanswered.CLOSED, httpx.RemoteProtocolError),
        (Unanswered.SILENT, WeaviateTimeoutError),
    ],
    ids=str,
)
async def test_rest_answers(
    client: WeaviateAsyncClient, server: StandIn, answer: Any, expected: type[Exception]
) -> None:
    """Statuses, broken, cut and missing answers are what the client makes of them."""
    server.answer(answer)
    with pytest.raises(expected):
        await client.collections.use("X").config.get()


async def test_calls_who_wants_to_know(place: Bare, server: StandIn) -> None:
    """A hook is called as a request arrives, and the request waits for it."""
    seen: list[Request] = []

    async def later(request: Request) -> None:
        await asyncio.sleep(0)
        seen.append(request)
        await place.insert("X", {2: {"n": 2}})

    server.arriving(later, "search", times=1)
    assert len(await place.found("X")) == 2
    assert await place.found("X")
    assert seen == server.sent("search")[:1]


async def test_comes_back_on_its_ports_with_what_it_had(server: StandIn, place: Bare) -> None:
    """Down, nobody answers; up again, the same ports answer with the same objects."""
    url, grpc_port = server.url, server.grpc_port
    await server.stop()
    with pytest.raises(httpx.ConnectError):
        await place.ask("GET", "/meta")
    await server.start()
    assert (server.url, server.grpc_port) == (url, grpc_port)
    async with bare(url, grpc_port) as again:
        assert await again.found("X") == [1]
        assert (await again.ask("GET", "/meta"))["version"] == "1.39.0"


async def test_nobody_is_there(server: StandIn) -> None:
    """A client of a stand-in that is down does not get to connect."""
    host, port = server.url.removeprefix("http://").split(":")
    client = weaviate.use_async_with_local(host, int(port), server.grpc_port)
    await server.stop()
    with pytest.raises(WeaviateConnectionError):
        await client.connect()
    await server.start()
