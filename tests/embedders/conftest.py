"""What the tests of the embedders share: a small HTTP server that answers as it is told."""

import asyncio
import functools
import inspect
import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from typing import Any, TypeAlias

import attrs
import httpx
import pytest

from soev_retrieval.embedders.openai import OpenAIEmbedder


@attrs.frozen(kw_only=True)
class Request:
    """One request as the server got it."""

    line: str
    headers: dict[str, str]
    body: Any
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def texts(self) -> list[str]:
        """The texts it asks to embed."""
        texts: list[str] = self.body["input"]
        return texts

    async def gone(self) -> None:
        """Return when the client has hung up."""
        with suppress(ConnectionError):
            assert not await self.reader.read(1)


class Last(bytes):
    """What goes out as it is, before the server hangs up."""


Answer: TypeAlias = bytes | Callable[[Request], bytes | Awaitable[bytes]]


class Server:
    """Speaks HTTP/1.1 and answers each request with the next of `answers`; the last one stays."""

    def __init__(self) -> None:
        self.answers: list[Answer] = [self.right]
        self.requests: list[Request] = []
        self.running = 0
        self.most = 0
        self.connected = 0
        self.url = ""
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()

    async def open(self) -> None:
        """Listen on a free port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"

    async def close(self) -> None:
        """Stop listening, and end every connection."""
        if self._server is None:
            return
        self._server.close()
        await self._server.wait_closed()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._server = None

    async def until(self, true: Callable[[], bool]) -> None:
        """Return when what came or went has made it true."""
        while not true():
            self._news.clear()
            await self._news.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self.connected += 1
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()
            self.connected -= 1
            self._news.set()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        line, *rest = head.strip().split("\r\n")
        headers = {name.lower(): value for name, value in (each.split(": ", 1) for each in rest)}
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        request = Request(line=line, headers=headers, body=body, reader=reader, writer=writer)
        answer = await self._answer(request)
        writer.write(answer)
        await writer.drain()
        return not isinstance(answer, Last)

    async def _answer(self, request: Request) -> bytes:
        self.requests.append(request)
        self.running += 1
        self.most = max(self.most, self.running)
        self._news.set()
        try:
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if isinstance(answer, bytes):
                return answer
            made = answer(request)
            return await made if inspect.isawaitable(made) else made
        finally:
            self.running -= 1
            self._news.set()

    @staticmethod
    def reply(body: Any, *, status: int = 200, **headers: str) -> bytes:
        """A whole reply; what is no bytes goes out as JSON. `_` in a header's name stands for `-`."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"HTTP/1.1 {status} So", f"content-length: {len(content)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode() + content

    @staticmethod
    def last(content: bytes) -> bytes:
        """Bytes that go out as they are, before the server hangs up."""
        return Last(content)

    @staticmethod
    def vector(text: str) -> list[float]:
        """What the server embeds a text as."""
        return [float(len(text)), float(sum(map(ord, text))), 0.5]

    def data(self, request: Request) -> list[dict[str, Any]]:
        """The embeddings that answer a request, in order."""
        return [
            {"object": "embedding", "index": at, "embedding": self.vector(text)}
            for at, text in enumerate(request.texts)
        ]

    def right(self, request: Request) -> bytes:
        """The right answer."""
        return self.reply({"object": "list", "data": self.data(request), "model": "m"})

    async def silence(self, request: Request) -> bytes:
        """No answer, until the client hangs up."""
        await request.gone()
        return self.last(b"")

    def resets(self, request: Request) -> bytes:
        """No answer, but a reset."""
        sock = request.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.writer.transport.abort()
        return self.last(b"")


_made_once = functools.cache(httpx.create_ssl_context)


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no proxy of the machine's own, and its certificates read once for all tests."""
    monkeypatch.setattr(httpx, "create_ssl_context", _made_once)
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """The server, listening."""
    server = Server()
    await server.open()
    yield server
    await server.close()


@pytest.fixture
async def embedder(server: Server) -> AsyncIterator[Callable[..., OpenAIEmbedder]]:
    """Makes embedders that ask the server, and closes them."""
    async with AsyncExitStack() as stack:

        def made(**settings: Any) -> OpenAIEmbedder:
            embedder = OpenAIEmbedder("m", **{"url": server.url, **settings})
            stack.push_async_callback(embedder.aclose)
            return embedder

        yield made
