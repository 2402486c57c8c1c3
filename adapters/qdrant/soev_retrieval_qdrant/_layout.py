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
    check,
    predicates,
    simplify,
)
from soev_retrieval_qdrant._collection import INDEXES, Collection
from soev_retrieval_qdrant._indexes import Index, indexes_there, misfit, no_order, to_make
from soev_retrieval_qdrant._legs import Scored, Terms, Vectors, keywords_of, unsettled, vectors_of
from soev_retrieval_qdrant._making import (
    ID,
    TERMS,
    VECTOR,
    Made,
    indexes_of,
    sources_of,
)
from soev_retrieval_qdrant._paths import Path
from soev_retrieval_qdrant._plain import Plain
from soev_retrieval_qdrant._server import Server
from soev_retrieval_qdrant._sources import Source

_STORE = "QdrantStore"
_ORDERED = ("gt", "gte", "lt", "lte")
_UNINDEXED = "this store made the collection without payload indexes"


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
        refused: Why a field is none, by name.
        unordered: What an order by a field lacks, by name.
        where: Which points are the target; None for all.
        shard_key: Where they are.
        params: How vectors are searched.
        is_ours: Whether `create` made the collection.
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
    sources = sources_of(made.spec, server)
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
        raise unsettled(of, "local mode has no shards; leave shard_key out")
    schema = indexes_there(of, info, server)
    vectors = vectors_of(of, info)
    keywords = keywords_of(of, info, server)
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
        sources[field.name] = Plain(
            field,
            path,
            server,
            as_uuid=as_uuid and not server.is_local,
            unindexed=None if has_range else to_make(field, path, of, server),
        )
        searched = field.searchable and not isinstance(keywords, str)
        narrowed = _narrowed(
            field, server, sortable=field.name not in unordered, has_prefix=not as_uuid
        )
        fields.append(attrs.evolve(narrowed, searchable=searched))
    where = EVERYTHING if of.where is None else checked(of.where, FieldSpec(fields), refused)
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
        None if where == EVERYTHING else where,
        of.shard_key,
        models.SearchParams(exact=of.exact or None, hnsw_ef=of.hnsw_ef)
        if of.exact or of.hnsw_ef
        else None,
    )


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


def _narrowed(field: Field, server: Server, *, sortable: bool, has_prefix: bool = True) -> Field:
    """The field with what Qdrant serves of it: text has no order there, and a UUID no beginning."""
    left_out: set[str] = set()
    if field.type == "text":
        left_out = {*_ORDERED, *(() if has_prefix and server.has_prefix else ("prefix",))}
    operators = [op for op in field.operators if op not in left_out]
    return attrs.evolve(
        field, operators=operators, sortable=sortable and field.sortable and field.type != "text"
    )


def checked(where: Filter, spec: FieldSpec, refused: Mapping[str, str]) -> Filter:
    """A filter that the fields serve, folded.

    Raises:
        InvalidQueryError: They do not. A field that is none for a reason is refused with that.
    """
    refuse(refused, (term.field for term in predicates(where)))
    check(where, spec)
    return simplify(where)


def refuse(reasons: Mapping[str, str], names: Iterable[str | None]) -> None:
    """Say why a name is no field, or none to order by, where it is asked for.

    Raises:
        InvalidQueryError: It is among the reasons.
    """
    for name in names:
        if isinstance(name, str) and name in reasons:
            raise InvalidQueryError(reasons[name], field=name)
