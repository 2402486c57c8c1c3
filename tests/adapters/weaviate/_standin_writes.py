"""What changes objects, and what counts them: batches, deletes, single objects, aggregates."""

import itertools
import struct
from collections import defaultdict
from typing import Any
from uuid import UUID, uuid4
from zlib import crc32

from google.protobuf.json_format import MessageToDict
from weaviate.proto.v1 import aggregate_pb2, batch_delete_pb2, batch_pb2, tenants_pb2

from tests.adapters.weaviate._standin_answers import RefusedError
from tests.adapters.weaviate._standin_cluster import Cluster, Collection, tenants_of
from tests.adapters.weaviate._standin_filters import read
from tests.adapters.weaviate._standin_go import parsed_uuid, uuid_error
from tests.adapters.weaviate._standin_index import Shard, Stored, Vector
from tests.adapters.weaviate._standin_matching import matching
from tests.adapters.weaviate._standin_search import MOST
from tests.adapters.weaviate._standin_values import checked
from tests.adapters.weaviate._standin_vectors import check_sizes, floats, given_vectors

_CLOCK = itertools.count(1_700_000_000_000)
"""Milliseconds that pass with the writes, not with time."""


def batch_objects(message: Any, cluster: Cluster) -> Any:
    """The reply to a batch: an error for each object that was not taken.

    Its objects get their document numbers in an order that is steady and nobody's, as a server's
    is, which takes them in side by side.
    """
    errors: dict[int, str] = {}
    now = next(_CLOCK)
    ready: list[tuple[Collection, Shard, Stored]] = []
    for at, each in enumerate(message.objects):
        try:
            ready.append(_made(each, cluster, now))
        except RefusedError as error:
            errors[at] = error.text
    last = {stored.uuid: (collection, shard, stored) for collection, shard, stored in ready}
    for collection, shard, stored in sorted(
        last.values(), key=lambda each: crc32(each[2].uuid.encode())
    ):
        _put(collection, shard, stored)
    return batch_pb2.BatchObjectsReply(
        took=0.001,
        errors=[
            batch_pb2.BatchObjectsReply.BatchError(index=at, error=text)
            for at, text in errors.items()
        ],
    )


def _made(message: Any, cluster: Cluster, now: int) -> tuple[Collection, Shard, Stored]:
    collection = cluster.find(message.collection)
    if collection is None:
        raise RefusedError(f"class '{message.collection}' not present in schema")
    vectors: dict[str, Vector] = {each.name: floats(each.vector_bytes) for each in message.vectors}
    if message.vector_bytes or message.vector:
        content = message.vector_bytes or struct.pack(f"<{len(message.vector)}f", *message.vector)
        vectors[""] = floats(content)
    shard, stored = _stored(
        collection,
        cluster,
        message.uuid,
        _properties(message.properties),
        vectors,
        message.tenant,
        now,
    )
    check_sizes(stored.vectors, shard, stored.uuid)
    for name, vector in stored.vectors.items():
        shard.dimensions.setdefault(name, len(vector))
    return collection, shard, stored


def _stored(
    collection: Collection,
    cluster: Cluster,
    id: str,
    properties: dict[str, Any],
    vectors: dict[str, Vector],
    tenant: str,
    now: int,
) -> tuple[Shard, Stored]:
    uuid = parsed_uuid(id)
    if uuid is None:
        raise RefusedError(uuid_error(id))
    shard = cluster.written(collection, tenant, uuid)
    kept = checked(properties, collection.properties, collection.name)
    made = given_vectors(vectors, kept, collection.config, collection.vectors)
    return shard, Stored(uuid, kept, made, now, now)


def _put(collection: Collection, shard: Shard, stored: Stored) -> None:
    before = shard.objects.get(stored.uuid)
    if before is not None:
        stored.created = before.created
    shard.put(stored, collection.config)


def _properties(message: Any) -> dict[str, Any]:
    """The properties of an object as the wire has them, in all of their parts."""
    result: dict[str, Any] = MessageToDict(message.non_ref_properties)
    for kind in ("boolean", "text", "int"):
        for each in getattr(message, f"{kind}_array_properties"):
            result[each.prop_name] = list(each.values)
    for each in message.number_array_properties:
        content = each.values_bytes
        result[each.prop_name] = (
            list(struct.unpack(f"<{len(content) // 8}d", content)) if content else list(each.values)
        )
    for each in message.object_properties:
        result[each.prop_name] = _properties(each.value)
    for each in message.object_array_properties:
        result[each.prop_name] = [_properties(value) for value in each.values]
    for name in message.empty_list_props:
        result[name] = []
    return result


def batch_delete(message: Any, cluster: Cluster, version: tuple[int, ...]) -> Any:
    """The reply to a delete of what a filter holds for: no more at once than a search may find."""
    collection = cluster.find(message.collection)
    params, of = "batch delete params: ", message.collection
    if collection is None:
        raise RefusedError(f"{params}could not find class {of} in schema")
    if not message.HasField("filters"):
        raise RefusedError(f"{params}no filters in batch delete request")
    try:
        where = read(message.filters, collection.properties, of, version)
    except RefusedError as error:
        raise RefusedError(params + error.text) from error
    found: list[tuple[Shard, str]] = []
    try:
        for shard in cluster.searched(collection, message.tenant):
            try:
                docs = matching(where, shard, collection.config)
            except RefusedError as error:
                raise RefusedError(
                    f'find matching doc ids in shard "{shard.name}": docIds: {error.text}'
                ) from error
            found += [(shard, shard.docs[doc].uuid) for doc in sorted(docs)]
    except RefusedError as error:
        raise RefusedError(f"batch delete: cannot find objects: {error.text}") from error
    taken = found[:MOST]
    if not message.dry_run:
        for shard, uuid in taken:
            shard.drop(uuid)
    objects = [
        batch_delete_pb2.BatchDeleteObject(uuid=UUID(uuid).bytes, successful=True, error="")
        for _, uuid in taken
    ]
    return batch_delete_pb2.BatchDeleteReply(
        took=0.001,
        matches=len(found),
        successful=len(taken),
        objects=objects if message.verbose else [],
    )


def aggregate(message: Any, cluster: Cluster, version: tuple[int, ...]) -> Any:
    """The reply to an aggregate that counts objects; it can do nothing else."""
    collection = cluster.find(message.collection)
    if collection is None:
        raise RefusedError(f"parse params: could not find class {message.collection} in schema")
    where = None
    if message.HasField("filters"):
        try:
            where = read(message.filters, collection.properties, message.collection, version)
        except RefusedError as error:
            raise RefusedError(f"parse params: extract filters: {error.text}") from error
    count = 0
    try:
        for shard in cluster.searched(collection, message.tenant):
            found = shard.docs if where is None else matching(where, shard, collection.config)
            count += len(found)
    except RefusedError as error:
        raise RefusedError(f"aggregate: {error.text}") from error
    single = aggregate_pb2.AggregateReply.Single(objects_count=count)
    return aggregate_pb2.AggregateReply(took=0.001, single_result=single)


def tenants_get(message: Any, cluster: Cluster) -> Any:
    """The tenants of a collection, all or those of some names."""
    collection = cluster.find(message.collection)
    why = "get tenants: failed to execute query: could not get tenants: could not get tenants: "
    if collection is None:
        raise RefusedError(f"{why}class not found")
    if not collection.tenancy:
        raise RefusedError(f'{why}multi-tenancy is not enabled for class "{collection.name}"')
    names = list(message.names.values) if message.HasField("names") else None
    if names == []:
        raise RefusedError("get tenants: must specify at least one tenant name")
    numbers = {"HOT": 1, "COLD": 2, "FROZEN": 4}
    return tenants_pb2.TenantsGetReply(
        took=0.001,
        tenants=[
            tenants_pb2.Tenant(
                name=each["name"],
                activity_status=numbers.get(each["activityStatus"], 1),  # type: ignore[arg-type]
            )
            for each in tenants_of(collection, names)
        ],
    )


def put_object(body: dict[str, Any], cluster: Cluster, *, new: bool) -> dict[str, Any]:
    """One object over REST, which is new or is there."""
    collection = cluster.find(body.get("class") or "")
    if collection is None:
        raise RefusedError(f'invalid object: class "{body.get("class")}" not found in schema')
    id = body.get("id") or str(uuid4())
    if parsed_uuid(id) is None:
        raise RefusedError(f'id in body must be of type uuid: "{id}"')
    brought = {name: floats(struct.pack(f"<{len(v)}f", *v)) for name, v in _brought(body).items()}
    tenant, properties = body.get("tenant") or "", body.get("properties") or {}
    try:
        checked(properties, collection.properties, collection.name)
    except RefusedError as error:
        raise RefusedError(f"invalid object: {error.text}") from error
    try:
        shard, stored = _stored(collection, cluster, id, properties, brought, tenant, next(_CLOCK))
    except RefusedError as error:
        late = "not found" in error.text
        where = f"put object: import into index {collection.index}: " if late else ""
        raise RefusedError(f"{where}determine shard: {error.text}", error.status) from error
    if new and stored.uuid in shard.objects:
        raise RefusedError(f"id '{id}' already exists")
    if not new and stored.uuid not in shard.objects:
        raise RefusedError("", 404, empty=True)
    try:
        check_sizes(stored.vectors, shard, stored.uuid)
    except RefusedError as error:
        raise RefusedError(
            f"put object: import into index {collection.index}: put local object: "
            f'shard="{shard.name}": store object in LSM store: {error.text}',
            500,
        ) from error
    _put(collection, shard, stored)
    vectors = {name: vector.tolist() for name, vector in stored.vectors.items()}
    bare = {"vector": vectors.pop("")} if "" in vectors else {}
    return told(stored, collection) | bare | ({"vectors": vectors} if vectors else {})


def _brought(body: dict[str, Any]) -> dict[str, list[float]]:
    vectors = dict(body.get("vectors") or {})
    return vectors | ({"": body["vector"]} if body.get("vector") else {})


def told(stored: Stored, collection: Collection) -> dict[str, Any]:
    """An object as REST tells it."""
    kinds = {name: each["dataType"][0] for name, each in collection.properties.items()}
    plain: dict[str, Any] = defaultdict(dict)
    for name, value in stored.properties.items():
        whole = kinds[name].startswith("int")
        plain["properties"][name] = (
            ([int(each) for each in value] if isinstance(value, list) else int(value))
            if whole
            else value
        )
    return {
        "class": collection.name,
        "id": stored.uuid,
        "creationTimeUnix": stored.created,
        "lastUpdateTimeUnix": stored.updated,
        "properties": plain["properties"],
    }
