"""A table's configuration and its catalog, put together: where everything is."""

from collections.abc import Mapping

import attrs

from soev_retrieval.domain import (
    Field,
    FieldSpec,
    Filter,
    InvalidQueryError,
    Unconfigured,
    check,
    simplify,
)
from soev_retrieval_pgvector._catalog import Catalog, Column
from soev_retrieval_pgvector._columns import ColumnSource, Kind, kind_of
from soev_retrieval_pgvector._filters import Source
from soev_retrieval_pgvector._payload import PayloadSource
from soev_retrieval_pgvector._settled import column_of, only, typed_column, unsettled
from soev_retrieval_pgvector._sql import qualified, quoted
from soev_retrieval_pgvector._table import Table
from soev_retrieval_pgvector._terms import Terms, searchable_of, terms_of

_DISTANCES = {"<=>": "cosine", "<#>": "dot", "<->": "euclidean", "<+>": "manhattan"}
_OPERATORS = {distance: operator for operator, distance in _DISTANCES.items()}
_VECTOR_INDEXES = ("hnsw", "ivfflat")


@attrs.frozen
class Vectors:
    """The vectors of a table.

    Args:
        column: Their column.
        type: Its type, `vector` or `halfvec`.
        extension: The schema of pgvector.
        distance: `cosine`, `dot`, `euclidean` or `manhattan`.
        dimension: How long they are.
        indexed: Whether an index may find them, approximately. Views do not say: they may.
    """

    column: str
    type: str
    extension: str
    distance: str
    dimension: int
    indexed: bool

    @property
    def operator(self) -> str:
        """The operator of the distance, wherever pgvector lives."""
        return f"OPERATOR({quoted(self.extension)}.{_OPERATORS[self.distance]})"


@attrs.frozen
class Layout:
    """Where the parts of a chunk are.

    Args:
        table: The table, quoted.
        id: The column of the id, and whether it is text as it stands.
        spec: What the target declares.
        sources: Where each field is.
        indexed: The fields by which an index finds rows.
        refused: Why a column is no field, by its name.
        rows: Which rows are the target, or None for all.
        payload: The column of the payload.
        vectors: The vectors, or why there are none.
        terms: The searchable text, or why there is none.
    """

    table: str
    id: Column
    spec: FieldSpec
    sources: Mapping[str, Source]
    indexed: frozenset[str]
    refused: Mapping[str, str]
    rows: Filter | None
    payload: str | None
    vectors: Vectors | str
    terms: Terms | str

    @property
    def key(self) -> str:
        """The id as the table has it."""
        return f"t.{quoted(self.id.name)}"

    @property
    def id_text(self) -> str:
        """The id as a chunk has it."""
        return self.key if self.id.type in {"text", "varchar"} else f"{self.key}::text"

    @property
    def id_in_order(self) -> str:
        """The id so that it sorts by code point, as Python does."""
        return self.id_text if self.id.collation == "C" else f'{self.id_text} COLLATE "C"'


def laid_out(table: Table, catalog: Catalog, spec: FieldSpec | None = None) -> Layout:
    """Put a table's configuration and its catalog together.

    Args:
        table: The configuration.
        catalog: What the catalog says.
        spec: What the target declares, where that is known: a table that a Loader made.

    Raises:
        Unconfigured: The two do not agree, or leave something open. The error says what to give.
    """
    if catalog.encoding != "UTF8":
        raise unsettled(table, f"its database is encoded in {catalog.encoding}, not in UTF8")
    id = _id(table, catalog)
    vectors, terms = _vectors(table, catalog), terms_of(table, catalog)
    searchable = searchable_of(table, catalog, terms) if isinstance(terms, Terms) else ()
    own = _own(table, catalog, id, terms)
    sources, refused = _columns(table, catalog, searchable, own)
    for field in table.payload_fields:
        if field.name in sources:
            raise unsettled(table, f"field {field.name!r} is both a column and of the payload")
        declared = attrs.evolve(field, searchable=field.searchable or field.name in searchable)
        sources[field.name] = PayloadSource(declared, str(table.payload))
    if table.payload is not None:
        typed_column(table, catalog, table.payload, "payload", {"jsonb"})
    if isinstance(terms, Terms) and not any(each.field.searchable for each in sources.values()):
        terms = (
            f"it is not known which fields are in column {terms.column!r};"
            " give Table(…, searchable=[…])"
        )
    spec = spec or _spec(sources, vectors)
    return Layout(
        table=qualified(table.schema, table.name),
        id=id,
        spec=spec,
        sources=sources,
        indexed=_indexed(table, catalog, sources),
        refused=refused,
        rows=_rows(table, spec),
        payload=table.payload,
        vectors=vectors,
        terms=terms,
    )


def _rows(table: Table, spec: FieldSpec) -> Filter | None:
    if table.where is None:
        return None
    try:
        check(table.where, spec)
    except InvalidQueryError as error:
        raise unsettled(table, f"its where: {error}") from error
    return simplify(table.where)


def _indexed(table: Table, catalog: Catalog, sources: Mapping[str, Source]) -> frozenset[str]:
    columns = {
        each.column
        for each in catalog.indexes
        if not each.partial and each.method not in _VECTOR_INDEXES
    }
    return frozenset(
        name
        for name, source in sources.items()
        if (source.column.name if isinstance(source, ColumnSource) else table.payload) in columns
    )


def _spec(sources: Mapping[str, Source], vectors: Vectors | str) -> FieldSpec:
    fields = [source.field for source in sources.values()]
    if isinstance(vectors, str):
        return FieldSpec(fields)
    return FieldSpec(fields, vectors.dimension, vectors.distance)


def _id(table: Table, catalog: Catalog) -> Column:
    if table.id is not None:
        column = column_of(table, catalog, table.id, "id")
    else:
        keys = [each for each in catalog.indexes if each.primary and each.columns == 1]
        if not keys or keys[0].column is None:
            raise unsettled(table, "it has no primary key of one column; give id=…")
        column = column_of(table, catalog, keys[0].column, "id")
    unique = any(
        each.unique and each.columns == 1 and each.column == column.name and not each.partial
        for each in catalog.indexes
    )
    if catalog.kind == "r" and not (unique and column.required):
        raise unsettled(table, f"column {column.name!r} is not UNIQUE NOT NULL, so it is no id")
    return column


def _vectors(table: Table, catalog: Catalog) -> Vectors | str:
    types = {"vector", "halfvec"}
    if table.vector is not None:
        column = typed_column(table, catalog, table.vector, "vectors", types)
    elif (found := only(table, catalog, types, "vector")) is not None:
        column = found
    else:
        return "it has no column of type vector or halfvec that this role may read"
    dimension = table.dimension or (column.typmod if column.typmod > 0 else None)
    if dimension is None:
        return f"column {column.name!r} does not declare its dimension; give Table(…, dimension=…)"
    distances = _indexed_distances(catalog, column.name)
    distance = _distance(table, distances)
    indexed = distance in distances or catalog.kind in {"v", "f"}
    return Vectors(
        column.name,
        column.type,
        column.schema,
        distance,
        dimension,
        indexed and not table.exact,
    )


def _indexed_distances(catalog: Catalog, column: str) -> set[str]:
    return {
        _DISTANCES[each.operator]
        for each in catalog.indexes
        if each.method in _VECTOR_INDEXES and each.column == column and each.operator in _DISTANCES
    }


def _distance(table: Table, indexed: set[str]) -> str:
    if table.distance is not None:
        return table.distance
    if len(indexed) > 1:
        raise unsettled(table, f"its vectors have indexes for {sorted(indexed)}; give distance=…")
    return next(iter(indexed), "cosine")


def _columns(
    table: Table, catalog: Catalog, searchable: tuple[str, ...], own: set[str]
) -> tuple[dict[str, Source], dict[str, str]]:
    """The fields that are columns, and why other columns are none."""
    sources: dict[str, Source] = {}
    refused: dict[str, str] = {}
    for name, column in _chosen(table, catalog, own):
        kind = kind_of(column)
        if kind is None or not column.readable:
            refused[name] = (
                f"column {column.name!r} is of type {column.declared},"
                f" which no operator of the algebra compares exactly"
                if column.readable
                else f"this role may not read column {column.name!r}"
            )
            continue
        sources[name] = ColumnSource(_field(name, column, kind, name in searchable), column, kind)
    if table.fields is not None and refused:
        raise unsettled(table, "; ".join(refused.values()))
    for name in set(searchable) - sources.keys() - {each.name for each in table.payload_fields}:
        if table.searchable is not None:
            raise unsettled(table, f"searchable names {name!r}, which is no field")
    return sources, refused


def _own(table: Table, catalog: Catalog, id: Column, terms: Terms | str) -> set[str]:
    """The columns that are no fields, unless they are asked for by name."""
    own = {id.name} | {each for each in (table.payload, table.lengths) if each is not None}
    if isinstance(terms, Terms):
        own |= {each for each in catalog.columns if terms.length == f"t.{quoted(each)}"}
    kept = {"vector", "halfvec", "tsvector"}
    return own | {each.name for each in catalog.columns.values() if each.type in kept}


def _chosen(table: Table, catalog: Catalog, own: set[str]) -> list[tuple[str, Column]]:
    if table.fields is None:
        return [(name, each) for name, each in catalog.columns.items() if name not in own]
    return [
        (name, column_of(table, catalog, column, f"field {name!r}"))
        for name, column in table.fields.items()
    ]


def _field(name: str, column: Column, kind: Kind, searchable: bool) -> Field:
    try:
        return Field(name, kind.type, column.many, searchable and kind.type == "text")
    except InvalidQueryError as error:
        raise Unconfigured(str(error), store="PgvectorStore") from error
