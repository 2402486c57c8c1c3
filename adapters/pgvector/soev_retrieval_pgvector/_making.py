"""Tables of our own: how they are made, and recognised again."""

import json
from collections.abc import Sequence
from typing import Any

import attrs

from soev_retrieval.domain import (
    Field,
    FieldSpec,
    InvalidQueryError,
    Target,
)
from soev_retrieval_pgvector._catalog import Catalog
from soev_retrieval_pgvector._sql import (
    SQL_FUNCTION,
    WORDS_FUNCTION,
    json_text,
    literal,
    qualified,
    quoted,
    words_function,
)
from soev_retrieval_pgvector._table import Table, identifier

ID, VECTOR, PAYLOAD, TERMS, LENGTH = (
    "chunk_id",
    "embedding",
    "properties",
    "terms",
    "terms_length",
)
_OWN = (ID, VECTOR, PAYLOAD, TERMS, LENGTH)
_MARK = "soev_retrieval"
_TYPES = {
    "text": 'text COLLATE "C"',
    "int": "bigint",
    "float": "double precision",
    "bool": "boolean",
    "datetime": "timestamptz",
}
_OPERATORS = {"cosine": "cosine", "dot": "ip", "euclidean": "l2", "manhattan": "l1"}
_MOST = {"vector": 2000, "halfvec": 4000}  # dimensions that HNSW takes


@attrs.frozen
class Making:
    """How `create` makes a table.

    Args:
        layout: `columns` for a column for each field, `payload` for one JSONB object.
        vector_type: `vector` for float32, `halfvec` for float16, half as large.
        language: The text search configuration of the searchable fields.
        m: How many neighbours a vector has in its HNSW index, 2 to 100.
        ef_construction: How many candidates are kept while it is built, at least twice `m`.

    Raises:
        InvalidQueryError: A setting is not one of the above.
    """

    layout: str = "columns"
    vector_type: str = "vector"
    language: str = "english"
    m: int = 16
    ef_construction: int = 64

    def __attrs_post_init__(self) -> None:
        if self.layout not in {"columns", "payload"}:
            raise InvalidQueryError(f"there is no layout {self.layout!r}; use columns, payload")
        if self.vector_type not in _MOST:
            raise InvalidQueryError(
                f"there is no vector_type {self.vector_type!r}; use vector, halfvec"
            )
        identifier(self.language, "the language")
        if not 2 <= self.m <= 100 or not 2 * self.m <= self.ef_construction <= 1000:
            raise InvalidQueryError("m must be from 2 to 100, ef_construction from 2 m to 1,000")


@attrs.frozen
class Made:
    """A table that `create` made, as its comment says."""

    table: Table
    spec: FieldSpec


def made_table(schema: str, name: str, catalog: Catalog) -> Made | None:
    """What a table's comment says of it, or None where `create` did not make it."""
    try:
        said = json.loads(catalog.comment or "")[_MARK]
        fields = [Field(**each) for each in said["fields"]]
    except (ValueError, KeyError, TypeError):
        return None
    spec = FieldSpec(fields, said["dimension"], said["distance"])
    in_payload = PAYLOAD in catalog.columns
    searchable = [field.name for field in fields if field.searchable]
    table = Table(
        name,
        schema,
        id=ID,
        fields={} if in_payload else {field.name: field.name for field in fields},
        payload=PAYLOAD if in_payload else None,
        payload_fields=fields if in_payload else (),
        vector=VECTOR if spec.dimension else None,
        dimension=spec.dimension,
        distance=spec.distance,
        terms=TERMS if searchable else None,
        language=said["language"],
        searchable=searchable or None,
        lengths=LENGTH if searchable else None,
    )
    return Made(table, spec)


def statements(
    schema: str, target: Target, spec: FieldSpec, making: Making, extension: str
) -> list[str]:
    """What creates the table of `spec`, and its indexes.

    Raises:
        InvalidQueryError: A field cannot be a column.
    """
    table = qualified(schema, target)
    as_columns = making.layout == "columns"
    columns = [f'{ID} text COLLATE "C" PRIMARY KEY']
    columns += [_column(field) for field in spec] if as_columns else [f"{PAYLOAD} jsonb NOT NULL"]
    indexes = (
        _field_indexes(table, spec) if as_columns else [_gin(table, f"{PAYLOAD} jsonb_path_ops")]
    )
    before = []
    if spec.dimension is not None:
        type = f"{quoted(extension)}.{making.vector_type}"
        columns.append(f"{VECTOR} {type}({spec.dimension})")
        indexes += _vector_index(table, spec, making, extension)
    if searchable := [field for field in spec if field.searchable]:
        before = [words_function(schema), _joining_function(schema)]
        text = _tsvector(searchable, making, schema)
        columns.append(f"{TERMS} tsvector GENERATED ALWAYS AS ({text}) STORED")
        words = f"{quoted(schema)}.{WORDS_FUNCTION}"
        columns.append(f"{LENGTH} int GENERATED ALWAYS AS ({words}({text})) STORED")
        # The sum of all lengths is read from an index in a tenth of the time.
        indexes += [_gin(table, TERMS), f"CREATE INDEX ON {table} ({LENGTH})"]
    comment = literal(json_text({_MARK: _described(spec, making)}))
    return [
        *before,
        f"CREATE TABLE {table} ({', '.join(columns)})",
        *indexes,
        f"COMMENT ON TABLE {table} IS {comment}",
    ]


def _described(spec: FieldSpec, making: Making) -> dict[str, Any]:
    return {
        "fields": [attrs.asdict(field) for field in spec],
        "dimension": spec.dimension,
        "distance": spec.distance,
        "language": making.language,
    }


def _column(field: Field) -> str:
    name = identifier(field.name, "the name of a field")
    if name in _OWN:
        raise InvalidQueryError(
            f"field {name!r} cannot be a column: {', '.join(_OWN)} are the table's own;"
            " name it otherwise, or use Making(layout='payload')",
            field=name,
        )
    many = "[]" if field.many else ""
    kind, _, collation = _TYPES[field.type].partition(" COLLATE ")
    return f"{quoted(name)} {kind}{many}{f' COLLATE {collation}' if collation else ''}"


def _field_indexes(table: str, spec: FieldSpec) -> list[str]:
    """An index for each field. That of text is a hash: a btree takes no text of over 2,704 bytes."""
    made = []
    for field in spec:
        if field.searchable and not field.many:
            continue
        column = quoted(field.name)
        if field.many:
            made.append(_gin(table, column))
        else:
            method = "hash" if field.type == "text" else "btree"
            made.append(f"CREATE INDEX ON {table} USING {method} ({column})")
    return made


def _gin(table: str, of: str) -> str:
    return f"CREATE INDEX ON {table} USING gin ({of})"


def _vector_index(table: str, spec: FieldSpec, making: Making, extension: str) -> list[str]:
    """HNSW, where it takes vectors so long. Without it every search looks at all of them."""
    if spec.dimension is None or spec.dimension > _MOST[making.vector_type]:
        return []
    operators = f"{making.vector_type}_{_OPERATORS[spec.distance]}_ops"
    settings = f"m = {making.m}, ef_construction = {making.ef_construction}"
    return [
        f"CREATE INDEX ON {table} USING hnsw ({VECTOR} {quoted(extension)}.{operators})"
        f" WITH ({settings})"
    ]


_JOINED = "soev_retrieval_joined"


def _joining_function(schema: str) -> str:
    """What makes one text of a list: a generated column does not take array_to_string itself."""
    return (
        f"CREATE OR REPLACE FUNCTION {quoted(schema)}.{_JOINED}(text[])"
        f" RETURNS text {SQL_FUNCTION} $$SELECT array_to_string($1, E'\\n')$$"
    )


def _tsvector(fields: Sequence[Field], making: Making, schema: str) -> str:
    language = f"{literal(making.language)}::regconfig"
    if making.layout == "payload":
        each = [f"to_tsvector({language}, {_payload_text(field)})" for field in fields]
        return " || ".join(f"coalesce({one}, ''::tsvector)" for one in each)
    text = " || E'\\n' || ".join(_column_text(field, schema) for field in fields)
    return f"to_tsvector({language}, {text})"


def _payload_text(field: Field) -> str:
    return f"({PAYLOAD} {'->' if field.many else '->>'} {literal(field.name)})"


def _column_text(field: Field, schema: str) -> str:
    column = quoted(field.name)
    text = f"{quoted(schema)}.{_JOINED}({column})" if field.many else column
    return f"coalesce({text}, '')"
