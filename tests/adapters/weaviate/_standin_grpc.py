"""The stand-in's gRPC: the client's own protocol modules, turned round."""

import asyncio
from collections.abc import Callable
from typing import Any

import attrs
import grpc
from weaviate.proto.v1 import (
    aggregate_pb2,
    batch_delete_pb2,
    batch_pb2,
    health_weaviate_pb2,
    search_get_pb2,
    tenants_pb2,
)

from tests.adapters.scripted import Request, Script, tell
from tests.adapters.weaviate._standin_answers import RefusedError
from tests.adapters.weaviate._standin_engine import Engine

_LARGEST = 104_858_000
"""GRPC_MAX_MESSAGE_SIZE, in bytes."""

_RPCS: dict[str, dict[str, tuple[str, Any, Any]]] = {
    "grpc.health.v1.Health": {
        "Check": (
            "health",
            health_weaviate_pb2.WeaviateHealthCheckRequest,
            health_weaviate_pb2.WeaviateHealthCheckResponse,
        ),
    },
    "weaviate.v1.Weaviate": {
        "Search": ("search", search_get_pb2.SearchRequest, search_get_pb2.SearchReply),
        "BatchObjects": (
            "batch_objects",
            batch_pb2.BatchObjectsRequest,
            batch_pb2.BatchObjectsReply,
        ),
        "BatchDelete": (
            "batch_delete",
            batch_delete_pb2.BatchDeleteRequest,
            batch_delete_pb2.BatchDeleteReply,
        ),
        "Aggregate": ("aggregate", aggregate_pb2.AggregateRequest, aggregate_pb2.AggregateReply),
        "TenantsGet": ("tenants_get", tenants_pb2.TenantsGetRequest, tenants_pb2.TenantsGetReply),
    },
}


@attrs.define
class GrpcServer:
    """Serves one engine on a port of the loopback."""

    engine: Engine
    script: Script
    _server: Any = None

    async def start(self, port: int) -> int:
        """The port that it listens on from now; 0 is any that is free."""
        sizes = [("grpc.max_receive_message_length", _LARGEST)]
        sizes += [("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)]
        self._server = grpc.aio.server(options=sizes)
        for service, methods in _RPCS.items():
            handlers = {
                name: grpc.unary_unary_rpc_method_handler(
                    self._handler(f"/{service}/{name}", operation),
                    request_deserializer=request.FromString,
                    response_serializer=response.SerializeToString,
                )
                for name, (operation, request, response) in methods.items()
            }
            generic = grpc.method_handlers_generic_handler(service, handlers)
            self._server.add_generic_rpc_handlers((generic,))
        port = self._server.add_insecure_port(f"127.0.0.1:{port}")
        await self._server.start()
        return port

    async def stop(self) -> None:
        """Close the port, and cancel what waits for its answer."""
        await self._server.stop(None)

    def _handler(self, path: str, operation: str) -> Callable[[Any, Any], Any]:
        async def handle(message: Any, context: Any) -> Any:
            metadata = {each[0]: str(each[1]) for each in context.invocation_metadata()}
            request = Request(
                operation,
                "grpc",
                metadata,
                message,
                path=path,
                deadline=context.time_remaining(),
            )
            try:
                told = await self.script.take(request)
                if told is not None:
                    await tell(told, context)
                return self.engine.answer(operation, message, metadata)
            except asyncio.CancelledError:
                self.script.leave(request)
                raise
            except RefusedError as error:
                await context.abort(grpc.StatusCode.UNKNOWN, error.text)

        return handle
