"""Searches: the requests of each, and the best of what comes back, ties by id."""

from collections.abc import Sequence
from typing import Any

import attrs
from qdrant_client import models

from soev_retrieval.domain import Filter, Hit, InvalidQueryError, best_first
from soev_retrieval_qdrant._connection import Connection
from soev_retrieval_qdrant._filters import native
from soev_retrieval_qdrant._layout import Layout, Scored, Terms, Vectors
from soev_retrieval_qdrant._records import chunk_id, hit

MOST_TIED = 10_000
"""How many points of one score are looked at, to take those with the least ids."""


@attrs.frozen
class Leg:
    """One question to a collection.

    Args:
        query: The vector, or what makes one of a text.
        using: The name of the vector, or the key of the full-text index.
        params: How it is searched.
        turned: Whether the score is a distance, and less is better.
    """

    query: Any
    using: str | None
    params: models.SearchParams | None = None
    turned: bool = False


@attrs.frozen
class Search:
    """Questions to the points of a target that match a filter.

    Args:
        connection: Where the target is.
        layout: Where everything is in it.
        where: The filter, checked and simplified together with the target's own; None for all.
        operation: The method that asks.
    """

    connection: Connection
    layout: Layout
    where: Filter | None
    operation: str

    def near(self, vectors: Vectors, vector: Sequence[float]) -> Leg:
        """The question for near vectors."""
        nearest = models.NearestQuery.model_construct(nearest=list(vector))
        return Leg(nearest, vectors.name, self.layout.params, vectors.turned)

    def keyword(self, keywords: Terms | Scored, query: str) -> Leg:
        """The question for keywords. How rare a word is counts over the whole target."""
        if isinstance(keywords, Scored):
            return Leg(models.TextQuery(text=query), keywords.path.quoted)
        terms = keywords.analysis.asked(query, here=self.connection.is_local)
        params = None
        if self.layout.where is not None:
            corpus = native(self.layout.where, self.layout.sources)
            params = models.SearchParams(idf=models.IdfCorpusParams(corpus=corpus))
        return Leg(models.NearestQuery(nearest=terms), keywords.name, params)

    async def best(self, legs: Sequence[Leg], limit: int) -> list[list[Hit]]:
        """The best `limit` hits of each question, in one round trip unless scores are tied there.

        One more is asked for, so that a tie is seen.
        """
        requests = [self._request(leg, limit + 1, self.layout.everything) for leg in legs]
        answers = await self._points(requests)
        return [
            await self._settled(leg, points, limit)
            for leg, points in zip(legs, answers, strict=True)
        ]

    async def fused(self, legs: Sequence[Leg], query: Any, *, depth: int, limit: int) -> list[Hit]:
        """What the server's own fusion of the legs says. The filter is in each of them and around."""
        where = self._native()
        prefetch = [
            models.Prefetch(
                query=leg.query, using=leg.using, params=leg.params, filter=where, limit=depth
            )
            for leg in legs
        ]
        request = models.QueryRequest(
            prefetch=prefetch,
            query=query,
            filter=where,
            limit=limit,
            with_payload=self.layout.everything,
            shard_key=self.layout.shard_key,
        )
        [points] = await self._points([request])
        return best_first(hit(point, self.layout, turned=False) for point in points)

    def _request(self, leg: Leg, limit: int, payload: Any) -> models.QueryRequest:
        return models.QueryRequest.model_construct(
            query=leg.query,
            using=leg.using,
            params=leg.params,
            filter=self._native(),
            limit=limit,
            with_payload=payload,
            shard_key=self.layout.shard_key,
        )

    def _native(self) -> models.Filter | None:
        return None if self.where is None else native(self.where, self.layout.sources)

    async def _points(
        self, requests: Sequence[models.QueryRequest]
    ) -> list[list[models.ScoredPoint]]:
        answers = await self.connection.call(
            lambda client: client.query_batch_points(self.layout.name, requests=list(requests)),
            operation=self.operation,
        )
        return [answer.points for answer in answers]

    async def _settled(self, leg: Leg, points: list[models.ScoredPoint], limit: int) -> list[Hit]:
        """The best of the points, best first; those with the least ids where the last ones tie."""
        if len(points) > limit and points[limit].score == points[limit - 1].score:
            points = await self._with_all_tied(leg, points, limit)
        return best_first(hit(point, self.layout, turned=leg.turned) for point in points)[:limit]

    async def _with_all_tied(
        self, leg: Leg, points: list[models.ScoredPoint], limit: int
    ) -> list[models.ScoredPoint]:
        """The points to choose from, with their payload, where more tie than were asked for."""
        tied, asked = points[limit - 1].score, len(points)
        found = points
        while found[-1].score == tied and len(found) == asked and asked < limit + MOST_TIED:
            asked = min(4 * asked, limit + MOST_TIED)
            [found] = await self._points([self._request(leg, asked, self.layout.of())])
        better = [point for point in points if point.score != tied][:limit]
        last = sorted(
            (point for point in found if point.score == tied),
            key=lambda point: chunk_id(point, self.layout),
        )[: limit - len(better)]
        whole = {point.id: point for point in points}
        missing = [point.id for point in last if point.id not in whole]
        for record in await self.retrieved(missing):
            whole[record.id] = models.ScoredPoint(
                id=record.id, version=0, score=tied, payload=record.payload
            )
        return [*better, *(whole[point.id] for point in last if point.id in whole)]

    async def retrieved(self, ids: Sequence[Any]) -> list[models.Record]:
        """The points with these ids, those that are still there."""
        if not ids:
            return []
        records: list[models.Record] = await self.connection.call(
            lambda client: client.retrieve(
                self.layout.name,
                ids=list(ids),
                with_payload=self.layout.everything,
                shard_key_selector=self.layout.shard_key,
            ),
            operation=self.operation,
        )
        return records


def fusion_query(fusion: str, alpha: float) -> Any:
    """What the server calls its own fusion, weighted by `alpha`.

    Raises:
        InvalidQueryError: It takes no weights, and these are not even.
    """
    if fusion == "rrf":
        return models.RrfQuery(rrf=models.Rrf(weights=[alpha, 1 - alpha]))
    if alpha != 0.5:
        raise InvalidQueryError(
            f"the store fuses by dbsf, which takes no weights, and alpha is {alpha};"
            " leave alpha at 0.5 or at its ends"
        )
    return models.FusionQuery(fusion=models.Fusion.DBSF)
