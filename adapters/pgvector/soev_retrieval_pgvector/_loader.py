"""Tables of our own: how they are made, filled and recognised again."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import attrs
from psycopg import AsyncConnection
from psycopg.types import TypeInfo

from soev_retrieval.domain import (
    Field,
    FieldSpec,
    InvalidQueryError,
    Record,
    Target,
    check_record,
    check_vector,
    portable_name,
)
from soev_retrieval_pgvector._catalog import Catalog
from soev_retrieval_pgvector._sql import (
    SQL_FUNCTION,
    WORDS_FUNCTION,
    json_text,
    literal,
    quoted,
    words_function,
)
from soev_retrieval_pgvector._table import Table, identifier
from soev_retrieval_pgvector._vector import Vector, VectorDumper

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
_WIRE = {
    "text": "text",
    "int": "int8",
    "float": "float8",
    "bool": "bool",
    "datetime": "timestamptz",
}
_OPERATORS = {"cosine": "cosine", "dot": "ip", "euclidean": "l2", "manhattan": "l1"}
_MOST = {"vector": 2000, "halfvec": 4000}  # dimensions that HNSW takes
_LOCK = 0x50E7  # of those who create at the same time


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
    table = f"{quoted(schema)}.{quoted(target)}"
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


async def create(
    connection: AsyncConnection, schema: str, target: Target, spec: FieldSpec, making: Making
) -> None:
    """Make the table, unless it is there: the caller looks at what there is after this."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", [_LOCK])
        there = await connection.execute(
            "SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = $1 AND c.relname = $2",
            [schema, target],
        )
        if there.rowcount:
            return
        if spec.dimension is not None:
            await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        for sql in statements(schema, target, spec, making, await _extension(connection)):
            await connection.execute(sql.encode())


async def _extension(connection: AsyncConnection) -> str:
    """The schema of pgvector. Without vectors there need be none."""
    found = await connection.execute(
        "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
        " WHERE e.extname = 'vector'"
    )
    row = await found.fetchone()
    return "public" if row is None else str(row[0])


def checked_records(records: Iterable[Record], spec: FieldSpec) -> list[Record]:
    """Every record checked; of two with one id the last.

    Raises:
        InvalidQueryError: One does not keep to the spec. The error names it.
    """
    if isinstance(records, Record) or not isinstance(records, Iterable):
        raise InvalidQueryError(
            f"records must be an iterable of Record, not {type(records).__name__}"
        )
    return list({each.id: each for each in (check_record(one, spec) for one in records)}.values())


def checked_ids(ids: Iterable[str]) -> list[str]:
    """Every id checked.

    Raises:
        InvalidQueryError: One is no text, or `ids` is one text and no list of them.
    """
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise InvalidQueryError("ids must be an iterable of ids; for one, give [id]")
    return [portable_name(id, "the id of a chunk") for id in ids]


def deletion(schema: str, made: Made) -> str:
    """The statement that removes the rows of some ids."""
    return f"DELETE FROM {quoted(schema)}.{quoted(made.table.name)} WHERE {ID} = ANY($1::text[])"


async def upsert(
    connection: AsyncConnection, schema: str, made: Made, records: Sequence[Record]
) -> None:
    """Write all records or none: they are copied beside the table, then merged into it."""
    spec, table = made.spec, f"{quoted(schema)}.{quoted(made.table.name)}"
    columns = [(ID, "text", ID)]
    if made.table.payload is not None:
        columns.append((PAYLOAD, "text", f"{PAYLOAD}::jsonb"))
    else:
        columns += [
            (quoted(each.name), _WIRE[each.type] + ("[]" if each.many else ""), quoted(each.name))
            for each in spec
        ]
    extension = await _extension(connection)
    if spec.dimension is not None:
        columns.append((VECTOR, f"{quoted(extension)}.vector", VECTOR))
        await _register_vector(connection, extension)
    declared = ", ".join(f"{name} {type}" for name, type, _ in columns)
    names = ", ".join(name for name, _, _ in columns)
    changed = ", ".join(f"{name} = excluded.{name}" for name, _, _ in columns[1:])
    async with connection.transaction():
        staged = f"CREATE TEMP TABLE soev_staged ({declared}) ON COMMIT DROP"
        await connection.execute(staged.encode())
        async with connection.cursor() as cursor:
            copied = f"COPY soev_staged ({names}) FROM STDIN (FORMAT BINARY)"
            async with cursor.copy(copied.encode()) as copy:
                copy.set_types([type.rpartition(".")[2] for _, type, _ in columns])
                for record in records:
                    await copy.write_row(_row(record, made))
        selected = ", ".join(expression for _, _, expression in columns)
        merged = (
            f"INSERT INTO {table} ({names}) SELECT {selected} FROM soev_staged"
            f" ON CONFLICT ({ID}) DO {f'UPDATE SET {changed}' if changed else 'NOTHING'}"
        )
        await connection.execute(merged.encode())


async def _register_vector(connection: AsyncConnection, extension: str) -> None:
    info = await TypeInfo.fetch(connection, f"{quoted(extension)}.vector")
    if info is None:
        return
    info.register(connection)
    known = type("KnownVectorDumper", (VectorDumper,), {"oid": info.oid})
    connection.adapters.register_dumper(Vector, known)


def _row(record: Record, made: Made) -> list[Any]:
    spec, properties = made.spec, record.properties
    if made.table.payload is not None:
        fields: list[Any] = [json_text(dict(properties))]
    else:
        fields = [_sent(properties.get(each.name)) for each in spec]
    if spec.dimension is None:
        return [record.id, *fields]
    if record.vector is None:
        return [record.id, *fields, None]
    return [
        record.id,
        *fields,
        Vector(check_vector(record.vector, spec.dimension, spec.distance)),
    ]


def _sent(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
