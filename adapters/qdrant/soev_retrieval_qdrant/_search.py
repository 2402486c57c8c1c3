"""Searches: the requests of each, and the best of what comes back, ties by id."""

from collections.abc import Sequence
from typing import Any

import attrs
from qdrant_client import models

from soev_retrieval.domain import Hit, InvalidQueryError, best_first, fuse_hybrid
from soev_retrieval_qdrant._errors import Unreadable, ours
from soev_retrieval_qdrant._filters import native
from soev_retrieval_qdrant._legs import Scored, Terms, Vectors
from soev_retrieval_qdrant._points import Points
from soev_retrieval_qdrant._records import Point, chunk_id, hit

MOST_TIED = 10_000
"""How many points of one score are looked at, to take those with the least ids."""


class _Numbers(list[float]):
    """The numbers of a vector, which are only read.

    The client copies every question it is given; number by number, that would cost as much as all
    else it does with one.
    """

    def __deepcopy__(self, memo: object) -> "_Numbers":
        return self


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

    def score(self, point: models.ScoredPoint) -> float:
        """The score of a point, of which more is better."""
        return -point.score if self.turned else point.score


@attrs.frozen
class Search:
    """Questions to the points of a target.

    Args:
        points: The points that match.
    """

    points: Points

    def near(self, vectors: Vectors, vector: Sequence[float]) -> Leg:
        """The question for near vectors."""
        nearest = models.NearestQuery.model_construct(nearest=_Numbers(vector))
        return Leg(nearest, vectors.name, self.points.layout.params, vectors.turned)

    def keyword(self, keywords: Terms | Scored, query: str) -> Leg:
        """The question for keywords. How rare a word is counts over the whole target."""
        if isinstance(keywords, Scored):
            # Local mode knows the index by its key as it was written, and by no other form.
            return Leg(models.TextQuery(text=query), keywords.path.written)
        terms = keywords.analysis.asked(query, here=self.points.connection.is_local)
        params = None
        if self.points.layout.where is not None:
            corpus = native(self.points.layout.where, self.points.layout.sources)
            params = models.SearchParams(idf=models.IdfCorpusParams(corpus=corpus))
        return Leg(models.NearestQuery(nearest=terms), keywords.name, params)

    async def best(self, leg: Leg, limit: int) -> list[Hit]:
        """The best `limit` hits of a question, in one round trip unless scores are tied there."""
        [points] = await self._asked([leg], limit, self.points.layout.everything)
        points = await self._settled(leg, points, limit)
        return best_first(hit(point, leg.score(point), self.points.layout) for point in points)

    async def hybrid(
        self, near: Leg, keyword: Leg, *, alpha: float, depth: int, limit: int
    ) -> list[Hit]:
        """The hybrid ranking of both questions, `depth` deep.

        The questions are one round trip. Over gRPC what the points of the ranking hold is another:
        there two hundred payloads take longer than all the rest.

        Which of the points that tie with the last one of a leg are taken changes nothing above a
        score of 0: they are the least of the leg, and count 0 there. Only where the ranking comes
        down to that, or all of a leg tie, are they looked at.
        """
        legs = [near, keyword]
        at_once = self.points.connection.over_rest or self.points.connection.is_local
        answers = await self._asked(
            legs, depth, self.points.layout.everything if at_once else False
        )
        ranking = _ranking(legs, [points[:depth] for points in answers], alpha)
        if any(_is_tied(points, depth) for points in answers) and (
            len(ranking) < limit
            or ranking[limit - 1].score <= 0
            or any(points[0].score == points[-1].score for points in answers if points)
        ):
            answers = [
                await self._settled(leg, points, depth)
                for leg, points in zip(legs, answers, strict=True)
            ]
            ranking = _ranking(legs, answers, alpha)
        points = {str(point.id): point for points in answers for point in points}
        hits: list[Hit] = []
        at = 0
        while at < len(ranking) and len(hits) < limit:
            # Those that tie with the last one too: equal ones come in the order of the chunks' ids.
            least = ranking[min(at + limit - len(hits), len(ranking)) - 1].score
            part = {each.id: each.score for each in ranking[at:] if each.score >= least}
            wanted: Sequence[Point] = [points[id] for id in part]
            if not at_once:
                wanted = await self.points.retrieved([point.id for point in wanted])
            hits += [hit(point, part[str(point.id)], self.points.layout) for point in wanted]
            at += len(part)
        return best_first(hits)[:limit]

    async def _asked(
        self, legs: Sequence[Leg], limit: int, payload: Any
    ) -> list[list[models.ScoredPoint]]:
        """The first `limit` points of each question, and one more, so that a tie is seen."""
        return await self._found([self._request(leg, limit + 1, payload) for leg in legs])

    async def fused(self, legs: Sequence[Leg], query: Any, *, depth: int, limit: int) -> list[Hit]:
        """What the server's own fusion of the legs says. The filter is in each of them and around."""
        where = self.points.native
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
            with_payload=self.points.layout.everything,
            shard_key=self.points.layout.shard_key,
        )
        [points] = await self._found([request])
        return best_first(hit(point, point.score, self.points.layout) for point in points)

    def _request(self, leg: Leg, limit: int, payload: Any) -> models.QueryRequest:
        return models.QueryRequest.model_construct(
            query=leg.query,
            using=leg.using,
            params=leg.params,
            filter=self.points.native,
            limit=limit,
            with_payload=payload,
            shard_key=self.points.layout.shard_key,
        )

    async def _found(
        self, requests: Sequence[models.QueryRequest]
    ) -> list[list[models.ScoredPoint]]:
        if len(requests) == 1:  # a batch of one takes longer
            return [await self._found_by(requests[0])]
        answers = await self.points.connection.call(
            lambda client: client.query_batch_points(
                self.points.layout.name, requests=list(requests)
            ),
            operation=self.points.operation,
        )
        if len(answers) != len(requests):
            raise ours(Unreadable(), self.points.operation)
        return [answer.points for answer in answers]

    async def _found_by(self, request: models.QueryRequest) -> list[models.ScoredPoint]:
        prefetch: Any = request.prefetch
        answer = await self.points.connection.call(
            lambda client: client.query_points(
                self.points.layout.name,
                query=request.query,
                using=request.using,
                prefetch=prefetch,
                query_filter=request.filter,
                search_params=request.params,
                limit=request.limit or 0,
                with_payload=request.with_payload or False,
                shard_key_selector=request.shard_key,
            ),
            operation=self.points.operation,
        )
        return answer.points

    async def _settled(
        self, leg: Leg, points: list[models.ScoredPoint], limit: int
    ) -> list[models.ScoredPoint]:
        """The best of the points; of those that tie with the last, those with the least ids."""
        if _is_tied(points, limit):
            return await self._with_all_tied(leg, points, limit)
        return points[:limit]

    async def _with_all_tied(
        self, leg: Leg, points: list[models.ScoredPoint], limit: int
    ) -> list[models.ScoredPoint]:
        """The points to choose from, with their payload, where more tie than were asked for."""
        tied, asked = points[limit - 1].score, len(points)
        found = points
        while found[-1].score == tied and len(found) == asked and asked < limit + MOST_TIED:
            asked = min(4 * asked, limit + MOST_TIED)
            [found] = await self._found([self._request(leg, asked, self.points.layout.of())])
        better = [point for point in points if point.score != tied][:limit]
        last = sorted(
            (point for point in found if point.score == tied),
            key=lambda point: chunk_id(point, self.points.layout),
        )
        whole: dict[Any, Point] = {point.id: point for point in points}
        chosen = await self.points.filled([point.id for point in last], limit - len(better), whole)
        return [*better, *(_scored(point, tied) for point in chosen)]


def _scored(point: Point, score: float) -> models.ScoredPoint:
    if isinstance(point, models.ScoredPoint):
        return point
    return models.ScoredPoint(id=point.id, version=0, score=score, payload=point.payload)


def _ranking(
    legs: Sequence[Leg], answers: Sequence[Sequence[models.ScoredPoint]], alpha: float
) -> list[Hit]:
    """The hybrid ranking of all points that were found, under the points' ids."""
    near, keyword = (
        [Hit(str(point.id), leg.score(point)) for point in points]
        for leg, points in zip(legs, answers, strict=True)
    )
    return fuse_hybrid(near, keyword, alpha=alpha, limit=len(near) + len(keyword))


def _is_tied(points: Sequence[models.ScoredPoint], limit: int) -> bool:
    """Whether the last of the first `limit` scores like the next one."""
    return len(points) > limit and points[limit].score == points[limit - 1].score


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
