"""The one definition of a hybrid ranking, the same on every store."""

from collections.abc import Iterable, Sequence
from math import fsum

from soev_retrieval.domain._values import Hit

HYBRID_DEPTH = 100
"""How many hits each leg brings at the least."""


def hybrid_depth(limit: int, depth: int = HYBRID_DEPTH) -> int:
    """How many hits each leg of a hybrid search of `limit` hits brings: max(depth, limit)."""
    return max(depth, limit)


def scaled(scores: Sequence[float]) -> list[float]:
    """`scores` moved and stretched to 0..1 by their least and greatest; all equal become 1."""
    if not scores:
        return []
    least, span = min(scores), max(scores) - min(scores)
    return [(score - least) / span if span else 1.0 for score in scores]


def fused(lists: Sequence[Sequence[Hit]], weights: Sequence[float]) -> list[Hit]:
    """One ranking of the lists' scaled scores, weighted and summed; absent counts 0; ties by id.

    The sum is exact before it is rounded, so the order of the lists does not matter.
    """
    parts: dict[str, list[float]] = {}
    first: dict[str, Hit] = {}
    for hits, weight in zip(lists, weights, strict=True):
        for hit, score in zip(hits, scaled([hit.score for hit in hits]), strict=True):
            first.setdefault(hit.id, hit)
            parts.setdefault(hit.id, []).append(weight * score)
    return best_first(Hit(id, fsum(parts[id]), hit.properties) for id, hit in first.items())


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
    return fused([vector_hits, keyword_hits], [alpha, 1 - alpha])[:limit]
