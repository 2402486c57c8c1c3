"""The store: five methods over one client."""

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

from soev_retrieval.domain import (
    EVERYTHING,
    HYBRID_DEPTH,
    NOTHING,
    AllOf,
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
    simplify,
)
from soev_retrieval_qdrant._collection import Collection, collection_name
from soev_retrieval_qdrant._connection import Address, Connection
from soev_retrieval_qdrant._layout import Layout, checked, refuse
from soev_retrieval_qdrant._legs import Scored, Terms, Vectors
from soev_retrieval_qdrant._loader import Loading
from soev_retrieval_qdrant._making import Made, Making, check_making
from soev_retrieval_qdrant._points import Points
from soev_retrieval_qdrant._reading import Reading
from soev_retrieval_qdrant._search import Search, fusion_query
from soev_retrieval_qdrant._targets import Collections

_STORE = "QdrantStore"

FUSIONS = ("scores", "rrf", "dbsf")


class QdrantStore:
    """A VectorStore and Loader over Qdrant: a server, or qdrant-client's local mode.

    Near vectors are found by the server's index, approximately; keywords by Qdrant's own BM25 in a
    sparse vector. Collections that are already there are described by `collections` and read only;
    `create` makes others.

    Use it as an async context, or call `close`.

    Args:
        location: The URL of a server (of its REST port, over gRPC too), `:memory:` for local mode
            in the memory of this process, or the folder of local mode on disk.
        transport: `grpc`, or `rest`, where bounds that decimal text does not carry are refused.
        api_key: The key that the server wants, or None. It shows in no repr.
        grpc_port: The server's port for gRPC.
        collections: The collections that are already there, by target.
        making: How `create` makes others.
        alpha: The weight of the vector side of `hybrid` where the call names none, 0 to 1.
        fusion: `scores` for the one definition of a hybrid ranking; `rrf` or `dbsf` for the
            server's own fusion, which is not that: its RRF weighs ranks in a way of its own, its
            DBSF takes no weights.
        depth: How many hits each leg of `hybrid` brings at the least.
        timeout_seconds: How long one request may take, above 0. The server and the client are told
            whole seconds, rounded up; the call comes back in time. In local mode the work goes on
            in its thread, and the next call waits for it.
        options: More for `AsyncQdrantClient`, such as `headers` or `auth_token_provider`.

    Raises:
        InvalidQueryError: A setting is not one of the above.
    """

    def __init__(
        self,
        location: str,
        *,
        transport: str = "grpc",
        api_key: str | None = None,
        grpc_port: int = 6334,
        collections: Mapping[Target, Collection] | None = None,
        making: Making | None = None,
        alpha: float = 0.5,
        fusion: str = "scores",
        depth: int = HYBRID_DEPTH,
        timeout_seconds: float = 30.0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if fusion not in FUSIONS:
            raise InvalidQueryError(f"there is no fusion {fusion!r}; use {', '.join(FUSIONS)}")
        self._alpha, self._fusion, self._depth = (
            default_alpha(alpha),
            fusion,
            check_count(depth, "depth"),
        )
        if fusion == "dbsf":
            fusion_query(fusion, self._alpha)
        self._making = making or Making()
        address = Address(location, transport, api_key, grpc_port, dict(options or {}))
        self._connection = Connection(address, check_seconds(timeout_seconds, "timeout_seconds"))
        self._targets = Collections(self._connection, {} if collections is None else collections)
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
        """As `VectorStore.hybrid`. It does not embed: with `vector` None, `alpha` must be 0."""
        query, limit = check_query(query), check_limit(limit)
        weight, vector = check_hybrid(alpha, vector, default=self._alpha, store=_STORE)
        if weight == 0 or vector is None:
            return await self.bm25(target, query=query, limit=limit, where=where)
        if weight == 1:
            return await self.near_vector(target, vector=vector, limit=limit, where=where)
        server_fusion = None if self._fusion == "scores" else fusion_query(self._fusion, weight)

        async def found(layout: Layout) -> list[Hit]:
            vectors, keywords = _vectors(layout, "hybrid"), _keywords(layout, "hybrid")
            numbers = check_vector(vector, vectors.dimension, vectors.distance)
            if (points := self._points(layout, where, "hybrid")) is None:
                return []
            search = Search(points)
            legs = search.near(vectors, numbers), search.keyword(keywords, query)
            depth = hybrid_depth(limit, self._depth)
            if server_fusion is not None:
                return await search.fused(legs, server_fusion, depth=depth, limit=limit)
            return await search.hybrid(*legs, alpha=weight, depth=depth, limit=limit)

        return await self._targets.on(target, found, operation="hybrid")

    async def near_vector(
        self,
        target: Target,
        *,
        vector: Sequence[float],
        limit: int,
        where: Filter | None = None,
    ) -> Sequence[Hit]:
        """As `VectorStore.near_vector`: by the index of the vectors where there is one."""
        limit = check_limit(limit)
        vector = finite_vector(vector, what="the query vector")

        async def found(layout: Layout) -> list[Hit]:
            vectors = _vectors(layout, "near_vector")
            numbers = check_vector(vector, vectors.dimension, vectors.distance)
            if (points := self._points(layout, where, "near_vector")) is None:
                return []
            search = Search(points)
            return await search.best(search.near(vectors, numbers), limit)

        return await self._targets.on(target, found, operation="near_vector")

    async def bm25(
        self, target: Target, *, query: str, limit: int, where: Filter | None = None
    ) -> Sequence[Hit]:
        """As `VectorStore.bm25`: over all searchable fields as one text, ties by id."""
        query, limit = check_query(query), check_limit(limit)

        async def found(layout: Layout) -> list[Hit]:
            keywords = _keywords(layout, "bm25")
            if (points := self._points(layout, where, "bm25")) is None:
                return []
            search = Search(points)
            return await search.best(search.keyword(keywords, query), limit)

        return await self._targets.on(target, found, operation="bm25")

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

        async def found(layout: Layout) -> list[Chunk]:
            refuse(layout.refused, [order_by])
            refuse(layout.unordered, [order_by])
            check_order(order_by, layout.spec)
            if (points := self._points(layout, where, "fetch")) is None:
                return []
            reading = Reading(points)
            if order_by is None:
                return await reading.chunks(limit)
            return await reading.ordered(order_by, limit, descending=descending)

        return await self._targets.on(target, found, operation="fetch")

    async def fields(self, target: Target) -> FieldSpec:
        """As `VectorStore.fields`: what the collection says, read once and kept."""
        return (await self._targets.layout(target, "fields")).spec

    async def create(self, target: Target, spec: FieldSpec) -> None:
        """As `Loader.create`: a collection of that name, as `making` says.

        Text is neither sortable there nor compared in order: `fields` says so.
        """
        self._targets.refuse_configured(target, "create")
        collection_name(target, "the name of a target")
        check_spec(spec, store=_STORE)
        wanted = Made(spec, self._making)
        check_making(wanted)
        await self._loading.create(target, wanted)
        made = await self._targets.made(target, "create")
        if made is None:
            raise InvalidQueryError(
                f"there is a collection {target!r} that create did not make", target=target
            )
        if made.spec != spec:
            raise InvalidQueryError(
                f"target {target!r} exists with another spec; drop it first", target=target
            )
        await self._loading.index(target, made)

    async def upsert(self, target: Target, records: Iterable[Record]) -> None:
        """As `Loader.upsert`, in batches: where one fails, those before it are written."""
        self._targets.refuse_configured(target, "upsert")
        given = listed(records, "record")

        async def written(made: Made, layout: Layout) -> None:
            if checked := check_records(given, made.spec):
                await self._loading.upsert(target, made, layout, checked)

        async with self._loading.turn(target):
            await self._targets.on_made(target, written, operation="upsert")

    async def delete(self, target: Target, ids: Iterable[str]) -> None:
        """As `Loader.delete`."""
        self._targets.refuse_configured(target, "delete")
        checked = check_ids(ids)

        async def deleted(made: Made, layout: Layout) -> None:
            await self._loading.delete(target, checked)

        await self._targets.on_made(target, deleted, operation="delete")

    async def drop(self, target: Target) -> None:
        """As `Loader.drop`. A collection that `create` did not make is refused."""
        self._targets.refuse_configured(target, "drop")
        if not isinstance(target, str) or not target:
            raise InvalidQueryError("the name of a target must be text, and not empty")
        if await self._targets.made(target, "drop") is None:
            return
        await self._loading.drop(target)
        self._targets.forget(target)

    async def close(self) -> None:
        """Close every connection."""
        await self._connection.close()

    async def __aenter__(self) -> "QdrantStore":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"QdrantStore({self._targets!r})"

    def _points(self, layout: Layout, where: Filter | None, operation: str) -> Points | None:
        """The points that match: those of the target alone. None where none can."""
        parts = [] if layout.where is None else [layout.where]
        if where is not None:
            check_filter(where, "where")
            parts.append(checked(where, layout.spec, layout.refused))
        combined = simplify(AllOf(parts))
        if combined is NOTHING:
            return None
        return Points(
            self._connection, layout, None if combined == EVERYTHING else combined, operation
        )


def _vectors(layout: Layout, operation: str) -> Vectors:
    if isinstance(layout.vectors, str):
        raise Unconfigured(layout.vectors, store=_STORE, operation=operation)
    return layout.vectors


def _keywords(layout: Layout, operation: str) -> Terms | Scored:
    if isinstance(layout.keywords, str):
        raise Unconfigured(layout.keywords, store=_STORE, operation=operation)
    return layout.keywords
