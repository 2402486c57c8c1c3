"""The store: five methods over one client."""

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

from soev_retrieval.domain import (
    EVERYTHING,
    HYBRID_DEPTH,
    NOTHING,
    Chunk,
    FieldSpec,
    Filter,
    Hit,
    InvalidQueryError,
    Record,
    Target,
    Unconfigured,
    check_count,
    check_filter,
    check_hybrid,
    check_ids,
    check_limit,
    check_order,
    check_query,
    check_records,
    check_seconds,
    check_spec,
    check_vector,
    default_alpha,
    finite_vector,
    hybrid_depth,
    listed,
)
from soev_retrieval_weaviate._collection import Collection, Tenant
from soev_retrieval_weaviate._connection import Address, Connection
from soev_retrieval_weaviate._layout import Keywords, Layout, Vectors
from soev_retrieval_weaviate._loader import Loading
from soev_retrieval_weaviate._making import Made, Making, check_making
from soev_retrieval_weaviate._objects import Objects
from soev_retrieval_weaviate._reading import Reading
from soev_retrieval_weaviate._search import DEFINED, FUSIONS, Both, Search
from soev_retrieval_weaviate._targets import Collections

_STORE = "WeaviateStore"


class WeaviateStore:
    """A VectorStore and Loader over Weaviate.

    Near vectors are found by the server's index, approximately; keywords by its BM25. Collections
    that are already there are described by `collections` and read only; `create` makes others.

    Use it as an async context, or call `close`.

    Args:
        url: The URL of the server. With `https` gRPC is encrypted too.
        grpc_port: The server's port for gRPC.
        grpc_host: Its host for gRPC, where that is another one.
        api_key: The key that the server wants, or None. It shows in no repr.
        collections: The collections that are already there, by target.
        tenants: The targets that `create` makes as tenants of one collection.
        making: How `create` makes others.
        alpha: The weight of the vector side of `hybrid` where the call names none, 0 to 1.
        fusion: `scores` for the one definition of a hybrid ranking; `relative` or `ranked` for the
            server's own fusion in one request. Over one searched property `relative` is the same
            ranking to a depth of 100, and is what `scores` asks for.
        depth: How many hits each leg of `hybrid` brings at the least. With another one than 100 the
            legs are two requests.
        checks_shards: Whether to look, on a cluster and after each search, if all shards of the
            collection are served: Weaviate answers from those that are left, and does not say so.
        timeout_seconds: How long one request may take, above 0.
        options: More for `WeaviateAsyncClient`, such as `additional_headers`.

    Raises:
        InvalidQueryError: A setting is not one of the above.
    """

    def __init__(
        self,
        url: str,
        *,
        grpc_port: int = 50051,
        grpc_host: str | None = None,
        api_key: str | None = None,
        collections: Mapping[Target, Collection] | None = None,
        tenants: Mapping[Target, Tenant] | None = None,
        making: Making | None = None,
        alpha: float = 0.5,
        fusion: str = DEFINED,
        depth: int = HYBRID_DEPTH,
        checks_shards: bool = True,
        timeout_seconds: float = 30.0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if fusion != DEFINED and fusion not in FUSIONS:
            raise InvalidQueryError(
                f"there is no fusion {fusion!r}; use {DEFINED}, {', '.join(FUSIONS)}"
            )
        self._alpha, self._fusion, self._depth = (
            default_alpha(alpha),
            fusion,
            check_count(depth, "depth"),
        )
        self._making = making or Making()
        address = Address(
            url,
            api_key=api_key,
            grpc_host=grpc_host,
            grpc_port=grpc_port,
            options={} if options is None else options,
        )
        self._connection = Connection(address, check_seconds(timeout_seconds, "timeout_seconds"))
        self._targets = Collections(
            self._connection, collections or {}, tenants or {}, checks_shards=checks_shards
        )
        self._loading = Loading(self._connection)

    async def hybrid(
        self,
        target: Target,
        *,
        query: str,
        vector: Sequence[float] | None = None,
        limit: int,
        where: Filter | None = None,
        alpha: float | None = None,
    ) -> Sequence[Hit]:
        """As `VectorStore.hybrid`. With `vector` None, the collection embeds or `alpha` is 0."""
        query, limit = check_query(query), check_limit(limit)
        weight, vector = check_hybrid(alpha, vector, default=self._alpha, store=_STORE, embeds=True)
        if weight == 0:
            return await self.bm25(target, query=query, limit=limit, where=where)
        if weight == 1 and vector is not None:
            return await self.near_vector(target, vector=vector, limit=limit, where=where)

        async def found(layout: Layout) -> Sequence[Hit]:
            check_hybrid(weight, vector, default=weight, store=_STORE, embeds=layout.spec.embeds)
            vectors = _vectors(layout, "hybrid")
            numbers = None if vector is None else _numbers(vector, vectors)
            objects = self._objects(layout, where, "hybrid")
            if weight == 1:  # and the server makes the vector
                if objects is None:
                    return []
                search = Search(objects)
                return await search.best(search.legs.near_text(vectors, query), limit)
            keywords = _keywords(layout, "hybrid")
            if objects is None:
                return []
            depth = hybrid_depth(limit, self._depth)
            both = Both(vectors, keywords, query, numbers, weight, self._fusion, depth)
            return await Search(objects).hybrid(both, limit)

        return await self._targets.as_a_whole(target, found, operation="hybrid")

    async def near_vector(
        self,
        target: Target,
        *,
        vector: Sequence[float],
        limit: int,
        where: Filter | None = None,
    ) -> Sequence[Hit]:
        """As `VectorStore.near_vector`: by the index of the vectors."""
        limit = check_limit(limit)
        vector = finite_vector(vector, what="the query vector")

        async def found(layout: Layout) -> Sequence[Hit]:
            vectors = _vectors(layout, "near_vector")
            numbers = _numbers(vector, vectors)
            if (objects := self._objects(layout, where, "near_vector")) is None:
                return []
            search = Search(objects)
            return await search.best(search.legs.near(vectors, numbers), limit)

        return await self._targets.as_a_whole(target, found, operation="near_vector")

    async def bm25(
        self, target: Target, *, query: str, limit: int, where: Filter | None = None
    ) -> Sequence[Hit]:
        """As `VectorStore.bm25`: the sum over the searched properties, ties by id."""
        query, limit = check_query(query), check_limit(limit)

        async def found(layout: Layout) -> Sequence[Hit]:
            keywords = _keywords(layout, "bm25")
            if (objects := self._objects(layout, where, "bm25")) is None:
                return []
            search = Search(objects)
            return await search.best(search.legs.keyword(keywords, query), limit)

        return await self._targets.as_a_whole(target, found, operation="bm25")

    async def fetch(
        self,
        target: Target,
        *,
        where: Filter | None = None,
        limit: int,
        order_by: str | None = None,
        descending: bool = False,
    ) -> Sequence[Chunk]:
        """As `VectorStore.fetch`."""
        limit = check_limit(limit)

        async def found(layout: Layout) -> Sequence[Chunk]:
            layout.refuse(order_by)
            check_order(order_by, layout.spec)
            if (objects := self._objects(layout, where, "fetch")) is None:
                return []
            reading = Reading(objects)
            if order_by is None:
                return await reading.chunks(limit)
            return await reading.ordered(order_by, limit, descending=descending)

        return await self._targets.as_a_whole(target, found, operation="fetch")

    async def fields(self, target: Target) -> FieldSpec:
        """As `VectorStore.fields`: what the collection's schema says, read once and kept."""
        return (await self._targets.layout(target, "fields")).spec

    async def create(self, target: Target, spec: FieldSpec) -> None:
        """As `Loader.create`: a collection of that name, or a tenant, as `making` says."""
        self._targets.refuse_configured(target, "create")
        name, tenant = self._targets.place(target)
        check_spec(spec, store=_STORE)
        check_making(spec)
        await self._loading.create(
            name, Made(spec, self._making, target if tenant is None else None)
        )
        made = await self._targets.made(target, "create")
        if made is None:
            raise InvalidQueryError(
                f"there is a collection {name!r}, which is not what create makes for {target!r}",
                target=target,
            )
        if made.spec != spec:
            raise InvalidQueryError(
                f"target {target!r} exists with another spec; drop it first", target=target
            )
        if tenant is not None:
            await self._loading.create_tenant(name, tenant)

    async def upsert(self, target: Target, records: Iterable[Record]) -> None:
        """As `Loader.upsert`, in batches: where one fails, those before it are written."""
        self._targets.refuse_configured(target, "upsert")
        given = listed(records, "record")

        async def written(made: Made, layout: Layout) -> None:
            if checked := check_records(given, made.spec):
                await self._loading.upsert(*self._targets.place(target), made, checked)

        await self._targets.on_made(target, written, operation="upsert")

    async def delete(self, target: Target, ids: Iterable[str]) -> None:
        """As `Loader.delete`."""
        self._targets.refuse_configured(target, "delete")
        checked = check_ids(ids)

        async def deleted(made: Made, layout: Layout) -> None:
            await self._loading.delete(*self._targets.place(target), checked)

        await self._targets.on_made(target, deleted, operation="delete")

    async def drop(self, target: Target) -> None:
        """As `Loader.drop`. A collection that `create` did not make is left; so is a tenant's."""
        self._targets.refuse_configured(target, "drop")
        name, tenant = self._targets.place(target)
        if await self._targets.made(target, "drop") is None:
            return
        await self._loading.drop(name, tenant)
        self._targets.forget(target)

    async def close(self) -> None:
        """Close every connection."""
        await self._connection.close()

    async def __aenter__(self) -> "WeaviateStore":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"WeaviateStore({self._targets!r})"

    def _objects(self, layout: Layout, where: Filter | None, operation: str) -> Objects | None:
        """The objects that match. None where none can."""
        if where is None:
            return Objects(self._connection, layout, None, operation)
        check_filter(where, "where")
        checked = layout.checked(where)
        if checked is NOTHING:
            return None
        objects = Objects(
            self._connection, layout, None if checked == EVERYTHING else checked, operation
        )
        _ = objects.condition  # what has no exact form is refused before anything is sent
        return objects


def _numbers(vector: Sequence[float], vectors: Vectors) -> Sequence[float]:
    """The query's vector, of the right length where that is known."""
    dimension = len(vector) if vectors.dimension is None else vectors.dimension
    return check_vector(vector, dimension, vectors.distance)


def _vectors(layout: Layout, operation: str) -> Vectors:
    if isinstance(layout.vectors, str):
        raise Unconfigured(layout.vectors, store=_STORE, operation=operation)
    return layout.vectors


def _keywords(layout: Layout, operation: str) -> Keywords:
    if isinstance(layout.keywords, str):
        raise Unconfigured(layout.keywords, store=_STORE, operation=operation)
    return layout.keywords
