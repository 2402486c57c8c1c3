"""Every way in which the server does not answer, and the one error that it becomes."""

import asyncio
import pickle
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.domain import InvalidQueryError, StoreUnavailable, Unconfigured
from soev_retrieval.embedders.openai import OpenAIEmbedder

Server = Any  # of conftest.py
Made = Callable[..., OpenAIEmbedder]
THEN = datetime(2030, 1, 1, tzinfo=UTC)
IN_A_MINUTE = format_datetime(THEN + timedelta(minutes=1), usegmt=True)
A_MINUTE_AGO = format_datetime(THEN - timedelta(minutes=1), usegmt=True)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (301, Unconfigured),
        (304, Unconfigured),
        (308, Unconfigured),
        (400, InvalidQueryError),
        (401, Unconfigured),
        (403, Unconfigured),
        (404, InvalidQueryError),
        (408, StoreUnavailable),
        (413, InvalidQueryError),
        (422, InvalidQueryError),
        (429, StoreUnavailable),
        (500, StoreUnavailable),
        (503, StoreUnavailable),
        (599, StoreUnavailable),
    ],
)
async def test_each_status_is_one_error(
    server: Server, embedder: Made, status: int, error: type[Exception]
) -> None:
    """A status is the caller's mistake, the set-up's, or no answer, and the error names it."""
    server.answers = [server.reply({"error": {}}, status=status, location="/elsewhere")]
    with pytest.raises(error, match=str(status)) as raised:
        await embedder()("cats")
    assert type(raised.value) is error
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [401, 403, 429, 500])
async def test_an_error_says_where(server: Server, embedder: Made, status: int) -> None:
    """An error that is not the caller's names the store and the operation."""
    server.answers = [server.reply(b"", status=status)]
    with pytest.raises((Unconfigured, StoreUnavailable)) as raised:
        await embedder()("cats")
    assert vars(raised.value).items() >= {"store": "embedder", "operation": "embed"}.items()


async def test_a_redirect_is_not_followed(server: Server, embedder: Made) -> None:
    """Texts and key go nowhere but to the url, also with a client that follows redirects."""
    server.answers = [server.reply(b"", status=307, location="/v1/embeddings"), server.right]
    async with httpx.AsyncClient(follow_redirects=True) as client:
        with pytest.raises(Unconfigured, match="307"):
            await embedder(client=client, key="sk-1")("cats")
    assert len(server.requests) == 1


async def test_the_servers_word_is_passed_on(server: Server, embedder: Made) -> None:
    """The code of a refusal, such as `model_not_found`, stands in the error."""
    refusal = {"error": {"message": "no model m", "code": "model_not_found"}}
    server.answers = [server.reply(refusal, status=404)]
    with pytest.raises(InvalidQueryError, match=r"404 \(model_not_found\)"):
        await embedder()("cats")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0 "}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": IN_A_MINUTE, "date": format_datetime(THEN, usegmt=True)}, 60.0),
        ({"retry-after": A_MINUTE_AGO, "date": format_datetime(THEN, usegmt=True)}, 0.0),
        ({"retry-after": "Tue Jan  1 00:01:00 2030", "date": format_datetime(THEN)}, 60.0),
        ({"retry-after": "Fri, 01 Jan 1999 00:00:00 GMT"}, 0.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e3"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "1, 2"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
    ],
    ids=str,
)
@pytest.mark.parametrize("status", [429, 503])
async def test_when_to_come_again(
    server: Server, embedder: Made, status: int, headers: dict[str, str], seconds: float | None
) -> None:
    """`Retry-After` is read as seconds or as a date by the server's clock; anything else is none."""
    server.answers = [server.reply(b"", status=status, **headers)]
    with pytest.raises(StoreUnavailable) as raised:
        await embedder()("cats")
    assert raised.value.retry_after == seconds


@given(st.one_of(st.text(), st.datetimes().map(format_datetime)))
async def test_any_retry_after(text: str) -> None:
    """Whatever stands in `Retry-After`, it is no wait, or one of at least 0 finite seconds."""
    response = httpx.Response(429, headers=[(b"retry-after", text.encode())])
    async with httpx.AsyncClient(transport=httpx.MockTransport(lambda _: response)) as client:
        with pytest.raises(StoreUnavailable) as raised:
            await OpenAIEmbedder("m", client=client)("cats")
    assert 0 <= (raised.value.retry_after or 0) < float("inf")


@pytest.mark.parametrize(
    ("sent", "cause"),
    [
        (b"", httpx.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\ncontent-le", httpx.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", httpx.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{", httpx.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n", httpx.RemoteProtocolError),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", httpx.RemoteProtocolError),
        (b"\x15\x03\x01\x00\x02\x02\x46" * 99, httpx.RemoteProtocolError),
        (
            b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}",
            httpx.DecodingError,
        ),
    ],
    ids=["nothing", "half a head", "half a body", "half a chunk", "no chunk", "ssh", "tls", "gzip"],
)
async def test_what_is_no_reply(
    server: Server, embedder: Made, sent: bytes, cause: type[Exception]
) -> None:
    """A reply that breaks off, or is no HTTP, is no answer, and the driver's error its cause."""
    server.answers = [server.last(sent), server.right]
    embed = embedder()
    with pytest.raises(StoreUnavailable) as raised:
        await embed("cats")
    assert type(raised.value.cause) is cause
    assert await embed("cats") == server.vector("cats")


async def test_a_server_that_resets(server: Server, embedder: Made) -> None:
    """A connection that the server resets is no answer."""
    server.answers = [server.resets, server.right]
    embed = embedder()
    with pytest.raises(StoreUnavailable) as raised:
        await embed("cats")
    assert isinstance(raised.value.cause, httpx.NetworkError)
    assert await embed("cats") == server.vector("cats")


async def test_a_server_that_is_not_there(server: Server, embedder: Made) -> None:
    """A refused connection is no answer."""
    await server.close()
    with pytest.raises(StoreUnavailable) as raised:
        await embedder()("cats")
    assert isinstance(raised.value.cause, httpx.ConnectError)


async def test_a_server_that_says_nothing(server: Server, embedder: Made) -> None:
    """A request without an answer ends after `seconds`, with its connection, as no answer."""
    server.answers = [server.silence, server.right]
    embed = embedder(seconds=0.05)
    with pytest.raises(StoreUnavailable, match=r"0\.05 seconds") as raised:
        await embed("cats")
    assert isinstance(raised.value.cause, TimeoutError)
    await server.until(lambda: server.connected == 0)


async def test_a_reply_without_end(server: Server, embedder: Made) -> None:
    """A server that always sends a little more is cut off after `seconds`."""

    async def dribbles(request: Any) -> Any:
        request.writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            request.writer.write(b"1\r\n \r\n")
            await request.writer.drain()
            await asyncio.sleep(0)

    server.answers = [dribbles]
    with pytest.raises(StoreUnavailable, match="seconds"):
        await embedder(seconds=0.05)("cats")


@pytest.mark.looptime
async def test_waiting_for_a_turn_is_not_counted() -> None:
    """`seconds` bounds each request from its own start, not the wait for those before it."""

    async def slow(request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(20)
        return httpx.Response(200, json={"data": [{"index": 0, "embedding": [0.5]}]})

    async with httpx.AsyncClient(transport=httpx.MockTransport(slow)) as client:
        embed = OpenAIEmbedder("m", client=client, seconds=30, at_most=1)
        assert await asyncio.gather(*(embed("cats") for _ in range(3))) == [[0.5]] * 3


async def test_errors_pickle(server: Server, embedder: Made) -> None:
    """An error survives the way to another process, its cause with it."""
    server.answers = [server.last(b"")]
    with pytest.raises(StoreUnavailable) as raised:
        await embedder()("cats")
    copy = pickle.loads(pickle.dumps(raised.value))
    assert str(copy) == str(raised.value)
    assert type(copy.cause) is httpx.RemoteProtocolError
