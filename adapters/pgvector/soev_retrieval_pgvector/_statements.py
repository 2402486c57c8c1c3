"""The statements: one for each search."""

from collections.abc import Sequence
from typing import Any

import attrs

from soev_retrieval.domain import Filter
from soev_retrieval_pgvector._filters import condition, narrows
from soev_retrieval_pgvector._layout import Layout, Vectors
from soev_retrieval_pgvector._records import selected
from soev_retrieval_pgvector._sql import Parameters, quoted
from soev_retrieval_pgvector._terms import Terms
from soev_retrieval_pgvector._vector import Vector

Statement = tuple[str, list[Any]]

RRF_K = 60
"""The constant of reciprocal rank fusion, as in Cormack, Clarke and Büttcher, SIGIR 2009."""

_SCORES = {
    "cosine": "1 - distance",
    "dot": "-distance",
    "euclidean": "-distance",
    "manhattan": "-distance",
}


@attrs.frozen
class Bm25:
    """The parameters of BM25 in Lucene's form.

    Args:
        k1: How soon it has seen enough of one word.
        b: How much it counts the length of a text.
    """

    k1: float = 1.2
    b: float = 0.75


_FEW = 1_000
"""So many rows that match are compared one by one in less time than the index of the vectors takes
to come across the nearest of them (measured: 2 ms against 28 for 1 % of 100,000)."""


class Search:
    """One statement over one table, under one filter.

    Args:
        layout: Where everything is.
        where: The filter, checked and simplified.

    Raises:
        InvalidQueryError: The filter holds more values than one statement can carry.
    """

    def __init__(self, layout: Layout, where: Filter | None) -> None:
        self._layout = layout
        self._to = Parameters()
        self._rows, self._where = (
            None if each is None else condition(each, layout.sources, self._to)
            for each in (layout.rows, where)
        )
        self._narrowed = any(
            each is not None and narrows(each, layout.indexed) for each in (layout.rows, where)
        )

    def fetch(self, limit: int, order_by: str | None, *, descending: bool) -> Statement:
        """Chunks by filter, in the order of a field, those that lack it last, ties by id."""
        layout = self._layout
        columns = ", ".join([layout.id_text, *selected(layout)])
        sql = f"SELECT {columns} FROM {layout.table} AS t"
        if self._wanted:
            sql += f" WHERE {self._wanted}"
        if order_by is not None:
            way = "DESC" if descending else "ASC"
            key = layout.sources[order_by].sort_key()
            sql += f" ORDER BY {key} {way} NULLS LAST, {layout.id_in_order}"
        return f"{sql} LIMIT {limit}", self._to.values

    def near_vector(self, vectors: Vectors, vector: Sequence[float], limit: int) -> Statement:
        """The nearest rows, ties by id."""
        columns = selected(self._layout)
        near = self._near(vectors, vector, limit, columns)
        names = ", ".join(["id", "score", *_aliases(columns)])
        return f"WITH {near} SELECT {names} FROM near {_best(limit)}", self._to.values

    def bm25(self, terms: Terms, query: str, limit: int, by: Bm25) -> Statement:
        """The best rows by BM25, ties by id."""
        keyword = self._keyword(terms, query, limit, by)
        return f"WITH {keyword} {self._winners('keyword')}", self._to.values

    def hybrid(
        self,
        vectors: Vectors,
        terms: Terms,
        *,
        query: str,
        vector: Sequence[float],
        alpha: float,
        depth: int,
        limit: int,
        by: Bm25,
        ranks: bool,
    ) -> Statement:
        """Both legs, `depth` deep, and their fusion: by scaled scores, as the core, or by ranks."""
        near = self._near(vectors, vector, depth, [])
        keyword = self._keyword(terms, query, depth, by)
        part = _RANKED if ranks else _SCALED
        legs = [
            f"SELECT key, id, {self._to(weight)}::float8 {part} FROM {leg}"
            for leg, weight in (("near_leg", alpha), ("keyword", 1 - alpha))
        ]
        fused = (
            f"near_leg AS (SELECT key, id, score FROM near {_best(depth)}),"
            f" legs AS ({' UNION ALL '.join(legs)}),"
            " fused AS (SELECT key, id, sum(part) AS score, min(place) AS place FROM legs"
            f" GROUP BY key, id ORDER BY score DESC, place, id LIMIT {limit})"
        )
        return (
            f"WITH {near}, {keyword}, {fused} {self._winners('fused', 'w.place,')}",
            self._to.values,
        )

    @property
    def _wanted(self) -> str:
        """What the rows that come have to fulfil; empty where there is nothing."""
        return " AND ".join(each for each in (self._rows, self._where) if each is not None)

    def _winners(self, name: str, place: str = "") -> str:
        """The rows of what was found, with their properties, which nothing before has to carry."""
        layout = self._layout
        columns = ", ".join(["w.id", "w.score", *selected(layout)])
        return (
            f"SELECT {columns} FROM {name} AS w JOIN {layout.table} AS t ON {layout.key} = w.key"
            f" ORDER BY w.score DESC, {place} w.id"
        )

    def _near(
        self, vectors: Vectors, vector: Sequence[float], limit: int, columns: list[str]
    ) -> str:
        """`near`: at least the nearest `limit` rows, all ties of the last one among them.

        An index may bring fewer than there are: it stops after so many rows or so much memory.
        Then, and only then, every row is looked at, in the same statement.
        """
        layout, column = self._layout, f"t.{quoted(vectors.column)}"
        distance = f"{column} {vectors.operator} {self._vector(vectors, vector)}"
        names = _aliases(columns)
        select = ", ".join(
            [
                f"{layout.key} AS key",
                f"{layout.id_in_order} AS id",
                f"{distance} AS distance",
                *(f"{each} AS {name}" for each, name in zip(columns, names, strict=True)),
            ]
        )
        there = f"{column} IS NOT NULL" + (f" AND {self._wanted}" if self._wanted else "")
        rows = f"SELECT {select} FROM {layout.table} AS t WHERE {there}"
        ties = f"FETCH FIRST {limit} ROWS WITH TIES"
        every = f"ORDER BY ({distance}) + 0 {ties}"  # no index serves a sum
        if vectors.indexed:
            found = self._indexed(f"{rows} ORDER BY {distance} {ties}", f"{rows} {every}", limit)
        else:
            found = f"found AS MATERIALIZED ({rows} {every})"
        score = _SCORES[vectors.distance]
        return (
            f"{found}, near AS (SELECT {', '.join(['key', 'id', f'{score} AS score', *names])}"
            " FROM found WHERE distance <> 'NaN')"  # of a vector of zeros, which has no direction
        )

    def _indexed(self, by_index: str, one_by_one: str, limit: int) -> str:
        """`found`: what the index of the vectors finds, or all rows where it is not to be asked.

        The gates are joins: as conditions they would start parallel workers for nothing.
        """
        few, indexed = "", by_index
        if self._narrowed:
            # What the planner does not see: the index has to pass over all that does not match.
            matching = (
                f"SELECT FROM {self._layout.table} AS t WHERE {self._wanted} LIMIT {_FEW + 1}"
            )
            few = f"few AS MATERIALIZED (SELECT count(*) <= {_FEW} AS so FROM ({matching}) AS m), "
            indexed = (
                "SELECT indexed.* FROM (SELECT FROM few WHERE NOT so) AS many"
                f" CROSS JOIN LATERAL ({by_index}) AS indexed"
            )
        return (
            f"{few}indexed AS MATERIALIZED ({indexed}),"
            " every AS MATERIALIZED (SELECT every.* FROM"
            f" (SELECT FROM indexed HAVING count(*) < {limit}) AS short"
            f" CROSS JOIN LATERAL ({one_by_one}) AS every),"
            " found AS (SELECT * FROM every UNION ALL SELECT * FROM indexed"
            f" WHERE (SELECT count(*) FROM indexed) >= {limit})"
        )

    def _vector(self, vectors: Vectors, vector: Sequence[float]) -> str:
        extension = quoted(vectors.extension)
        query = f"{self._to(Vector(vector))}::{extension}.vector"
        return query if vectors.type == "vector" else f"{query}::{extension}.{vectors.type}"

    def _keyword(self, terms: Terms, query: str, limit: int, by: Bm25) -> str:
        """`keyword`: the best `limit` rows by BM25, exactly, as of this statement's own snapshot.

        Each lexeme of the query is looked up by itself, quoted, so that no character of the query
        is an operator and no lexeme is stemmed again. ts_rank_cd of one lexeme, all weights 1, is
        how often it stands in a text. How often and how rare a word is counts over the whole
        target; the filter only says which of its rows are wanted.
        """
        layout, column, to = self._layout, f"t.{quoted(terms.column)}", self._to
        asked = f"to_tsvector({to(terms.language)}::text::regconfig, {to(query)}::text)"
        k1, b = f"{to(by.k1)}::float8", f"{to(by.b)}::float8"
        idf = "ln(1 + (s.n - d.df + 0.5) / (d.df + 0.5))"
        saturated = f"m.tf / (m.tf + {k1} * (1 - {b} + {b} * m.length / s.average))"
        wanted = "true" if self._where is None else self._where
        rows = "true" if self._rows is None else self._rows
        return (
            "q AS MATERIALIZED (SELECT lexeme, ('''' || replace(replace(lexeme, '\\', '\\\\'),"
            f" '''', '''''') || '''')::tsquery AS term FROM unnest({asked})),"
            f" s AS MATERIALIZED (SELECT count(*)::float8 AS n,"
            f" avg({terms.length})::float8 AS average FROM {layout.table} AS t WHERE {rows}),"
            f" m AS MATERIALIZED (SELECT {layout.key} AS key, {layout.id_in_order} AS id,"
            f" q.lexeme, {terms.length} AS length, CASE WHEN {wanted} THEN"
            f" ts_rank_cd('{{1,1,1,1}}', {column}, q.term)::float8 END AS tf"
            f" FROM q JOIN {layout.table} AS t ON {column} @@ q.term AND {rows}),"
            " d AS (SELECT lexeme, count(*)::float8 AS df FROM m GROUP BY lexeme),"
            f" keyword AS (SELECT m.key, m.id, sum({idf} * {saturated} ORDER BY m.lexeme) AS score"
            " FROM m JOIN d USING (lexeme) CROSS JOIN s WHERE m.tf IS NOT NULL"
            f" GROUP BY m.key, m.id {_best(limit)})"
        )


_SPAN = "(max(score) OVER () - min(score) OVER ())"
_SCALED = (
    f"* CASE WHEN {_SPAN} = 0 THEN 1 ELSE (score - min(score) OVER ()) / {_SPAN} END AS part,"
    " 0 AS place"
)
"""What follows a leg's weight: scores moved and stretched to 0..1, as `domain.scaled` does it."""

_PLACE = "row_number() OVER (ORDER BY score DESC, id)"
_RANKED = f"/ ({RRF_K} + {_PLACE}) AS part, {_PLACE} AS place"


def _best(limit: int) -> str:
    return f"ORDER BY score DESC, id LIMIT {limit}"


def _aliases(columns: Sequence[str]) -> list[str]:
    """Names that no field can have in common with what stands beside it."""
    return [f"c{place}" for place in range(len(columns))]
