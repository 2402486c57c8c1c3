"""The same questions by bare weaviate-client, as a person would ask them of this one collection."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import attrs
import weaviate
from weaviate import WeaviateAsyncClient
from weaviate.classes.query import Filter, HybridFusion, MetadataQuery, Sort
from weaviate.collections import CollectionAsync

from soev_retrieval.analysis import Analysis
from tests.servers import Weaviate

Rows = list[tuple[str, float, str, int]]
"""Of each object the chunk's id, its score (or less its place), its text and its part."""

_PROPERTIES = ["soev_id", "text", "part"]
_STEMS = "soev_stems"
_SCORE, _DISTANCE = MetadataQuery(score=True), MetadataQuery(distance=True)
_SORT = Sort.by_property("part").by_property("soev_id_key")
_ANALYSIS = Analysis("english")


async def connect(server: Weaviate) -> WeaviateAsyncClient:
    """A client, connected."""
    host, port, grpc_port = address(server)
    client = weaviate.use_async_with_local(host, port, grpc_port, skip_init_checks=True)
    await client.connect()
    return client


def address(server: Weaviate) -> tuple[str, int, int]:
    """Its host, its port for REST, and that for gRPC."""
    parts = urlsplit(server.url)
    return parts.hostname or "", parts.port or 80, server.grpc_port


@attrs.frozen
class Bare:
    """The searches in the collection of the benchmark, where parts below `parts` are wanted.

    Args:
        handle: The collection.
        parts: The first part that is not wanted, or None for no filter.
    """

    handle: CollectionAsync[Any, Any]
    parts: int | None = None

    async def near_vector(self, query: Sequence[float], limit: int) -> Rows:
        """The nearest by the index, in order."""
        found: Any = await self.handle.query.near_vector(
            near_vector=list(query),
            limit=limit,
            filters=self._filter(),
            return_metadata=_DISTANCE,
            return_properties=_PROPERTIES,
        )
        return _best(_row(each, 1 - each.metadata.distance) for each in found.objects)

    async def bm25(self, question: str, limit: int) -> Rows:
        """The best by the stems, of which the question is made too."""
        found: Any = await self.handle.query.bm25(
            query=_stems(question),
            query_properties=[_STEMS],
            limit=limit,
            filters=self._filter(),
            return_metadata=_SCORE,
            return_properties=_PROPERTIES,
        )
        return _best(_row(each, each.metadata.score) for each in found.objects)

    async def hybrid(self, question: str, query: Sequence[float], limit: int) -> Rows:
        """The best of both by the server's own fusion of scores."""
        found: Any = await self.handle.query.hybrid(
            query=_stems(question),
            query_properties=[_STEMS],
            vector=list(query),
            alpha=0.5,
            fusion_type=HybridFusion.RELATIVE_SCORE,
            limit=limit,
            filters=self._filter(),
            return_metadata=_SCORE,
            return_properties=_PROPERTIES,
        )
        return _best(_row(each, each.metadata.score) for each in found.objects)

    async def fetch(self, limit: int) -> Rows:
        """The first by the UUIDs of their objects."""
        found: Any = await self.handle.query.fetch_objects(
            filters=self._filter(), limit=limit, return_properties=_PROPERTIES
        )
        return [_row(each, -place) for place, each in enumerate(found.objects)]

    async def ordered(self, limit: int) -> Rows:
        """The first by their parts, equal ones by their ids.

        Under a lone range the server stops at the limit before it sorts: it is asked twice.
        """
        where = self._filter()
        found: Any = await self.handle.query.fetch_objects(
            filters=None if where is None else Filter.all_of([where, where]),
            sort=_SORT,
            limit=limit,
            return_properties=_PROPERTIES,
        )
        return [_row(each, -place) for place, each in enumerate(found.objects)]

    def _filter(self) -> Any:
        if self.parts is None:
            return None
        part = Filter.by_property("part")
        return part.equal(0) if self.parts == 1 else part.less_than(self.parts)


def _stems(question: str) -> str:
    return " ".join(set(_ANALYSIS.terms(question)))


def _best(rows: Any) -> Rows:
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def _row(found: Any, score: float) -> tuple[str, float, str, int]:
    held = found.properties
    return held["soev_id"], score, held["text"], held["part"]
