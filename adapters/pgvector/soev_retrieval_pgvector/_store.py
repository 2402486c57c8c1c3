"""The store: five methods over a pool of connections."""

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

from psycopg import AsyncConnection

from soev_retrieval.domain import (
    HYBRID_DEPTH,
    NOTHING,
    Chunk,
    FieldSpec,
    Filter,
    Hit,
    InvalidQueryError,
    Record,
    RetrievalError,
    Target,
    Unconfigured,
    check,
    check_alpha,
    check_filter,
    check_limit,
    check_order,
    check_query,
    check_vector,
    finite_vector,
    hybrid_depth,
    predicates,
    simplify,
)
from soev_retrieval_pgvector import _loader
from soev_retrieval_pgvector._catalog import read
from soev_retrieval_pgvector._connections import Connections
from soev_retrieval_pgvector._errors import may_be_outdated, was_prepared
from soev_retrieval_pgvector._layout import Layout, Vectors, laid_out
from soev_retrieval_pgvector._loader import Made, Making, made_table
from soev_retrieval_pgvector._records import chunk, hit
from soev_retrieval_pgvector._sql import quoted
from soev_retrieval_pgvector._statements import Bm25, Search, Statement
from soev_retrieval_pgvector._table import Table, identifier
from soev_retrieval_pgvector._terms import Terms

R = TypeVar("R")

FUSIONS = ("scores", "ranks")


class PgvectorStore:
    """A VectorStore and Loader over PostgreSQL with pgvector.

    Each search is one statement. Keywords are BM25 in Lucene's form, exact and of the statement's
    own snapshot; near vectors are found by the index that is there, approximately, and by looking
    at every row where the index brings too few. Tables that are already there are described by
    `tables` and read only; `create` makes others, in `schema`.

    Use it as an async context, or call `close`.

    Args:
        conninfo: A PostgreSQL URL or connection string. It shows in no repr.
        tables: The tables that are already there, by target.
        schema: Where `create` makes tables.
        making: How it makes them.
        alpha: The weight of the vector side of `hybrid` where the call names none, 0 to 1.
        fusion: `scores` for the one definition of a hybrid ranking, `ranks` for reciprocal rank
            fusion of the two legs, weighted by alpha, as `WeightedRrf` has it.
        depth: How many hits each leg of `hybrid` brings at the least.
        k1: How soon BM25 has seen enough of one word.
        b: How much BM25 counts the length of a text, 0 to 1.
        ef_search: How many candidates the index keeps while it searches, 1 to 1,000: more find
            more, slower.
        statement_seconds: When the server stops a statement, above 0, or None for its own limit.
        max_connections: How many connections it opens at the most, each when a call needs it.
        wait_seconds: How long a call waits for one of them, until the server has accepted it.

    Raises:
        InvalidQueryError: A setting is not one of the above.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        tables: Mapping[Target, Table] | None = None,
        schema: str = "public",
        making: Making | None = None,
        alpha: float = 0.5,
        fusion: str = "scores",
        depth: int = HYBRID_DEPTH,
        k1: float = 1.2,
        b: float = 0.75,
        ef_search: int = 100,
        statement_seconds: float | None = 30.0,
        max_connections: int = 10,
        wait_seconds: float = 5.0,
    ) -> None:
        if (checked := check_alpha(alpha)) is None:
            raise InvalidQueryError("alpha is the store's own default; give a number from 0 to 1")
        if fusion not in FUSIONS:
            raise InvalidQueryError(f"there is no fusion {fusion!r}; use {', '.join(FUSIONS)}")
        self._alpha, self._fusion, self._depth = checked, fusion, _whole(depth, "depth")
        self._bm25 = Bm25(_number(k1, "k1"), _number(b, "b", most=1))
        self._tables = dict(tables or {})
        self._schema = identifier(schema, "the schema")
        self._making = making or Making()
        self._layouts: dict[Target, Layout] = {}
        self._mades: dict[Target, Made] = {}
        self._connections = Connections(
            conninfo,
            _settings(ef_search, statement_seconds),
            max_size=_whole(max_connections, "max_connections"),
            wait_seconds=_seconds(wait_seconds, "wait_seconds"),
        )

    async def hybrid(
        self,
        target: Target,
        *,
        query: str,
        vector: Sequence[float] | None = None,
        limit: int,
        where: Filter | None = None,
        alpha: float | None = None,
    ) -> Sequence[Hit]:
        """As `VectorStore.hybrid`. It does not embed: with `vector` None, `alpha` must be 0."""
        query, limit = check_query(query), check_limit(limit)
        weight = self._alpha if (checked := check_alpha(alpha)) is None else checked
        if vector is not None:
            finite_vector(vector, what="the query vector")
        elif weight > 0:
            raise Unconfigured(
                "PgvectorStore does not embed queries; give a vector (or an embedder), or alpha=0",
                store="PgvectorStore",
                operation="hybrid",
            )
        if weight == 0 or vector is None:
            return await self.bm25(target, query=query, limit=limit, where=where)
        if weight == 1:
            return await self.near_vector(target, vector=vector, limit=limit, where=where)

        def asked(layout: Layout) -> Statement | None:
            vectors, terms = _vectors(layout, "hybrid"), _terms(layout, "hybrid")
            numbers = check_vector(vector, vectors.dimension, vectors.distance)
            if (checked := _filter(where, layout)) is NOTHING:
                return None
            return Search(layout, checked).hybrid(
                vectors,
                terms,
                query=query,
                vector=numbers,
                alpha=weight,
                depth=hybrid_depth(limit, self._depth),
                limit=limit,
                by=self._bm25,
                ranks=self._fusion == "ranks",
            )

        return await self._found(target, asked, hit, operation="hybrid")

    async def near_vector(
        self,
        target: Target,
        *,
        vector: Sequence[float],
        limit: int,
        where: Filter | None = None,
    ) -> Sequence[Hit]:
        """As `VectorStore.near_vector`: by the index of the vectors where there is one."""
        limit = check_limit(limit)
        finite_vector(vector, what="the query vector")

        def asked(layout: Layout) -> Statement | None:
            vectors = _vectors(layout, "near_vector")
            numbers = check_vector(vector, vectors.dimension, vectors.distance)
            if (checked := _filter(where, layout)) is NOTHING:
                return None
            return Search(layout, checked).near_vector(vectors, numbers, limit)

        return await self._found(target, asked, hit, operation="near_vector")

    async def bm25(
        self, target: Target, *, query: str, limit: int, where: Filter | None = None
    ) -> Sequence[Hit]:
        """As `VectorStore.bm25`: over all searchable fields as one text, ties by id."""
        query, limit = check_query(query), check_limit(limit)

        def asked(layout: Layout) -> Statement | None:
            terms = _terms(layout, "bm25")
            if (checked := _filter(where, layout)) is NOTHING:
                return None
            return Search(layout, checked).bm25(terms, query, limit, self._bm25)

        return await self._found(target, asked, hit, operation="bm25")

    async def fetch(
        self,
        target: Target,
        *,
        where: Filter | None = None,
        limit: int,
        order_by: str | None = None,
        descending: bool = False,
    ) -> Sequence[Chunk]:
        """As `VectorStore.fetch`."""
        limit = check_limit(limit)

        def asked(layout: Layout) -> Statement | None:
            _refuse_columns([order_by], layout)
            check_order(order_by, layout.spec)
            if (checked := _filter(where, layout)) is NOTHING:
                return None
            return Search(layout, checked).fetch(limit, order_by, descending=descending)

        return await self._found(target, asked, chunk, operation="fetch")

    async def fields(self, target: Target) -> FieldSpec:
        """As `VectorStore.fields`: what the catalog says, read once and kept."""
        return (await self._layout(target, "fields")).spec

    async def create(self, target: Target, spec: FieldSpec) -> None:
        """As `Loader.create`: a table of that name in the store's schema, as `making` says."""
        self._refuse_configured(target, "create")
        identifier(target, "the name of a target")
        if not isinstance(spec, FieldSpec):
            raise InvalidQueryError(f"a spec must be a FieldSpec, not {type(spec).__name__}")
        if spec.embeds:
            raise InvalidQueryError("PgvectorStore does not embed queries; leave embeds out")
        _loader.statements(
            self._schema, target, spec, self._making, "public"
        )  # all that can be wrong

        async def work(connection: AsyncConnection) -> None:
            await _loader.create(connection, self._schema, target, spec, self._making)

        await self._connections.run(work, operation="create")
        self._layouts.pop(target, None)
        made = await self._made(target, "create")
        if made is None:
            raise InvalidQueryError(
                f"there is a table {target!r} in schema {self._schema!r} that create did not make",
                target=target,
            )
        if made.spec != spec:
            raise InvalidQueryError(
                f"target {target!r} exists with another spec; drop it first", target=target
            )

    async def upsert(self, target: Target, records: Iterable[Record]) -> None:
        """As `Loader.upsert`: all of them or none, copied in one transaction."""
        self._refuse_configured(target, "upsert")
        given = records

        async def written(_: Layout) -> None:
            nonlocal given
            made = self._mades[target]
            given = checked = _loader.checked_records(given, made.spec)

            async def work(connection: AsyncConnection) -> None:
                await _loader.upsert(connection, self._schema, made, checked)

            if checked:
                await self._connections.run(work, operation="upsert")

        await self._on(target, written, operation="upsert")

    async def delete(self, target: Target, ids: Iterable[str]) -> None:
        """As `Loader.delete`."""
        self._refuse_configured(target, "delete")
        checked = _loader.checked_ids(ids)

        async def deleted(_: Layout) -> None:
            sql = _loader.deletion(self._schema, self._mades[target])
            await self._connections.write(sql, [checked], operation="delete")

        await self._on(target, deleted, operation="delete")

    async def drop(self, target: Target) -> None:
        """As `Loader.drop`. A table that `create` did not make is refused."""
        self._refuse_configured(target, "drop")
        if not isinstance(target, str) or not target:
            raise InvalidQueryError("the name of a target must be text, and not empty")
        if await self._made(target, "drop") is None:
            return
        table = f"{quoted(self._schema)}.{quoted(target)}"
        await self._connections.write(f"DROP TABLE IF EXISTS {table}", [], operation="drop")
        self._layouts.pop(target, None)
        self._mades.pop(target, None)

    async def _made(self, target: Target, operation: str) -> Made | None:
        await self._read(target, operation)
        return self._mades.get(target)

    def _refuse_configured(self, target: Target, operation: str) -> None:
        if isinstance(target, str) and target in self._tables:
            raise Unconfigured(
                f"target {target!r} is a table that was there before, which this store only reads",
                store="PgvectorStore",
                operation=operation,
            )

    async def close(self) -> None:
        """Close every connection."""
        await self._connections.close()

    async def __aenter__(self) -> "PgvectorStore":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return (
            f"PgvectorStore({', '.join(f'{name}: {each}' for name, each in self._tables.items())})"
        )

    async def _found(
        self,
        target: Target,
        asked: Callable[[Layout], Statement | None],
        as_result: Callable[[tuple[Any, ...], Layout], R],
        *,
        operation: str,
    ) -> list[R]:
        """The results of a statement. None of them where it is None: nothing can match."""

        async def answered(layout: Layout) -> list[R]:
            if (statement := asked(layout)) is None:
                return []
            rows = await self._connections.rows(*statement, operation=operation)
            return [as_result(row, layout) for row in rows]

        return await self._on(target, answered, operation=operation)

    async def _on(
        self, target: Target, work: Callable[[Layout], Awaitable[R]], *, operation: str
    ) -> R:
        """What `work` makes of a target's layout; once more if the table was changed meanwhile."""
        layout = await self._layout(target, operation)
        try:
            return await work(layout)
        except RetrievalError as error:
            if not may_be_outdated(error):
                raise
            refused = error
        if self._layouts.get(target) is layout:
            del self._layouts[target]
        fresh = await self._layout(target, operation)
        if fresh == layout and not was_prepared(refused):
            raise refused
        return await work(fresh)

    async def _layout(self, target: Target, operation: str) -> Layout:
        if isinstance(target, str) and target in self._layouts:
            return self._layouts[target]
        found = await self._read(target, operation)
        if found is None:
            known = ", ".join({**self._tables, **self._layouts}) or "none yet"
            raise InvalidQueryError(
                f"there is no target {target!r}; there is {known}", target=str(target)
            )
        self._layouts[target] = found
        return found

    async def _read(self, target: Target, operation: str) -> Layout | None:
        """Where everything of a target is: a table of the configuration, or one of `create`."""
        if not isinstance(target, str):
            return None

        async def rows(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
            return await self._connections.rows(sql, values, operation=operation)

        if (table := self._tables.get(target)) is not None:
            catalog = await read(rows, table.schema, table.name)
            if catalog is None:
                raise Unconfigured(
                    f"there is no table {table}", store="PgvectorStore", operation=operation
                )
            return laid_out(table, catalog)
        catalog = await read(rows, self._schema, identifier(target, "the name of a target"))
        made = None if catalog is None else made_table(self._schema, target, catalog)
        if catalog is None or made is None:
            self._mades.pop(target, None)
            return None
        self._mades[target] = made
        return laid_out(made.table, catalog, made.spec)


def _vectors(layout: Layout, operation: str) -> Vectors:
    if isinstance(layout.vectors, str):
        raise Unconfigured(layout.vectors, store="PgvectorStore", operation=operation)
    return layout.vectors


def _terms(layout: Layout, operation: str) -> Terms:
    if isinstance(layout.terms, str):
        raise Unconfigured(layout.terms, store="PgvectorStore", operation=operation)
    return layout.terms


def _filter(where: Filter | None, layout: Layout) -> Filter | None:
    """`where` checked and folded; None where it is everything."""
    if where is None:
        return None
    check_filter(where, "where")
    _refuse_columns((term.field for term in predicates(where)), layout)
    check(where, layout.spec)
    return simplify(where)


def _refuse_columns(names: Iterable[str | None], layout: Layout) -> None:
    """Say why a column is no field, where one is asked for."""
    for name in names:
        if isinstance(name, str) and name in layout.refused and name not in layout.spec:
            raise InvalidQueryError(layout.refused[name], field=name)


def _number(value: float, what: str, *, most: float = math.inf) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        up = "" if most == math.inf else f" to {most:g}"
        raise InvalidQueryError(f"{what} must be a number from 0{up}, not {value!r}")
    return float(value)


def _whole(value: int, what: str, *, most: float = math.inf) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        up = "" if most == math.inf else f" to {most:,}"
        raise InvalidQueryError(f"{what} must be an int from 1{up}, not {value!r}")
    return value


def _seconds(value: float, what: str) -> float:
    # PostgreSQL counts milliseconds in an int, and takes 0 for no limit at all.
    if (seconds := _number(value, what, most=2_000_000)) == 0:
        raise InvalidQueryError(f"{what} must be above 0")
    return seconds


def _settings(ef_search: int, statement_seconds: float | None) -> dict[str, str]:
    """What each connection is set to. hnsw and ivfflat go on until they have brought enough."""
    settings = {
        "client_encoding": "UTF8",
        "TimeZone": "UTC",
        "DateStyle": "ISO",
        "extra_float_digits": "1",
        "standard_conforming_strings": "on",
        "hnsw.ef_search": str(_whole(ef_search, "ef_search", most=1_000)),
        "hnsw.iterative_scan": "relaxed_order",
        "ivfflat.iterative_scan": "relaxed_order",
    }
    if statement_seconds is not None:
        milliseconds = math.ceil(_seconds(statement_seconds, "statement_seconds") * 1000)
        settings["statement_timeout"] = f"{milliseconds}ms"
    return settings
