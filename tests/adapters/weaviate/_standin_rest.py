"""The stand-in's REST: enough of HTTP/1.1 for one client, and Weaviate's paths."""

import json
import re
from typing import Any
from urllib.parse import unquote

import attrs

from tests.adapters import scripted
from tests.adapters.http_server import HttpServer
from tests.adapters.scripted import Request
from tests.adapters.weaviate._standin_answers import RefusedError, RestAnswer
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
class RestServer(HttpServer):
    """Serves one engine."""

    engine: Engine = attrs.field(kw_only=True)

    def read(self, request: Request, content: bytes) -> tuple[Request, Any]:
        """As in `HttpServer`."""
        operation, names = _route(request.method, request.path.rstrip("/"))
        body, broken = _json(content)
        return attrs.evolve(request, operation=operation, body=body), (names, broken)

    async def answer(
        self, request: Request, more: Any, told: scripted.RefusedError | None
    ) -> RestAnswer:
        """As in `HttpServer`."""
        names, broken = more
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
