"""The key, and what is embedded, stay between the embedder and its server."""

import logging
import pickle
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from soev_retrieval.domain import RetrievalError
from soev_retrieval.embedders.openai import OpenAIEmbedder

Server = Any  # of conftest.py
Made = Callable[..., OpenAIEmbedder]
KEY, TEXT = "sk-sesame", "the_confidential_question"


def _echo(request: Any) -> str:
    return f"{request.headers['authorization']} {request.body}"


def _echoing(status: int) -> Callable[[Server], Any]:
    """A refusal that repeats everything, wherever it can."""

    def answers(server: Server) -> Any:
        def answer(request: Any) -> Any:
            echo = _echo(request)
            error = {"message": echo, "code": echo, "type": echo, "param": echo}
            return server.reply({"error": error, "data": echo}, status=status)

        return answer

    return answers


def _key_as_code(server: Server) -> Any:
    return server.reply({"error": {"code": KEY}}, status=401)


def _echoing_raw(start: str) -> Callable[[Server], Any]:
    """A reply that is no HTTP, and repeats everything."""
    return lambda server: lambda request: server.last(f"{start}{_echo(request)}\r\n\r\n".encode())


WAYS: dict[str, Callable[[Server], Any]] = {
    **{str(status): _echoing(status) for status in (200, 307, 400, 401, 404, 413, 429, 500)},
    "key as code": _key_as_code,
    "no status line": _echoing_raw(""),
    "no header": _echoing_raw("HTTP/1.1 200 OK\r\n"),
    "no length": _echoing_raw("HTTP/1.1 200 OK\r\ncontent-length: "),
    "no chunk": _echoing_raw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"),
    "nothing": lambda server: server.last(b""),
    "silence": lambda server: server.silence,
    "reset": lambda server: server.resets,
    "broken off": lambda server: server.last(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"),
}


def _told(error: BaseException) -> str:
    """All that an error and what stands behind it tell to a log, a debugger and another process."""
    told = "".join(traceback.format_exception(error))
    behind: BaseException | None = error
    while behind is not None:
        told += f"{behind!r} {behind.args!r} {vars(behind)!r} "
        request = getattr(behind, "_request", None)
        told += f"{request.headers.raw!r} {request.content!r} " if request else ""
        behind = behind.__cause__ or behind.__context__
    return told + pickle.dumps(error).decode("latin-1")


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_nothing_is_given_away(
    server: Server, embedder: Made, caplog: pytest.LogCaptureFixture, way: Callable[[Server], Any]
) -> None:
    """No error and no log has the key or a text in it, though the server repeats them."""
    caplog.set_level(logging.INFO)  # at DEBUG httpcore quotes a reply that is no HTTP
    server.answers = [way(server)]
    embed = embedder(key=KEY, seconds=0.5 if server.answers == [server.silence] else 30)
    with pytest.raises(RetrievalError) as raised:
        await embed(TEXT)
    assert all(KEY in request.headers["authorization"] for request in server.requests)
    for secret in (KEY, TEXT):
        assert secret not in _told(raised.value)
        assert secret not in caplog.text
        assert secret not in repr(embed)


async def test_nothing_is_logged(
    server: Server, embedder: Made, caplog: pytest.LogCaptureFixture
) -> None:
    """An exchange that goes well leaves neither in a log of any level."""
    caplog.set_level(logging.DEBUG)
    await embedder(key=KEY)(TEXT)
    assert "httpcore" in caplog.text
    assert KEY not in caplog.text
    assert TEXT not in caplog.text


async def test_the_key_of_the_environment(
    server: Server, embedder: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a key of its own it takes that of the environment, as it was when it was made."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-before\n")
    embed = embedder()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-after")
    await embed("cats")
    await embedder(key="sk-mine")("cats")
    await embedder(key="")("cats")
    assert [request.headers.get("authorization") for request in server.requests] == [
        "Bearer sk-before",
        "Bearer sk-mine",
        None,
    ]


async def test_no_key_at_all(server: Server, embedder: Made) -> None:
    """A server that wants no key is sent none."""
    await embedder()("cats")
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("key", ["sk sesame", "sk-sesame\nx: y", "sk-sesam\u00e9", "sk\0sesame"])
def test_a_key_that_is_none(key: str) -> None:
    """A key that no header can carry is refused when the embedder is made, and not repeated."""
    with pytest.raises(ValueError, match="key") as raised:
        OpenAIEmbedder("m", key=key)
    assert "sesam" not in _told(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://sesame@example.org/v1",
        "https://me:sesame@example.org/v1",
        "https://example.org/v1?key=sesame",
        "https://example.org/v1#sesame",
        "https://example.org:sesame/v1",
        "sesame",
        "https://\ud800sesame",
        "https://exa mple.org/\0sesame",
    ],
)
def test_a_url_with_a_secret(url: str) -> None:
    """A url that holds credentials, or that may do so by a slip, is refused and not repeated."""
    with pytest.raises(ValueError, match="url") as raised:
        OpenAIEmbedder("m", url=url)
    assert "sesame" not in _told(raised.value)
