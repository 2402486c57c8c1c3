"""The same questions by bare qdrant-client, as a person would ask them of this one collection."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import httpx
from qdrant_client import AsyncQdrantClient, models

from soev_retrieval_qdrant._analysis import Analysis
from tests.servers import Qdrant

Rows = list[tuple[str, float, str, int]]
"""Of each point the chunk's id, its score (or less its place), its text and its part."""

_PAYLOAD = ["_soev.id", "text", "part"]


def connect(server: Qdrant, transport: str) -> AsyncQdrantClient:
    """A client, set as QdrantStore sets its own.

    As it comes it opens a connection for every REST request to this machine. Where it keeps one it
    asks for gzip, which the server sends in two parts, and the second waits 40 ms for the kernel to
    acknowledge the first.
    """
    if transport == "grpc":
        return AsyncQdrantClient(
            url=server.url,
            grpc_port=server.grpc_port,
            prefer_grpc=True,
            timeout=60,
            check_compatibility=False,
        )
    return AsyncQdrantClient(
        url=server.url,
        timeout=60,
        check_compatibility=False,
        limits=httpx.Limits(max_connections=100, max_keepalive_connections=20),
        headers={"Accept-Encoding": "identity"},
    )


@attrs.frozen
class Bare:
    """The searches in the collection of the benchmark, where parts below `parts` are wanted.

    Args:
        client: The client, of a server or of local mode.
        collection: The name of the collection.
        parts: The first part that is not wanted, or None for no filter.
        is_local: Whether the client is of local mode, which does not make terms of a text.
    """

    client: AsyncQdrantClient
    collection: str
    parts: int | None = None
    is_local: bool = False

    async def near_vector(self, query: Sequence[float], limit: int) -> Rows:
        """The nearest by the index, in order."""
        return await self._best(list(query), "vector", limit)

    async def bm25(self, question: str, limit: int) -> Rows:
        """The best by the sparse vectors."""
        return await self._best(self._terms(question), "bm25", limit)

    async def hybrid(self, question: str, query: Sequence[float], limit: int, depth: int) -> Rows:
        """The best of both, `depth` deep, their scores scaled to 0..1 and weighted alike."""
        where = self._filter()
        legs: list[tuple[str, Any]] = [("vector", list(query)), ("bm25", self._terms(question))]
        answers = await self.client.query_batch_points(
            self.collection,
            requests=[
                models.QueryRequest(
                    query=asked, using=using, filter=where, limit=depth, with_payload=_PAYLOAD
                )
                for using, asked in legs
            ],
        )
        scores: dict[str, float] = {}
        payloads: dict[str, Any] = {}
        for answer in answers:
            for point, score in zip(answer.points, _scaled(answer.points), strict=True):
                payload: Any = point.payload
                id = payload["_soev"]["id"]
                scores[id] = scores.get(id, 0.0) + score / 2
                payloads[id] = payload
        best = sorted(scores, key=lambda id: (-scores[id], id))[:limit]
        return [(id, scores[id], payloads[id]["text"], payloads[id]["part"]) for id in best]

    async def fetch(self, limit: int) -> Rows:
        """The first by the ids of their points."""
        points, _ = await self.client.scroll(
            self.collection, scroll_filter=self._filter(), limit=limit, with_payload=_PAYLOAD
        )
        return [_row(point.payload, -place) for place, point in enumerate(points)]

    async def _best(self, asked: Any, using: str, limit: int) -> Rows:
        answer = await self.client.query_points(
            self.collection,
            query=asked,
            using=using,
            query_filter=self._filter(),
            limit=limit,
            with_payload=_PAYLOAD,
        )
        return sorted(
            (_row(point.payload, point.score) for point in answer.points),
            key=lambda row: (-row[1], row[0]),
        )

    def _terms(self, question: str) -> models.Document | models.SparseVector:
        if self.is_local:
            return Analysis().asked(question, here=True)
        return models.Document(text=question, model="qdrant/bm25", options={"language": "english"})

    def _filter(self) -> models.Filter | None:
        if self.parts is None:
            return None
        if self.parts == 1:
            equal = models.FieldCondition(key="part", match=models.MatchValue(value=0))
            return models.Filter(must=[equal])
        below = models.FieldCondition(key="part", range=models.Range(lt=self.parts))
        return models.Filter(must=[below])


def _row(payload: Mapping[str, Any] | None, score: float) -> tuple[str, float, str, int]:
    held: Any = payload
    return held["_soev"]["id"], score, held["text"], held["part"]


def _scaled(points: Sequence[models.ScoredPoint]) -> list[float]:
    scores = [point.score for point in points]
    least, most = min(scores, default=0.0), max(scores, default=0.0)
    if least == most:
        return [1.0] * len(scores)
    return [(score - least) / (most - least) for score in scores]
