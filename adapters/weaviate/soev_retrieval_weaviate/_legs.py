"""The questions that a search is made of: each brings the best of one kind, with their scores."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import attrs
from weaviate.classes.query import MetadataQuery

from soev_retrieval.domain import InvalidQueryError
from soev_retrieval.together import together
from soev_retrieval_weaviate._layout import Keywords, Vectors
from soev_retrieval_weaviate._objects import PAGE, Objects
from soev_retrieval_weaviate._records import chunk_id
from soev_retrieval_weaviate._sources import by_uuid

SCORE = MetadataQuery(score=True)
_DISTANCE = MetadataQuery(distance=True)
_DEEP = 400  # of each property, where several are searched


@attrs.frozen
class Found:
    """An object that was found, with the score of one search. Of two equal ones, either serves."""

    object: Any
    score: float

    @property
    def uuid(self) -> UUID:
        """The object's."""
        found: UUID = self.object.uuid
        return found


Leg = Callable[[int, bool], Awaitable[list[Found]]]
"""Brings the best so many of a question, with their properties or without, best first."""


@attrs.frozen
class Legs:
    """The questions to the objects of a target.

    Args:
        objects: The objects that match.
    """

    objects: Objects

    def near(self, vectors: Vectors, vector: Sequence[float]) -> Leg:
        """The question for near vectors."""
        numbers = list(vector)
        return self._by_distance(
            vectors,
            lambda query, **more: query.near_vector(
                near_vector=numbers, target_vector=vectors.name, **more
            ),
        )

    def near_text(self, vectors: Vectors, text: str) -> Leg:
        """The same, where the server makes the vector of a text."""
        return self._by_distance(
            vectors,
            lambda query, **more: query.near_text(query=text, target_vector=vectors.name, **more),
        )

    def near_or_text(self, vectors: Vectors, vector: Sequence[float] | None, text: str) -> Leg:
        """The question for vectors near to one, or where there is none near to a text."""
        return self.near_text(vectors, text) if vector is None else self.near(vectors, vector)

    def keyword(self, keywords: Keywords, query: str) -> Leg:
        """The question for keywords. How rare a word is counts over the whole target."""
        asked = keywords.asked(query)

        async def leg(limit: int, whole: bool) -> list[Found]:
            if not asked:  # a blank text would find those whose text is blank
                return []
            properties = keywords.properties
            if keywords.is_exact and len(properties) == 1:
                return await self._bm25(asked, properties, limit, whole=whole)
            if keywords.is_exact:
                found = await self._over_several(asked, properties, limit)
            else:  # all that match are ranked, and the first of them are the best
                found = (await self._bm25(asked, properties, PAGE, whole=False))[:limit]
            return await self._filled(found) if whole else found

        return leg

    async def settled(self, leg: Leg, limit: int, *, whole: bool) -> list[Found]:
        """The best `limit`; of those that tie with the last, those with the least ids.

        Raises:
            InvalidQueryError: There are more than the server brings.
        """
        found = await self._brought(leg, limit + 1, whole=whole)
        if limit > PAGE and len(found) >= PAGE:
            raise InvalidQueryError(
                f"limit {limit:,}: Weaviate brings {PAGE:,} hits of a search, and there are more;"
                " ask for fewer"
            )
        if len(found) <= limit or found[limit].score != found[limit - 1].score:
            return found[:limit]
        tied, count = found[limit].score, limit + 1
        every = found
        while every[-1].score == tied and count < PAGE and len(every) == count:
            count = min(4 * count, PAGE)
            every = await self._brought(leg, count, whole=False)
        better = [each for each in found if each.score > tied]
        last = [each for each in every if each.score == tied]
        last.sort(key=lambda each: chunk_id(each.object, self.objects.layout))
        chosen = last[: limit - len(better)]
        return [*better, *(await self._filled(chosen) if whole else chosen)]

    def _by_distance(self, vectors: Vectors, asked: Callable[..., Awaitable[Any]]) -> Leg:
        objects = self.objects

        async def leg(limit: int, whole: bool) -> list[Found]:
            found = await objects.ask(
                lambda query: asked(
                    query,
                    limit=limit,
                    filters=objects.condition,
                    return_metadata=_DISTANCE,
                    return_properties=objects.layout.readable if whole else objects.layout.ids,
                )
            )
            score = _SCORES[vectors.distance]
            return [Found(each, score(each.metadata.distance)) for each in found]

        return leg

    async def _bm25(
        self,
        query: str,
        properties: Sequence[str],
        limit: int,
        *,
        whole: bool,
        among: Sequence[UUID] | None = None,
    ) -> list[Found]:
        objects = self.objects
        condition = objects.condition
        if among is not None:
            condition = objects.narrowed(by_uuid(among))
        found = await objects.ask(
            lambda asked: asked.bm25(
                query=query,
                query_properties=list(properties),
                limit=limit,
                filters=condition,
                return_metadata=SCORE,
                return_properties=objects.layout.readable if whole else objects.layout.ids,
            )
        )
        return [Found(each, each.metadata.score) for each in found]

    async def _over_several(self, query: str, properties: Sequence[str], limit: int) -> list[Found]:
        """The best by the sum of several properties' scores.

        The server cuts the list of each property before it sums them, and what is left out is
        missing in the sums. So each property is asked alone, the others weighted with 0, which
        leaves the statistics of words as they are; then the sums of all that could be among the
        best are asked, cut nowhere. What is in no list scores below the sum of their last scores:
        until the best are above that, more of each list is asked
        (Fagin, Lotem and Naor, Optimal aggregation algorithms for middleware, 2003).
        """
        depth = min(max(_DEEP, 4 * limit), PAGE)
        while True:
            lists = await together(
                [
                    self._bm25(query, _alone(one, properties), depth, whole=False)
                    for one in properties
                ]
            )
            scores = [{each.uuid: each for each in list if each.score > 0} for list in lists]
            floors = [
                min(each.score for each in list.values()) if len(list) == depth else 0.0
                for list in scores
            ]
            able = _able(scores, floors, limit)
            if not able:
                return []
            sums = await self._bm25(query, properties, len(able), whole=False, among=able)
            last = sums[limit - 1].score if len(sums) >= limit else 0.0
            if last > sum(floors) or not any(floors) or depth == PAGE:
                return sums[:limit]
            depth = min(4 * depth, PAGE)

    async def _filled(self, found: Sequence[Found]) -> list[Found]:
        """The same with their properties, without those that are gone."""
        whole = await self.objects.retrieved([each.uuid for each in found])
        return [Found(whole[each.uuid], each.score) for each in found if each.uuid in whole]

    async def _brought(self, leg: Leg, count: int, *, whole: bool) -> list[Found]:
        """The first `count` of a question that match."""
        if not self.objects.is_rechecked:
            return await leg(min(count, PAGE), whole)
        asked = min(count, PAGE)
        while True:
            found = await leg(asked, True)
            kept = {each.uuid for each in self.objects.kept([each.object for each in found])}
            matching = [each for each in found if each.uuid in kept]
            if len(matching) >= count or len(found) < asked:
                return matching[:count]
            if asked == PAGE:
                raise InvalidQueryError(
                    f"{PAGE:,} objects were looked at again, and {len(matching)} of them match:"
                    " make the text that the filter names with the tokenization 'field' and name it"
                    " in the trimmed of its Collection, or ask for fewer"
                )
            asked = min(4 * asked, PAGE)


def _alone(one: str, properties: Sequence[str]) -> list[str]:
    """The properties to ask of which only one counts."""
    return [each if each == one else f"{each}^0" for each in properties]


def _able(
    scores: Sequence[Mapping[UUID, Found]], floors: Sequence[float], limit: int
) -> list[UUID]:
    """What could be among the best `limit`, of all that is in some list."""
    least: dict[UUID, float] = {}
    for each in scores:
        for uuid, found in each.items():
            least[uuid] = least.get(uuid, 0.0) + found.score
    last = sorted(least.values(), reverse=True)[:limit][-1:] or [0.0]
    bar = last[0] * (1 - 1e-5)  # the sums are of float32
    return [
        uuid
        for uuid in least
        if sum(
            each[uuid].score if uuid in each else floor
            for each, floor in zip(scores, floors, strict=True)
        )
        >= bar
    ]


_SCORES: Mapping[str, Callable[[float], float]] = {
    "cosine": lambda distance: 1 - distance,
    "dot": lambda distance: -distance,
    "euclidean": lambda distance: -math.sqrt(max(distance, 0.0)),
    "manhattan": lambda distance: -distance,
}
"""The score of a distance, of which more is better."""
