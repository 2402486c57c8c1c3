"""What a search answers with, as messages."""

import struct
from typing import Any
from uuid import UUID

import attrs
from weaviate.proto.v1 import base_pb2, properties_pb2, search_get_pb2

from tests.adapters.weaviate._standin_cluster import Collection
from tests.adapters.weaviate._standin_index import Stored, Vector

_SINGLE = base_pb2.Vectors.VECTOR_TYPE_SINGLE_FP32


@attrs.frozen
class Hit:
    """An object with what its search says of it."""

    stored: Stored
    score: float = 0.0
    distance: float | None = None


def reply(
    hits: list[Hit], names: list[str], message: Any, collection: Collection
) -> search_get_pb2.SearchReply:
    """The reply to a search."""
    return search_get_pb2.SearchReply(
        took=0.001,
        generative_grouped_result="",
        results=[
            search_get_pb2.SearchResult(
                properties=_properties(hit.stored, names, collection),
                metadata=_metadata(hit, message, collection),
            )
            for hit in hits
        ],
    )


def vector_bytes(vector: Vector) -> bytes:
    """A vector as the wire has it."""
    return vector.astype("<f4").tobytes()


def _metadata(hit: Hit, message: Any, collection: Collection) -> Any:
    result = search_get_pb2.MetadataResult()
    if not message.HasField("metadata"):
        return result
    asked, stored = message.metadata, hit.stored
    if asked.uuid:
        result.id, result.id_as_bytes = stored.uuid, UUID(stored.uuid).bytes
    if asked.creation_time_unix:
        result.creation_time_unix, result.creation_time_unix_present = stored.created, True
    if asked.last_update_time_unix:
        result.last_update_time_unix, result.last_update_time_unix_present = stored.updated, True
    if asked.distance and hit.distance is not None:
        result.distance, result.distance_present = hit.distance, True
    if asked.certainty and hit.distance is not None and _cosine(collection):
        result.certainty, result.certainty_present = 1 - hit.distance / 2, True
    if asked.score:
        result.score, result.score_present = hit.score, True
    if asked.explain_score:
        result.explain_score_present = True
    if asked.vector and "" in stored.vectors:
        result.vector.extend(stored.vectors[""].tolist())
        result.vector_bytes = vector_bytes(stored.vectors[""])
    for name in sorted(collection.vectors) if asked.vector else asked.vectors:
        if name and name in stored.vectors:
            content = vector_bytes(stored.vectors[name])
            result.vectors.append(base_pb2.Vectors(name=name, vector_bytes=content, type=_SINGLE))
    return result


def _cosine(collection: Collection) -> bool:
    return all(
        each["vectorIndexConfig"]["distance"] == "cosine" for each in collection.vectors.values()
    )


def _properties(stored: Stored, names: list[str], collection: Collection) -> Any:
    result = search_get_pb2.PropertiesResult(target_collection=collection.name)
    held = collection.properties
    for name in names:
        value = _value(stored.properties.get(name), held[name])
        result.non_ref_props.fields[name].CopyFrom(value)
    return result


def _value(value: Any, prop: dict[str, Any]) -> Any:
    kind = prop["dataType"][0]
    if value is None:
        return properties_pb2.Value(null_value=0)
    if kind.endswith("[]"):
        return properties_pb2.Value(list_value=_list(value, kind, prop))
    if kind == "object":
        return properties_pb2.Value(object_value=_object(value, prop))
    if kind == "geoCoordinates":
        return properties_pb2.Value(geo_value=properties_pb2.GeoCoordinate(**value))
    held: dict[str, Any] = {
        f"{'bool' if kind == 'boolean' else kind}_value": int(value) if kind == "int" else value
    }
    return properties_pb2.Value(**held)


def _object(value: Any, prop: dict[str, Any]) -> Any:
    fields = {
        each["name"]: _value(value[each["name"]], each)
        for each in prop["nestedProperties"]
        if each["name"] in value
    }
    return properties_pb2.Properties(fields=fields)


def _list(values: list[Any], kind: str, prop: dict[str, Any]) -> Any:
    if kind == "int[]":
        packed = struct.pack(f"<{len(values)}q", *map(int, values))
        return properties_pb2.ListValue(int_values=properties_pb2.IntValues(values=packed))
    if kind == "number[]":
        packed = struct.pack(f"<{len(values)}d", *values)
        return properties_pb2.ListValue(number_values=properties_pb2.NumberValues(values=packed))
    if kind == "object[]":
        objects = [_object(each, prop) for each in values]
        return properties_pb2.ListValue(object_values=properties_pb2.ObjectValues(values=objects))
    name = {"boolean[]": "bool"}.get(kind, kind.removesuffix("[]"))
    held = getattr(properties_pb2, f"{name.capitalize()}Values")(values=values)
    return properties_pb2.ListValue(**{f"{name}_values": held})
