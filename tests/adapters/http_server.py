"""Enough of an HTTP/1.1 server for one client of a stand-in."""

import asyncio
from abc import ABC, abstractmethod
from http import HTTPStatus
from typing import Any

import attrs

from tests.adapters.scripted import RefusedError, Request, RestAnswer, Script, Unanswered


@attrs.define
class HttpServer(ABC):
    """Serves a stand-in on a port of the loopback."""

    script: Script
    _server: asyncio.Server | None = attrs.field(default=None, init=False)
    _connections: set["asyncio.Task[None]"] = attrs.field(factory=set, init=False)

    @abstractmethod
    def read(self, request: Request, content: bytes) -> tuple[Request, Any]:
        """The request with its operation and body, and what else `answer` has to know."""

    @abstractmethod
    async def answer(self, request: Request, more: Any, told: RefusedError | None) -> RestAnswer:
        """The answer to a request, or to one that is told to be refused."""

    async def start(self, port: int = 0) -> int:
        """The port that it listens on from now; 0 is any that is free."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", port)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Close the port and each connection, also those that wait for their answer."""
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._served(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client left, or we do
        finally:
            self._connections.discard(task)
            writer.close()

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request answered; whether the connection stays."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        content = await reader.readexactly(int(headers.get("content-length", "0")))
        path, _, query = target.partition("?")
        came = Request("", "rest", headers, method=method, path=path, query=query)
        request, more = self.read(came, content)
        told = await self.script.take(request)
        if told is Unanswered.SILENT:
            await reader.read()  # until the client gives up
            self.script.leave(request)
        if isinstance(told, Unanswered):
            return False
        if isinstance(told, RestAnswer):
            answer = told
        else:
            assert told is None or isinstance(told, RefusedError)
            answer = await self.answer(request, more, told)
        writer.write(_head(answer) + (b"" if method == "HEAD" else answer.body[: answer.cut]))
        await writer.drain()
        return answer.cut is None and headers.get("connection", "").lower() != "close"


def _head(answer: RestAnswer) -> bytes:
    headers = {"content-type": "application/json"} if answer.body else {}
    if answer.status != HTTPStatus.NO_CONTENT:
        headers["content-length"] = str(len(answer.body))
    headers |= {name.lower(): value for name, value in answer.headers.items()}
    lines = [f"HTTP/1.1 {int(answer.status)} {HTTPStatus(answer.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
