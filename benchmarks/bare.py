"""The same questions by bare psycopg, in SQL that a person would write for this one table."""

import struct
from collections.abc import Sequence
from typing import Any

import attrs
from psycopg import AsyncConnection, AsyncRawCursor
from psycopg.adapt import Dumper
from psycopg.pq import Format

Rows = list[tuple[Any, ...]]

_NEAR = """
WITH near AS MATERIALIZED (
  SELECT chunk_id, embedding <=> $1::vector AS distance, text, part
  FROM chunks{where}
  ORDER BY embedding <=> $1::vector LIMIT {limit})
SELECT chunk_id, 1 - distance AS score, text, part
FROM near ORDER BY distance + 0, chunk_id
"""

# A lexeme is looked up by itself, so that the rank by one lexeme is how often it stands there.
_KEYWORD = """
q AS MATERIALIZED (
  SELECT lexeme, ('''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || '''')::tsquery AS term
  FROM unnest(to_tsvector('english', $1::text))),
s AS MATERIALIZED (SELECT count(*)::float8 AS n, avg(terms_length)::float8 AS average FROM chunks),
m AS MATERIALIZED (
  SELECT chunk_id, lexeme, terms_length, {tf} AS tf
  FROM q JOIN chunks ON terms @@ term),
d AS (SELECT lexeme, count(*)::float8 AS df FROM m GROUP BY lexeme),
keyword AS (
  SELECT chunk_id, sum(ln(1 + (n - df + 0.5) / (df + 0.5))
    * tf / (tf + 1.2 * (0.25 + 0.75 * terms_length / average))) AS score
  FROM m JOIN d USING (lexeme) CROSS JOIN s{wanted}
  GROUP BY chunk_id ORDER BY score DESC, chunk_id LIMIT {limit})
"""
_TF = "ts_rank_cd('{1,1,1,1}', terms, term)"

_BM25 = """
WITH {keyword}
SELECT chunk_id, score, text, part
FROM keyword JOIN chunks USING (chunk_id) ORDER BY score DESC, chunk_id
"""

_HYBRID = """
WITH {keyword},
near AS MATERIALIZED (
  SELECT chunk_id, 1 - (embedding <=> $2::vector) AS score
  FROM chunks{where}
  ORDER BY embedding <=> $2::vector LIMIT {depth}),
parts AS (
  SELECT chunk_id, {near_scaled} AS part FROM near
  UNION ALL SELECT chunk_id, {keyword_scaled} FROM keyword),
fused AS (
  SELECT chunk_id, sum(part) AS score FROM parts
  GROUP BY chunk_id ORDER BY score DESC, chunk_id LIMIT {limit})
SELECT chunk_id, score, text, part
FROM fused JOIN chunks USING (chunk_id) ORDER BY score DESC, chunk_id
"""
_SCALED = (
    "0.5 * coalesce((score - min(score) OVER ())"
    " / nullif(max(score) OVER () - min(score) OVER (), 0), 1)"
)


class Query(list[float]):
    """A vector to search with, by its own type so that it is sent as one."""


class _QueryDumper(Dumper):
    format = Format.BINARY
    oid = 0

    def dump(self, obj: Query) -> bytes:
        return struct.pack(f">HH{len(obj)}f", len(obj), 0, *obj)


async def connect(url: str) -> AsyncConnection:
    """One connection, set as PgvectorStore sets each of its own."""
    connection = await AsyncConnection.connect(url, autocommit=True, cursor_factory=AsyncRawCursor)
    connection.adapters.register_dumper(Query, _QueryDumper)
    await connection.execute("SET hnsw.ef_search = 100")
    await connection.execute("SET hnsw.iterative_scan = relaxed_order")
    return connection


@attrs.frozen
class Bare:
    """The searches over the table of the benchmark, where parts below `parts` are wanted.

    Args:
        connection: The connection, kept.
        parts: The first part that is not wanted, or None for no filter.
    """

    connection: AsyncConnection
    parts: int | None = None

    async def near_vector(self, query: Sequence[float], limit: int) -> Rows:
        """The nearest by the index, in order."""
        where, values = self._filter(" WHERE part {} ${}", 2)
        return await self._rows(_NEAR.format(where=where, limit=limit), [Query(query), *values])

    async def bm25(self, question: str, limit: int) -> Rows:
        """The best by BM25 over the whole table as it is now."""
        sql = _BM25.format(keyword=self._keyword(limit, 2))
        return await self._rows(sql, [question, *self._filter("", 2)[1]])

    async def hybrid(self, question: str, query: Sequence[float], limit: int, depth: int) -> Rows:
        """The best of both, `depth` deep, their scores scaled to 0..1 and weighted alike."""
        where, values = self._filter(" WHERE part {} ${}", 3)
        sql = _HYBRID.format(
            keyword=self._keyword(depth, 3),
            where=where,
            depth=depth,
            limit=limit,
            near_scaled=_SCALED,
            keyword_scaled=_SCALED,
        )
        return await self._rows(sql, [question, Query(query), *values])

    def _keyword(self, limit: int, at: int) -> str:
        wanted, _ = self._filter("CASE WHEN part {} ${} THEN " + _TF + " END", at)
        return _KEYWORD.format(
            tf=wanted or _TF, wanted=" WHERE tf IS NOT NULL" if wanted else "", limit=limit
        )

    def _filter(self, form: str, at: int) -> tuple[str, list[int]]:
        """The condition as parameter `at`, in its form, and its value."""
        if self.parts is None:
            return "", []
        if self.parts == 1:
            return form.replace("{}", "=", 1).replace("{}", str(at), 1), [0]
        return form.replace("{}", "<", 1).replace("{}", str(at), 1), [self.parts]

    async def _rows(self, sql: str, values: list[Any]) -> Rows:
        cursor = await self.connection.execute(sql.encode(), values, prepare=True)
        return await cursor.fetchall()
