"""The stand-in's gRPC: the client's own protocol modules, turned round."""

from collections.abc import Callable
from typing import Any

import attrs
import grpc
from qdrant_client import grpc as proto
from qdrant_client import models
from qdrant_client.conversions.conversion import (
    GrpcToRest,
    RestToGrpc,
)
from qdrant_client.grpc import qdrant_pb2

from tests.adapters.qdrant._standin_answers import RefusedError
from tests.adapters.qdrant._standin_engine import Engine
from tests.adapters.qdrant._standin_messages import (
    batch,
    collections,
    creation,
    filter_of,
    index,
    insertion,
    new_payload,
    new_vectors,
    page,
    plain,
    records,
    retrieval,
    scored,
    scroll,
    updated,
)
from tests.adapters.scripted import Request, Script, tell


@attrs.frozen
class _Rpc:
    """One method: its operation, its two messages and what lies between them."""

    operation: str
    request: Any
    response: Any
    read: Callable[[Any], Any] | None
    write: Callable[[Any], dict[str, Any]]


@attrs.define
class GrpcServer:
    """Serves one engine on a free port of the loopback."""

    engine: Engine
    script: Script
    _server: Any = None

    async def start(self) -> int:
        """The port that it listens on from now."""
        unbounded = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
        self._server = grpc.aio.server(options=[*unbounded, ("grpc.so_reuseport", 0)])
        for service, methods in _SERVICES.items():
            handlers = {
                name: grpc.unary_unary_rpc_method_handler(
                    self._handler(f"/{service}/{name}", rpc),
                    request_deserializer=rpc.request.FromString,
                    response_serializer=rpc.response.SerializeToString,
                )
                for name, rpc in methods.items()
            }
            generic = grpc.method_handlers_generic_handler(service, handlers)
            self._server.add_generic_rpc_handlers((generic,))
        port = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()
        return int(port)

    async def stop(self) -> None:
        """Close the port, and cancel what waits for its answer."""
        await self._server.stop(None)

    def _handler(self, path: str, rpc: _Rpc) -> Callable[[Any, Any], Any]:
        async def handle(message: Any, context: Any) -> Any:
            metadata = {each[0]: str(each[1]) for each in context.invocation_metadata()}
            told = await self.script.take(
                Request(rpc.operation, "grpc", metadata, message, path=path)
            )
            try:
                if told is not None:
                    await tell(told, context)
                collection = getattr(message, "collection_name", None)
                body = rpc.read(message) if rpc.read else None
                result = await self.engine.perform(rpc.operation, collection, body, "grpc")
            except RefusedError as error:
                await context.abort(error.code, error.text)
            return rpc.response(**rpc.write(result))

        return handle


def _write(operation: str, request: Any, read: Callable[[Any], Any]) -> _Rpc:
    return _Rpc(operation, request, proto.PointsOperationResponse, read, updated)


def _on_collection(operation: str, request: Any, read: Callable[[Any], Any] | None) -> _Rpc:
    return _Rpc(operation, request, proto.CollectionOperationResponse, read, plain)


_SERVICES = {
    "qdrant.Qdrant": {
        "HealthCheck": _Rpc(
            "info",
            qdrant_pb2.HealthCheckRequest,
            qdrant_pb2.HealthCheckReply,
            None,
            lambda result: result.model_dump(),
        ),
    },
    "qdrant.Collections": {
        "Get": _Rpc(
            "get_collection",
            proto.GetCollectionInfoRequest,
            proto.GetCollectionInfoResponse,
            None,
            lambda result: {"result": RestToGrpc.convert_collection_info(result)},
        ),
        "List": _Rpc(
            "get_collections",
            proto.ListCollectionsRequest,
            proto.ListCollectionsResponse,
            None,
            collections,
        ),
        "CollectionExists": _Rpc(
            "collection_exists",
            proto.CollectionExistsRequest,
            proto.CollectionExistsResponse,
            None,
            lambda result: {"result": proto.CollectionExists(exists=result.exists)},
        ),
        "Create": _on_collection("create_collection", proto.CreateCollection, creation),
        "Update": _on_collection(
            "update_collection", proto.UpdateCollection, GrpcToRest.convert_update_collection
        ),
        "Delete": _on_collection("delete_collection", proto.DeleteCollection, None),
    },
    "qdrant.Points": {
        "CreateFieldIndex": _write("create_payload_index", proto.CreateFieldIndexCollection, index),
        "DeleteFieldIndex": _write(
            "delete_payload_index",
            proto.DeleteFieldIndexCollection,
            lambda message: message.field_name,
        ),
        "Upsert": _write("upsert", proto.UpsertPoints, insertion),
        "UpdateVectors": _write("update_vectors", proto.UpdatePointVectors, new_vectors),
        "Delete": _write(
            "delete",
            proto.DeletePoints,
            lambda message: GrpcToRest.convert_points_selector(message.points),
        ),
        "SetPayload": _write("set_payload", proto.SetPayloadPoints, new_payload),
        "OverwritePayload": _write("overwrite_payload", proto.SetPayloadPoints, new_payload),
        "Get": _Rpc(
            "retrieve",
            proto.GetPoints,
            proto.GetResponse,
            retrieval,
            lambda result: {"result": records(result)},
        ),
        "Scroll": _Rpc("scroll", proto.ScrollPoints, proto.ScrollResponse, scroll, page),
        "Count": _Rpc(
            "count",
            proto.CountPoints,
            proto.CountResponse,
            lambda message: models.CountRequest(filter=filter_of(message)),
            lambda result: {"result": RestToGrpc.convert_count_result(result)},
        ),
        "Query": _Rpc(
            "query_points",
            proto.QueryPoints,
            proto.QueryResponse,
            GrpcToRest.convert_query_points,
            lambda result: {"result": scored(result)},
        ),
        "QueryBatch": _Rpc(
            "query_batch_points",
            proto.QueryBatchPoints,
            proto.QueryBatchResponse,
            batch,
            lambda results: {"result": [proto.BatchResult(result=scored(r)) for r in results]},
        ),
    },
}
