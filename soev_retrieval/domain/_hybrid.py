"""The one definition of a hybrid ranking, the same on every store."""

import sys
from collections.abc import Iterable, Sequence
from math import fsum, inf

from soev_retrieval.domain._values import Hit

HYBRID_DEPTH = 100
"""How many hits each leg brings at the least."""

_GREATEST = sys.float_info.max


def hybrid_depth(limit: int, depth: int = HYBRID_DEPTH) -> int:
    """How many hits each leg of a hybrid search of `limit` hits brings: max(depth, limit)."""
    return max(depth, limit)


def scaled(scores: Sequence[float]) -> list[float]:
    """`scores` moved and stretched to 0..1 by their least and greatest; all equal become 1.

    An infinite score counts as the greatest or least float.
    """
    least, most = min(scores, default=0.0), max(scores, default=0.0)
    if least == most:
        return [1.0] * len(scores)
    if most - least == inf:  # no float is that great, and that of the halves is
        return scaled([max(-_GREATEST, min(_GREATEST, score)) / 2 for score in scores])
    span = most - least
    return [(score - least) / span for score in scores]


def fused(
    lists: Sequence[Sequence[Hit]], weights: Sequence[float], *, limit: int | None = None
) -> list[Hit]:
    """One ranking of the lists' scaled scores, weighted and summed; absent counts 0; ties by id.

    The sum is exact before it is rounded, so the order of the lists does not matter.

    Args:
        lists: The hits of each search.
        weights: A weight for each of them.
        limit: The maximum number of hits, or None for all.
    """
    parts: dict[str, list[float]] = {}
    first: dict[str, Hit] = {}
    for hits, weight in zip(lists, weights, strict=True):
        for hit, score in zip(hits, scaled([hit.score for hit in hits]), strict=True):
            first.setdefault(hit.id, hit)
            parts.setdefault(hit.id, []).append(weight * score)
    order = sorted((-fsum(each), id) for id, each in parts.items())
    return [Hit(id, -negative, first[id].properties) for negative, id in order[:limit]]


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    """`hits` by falling score, equal ones by id."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def fuse_hybrid(
    vector_hits: Sequence[Hit], keyword_hits: Sequence[Hit], *, alpha: float, limit: int
) -> list[Hit]:
    """The hybrid ranking of two legs: what every store's hybrid search is equal to.

    Each leg's scores are scaled to 0..1 over the hits it brought (all equal: 1) and weighted,
    `alpha` the vectors and `1 - alpha` the keywords; a hit that a leg did not bring counts 0
    there; equal sums come in id order.

    Args:
        vector_hits: What near_vector found, `hybrid_depth(limit)` hits deep.
        keyword_hits: What bm25 found, as deep.
        alpha: The weight of the vectors, above 0 and below 1. At the ends a hybrid search is
            near_vector or bm25 itself.
        limit: The maximum number of hits.
    """
    return fused([vector_hits, keyword_hits], [alpha, 1 - alpha], limit=limit)
