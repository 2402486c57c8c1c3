"""Searches: what the legs bring, as one ranking of hits, ties by id."""

from collections.abc import Sequence

import attrs
from weaviate.classes.query import HybridFusion

from soev_retrieval.domain import Hit, best_first, fuse_hybrid
from soev_retrieval.together import together
from soev_retrieval_weaviate._layout import Keywords, Vectors
from soev_retrieval_weaviate._legs import SCORE, Found, Leg, Legs
from soev_retrieval_weaviate._objects import Objects
from soev_retrieval_weaviate._records import chunk_id, hit

POOL = 100
"""How deep the server brings each leg of a hybrid search of fewer hits."""

DEFINED = "scores"
"""The fusion that every store has."""

FUSIONS = {"relative": HybridFusion.RELATIVE_SCORE, "ranked": HybridFusion.RANKED}
"""The server's own."""


@attrs.frozen
class Both:
    """What a hybrid search asks.

    Args:
        vectors: Where the vectors are.
        keywords: Where keywords are asked.
        query: The text.
        vector: Its embedding, or None where the server makes it.
        alpha: The weight of the vectors, above 0.
        fusion: How both are fused.
        depth: How deep each leg is.
    """

    vectors: Vectors
    keywords: Keywords
    query: str
    vector: Sequence[float] | None
    alpha: float
    fusion: str
    depth: int


@attrs.frozen
class Search:
    """Searches of the objects of a target.

    Args:
        objects: The objects that match.
    """

    objects: Objects

    @property
    def legs(self) -> Legs:
        """The questions to them."""
        return Legs(self.objects)

    async def best(self, leg: Leg, limit: int) -> list[Hit]:
        """The best `limit` hits of a question, in one request unless scores are tied there."""
        return self._hits(await self.legs.settled(leg, limit, whole=True))

    async def hybrid(self, both: Both, limit: int) -> list[Hit]:
        """The best `limit` hits of both legs, fused.

        Where the server's own fusion is the definition it is one request, of one hit more, which
        shows whether the last ones tie: their order is the server's.
        """
        if both.fusion != DEFINED:
            return self._hits(await self._fused(both, FUSIONS[both.fusion], limit))
        if self._is_the_servers(both, limit):
            found = await self._fused(both, HybridFusion.RELATIVE_SCORE, limit + 1)
            if len(found) <= limit or found[limit].score != found[limit - 1].score:
                return self._hits(found)[:limit]
        return await self._fused_here(both, limit)

    def _is_the_servers(self, both: Both, limit: int) -> bool:
        return (
            both.depth == POOL
            and limit < POOL
            and both.keywords.is_exact
            and len(both.keywords.properties) == 1
            and both.vectors.distance != "euclidean"  # the server scales the squares
            and not self.objects.is_rechecked
            and bool(both.keywords.asked(both.query))
        )

    async def _fused(self, both: Both, fusion: HybridFusion, limit: int) -> list[Found]:
        """What the server's fusion says, in one request."""
        objects = self.objects
        numbers = None if both.vector is None else list(both.vector)
        found = await objects.ask(
            lambda query: query.hybrid(
                query=both.keywords.asked(both.query),
                vector=numbers,
                target_vector=both.vectors.name,
                alpha=both.alpha,
                fusion_type=fusion,
                query_properties=list(both.keywords.properties),
                limit=limit,
                filters=objects.condition,
                return_metadata=SCORE,
                return_properties=objects.layout.readable,
            )
        )
        return [Found(each, each.metadata.score) for each in found]

    async def _fused_here(self, both: Both, limit: int) -> list[Hit]:
        """The hybrid ranking of both legs.

        They are asked at once, without properties; what the chunks of the ranking hold, after.
        """
        near, keyword = (
            self.legs.near_or_text(both.vectors, both.vector, both.query),
            self.legs.keyword(both.keywords, both.query),
        )
        legs = await together(
            [self.legs.settled(each, both.depth, whole=False) for each in (near, keyword)]
        )
        ids = {
            each.uuid: chunk_id(each.object, self.objects.layout) for leg in legs for each in leg
        }
        uuids = {id: uuid for uuid, id in ids.items()}
        by_vector, by_words = ([Hit(ids[each.uuid], each.score) for each in leg] for leg in legs)
        ranking = fuse_hybrid(by_vector, by_words, alpha=both.alpha, limit=len(ids))
        hits: list[Hit] = []
        at = 0
        while at < len(ranking) and len(hits) < limit:  # some may be gone meanwhile
            part = ranking[at : at + limit - len(hits)]
            whole = await self.objects.retrieved([uuids[each.id] for each in part])
            hits += [
                hit(whole[uuid], each.score, self.objects.layout)
                for each in part
                if (uuid := uuids[each.id]) in whole
            ]
            at += len(part)
        return hits

    def _hits(self, found: Sequence[Found]) -> list[Hit]:
        """What was found as hits, best first, ties by id."""
        layout = self.objects.layout
        return best_first(hit(each.object, each.score, layout) for each in found)
