"""The operations of the stand-in, over the client's local mode, whatever the protocol."""

from collections.abc import Sequence
from typing import Any, Literal
from zlib import crc32

import attrs
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.local.json_path_parser import JsonPathItemType, parse_json_path

from tests.adapters.qdrant._standin_answers import RefusedError
from tests.adapters.qdrant._standin_checks import (
    check_ids,
    check_limits,
    check_name,
    check_query,
    check_version,
    worded,
)
from tests.adapters.qdrant._standin_documents import parts, with_queries, with_vectors
from tests.adapters.qdrant._standin_floats import kept

_RANGES = ("integer", "float", "datetime")
_NEED_NO_COLLECTION = ("create_collection", "collection_exists", "delete_collection")


@attrs.define
class Engine:
    """Local mode, refusing what the server refuses.

    Args:
        version: The version that it reports, such as `1.19.0`.
    """

    version: str
    _local: AsyncQdrantClient = attrs.field(factory=lambda: AsyncQdrantClient(":memory:"))
    _indexes: dict[str, dict[str, Any]] = attrs.field(factory=dict)

    async def close(self) -> None:
        """Forget all."""
        await self._local.close()

    async def perform(
        self, operation: str, collection: str | None, body: Any, protocol: Literal["rest", "grpc"]
    ) -> Any:
        """The result of an operation, or `RefusedError`."""
        rest = protocol == "rest"
        if collection is None:
            return await getattr(self, operation)()
        check_name(collection, rest=rest, strict=operation == "create_collection")
        check_limits(body, rest=rest)
        check_ids(body, rest=rest)
        check_version(self.version, body, rest=rest)
        if operation not in _NEED_NO_COLLECTION:
            await self._check_exists(collection)
        try:
            return await getattr(self, operation)(collection, body)
        except KeyError as error:
            raise RefusedError(
                "not found", f"Not found: No point with id {error.args[0]} found"
            ) from error
        except (NotImplementedError, TypeError, ValueError) as error:
            raise RefusedError("bad input", worded(str(error), rest=rest)) from error

    async def info(self) -> models.VersionInfo:
        """The name and the version of the server."""
        title = "qdrant - vector search engine"
        return models.VersionInfo(title=title, version=self.version, commit="stand-in")

    async def get_collections(self) -> models.CollectionsResponse:
        """The names of all collections."""
        return await self._local.get_collections()

    async def collection_exists(self, collection: str, _: None) -> models.CollectionExistence:
        """Whether there is such a collection."""
        return models.CollectionExistence(exists=await self._local.collection_exists(collection))

    async def get_collection(self, collection: str, _: None) -> models.CollectionInfo:
        """Its configuration, with the payload indexes, which local mode does not report."""
        info = await self._local.get_collection(collection)
        schema = {
            field: await self._index_info(collection, field, index)
            for field, index in self._indexes[collection].items()
        }
        return info.model_copy(update={"payload_schema": schema})

    async def create_collection(self, collection: str, body: models.CreateCollection) -> bool:
        """A new collection; shards, replicas and indexing settings are taken and forgotten."""
        if await self._local.collection_exists(collection):
            raise RefusedError("exists", f"Wrong input: Collection `{collection}` already exists!")
        self._indexes[collection] = {}
        return await self._local.create_collection(
            collection,
            vectors_config=body.vectors,
            sparse_vectors_config=body.sparse_vectors,
            metadata=body.metadata,
        )

    async def update_collection(self, collection: str, body: models.UpdateCollection) -> bool:
        """Merge metadata, and take the rest."""
        if body.metadata is not None:
            await self._local.update_collection(collection, metadata=body.metadata)
        return True

    async def delete_collection(self, collection: str, _: None) -> bool:
        """Whether there was such a collection; there is none now."""
        self._indexes.pop(collection, None)
        return await self._local.delete_collection(collection)

    async def create_payload_index(
        self, collection: str, body: models.CreateFieldIndex
    ) -> models.UpdateResult:
        """Note an index; only a scoring one does anything in local mode."""
        schema = body.field_schema
        self._indexes[collection][_canonical(body.field_name)] = schema
        if isinstance(schema, models.TextIndexParams) and schema.scoring:
            await self._local.create_payload_index(collection, body.field_name, schema)
        return _done()

    async def delete_payload_index(self, collection: str, field: str) -> models.UpdateResult:
        """Forget an index."""
        self._indexes[collection].pop(_canonical(field), None)
        return _done()

    async def upsert(
        self, collection: str, body: models.PointsList | models.PointsBatch
    ) -> models.UpdateResult:
        """Store points, their documents embedded and their floats as the server keeps them."""
        points: Any
        if isinstance(body, models.PointsList):
            points = [
                models.PointStruct(
                    id=point.id, vector=with_vectors(point.vector), payload=kept(point.payload)
                )
                for point in body.points
            ]
        else:
            points = with_vectors(body.batch)
            points = points.model_copy(update={"payloads": kept(points.payloads)})
        return await self._local.upsert(
            collection, points, update_filter=body.update_filter, update_mode=body.update_mode
        )

    async def update_vectors(
        self, collection: str, body: models.UpdateVectors
    ) -> models.UpdateResult:
        """Other vectors for points that are there."""
        points = with_vectors(body.points)
        return await self._local.update_vectors(
            collection, points, update_filter=body.update_filter
        )

    async def delete(self, collection: str, body: models.PointsSelector) -> models.UpdateResult:
        """Delete points by id or by filter."""
        return await self._local.delete(collection, body)

    async def set_payload(self, collection: str, body: models.SetPayload) -> models.UpdateResult:
        """Add to the payload of points."""
        where: Any = body.points if body.points is not None else body.filter
        return await self._local.set_payload(collection, kept(body.payload), where, key=body.key)

    async def overwrite_payload(
        self, collection: str, body: models.SetPayload
    ) -> models.UpdateResult:
        """Put a payload in the place of that of points."""
        where: Any = body.points if body.points is not None else body.filter
        return await self._local.overwrite_payload(collection, kept(body.payload), where)

    async def retrieve(self, collection: str, body: models.PointRequest) -> list[models.Record]:
        """The points of ids."""
        return await self._local.retrieve(
            collection,
            body.ids,
            with_payload=True if body.with_payload is None else body.with_payload,
            with_vectors=body.with_vector or False,
        )

    async def count(self, collection: str, body: models.CountRequest) -> models.CountResult:
        """How many points match."""
        return await self._local.count(collection, count_filter=body.filter)

    async def scroll(self, collection: str, body: models.ScrollRequest) -> models.ScrollResult:
        """Points in the order of their ids or of a field."""
        limit = body.limit or 10
        if body.order_by is not None:
            self._check_order(collection, body.order_by)
        points, offset = await self._local.scroll(
            collection,
            scroll_filter=body.filter,
            limit=limit if body.order_by is None else 2**31,
            order_by=body.order_by,
            offset=body.offset,
            with_payload=True if body.with_payload is None else body.with_payload,
            with_vectors=body.with_vector or False,
        )
        if body.order_by is not None:
            points = sorted(points, key=_order, reverse=_descends(body.order_by))[:limit]
        return models.ScrollResult(points=points, next_page_offset=offset)

    async def query_points(
        self, collection: str, body: models.QueryRequest
    ) -> models.QueryResponse:
        """The best points of one query."""
        return (await self._queried(collection, [body]))[0]

    async def query_batch_points(
        self, collection: str, body: models.QueryRequestBatch
    ) -> list[models.QueryResponse]:
        """The best points of each of several queries."""
        return await self._queried(collection, body.searches)

    async def _queried(
        self, collection: str, searches: Sequence[models.QueryRequest]
    ) -> list[models.QueryResponse]:
        config = (await self._local.get_collection(collection)).config
        for part in parts(list(searches)):
            if isinstance(part, models.QueryRequest | models.Prefetch):
                check_query(config.params, part)
                if isinstance(part.query, models.OrderByQuery):
                    self._check_order(collection, part.query.order_by)
        return await self._local.query_batch_points(
            collection,
            [
                each.model_copy(
                    update={
                        "query": with_queries(each.query),
                        "prefetch": with_queries(each.prefetch),
                        "params": _idf_of(each.params),
                        "with_payload": each.with_payload or False,
                        "with_vector": each.with_vector or False,
                    }
                )
                for each in searches
            ],
        )

    def _check_order(self, collection: str, order: models.OrderByInterface) -> None:
        key = order if isinstance(order, str) else order.key
        index = self._indexes[collection].get(_canonical(key))
        if _type_of(index) not in _RANGES or getattr(index, "range", None) is False:
            raise RefusedError(
                "bad input",
                f"Wrong input: No range index for `order_by` key: `{_canonical(key)}`. Please "
                "create one to use `order_by`. Check https://qdrant.tech/documentation/concepts/"
                "indexing/#payload-index to see which payload schemas support Range conditions",
            )

    async def _check_exists(self, collection: str) -> None:
        if not await self._local.collection_exists(collection):
            raise RefusedError("not found", f"Not found: Collection `{collection}` doesn't exist!")

    async def _index_info(self, collection: str, field: str, index: Any) -> models.PayloadIndexInfo:
        empty = models.IsEmptyCondition(is_empty=models.PayloadField(key=field))
        count = await self._local.count(collection, count_filter=models.Filter(must_not=[empty]))
        return models.PayloadIndexInfo(
            data_type=models.PayloadSchemaType(_type_of(index)),
            params=None if isinstance(index, models.PayloadSchemaType) else index,
            points=count.count,
        )


def _done() -> models.UpdateResult:
    return models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED)


def _type_of(index: Any) -> str | None:
    if index is None or isinstance(index, models.PayloadSchemaType):
        return index.value if index else None
    return str(index.type.value)


def _idf_of(params: models.SearchParams | None) -> models.SearchParams | None:
    """The one setting that local mode heeds; it warns of each of the others."""
    return None if params is None else models.SearchParams(idf=params.idf)


def _descends(order: models.OrderByInterface) -> bool:
    return isinstance(order, models.OrderBy) and order.direction == models.Direction.DESC


def _order(point: models.Record) -> Any:
    """By value; equal values in an order that is steady and nobody's, as a server's is.

    There it is the order of storage: that of the ids only as long as points came one by one.
    """
    return point.order_value, crc32(str(point.id).encode())


def _canonical(key: str) -> str:
    """A payload key as the server prints it: a segment in quotes only where it must be."""
    path = ""
    for item in parse_json_path(key):
        if item.item_type == JsonPathItemType.KEY:
            name = item.key or ""
            bare = name and all(each.isalnum() or each in "_-" for each in name)
            path += ("." if path else "") + (name if bare else f'"{name}"')
        else:
            path += "[]" if item.index is None else f"[{item.index}]"
    return path
