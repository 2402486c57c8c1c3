"""The stand-in's REST: enough of HTTP/1.1 for one client, and Qdrant's paths."""

import json
import re
from http import HTTPStatus
from typing import Any, NoReturn
from urllib.parse import unquote

import attrs
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json
from qdrant_client import models

from tests.adapters import scripted
from tests.adapters.http_server import HttpServer
from tests.adapters.qdrant._standin_answers import RefusedError, RestAnswer
from tests.adapters.qdrant._standin_engine import Engine
from tests.adapters.qdrant._standin_floats import parsed
from tests.adapters.scripted import Request

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
class RestServer(HttpServer):
    """Serves one engine."""

    engine: Engine = attrs.field(kw_only=True)

    def read(self, request: Request, content: bytes) -> tuple[Request, Any]:
        """As in `HttpServer`."""
        found = _route(request.method, request.path.rstrip("/"))
        operation = "" if found is None else found[0]
        body, broken = None, None
        try:
            body = _json(content) if content else None
        except (RecursionError, ValueError) as error:
            broken = str(error)
        return attrs.evolve(request, operation=operation, body=body), (found, broken)

    async def answer(
        self, request: Request, more: Any, told: scripted.RefusedError | None
    ) -> scripted.RestAnswer:
        """As in `HttpServer`."""
        found, broken = more
        if found is None:
            return RestAnswer(HTTPStatus.NOT_FOUND)
        operation, names, adapter = found
        try:
            if told is not None:
                raise told
            if broken is not None:
                _refuse(broken)
            given = _model(request.body, adapter) if adapter else (names[1] if names[1:] else None)
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
