"""The store: five methods over a pool of connections."""

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    Target,
    Unconfigured,
    check,
    check_count,
    check_filter,
    check_hybrid,
    check_ids,
    check_limit,
    check_number,
    check_order,
    check_query,
    check_records,
    check_seconds,
    check_spec,
    check_vector,
    default_alpha,
    finite_vector,
    hybrid_depth,
    listed,
    predicates,
    simplify,
)
from soev_retrieval_pgvector import _loader
from soev_retrieval_pgvector._connections import Connections
from soev_retrieval_pgvector._layout import Layout, Vectors
from soev_retrieval_pgvector._making import Made, Making, statements
from soev_retrieval_pgvector._records import chunk, hit
from soev_retrieval_pgvector._settings import LONGEST, of_connections
from soev_retrieval_pgvector._sql import qualified
from soev_retrieval_pgvector._statements import Bm25, Search, Statement
from soev_retrieval_pgvector._table import Table, identifier
from soev_retrieval_pgvector._targets import Tables
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
        transaction_settings: What is set for each search alone, such as the tenant that a policy
            of row-level security compares with: a function, called in the context of the call. A
            value that is None or empty is refused.
            Each search is then a transaction, in two round trips in place of one.

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
        transaction_settings: Callable[[], Mapping[str, str | None]] | None = None,
    ) -> None:
        if fusion not in FUSIONS:
            raise InvalidQueryError(f"there is no fusion {fusion!r}; use {', '.join(FUSIONS)}")
        self._alpha, self._fusion, self._depth = (
            default_alpha(alpha),
            fusion,
            check_count(depth, "depth"),
        )
        self._bm25 = Bm25(check_number(k1, "k1"), check_number(b, "b", most=1))
        self._schema = identifier(schema, "the schema")
        self._making = making or Making()
        self._connections = Connections(
            conninfo,
            of_connections(ef_search, statement_seconds),
            max_size=check_count(max_connections, "max_connections"),
            wait_seconds=check_seconds(wait_seconds, "wait_seconds", most=LONGEST),
            within=transaction_settings,
        )
        self._targets = Tables(self._connections, {} if tables is None else tables, self._schema)

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
        weight, vector = check_hybrid(alpha, vector, default=self._alpha, store="PgvectorStore")
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
        vector = finite_vector(vector, what="the query vector")

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
        return (await self._targets.layout(target, "fields")).spec

    async def create(self, target: Target, spec: FieldSpec) -> None:
        """As `Loader.create`: a table of that name in the store's schema, as `making` says."""
        self._targets.refuse_configured(target, "create")
        identifier(target, "the name of a target")
        check_spec(spec, store="PgvectorStore")
        statements(self._schema, target, spec, self._making, "public")  # all that can be wrong

        async def work(connection: AsyncConnection) -> None:
            await _loader.create(connection, self._schema, target, spec, self._making)

        await self._connections.run(work, operation="create")
        made = await self._targets.made(target, "create")
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
        self._targets.refuse_configured(target, "upsert")
        given = listed(records, "record")

        async def written(made: Made, layout: Layout) -> None:
            checked = check_records(given, made.spec)

            async def work(connection: AsyncConnection) -> None:
                await _loader.upsert(connection, self._schema, made, checked)

            if checked:
                await self._connections.run(work, operation="upsert")

        await self._targets.on_made(target, written, operation="upsert")

    async def delete(self, target: Target, ids: Iterable[str]) -> None:
        """As `Loader.delete`."""
        self._targets.refuse_configured(target, "delete")
        checked = check_ids(ids)

        async def deleted(made: Made, layout: Layout) -> None:
            sql = _loader.deletion(self._schema, made)
            await self._connections.write(sql, [checked], operation="delete")

        await self._targets.on_made(target, deleted, operation="delete")

    async def drop(self, target: Target) -> None:
        """As `Loader.drop`. A table that `create` did not make is refused."""
        self._targets.refuse_configured(target, "drop")
        if not isinstance(target, str) or not target:
            raise InvalidQueryError("the name of a target must be text, and not empty")
        if await self._targets.made(target, "drop") is None:
            return
        table = qualified(self._schema, target)
        await self._connections.write(f"DROP TABLE IF EXISTS {table}", [], operation="drop")
        self._targets.forget(target)

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
        return f"PgvectorStore({self._targets!r})"

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

        return await self._targets.on(target, answered, operation=operation)


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
