"""Tables of our own: created, filled, emptied."""

from collections.abc import Sequence
from typing import Any

from psycopg import AsyncConnection
from psycopg.types import TypeInfo

from soev_retrieval.domain import (
    FieldSpec,
    Record,
    Target,
)
from soev_retrieval_pgvector._making import ID, PAYLOAD, VECTOR, Made, Making, statements
from soev_retrieval_pgvector._sql import json_text, qualified, quoted
from soev_retrieval_pgvector._vector import Vector, VectorDumper

_LOCK = 0x50E7  # of those who create at the same time
_WIRE = {
    "text": "text",
    "int": "int8",
    "float": "float8",
    "bool": "bool",
    "datetime": "timestamptz",
}


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


def deletion(schema: str, made: Made) -> str:
    """The statement that removes the rows of some ids."""
    return f"DELETE FROM {qualified(schema, made.table.name)} WHERE {ID} = ANY($1::text[])"


async def upsert(
    connection: AsyncConnection, schema: str, made: Made, records: Sequence[Record]
) -> None:
    """Write all records or none: they are copied beside the table, then merged into it."""
    spec, table = made.spec, qualified(schema, made.table.name)
    columns = [(ID, "text", ID)]
    if made.table.payload is not None:
        columns.append((PAYLOAD, "text", f"{PAYLOAD}::jsonb"))
    else:
        columns += [
            (quoted(each.name), _WIRE[each.type] + ("[]" if each.many else ""), quoted(each.name))
            for each in spec
        ]
    if spec.dimension is not None:
        extension = await _extension(connection)
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
            f" ORDER BY {ID}"  # so that two who write the same ids wait, and do not deadlock
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
    return [record.id, *fields, Vector(record.vector)]


def _sent(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
