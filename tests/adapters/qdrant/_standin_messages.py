"""Protobuf messages to the models that both protocols share, and back, by the client's own hand."""

from collections.abc import Callable
from typing import Any

from google.protobuf.message import Message
from qdrant_client import grpc as proto
from qdrant_client import models
from qdrant_client.conversions.conversion import (
    GrpcToRest,
    RestToGrpc,
    grpc_field_type_to_payload_schema,
)


def _given(message: Message, name: str, convert: Callable[[Any], Any]) -> Any:
    return convert(getattr(message, name)) if message.HasField(name) else None


def _same(value: Any) -> Any:
    return value


def filter_of(message: Any, name: str = "filter") -> Any:
    """A filter, where the message has one."""
    return _given(message, name, GrpcToRest.convert_filter)


def _shown(message: Any) -> dict[str, Any]:
    return {
        "with_payload": _given(message, "with_payload", GrpcToRest.convert_with_payload_selector),
        "with_vector": _given(message, "with_vectors", GrpcToRest.convert_with_vectors_selector),
    }


def creation(message: Any) -> models.CreateCollection:
    """The vectors and the metadata of a new collection."""
    sparse = GrpcToRest.convert_sparse_vector_config
    return models.CreateCollection(
        vectors=_given(message, "vectors_config", GrpcToRest.convert_vectors_config),
        sparse_vectors=_given(message, "sparse_vectors_config", sparse),
        metadata=GrpcToRest.convert_payload(message.metadata) if message.metadata else None,
    )


def index(message: Any) -> models.CreateFieldIndex:
    """A payload index, by its parameters or by its type alone."""
    if message.HasField("field_index_params"):
        schema: Any = GrpcToRest.convert_payload_schema_params(message.field_index_params)
    else:
        kind = grpc_field_type_to_payload_schema(message.field_type)
        schema = GrpcToRest.convert_payload_schema_type(kind)
    return models.CreateFieldIndex(field_name=message.field_name, field_schema=schema)


def insertion(message: Any) -> models.PointsList:
    """Points to store."""
    return models.PointsList(
        points=[GrpcToRest.convert_point_struct(each) for each in message.points],
        update_filter=filter_of(message, "update_filter"),
        update_mode=_given(message, "update_mode", GrpcToRest.convert_update_mode),
    )


def new_vectors(message: Any) -> models.UpdateVectors:
    """Vectors of points that are there."""
    return models.UpdateVectors(
        points=[GrpcToRest.convert_point_vectors(each) for each in message.points],
        update_filter=filter_of(message, "update_filter"),
    )


def new_payload(message: Any) -> models.SetPayload:
    """A payload and the points that it is for."""
    selector = GrpcToRest.convert_points_selector(message.points_selector)
    return models.SetPayload(
        payload=GrpcToRest.convert_payload(message.payload),
        points=selector.points if isinstance(selector, models.PointIdsList) else None,
        filter=selector.filter if isinstance(selector, models.FilterSelector) else None,
        key=_given(message, "key", _same),
    )


def retrieval(message: Any) -> models.PointRequest:
    """Ids, and what of their points is asked for."""
    ids = [GrpcToRest.convert_point_id(each) for each in message.ids]
    return models.PointRequest(ids=ids, **_shown(message))


def scroll(message: Any) -> models.ScrollRequest:
    """A page of points."""
    return models.ScrollRequest(
        filter=filter_of(message),
        limit=_given(message, "limit", _same),
        offset=_given(message, "offset", GrpcToRest.convert_point_id),
        order_by=_given(message, "order_by", GrpcToRest.convert_order_by),
        **_shown(message),
    )


def batch(message: Any) -> models.QueryRequestBatch:
    """Several queries."""
    return models.QueryRequestBatch(
        searches=[GrpcToRest.convert_query_points(each) for each in message.query_points]
    )


def records(points: list[models.Record]) -> list[Any]:
    """Points as they are stored."""
    # The converter takes no payload that is None, which is what local mode gives for "without".
    whole = [each.model_copy(update={"payload": each.payload or {}}) for each in points]
    return [RestToGrpc.convert_record(each) for each in whole]


def scored(response: models.QueryResponse) -> list[Any]:
    """Points as a query found them."""
    return [RestToGrpc.convert_scored_point(each) for each in response.points]


def updated(result: models.UpdateResult) -> dict[str, Any]:
    """The fields of a response to a write."""
    return {"result": RestToGrpc.convert_update_result(result)}


def page(result: models.ScrollResult) -> dict[str, Any]:
    """The fields of a response to a scroll."""
    offset = result.next_page_offset
    return {
        "result": records(result.points),
        "next_page_offset": None
        if offset is None
        else RestToGrpc.convert_extended_point_id(offset),
    }


def plain(result: Any) -> dict[str, Any]:
    """The fields of a response that is one value."""
    return {"result": result}


def collections(result: models.CollectionsResponse) -> dict[str, Any]:
    """The fields of a response that lists names."""
    described = [proto.CollectionDescription(name=each.name) for each in result.collections]
    return {"collections": described}
