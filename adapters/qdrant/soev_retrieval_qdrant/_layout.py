"""Where everything of a target is: what its configuration and its collection say, settled."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import attrs
from qdrant_client import models

from soev_retrieval.domain import (
    EVERYTHING,
    Field,
    FieldSpec,
    Filter,
    InvalidQueryError,
    Unconfigured,
    check,
    predicates,
    simplify,
)
from soev_retrieval_qdrant._analysis import Analysis
from soev_retrieval_qdrant._collection import INDEXES, Collection
from soev_retrieval_qdrant._exact import Exact
from soev_retrieval_qdrant._indexes import Index, indexes_there, misfit, no_order, to_make
from soev_retrieval_qdrant._making import (
    DISTANCES,
    ID,
    TERMS,
    VECTOR,
    Made,
    indexes_of,
    sources_of,
)
from soev_retrieval_qdrant._paths import Path
from soev_retrieval_qdrant._plain import Plain
from soev_retrieval_qdrant._server import CORPUS, SCORING, Server
from soev_retrieval_qdrant._sources import Source

_STORE = "QdrantStore"
_ORDERED = ("gt", "gte", "lt", "lte")
_UNINDEXED = "this store made the collection without payload indexes"
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


@attrs.frozen
class Layout:
    """Where everything of a target is.

    Args:
        name: The name of its collection.
        spec: What it serves.
        sources: Where each field is.
        id: Where the chunk's id is in the payload; None where it is the point's.
        vectors: The dense vectors, or why there are none.
        keywords: Where keywords are asked, or why nowhere.
        refused: Why a field is none, and what cannot be ordered by, by name.
        where: Which points are the target; None for all.
        shard_key: Where they are.
        params: How vectors are searched.
        is_ours: Whether `create` made the collection.
        unordered: What an order by a field lacks, by name.
    """

    name: str
    spec: FieldSpec
    sources: Mapping[str, Source]
    id: Path | None
    vectors: Vectors | str
    keywords: Terms | Scored | str
    refused: Mapping[str, str] = attrs.field(factory=dict)
    unordered: Mapping[str, str] = attrs.field(factory=dict)
    where: Filter | None = None
    shard_key: str | int | None = None
    params: models.SearchParams | None = None
    is_ours: bool = False

    @cached_property
    def readers(self) -> Sequence[tuple[str, str, Callable[[Mapping[str, Any]], Any]]]:
        """How each field is read of a payload: its name, what it is called in errors, and what reads."""
        return [(name, f"field {name!r}", source.read) for name, source in self.sources.items()]

    @cached_property
    def everything(self) -> Any:
        """What to ask of a payload, so that a chunk can be read of it."""
        return self.everything_and()

    def everything_and(self, *paths: Path) -> Any:
        """The same, and what is at some paths.

        Of a collection that this store made it is all there is: what the server would leave out is
        little, and to pick out the rest takes it a fifth of a scroll.
        """
        if self.is_ours:
            return True
        return self.of([*(source.read_from for source in self.sources.values()), *paths])

    def of(self, paths: Iterable[Path] = ()) -> Any:
        """What to ask of a payload for the chunk's id and what is at some paths."""
        every = [*paths, *([] if self.id is None else [self.id])]
        include = list(dict.fromkeys(path.quoted for path in every))
        return models.PayloadSelectorInclude(include=include) if include else False


def laid_out_made(name: str, made: Made, server: Server) -> Layout:
    """Where everything is in a collection that `create` made."""
    indexed = {path for path, _ in indexes_of(made)}
    sources = {
        name: _placed(source, server)
        for name, source in sources_of(made.spec, over_rest=server.over_rest).items()
    }
    fields, unordered = [], {}
    for field in made.spec:
        if field.sortable and sources[field.name].order not in indexed:
            unordered[field.name] = _UNINDEXED
        if isinstance(source := sources[field.name], Plain) and source.order not in indexed:
            sources[field.name] = attrs.evolve(source, unindexed=_UNINDEXED)
        fields.append(_narrowed(field, server, sortable=field.name not in unordered))
    vectors: Vectors | str = "the target declares no dimension"
    if made.spec.dimension is not None:
        vectors = Vectors(VECTOR, made.spec.dimension, made.spec.distance)
    keywords: Terms | str = "the target has no searchable field"
    if made.searchable:
        keywords = Terms(TERMS, made.analysis)
    spec = FieldSpec(fields, made.spec.dimension, made.spec.distance)
    return Layout(name, spec, sources, ID, vectors, keywords, unordered=unordered, is_ours=True)


def laid_out(of: Collection, info: models.CollectionInfo, server: Server) -> Layout:
    """Where everything is in a collection that is already there.

    Raises:
        Unconfigured: The collection is not as its configuration says, or leaves a choice.
        InvalidQueryError: Its `where` is none that its fields serve.
    """
    if server.is_local and of.shard_key is not None:
        raise _unsettled(of, "local mode has no shards; leave shard_key out")
    schema = indexes_there(of, info, server)
    vectors = _vectors(of, info)
    keywords = _keywords(of, info, server)
    sources: dict[str, Source] = {}
    fields: list[Field] = []
    refused: dict[str, str] = {}
    unordered: dict[str, str] = {}
    for field, path in _declared(of, schema):
        index = schema.get(path)
        if why := misfit(field, path, index, of):
            refused[field.name] = why
            continue
        if why := no_order(field, path, index, of, server):
            unordered[field.name] = why
        as_uuid = field.type == "text" and index is not None and index.kind == "uuid"
        has_range = index is not None and index.has_range
        source = Plain(
            field,
            path,
            server.over_rest,
            as_uuid=as_uuid and not server.is_local,
            unindexed=None if has_range else to_make(field, path, of, server),
        )
        sources[field.name] = _placed(source, server)
        searched = field.searchable and not isinstance(keywords, str)
        narrowed = _narrowed(
            field, server, sortable=field.name not in unordered, has_prefix=not as_uuid
        )
        fields.append(attrs.evolve(narrowed, searchable=searched))
    dense = vectors if isinstance(vectors, Vectors) else None
    spec = FieldSpec(
        fields,
        None if dense is None else dense.dimension,
        "cosine" if dense is None else dense.distance,
    )
    return Layout(
        of.name,
        spec,
        MappingProxyType(sources),
        of.id,
        vectors,
        keywords,
        refused,
        unordered,
        _checked(of.where, spec, refused),
        of.shard_key,
        models.SearchParams(exact=of.exact or None, hnsw_ef=of.hnsw_ef)
        if of.exact or of.hnsw_ef
        else None,
    )


def _unsettled(of: Collection, what: str) -> Unconfigured:
    return Unconfigured(f"collection {of.name!r}: {what}", store=_STORE)


def _declared(of: Collection, schema: Mapping[Path, Index]) -> Iterable[tuple[Field, Path]]:
    """The fields of the configuration, then those that only the server knows of."""
    taken = set()
    for field in of.fields:
        path = of.path(field.name)
        taken.add(path)
        yield field, path
    names = {field.name for field in of.fields}
    for path, index in schema.items():
        name = path.written
        if path not in taken and path != of.id and index.kind in INDEXES and name not in names:
            yield Field(name, INDEXES[index.kind], many=path.many), path


def _placed(source: Source, server: Server) -> Source:
    """The source, asked as what answers has to be asked."""
    if isinstance(source, Plain):
        return attrs.evolve(source, is_local=server.is_local, has_prefix=server.has_prefix)
    if isinstance(source, Exact):
        return attrs.evolve(source, is_local=server.is_local)
    return source


def _narrowed(field: Field, server: Server, *, sortable: bool, has_prefix: bool = True) -> Field:
    """The field with what Qdrant serves of it: text has no order there, and a UUID no beginning."""
    left_out: set[str] = set()
    if field.type == "text":
        left_out = {*_ORDERED, *(() if has_prefix and server.has_prefix else ("prefix",))}
    operators = [op for op in field.operators if op not in left_out]
    return attrs.evolve(
        field, operators=operators, sortable=sortable and field.sortable and field.type != "text"
    )


def _vectors(of: Collection, info: models.CollectionInfo) -> Vectors | str:
    there = info.config.params.vectors
    named: dict[str, models.VectorParams] = (
        there if isinstance(there, dict) else {} if there is None else {"": there}
    )
    name = of.vector
    if name is None:
        if not named:
            return "the collection has no dense vectors"
        if len(named) > 1:
            raise _unsettled(of, f"it has several vectors: {_listed(named)}; give vector=…")
        name = next(iter(named))
    if (params := named.get(name)) is None:
        raise _unsettled(of, f"it has no vector {name!r}; it has {_listed(named)}")
    if params.multivector_config is not None:
        return f"the vector {name!r} is several vectors a point, which is not served"
    return Vectors(name or None, params.size, _DISTANCES[params.distance])


def _keywords(of: Collection, info: models.CollectionInfo, server: Server) -> Terms | Scored | str:
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
            raise _unsettled(
                of, f"it has several sparse vectors: {_listed(weighed)}; give sparse=…"
            )
        name = next(iter(weighed))
    if name not in weighed:
        raise _unsettled(
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


def _checked(where: Filter | None, spec: FieldSpec, refused: Mapping[str, str]) -> Filter | None:
    """The filter that makes the target, folded; None where it is everything."""
    if where is None:
        return None
    for term in predicates(where):
        if term.field in refused:
            raise InvalidQueryError(refused[term.field], field=term.field)
    check(where, spec)
    folded = simplify(where)
    return None if folded == EVERYTHING else folded
