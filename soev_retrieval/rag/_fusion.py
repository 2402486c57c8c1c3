"""How the rankings of several branches become one."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import attrs

from soev_retrieval.domain import InvalidQueryError
from soev_retrieval.engine import Combine, Rrf
from soev_retrieval.engine import WeightedSum as Summed
from soev_retrieval.rag._values import Branch


@runtime_checkable
class Fusion(Protocol):
    """A way to turn the rankings of branches into one."""

    def combine(self, branches: Sequence[Branch]) -> Combine:
        """What combines one list of hits for each of these branches, in their order.

        Raises:
            InvalidQueryError: It cannot combine one of them.
        """
        ...


@attrs.frozen
class ReciprocalRankFusion:
    """A hit weighs 1 / (k0 + rank) in each branch that found it, whatever its score there.

    Args:
        k0: The rank constant, at least 0, as in `soev_retrieval.engine.Rrf`.

    Raises:
        ValueError: When the instance is made: `k0` is no such int.
    """

    k0: int = 60

    def __attrs_post_init__(self) -> None:
        Rrf(self.k0)

    def combine(self, branches: Sequence[Branch]) -> Combine:
        """As in `Fusion`."""
        return Rrf(self.k0)


def _weights(weights: Mapping[Branch, float]) -> dict[Branch, float]:
    return dict(weights)


@attrs.frozen
class WeightedSum:
    """A hit weighs its scaled score in each branch that found it, times the branch's weight.

    The scale of a branch is its own least and greatest score of this one question (all equal: 1).
    So it assumes that each branch found something worth its top score, and that the weights were
    measured on the corpus. Where that was not done, fuse by rank.

    Args:
        weights: A number of at least 0 for each branch.

    Raises:
        ValueError: When the instance is made: a weight is no such number.
    """

    weights: Mapping[Branch, float] = attrs.field(converter=_weights)

    def __attrs_post_init__(self) -> None:
        Summed(tuple(self.weights.values()))

    def combine(self, branches: Sequence[Branch]) -> Combine:
        """As in `Fusion`."""
        for branch in branches:
            if branch not in self.weights:
                raise InvalidQueryError(f"WeightedSum has no weight for the branch {branch}")
        return Summed(tuple(self.weights[branch] for branch in branches))
