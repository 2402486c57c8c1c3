"""What a retrieval names, and what comes back."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import attrs

from soev_retrieval.domain import Properties, RetrievalError, Value, portable_name


class Branch(StrEnum):
    """A way to look for an answer."""

    SEMANTIC = "semantic"
    """By meaning: the nearest vectors. It finds the paraphrase, and misses the reference BX-7741."""

    KEYWORD = "keyword"
    """By word. It does the reverse."""


def _name(of: object, what: "attrs.Attribute[Any]", value: Any) -> None:
    portable_name(value, f"the {what.name} of a RetrievalScope")


@attrs.frozen
class RetrievalScope:
    """What is searched. The tenant is not in it, because it is not the caller's to choose.

    Args:
        collection: The name of the collection.

    Raises:
        InvalidQueryError: It is no name.
    """

    collection: str = attrs.field(validator=_name)


@attrs.frozen
class BranchScore:
    """That a branch found a hit.

    Args:
        branch: The branch.
        rank: The place that the hit held there, from 1.
        score: Its score there. Scores of different branches do not compare.
    """

    branch: Branch
    rank: int
    score: float


@attrs.frozen
class RetrievedHit:
    """A chunk that was found, and by whom.

    Args:
        id: The chunk's id.
        score: The fused score: higher is better.
        properties: As in `Hit`.
        contributions: A score for each branch that found it, in the order of the retriever's.
    """

    id: str
    score: float
    properties: Mapping[str, Value] = attrs.field(factory=Properties, hash=False)
    contributions: tuple[BranchScore, ...] = ()

    def found_by(self, branch: Branch) -> bool:
        """Whether a branch found it: the exact match, or only the vector's opinion."""
        return any(each.branch == branch for each in self.contributions)


def _read_only(missing: Mapping[Branch, RetrievalError]) -> Mapping[Branch, RetrievalError]:
    return MappingProxyType(dict(missing))


@attrs.frozen
class Retrieved:
    """What a retrieval found, and which branches it comes from.

    Args:
        hits: The hits, best first, each chunk once.
        branches: The branches that answered, in the order of the retriever's.
        missing: Why each of the others did not.
    """

    hits: Sequence[RetrievedHit]
    branches: tuple[Branch, ...]
    missing: Mapping[Branch, RetrievalError] = attrs.field(
        factory=dict, converter=_read_only, hash=False
    )

    @property
    def partial(self) -> bool:
        """Whether a branch did not answer."""
        return bool(self.missing)
