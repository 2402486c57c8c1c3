"""Strategies that turn the lists of several searches into one ranking."""

from collections.abc import Iterable, Sequence
from math import fsum
from numbers import Real
from typing import Any, Protocol, runtime_checkable

import attrs

from soev_retrieval.domain import Hit, InvalidQueryError, fused


@runtime_checkable
class Combine(Protocol):
    """A strategy that turns the query and one ranked list of hits per search into one ranking.

    Scores from different searches do not compare (see `Hit`), so a strategy works from ranks, or
    rescores every hit on one scale. Hits with the same id are the same chunk and appear once. It
    changes nothing of what it is given.

    `search_scopes` calls it. `Rrf` is the stock strategy.
    """

    async def __call__(self, query: str, ranked: Sequence[Sequence[Hit]], /) -> Sequence[Hit]:
        """Return one ranking of the hits in `ranked`, best first.

        Args:
            query: The query text that the searches answered.
            ranked: One list of hits for each search, each best first.

        Returns:
            The combined ranking, with each chunk once.
        """
        ...


@attrs.frozen
class Rrf:
    """Reciprocal rank fusion: a hit scores the sum of 1 / (k + rank) over the lists it is in.

    Ranks count from 1. Uses ranks only, so lists whose scores do not compare can be fused. Each
    fused hit carries its fused score and the properties of its first appearance. Ties are broken
    by best rank, then id, and sums are exact before they are rounded, so the order of the lists
    never decides.

    Source: Cormack, Clarke and Büttcher, Reciprocal Rank Fusion outperforms Condorcet and
    individual Rank Learning Methods, SIGIR 2009.

    Args:
        k: The rank constant, at least 0. It damps the weight of the top ranks: a larger k makes
            the ranks count more equally.

    Raises:
        ValueError: When the instance is made: k is not an int of at least 0.
    """

    k: int = 60

    def __attrs_post_init__(self) -> None:
        _check_k(self.k)

    async def __call__(self, query: str, ranked: Sequence[Sequence[Hit]], /) -> Sequence[Hit]:
        """Fuse the lists of `ranked` into one ranking, best first.

        Args:
            query: Not read: the fusion uses ranks only.
            ranked: One list of hits for each search, each best first.

        Returns:
            Each hit once, with its fused score and the properties of its first appearance,
            highest score first.
        """
        return _fuse_by_rank(ranked, [1.0] * len(ranked), self.k)


def _weights(weights: Iterable[float]) -> tuple[float, ...]:
    return tuple(weights)


@attrs.frozen
class WeightedRrf:
    """Reciprocal rank fusion with a weight per list: the sum of weight / (k + rank).

    Ties and properties as in `Rrf`.

    Args:
        weights: One number of at least 0 for each list, in group and scope order.
        k: The rank constant, as in `Rrf`.

    Raises:
        ValueError: When the instance is made: a weight or k is not such a number.
    """

    weights: tuple[float, ...] = attrs.field(converter=_weights)
    k: int = 60

    def __attrs_post_init__(self) -> None:
        _check_k(self.k)
        _check_weights(self.weights)

    async def __call__(self, query: str, ranked: Sequence[Sequence[Hit]], /) -> Sequence[Hit]:
        """Fuse the lists of `ranked` into one ranking, best first.

        Raises:
            InvalidQueryError: There are not as many lists as weights.
        """
        return _fuse_by_rank(ranked, _one_each(self.weights, ranked), self.k)


@attrs.frozen
class WeightedSum:
    """Score fusion: each list's scores scaled to 0..1, weighted and summed; absent counts 0.

    The scale is each list's own least and greatest score (all equal: 1), so it assumes that every
    search found something worth its top score. A list of poor hits counts as much as one of good
    ones; where that hurts, fuse by rank.

    Args:
        weights: One number of at least 0 for each list, in group and scope order, or None for
            equal ones.

    Raises:
        ValueError: When the instance is made: a weight is not such a number.
    """

    weights: tuple[float, ...] | None = attrs.field(
        default=None, converter=attrs.converters.optional(_weights)
    )

    def __attrs_post_init__(self) -> None:
        _check_weights(self.weights or ())

    async def __call__(self, query: str, ranked: Sequence[Sequence[Hit]], /) -> Sequence[Hit]:
        """Fuse the lists of `ranked` into one ranking, best first, ties by id.

        Raises:
            InvalidQueryError: There are not as many lists as weights.
        """
        weights = [1.0] * len(ranked) if self.weights is None else _one_each(self.weights, ranked)
        return fused([_each_once(hits) for hits in ranked], weights)


def _check_k(k: object) -> None:
    if not isinstance(k, int) or isinstance(k, bool) or not 0 <= k <= 2**53:
        raise ValueError(f"k must be an int of at least 0 and at most 2**53, not {k!r}")


def _check_weights(weights: Iterable[Any]) -> None:
    for weight in weights:
        if not isinstance(weight, Real) or isinstance(weight, bool) or not 0 <= weight <= 1e300:  # type: ignore[operator]
            raise ValueError(f"a weight must be a finite number from 0 to 1e300, not {weight!r}")


def _one_each(weights: Sequence[float], ranked: Sequence[Sequence[Hit]]) -> Sequence[float]:
    if len(weights) == len(ranked):
        return weights
    raise InvalidQueryError(
        f"{len(weights)} weights for {len(ranked)} lists; give one weight for each search"
        " (scopes in one target of a group are one search)"
    )


def _each_once(hits: Sequence[Hit]) -> list[Hit]:
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.id, hit)
    return list(first.values())


def _fuse_by_rank(ranked: Sequence[Sequence[Hit]], weights: Sequence[float], k: int) -> list[Hit]:
    # By id: the last list it was in, its best rank, its first hit, and its parts.
    entries: dict[str, list[Any]] = {}
    for number, (hits, weight) in enumerate(zip(ranked, weights, strict=True)):
        for rank, hit in enumerate(hits, 1):
            entry = entries.get(hit.id)
            if entry is None:
                entries[hit.id] = [number, rank, hit, weight / (k + rank)]
            elif entry[0] != number:  # a hit that stands in a list twice counts at its first place
                entry[0] = number
                entry.append(weight / (k + rank))
                if rank < entry[1]:
                    entry[1] = rank
    order = [(-fsum(entry[3:]), entry[1], id, entry[2]) for id, entry in entries.items()]
    order.sort()  # an id is there once, so hits are never compared
    return [Hit(id, -negative, hit.properties) for negative, _, id, hit in order]
