"""The stand-in's REST: enough of HTTP/1.1 for one client, and Qdrant's paths."""

import asyncio
import json
import re
from http import HTTPStatus
from typing import Any, NoReturn
from urllib.parse import unquote

import attrs
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json
from qdrant_client import models

from tests.adapters.qdrant._standin_answers import (
    GrpcAnswer,
    RefusedError,
    Request,
    RestAnswer,
    Script,
    Unanswered,
)
from tests.adapters.qdrant._standin_engine import Engine
from tests.adapters.qdrant._standin_floats import parsed

_DEEPEST = 127  # of serde_json, arrays and objects counted alike

_ROUTES: list[tuple[str, str, str, Any]] = [
    ("GET", "", "info", None),
    ("GET", "/collections", "get_collections", None),
    ("GET", "/collections/{}", "get_collection", None),
    ("GET", "/collections/{}/exists", "collection_exists", None),
    ("PUT", "/collections/{}", "create_collection", models.CreateCollection),
    ("PATCH", "/collections/{}", "update_collection", models.UpdateCollection),
    ("DELETE", "/collections/{}", "delete_collection", None),
    ("PUT", "/collections/{}/index", "create_payload_index", models.CreateFieldIndex),
    ("DELETE", "/collections/{}/index/{}", "delete_payload_index", None),
    ("PUT", "/collections/{}/points", "upsert", models.PointInsertOperations),
    ("POST", "/collections/{}/points", "retrieve", models.PointRequest),
    ("POST", "/collections/{}/points/delete", "delete", models.PointsSelector),
    ("PUT", "/collections/{}/points/vectors", "update_vectors", models.UpdateVectors),
    ("POST", "/collections/{}/points/payload", "set_payload", models.SetPayload),
    ("PUT", "/collections/{}/points/payload", "overwrite_payload", models.SetPayload),
    ("POST", "/collections/{}/points/scroll", "scroll", models.ScrollRequest),
    ("POST", "/collections/{}/points/count", "count", models.CountRequest),
    ("POST", "/collections/{}/points/query", "query_points", models.QueryRequest),
    (
        "POST",
        "/collections/{}/points/query/batch",
        "query_batch_points",
        models.QueryRequestBatch,
    ),
]
_TABLE = [
    (method, re.compile(path.replace("{}", "([^/]+)")), operation, body and TypeAdapter(body))
    for method, path, operation, body in _ROUTES
]


@attrs.define
class RestServer:
    """Serves one engine on a free port of the loopback."""

    engine: Engine
    script: Script
    _server: asyncio.Server | None = None
    _connections: set["asyncio.Task[None]"] = attrs.field(factory=set)

    async def start(self) -> int:
        """The port that it listens on from now."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
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
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        answer = await self._answer(method, target, headers, body)
        if answer is Unanswered.SILENT:
            await reader.read()  # until the client gives up
        if isinstance(answer, Unanswered):
            return False
        writer.write(_head(answer) + answer.body[: answer.cut])
        await writer.drain()
        return answer.cut is None and headers.get("connection", "").lower() != "close"

    async def _answer(
        self, method: str, target: str, headers: dict[str, str], content: bytes
    ) -> RestAnswer | Unanswered:
        path, _, query = target.partition("?")
        found = _route(method, path.rstrip("/"))
        if found is None:
            return RestAnswer(HTTPStatus.NOT_FOUND)
        operation, names, adapter = found
        body, broken = None, None
        try:
            body = _json(content) if content else None
        except (RecursionError, ValueError) as error:
            broken = str(error)
        request = Request(operation, "rest", headers, None, method, path, query, body)
        told = self.script.take(request)
        if isinstance(told, RestAnswer | Unanswered):
            return told
        assert not isinstance(told, GrpcAnswer)
        try:
            if told is not None:
                raise told
            if broken is not None:
                _refuse(broken)
            given = _model(body, adapter) if adapter else (names[1] if names[1:] else None)
            result = await self.engine.perform(operation, names[0], given, "rest")
        except RefusedError as error:
            return RestAnswer.error(error.status, error.text)
        if operation == "info":
            return RestAnswer(body=to_json(result))
        return RestAnswer(body=to_json({"result": result, "status": "ok", "time": 0.0}))


def _route(method: str, path: str) -> tuple[str, list[str | None], Any] | None:
    for expected, pattern, operation, adapter in _TABLE:
        match = pattern.fullmatch(path)
        if match and method == expected:
            return operation, [unquote(each) for each in match.groups()] or [None], adapter
    return None


def _head(answer: RestAnswer) -> bytes:
    headers = {
        "content-type": "application/json",
        "content-length": str(len(answer.body)),
        **{name.lower(): value for name, value in answer.headers.items()},
    }
    lines = [f"HTTP/1.1 {int(answer.status)} {HTTPStatus(answer.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _json(content: bytes) -> Any:
    body = json.loads(content, parse_float=parsed, parse_constant=_refuse_constant)
    depth, level = 0, [body]
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        level = [
            child for each in level for child in (each.values() if isinstance(each, dict) else each)
        ]
    if depth > _DEEPEST:
        raise ValueError("recursion limit exceeded")
    return body


def _model(body: Any, adapter: TypeAdapter[Any]) -> Any:
    try:
        return adapter.validate_python(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        _refuse(f"{first['msg']} at {place}")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"expected value, not {name}")


def _refuse(text: str) -> NoReturn:
    raise RefusedError("bad input", f"Format error in JSON body: {text}")
