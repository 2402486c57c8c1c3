"""What PostgreSQL says of a table: two queries of pg_catalog, and their rows as values."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

import attrs

Rows: TypeAlias = Callable[[str, Sequence[Any]], Awaitable[list[tuple[Any, ...]]]]
"""Runs a statement with its parameters."""


@attrs.frozen
class Column:
    """One column.

    Args:
        name: Its name.
        declared: Its type as it was declared, such as `numeric(5,2)[]` or a domain's name.
        type: The name of its type, domains followed to what they are made of; of an array, its
            elements' type.
        schema: The schema of that type.
        kind: `b` a base type, `e` an enum, others as in pg_type.
        many: Whether it is an array.
        typmod: The modifier of its type: the dimension of a vector, the precision of a number.
        collation: `C` where it sorts by code point, `exact` where equal text is equal bytes,
            `loose` where it is not; None for what is no text.
        generated: The expression that it is generated from.
        sources: The columns in that expression.
        required: Whether it is NOT NULL.
        readable: Whether this role may read it.
    """

    name: str
    declared: str
    type: str
    schema: str
    kind: str
    many: bool
    typmod: int
    collation: str | None
    generated: str | None
    sources: tuple[str, ...]
    required: bool
    readable: bool


@attrs.frozen
class Index:
    """One index: the column it begins with, or the expression, and what it orders by.

    Args:
        method: `btree`, `gin`, `hnsw`, …
        columns: How many columns it has.
        column: The first one; None for an expression.
        operator: The operator that it can order by, such as `<=>`.
        unique: Whether it is unique.
        primary: Whether it is the primary key.
        partial: Whether it has a WHERE.
    """

    method: str
    columns: int
    column: str | None
    operator: str | None
    unique: bool
    primary: bool
    partial: bool


@attrs.frozen
class Catalog:
    """A table or view as the catalog has it.

    Args:
        kind: `r` a table, `p` partitioned, `v` a view, `m` materialised, `f` foreign.
        comment: Its comment.
        encoding: How the database encodes text, `UTF8` as a rule.
        extension: The schema of pgvector, or None where it is not installed.
        columns: Its columns by name, in order.
        indexes: Its indexes. Views show none.
    """

    kind: str
    comment: str | None
    encoding: str
    extension: str | None
    columns: dict[str, Column]
    indexes: tuple[Index, ...]


_COLUMNS = """
SELECT c.oid, c.relkind::text, obj_description(c.oid, 'pg_class'),
       current_setting('server_encoding'),
       (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
        WHERE e.extname = 'vector'),
       a.attname, format_type(a.atttypid, a.atttypmod), element.typname, space.nspname, element.typtype::text,
       element.oid <> base.oid, base.modifier,
       CASE WHEN a.attcollation = 0 THEN NULL
            WHEN NOT l.collisdeterministic THEN 'loose'
            WHEN l.provider = 'b' THEN 'C'
            WHEN l.provider = 'c' AND l.locale IN ('C', 'POSIX', 'C.UTF-8', 'C.utf8') THEN 'C'
            ELSE 'exact' END,
       CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END,
       ARRAY(SELECT s.attname FROM pg_depend r
             JOIN pg_attribute s ON s.attrelid = r.refobjid AND s.attnum = r.refobjsubid
             WHERE r.classid = 'pg_attrdef'::regclass AND r.objid = d.oid
               AND r.refclassid = 'pg_class'::regclass AND r.refobjid = a.attrelid
               AND r.refobjsubid <> a.attnum
             ORDER BY s.attnum)::text[],
       a.attnotnull,
       has_column_privilege(c.oid, a.attnum, 'SELECT')
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
JOIN LATERAL (
  WITH RECURSIVE step AS (
    SELECT t.oid, t.typtype, t.typbasetype, t.typelem, t.typtypmod, a.atttypmod AS modifier
    FROM pg_type t WHERE t.oid = a.atttypid
    UNION ALL
    SELECT t.oid, t.typtype, t.typbasetype, t.typelem, t.typtypmod, step.typtypmod
    FROM step JOIN pg_type t ON t.oid = step.typbasetype WHERE step.typtype = 'd')
  SELECT * FROM step WHERE typtype <> 'd') base ON true
JOIN pg_type element ON element.oid = coalesce(
  (SELECT e.oid FROM pg_type e WHERE e.oid = base.typelem AND e.typarray = base.oid), base.oid)
JOIN pg_namespace space ON space.oid = element.typnamespace
LEFT JOIN LATERAL (
  SELECT o.collisdeterministic,
         CASE o.collprovider WHEN 'd' THEN coalesce(to_jsonb(b) ->> 'datlocprovider', 'c')
                             ELSE o.collprovider::text END AS provider,
         CASE o.collprovider WHEN 'd' THEN b.datcollate ELSE o.collcollate END AS locale
  FROM pg_collation o, pg_database b
  WHERE o.oid = a.attcollation AND b.datname = current_database()) l ON true
WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
ORDER BY a.attnum
"""

_INDEXES = """
SELECT m.amname, i.indnkeyatts::int, a.attname, o.oprname, i.indisunique, i.indisprimary,
       i.indpred IS NOT NULL
FROM pg_index i
JOIN pg_class x ON x.oid = i.indexrelid
JOIN pg_am m ON m.oid = x.relam
JOIN pg_opclass k ON k.oid = i.indclass[0]
LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] AND a.attnum > 0
LEFT JOIN pg_amop p ON p.amopfamily = k.opcfamily AND p.amoppurpose = 'o'
  AND p.amoplefttype = k.opcintype
LEFT JOIN pg_operator o ON o.oid = p.amopopr
WHERE i.indrelid = $1 AND i.indisvalid
ORDER BY x.relname
"""


async def read(rows: Rows, schema: str, name: str) -> Catalog | None:
    """What the catalog has of a table, or None where there is none of that name."""
    found = await rows(_COLUMNS, [schema, name])
    if not found:
        return None
    oid, kind, comment, encoding, extension = found[0][:5]
    columns = {each.name: each for each in (_column(*row[5:]) for row in found)}
    indexes = tuple(Index(*row) for row in await rows(_INDEXES, [oid]))
    return Catalog(kind, comment, encoding, extension, columns, indexes)


def _column(*row: Any) -> Column:
    column = Column(*row)
    return attrs.evolve(column, sources=tuple(column.sources))
