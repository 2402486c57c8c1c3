"""The legs that a search of a collection can have, or why it has none of them."""

from collections.abc import Iterable

import attrs
from qdrant_client import models

from soev_retrieval.domain import Unconfigured
from soev_retrieval_qdrant._analysis import Analysis
from soev_retrieval_qdrant._collection import Collection
from soev_retrieval_qdrant._making import DISTANCES
from soev_retrieval_qdrant._paths import Path
from soev_retrieval_qdrant._server import CORPUS, SCORING, Server

_STORE = "QdrantStore"
_DISTANCES = {theirs: ours for ours, theirs in DISTANCES.items()}


@attrs.frozen
class Vectors:
    """The dense vectors.

    Args:
        name: What `using` takes: None for the unnamed ones.
        dimension: How long they are.
        distance: How they compare, in our words.
    """

    name: str | None
    dimension: int
    distance: str

    @property
    def turned(self) -> bool:
        """Whether the server's score is a distance, and less is better."""
        return self.distance in {"euclidean", "manhattan"}


@attrs.frozen
class Terms:
    """Keywords as sparse vectors."""

    name: str
    analysis: Analysis


@attrs.frozen
class Scored:
    """Keywords as a full-text index that scores."""

    path: Path


def unsettled(of: Collection, what: str) -> Unconfigured:
    """What the configuration and the collection leave open."""
    return Unconfigured(f"collection {of.name!r}: {what}", store=_STORE)


def vectors_of(of: Collection, info: models.CollectionInfo) -> Vectors | str:
    """The dense vectors of a collection, or why there are none.

    Raises:
        Unconfigured: There are several, or not the one that the configuration names.
    """
    there = info.config.params.vectors
    named: dict[str, models.VectorParams] = (
        there if isinstance(there, dict) else {} if there is None else {"": there}
    )
    name = of.vector
    if name is None:
        if not named:
            return "the collection has no dense vectors"
        if len(named) > 1:
            raise unsettled(of, f"it has several vectors: {_listed(named)}; give vector=…")
        name = next(iter(named))
    if (params := named.get(name)) is None:
        raise unsettled(of, f"it has no vector {name!r}; it has {_listed(named)}")
    if params.multivector_config is not None:
        return f"the vector {name!r} is several vectors a point, which is not served"
    return Vectors(name or None, params.size, _DISTANCES[params.distance])


def keywords_of(
    of: Collection, info: models.CollectionInfo, server: Server
) -> Terms | Scored | str:
    """Where the keywords of a collection are asked, or why nowhere.

    Raises:
        Unconfigured: It could be in several places, or the configured one does not count words.
    """
    if of.scored is not None:
        if server.version < SCORING:
            return (
                f"a full-text index scores from Qdrant {_dotted(SCORING)} on, and this is"
                f" {_dotted(server.version)}"
            )
        return Scored(of.path(of.scored))
    weighed = {
        name: params
        for name, params in (info.config.params.sparse_vectors or {}).items()
        if params.modifier == models.Modifier.IDF
    }
    name = of.sparse
    if name is None:
        if not weighed:
            return (
                "the collection has no sparse vector with the modifier IDF, and keywords are"
                " searched in one"
            )
        if len(weighed) > 1:
            raise unsettled(of, f"it has several sparse vectors: {_listed(weighed)}; give sparse=…")
        name = next(iter(weighed))
    if name not in weighed:
        raise unsettled(
            of,
            f"it has no sparse vector {name!r} with the modifier IDF, without which a rare word"
            f" counts no more than any; it has {_listed(weighed) or 'none'}",
        )
    if not any(field.searchable for field in of.fields):
        return "the configuration marks no field as searchable; mark those whose text is searched"
    if of.where is not None and server.version < CORPUS:
        return (
            f"a part of a collection has word statistics of its own from Qdrant {_dotted(CORPUS)}"
            f" on, and this is {_dotted(server.version)}"
        )
    return Terms(name, of.analysis)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names))


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
