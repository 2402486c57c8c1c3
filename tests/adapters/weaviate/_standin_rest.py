"""The stand-in's REST: enough of HTTP/1.1 for one client, and Weaviate's paths."""

import asyncio
import json
import re
from http import HTTPStatus
from urllib.parse import unquote

import attrs

from tests.adapters.weaviate._standin_answers import (
    GrpcAnswer,
    RefusedError,
    Request,
    RestAnswer,
    Script,
    Unanswered,
)
from tests.adapters.weaviate._standin_engine import Engine

_ROUTES: list[tuple[str, str, str]] = [
    ("GET", "/meta", "meta"),
    ("GET", "/.well-known/ready", "ready"),
    ("GET", "/.well-known/live", "live"),
    ("GET", "/.well-known/openid-configuration", "openid"),
    ("GET", "/schema", "schema_list"),
    ("POST", "/schema", "schema_create"),
    ("GET", "/schema/{}", "schema_get"),
    ("PUT", "/schema/{}", "schema_update"),
    ("DELETE", "/schema/{}", "schema_delete"),
    ("POST", "/schema/{}/properties", "property_add"),
    ("GET", "/schema/{}/shards", "shards"),
    ("GET", "/schema/{}/tenants", "tenants"),
    ("POST", "/schema/{}/tenants", "tenants_add"),
    ("PUT", "/schema/{}/tenants", "tenants_update"),
    ("DELETE", "/schema/{}/tenants", "tenants_delete"),
    ("GET", "/schema/{}/tenants/{}", "tenant"),
    ("HEAD", "/schema/{}/tenants/{}", "tenant"),
    ("GET", "/nodes", "nodes"),
    ("GET", "/nodes/{}", "nodes"),
    ("POST", "/objects", "object_create"),
    ("GET", "/objects/{}/{}", "object_get"),
    ("HEAD", "/objects/{}/{}", "object_get"),
    ("PUT", "/objects/{}/{}", "object_replace"),
    ("DELETE", "/objects/{}/{}", "object_delete"),
]
_TABLE = [
    (method, re.compile("/v1" + re.escape(path).replace(r"\{\}", "([^/]+)")), operation)
    for method, path, operation in _ROUTES
]


@attrs.define
class RestServer:
    """Serves one engine on a port of the loopback."""

    engine: Engine
    script: Script
    _server: asyncio.Server | None = None
    _connections: set["asyncio.Task[None]"] = attrs.field(factory=set)

    async def start(self, port: int) -> int:
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
        operation, names = _route(method, path.rstrip("/"))
        body, broken = _json(content)
        request = Request(operation, "rest", headers, None, method, path, query, body)
        told = await self.script.take(request)
        if told is Unanswered.SILENT:
            await reader.read()  # until the client gives up
            self.script.leave(request)
        if isinstance(told, Unanswered):
            return False
        answer = (
            told if isinstance(told, RestAnswer) else self._answer(request, names, told, broken)
        )
        sent = b"" if method == "HEAD" else answer.body[: answer.cut]
        writer.write(_head(answer) + sent)
        await writer.drain()
        return answer.cut is None and headers.get("connection", "").lower() != "close"

    def _answer(
        self,
        request: Request,
        names: tuple[str, ...],
        told: RefusedError | GrpcAnswer | None,
        broken: str | None,
    ) -> RestAnswer:
        assert not isinstance(told, GrpcAnswer)
        try:
            if told is not None:
                raise told
            if not request.operation:
                return _unrouted(request)
            if broken is not None:
                text = f'parsing body from "" failed, because {broken}'
                return RestAnswer.json({"code": 400, "message": text}, 400)
            return self.engine.rest(request, names)
        except RefusedError as error:
            if error.empty:
                return RestAnswer(error.status)
            return RestAnswer.error(error.status, error.text)


def _route(method: str, path: str) -> tuple[str, tuple[str, ...]]:
    """The operation, and the names in the path; "" is none."""
    for expected, pattern, operation in _TABLE:
        match = pattern.fullmatch(path)
        if match and method == expected:
            return operation, tuple(unquote(each) for each in match.groups())
    return "", ()


def _unrouted(request: Request) -> RestAnswer:
    """The answer to a path that there is not, or not by this method."""
    path = request.path.rstrip("/")
    methods = [method for method, pattern, _ in _TABLE if pattern.fullmatch(path)]
    if not methods:
        return RestAnswer.json({"code": 404, "message": f"path {path} was not found"}, 404)
    text = f"method {request.method} is not allowed, but [{','.join(methods)}] are"
    return RestAnswer.json({"code": 405, "message": text}, 405)


def _json(content: bytes) -> tuple[object, str | None]:
    """A body, and why it is none."""
    try:
        return (json.loads(content) if content else None), None
    except ValueError as error:
        return None, str(error)


def _head(answer: RestAnswer) -> bytes:
    headers = {"content-type": "application/json"} if answer.body else {}
    if answer.status != HTTPStatus.NO_CONTENT:
        headers["content-length"] = str(len(answer.body))
    headers |= {name.lower(): value for name, value in answer.headers.items()}
    lines = [f"HTTP/1.1 {int(answer.status)} {HTTPStatus(answer.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
