"""Near vectors: what the index brings, and what it would have left out."""

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from soev_retrieval.domain import (
    DISTANCES,
    Field,
    FieldSpec,
    Filter,
    InvalidQueryError,
    Record,
    Unconfigured,
    field,
)
from soev_retrieval.memory import MemoryStore
from soev_retrieval_pgvector import Making, PgvectorStore, Table
from soev_retrieval_pgvector._layout import Vectors
from soev_retrieval_pgvector._statements import Search

ROWS, DIMENSION, PARTS = 3_000, 16, 100
RANDOM = np.random.default_rng(7)
MATRIX = RANDOM.standard_normal((ROWS, DIMENSION)).astype(np.float32)
QUERY = RANDOM.standard_normal(DIMENSION).astype(np.float32)
RECORDS = [Record(f"c{row:04}", {"part": row % PARTS}, MATRIX[row].tolist()) for row in range(ROWS)]
FIELDS = [Field("part", "int")]


def spec(distance: str = "cosine", dimension: int = DIMENSION) -> FieldSpec:
    return FieldSpec(FIELDS, dimension, distance)


@pytest.fixture(scope="module")
def filled(database: str) -> str:
    """The address of a database with one target for each distance."""

    async def fill() -> None:
        async with PgvectorStore(database) as store:
            for distance in DISTANCES:
                await store.create(distance, spec(distance))
                await store.upsert(distance, RECORDS)

    asyncio.run(fill())
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("ANALYZE")
    return database


async def exactly(distance: str, limit: int, where: Any = None) -> list[tuple[str, float]]:
    memory = MemoryStore()
    await memory.create("t", spec(distance))
    await memory.upsert("t", RECORDS)
    hits = await memory.near_vector("t", vector=QUERY.tolist(), limit=limit, where=where)
    return [(hit.id, hit.score) for hit in hits]


def ids(hits: Sequence[Any]) -> list[str]:
    return [hit.id for hit in hits]


def plan(address: str, sql: str, values: Sequence[Any] = ()) -> str:
    with psycopg.connect(address, cursor_factory=psycopg.RawCursor) as connection:
        rows = connection.execute(f"EXPLAIN {sql}".encode(), values).fetchall()
    return "\n".join(row[0] for row in rows)


@pytest.mark.parametrize("distance", DISTANCES)
async def test_scores_are_those_of_the_definition(filled: str, distance: str) -> None:
    """The nearest rows and their scores are those of MemoryStore, whatever the distance."""
    async with PgvectorStore(filled) as store:
        hits = await store.near_vector(distance, vector=QUERY.tolist(), limit=10)
    expected = await exactly(distance, 10)
    assert ids(hits) == [id for id, _ in expected]
    assert [hit.score for hit in hits] == pytest.approx([score for _, score in expected], abs=1e-5)


@pytest.mark.parametrize("limit", [41, 50, 1_001, 2_500])
async def test_as_many_rows_come_as_there_are(filled: str, limit: int) -> None:
    """A limit beyond ef_search, and beyond its greatest value, is reached."""
    async with PgvectorStore(filled, ef_search=40) as store:
        hits = await store.near_vector("cosine", vector=QUERY.tolist(), limit=limit)
    assert len(hits) == len({hit.id for hit in hits}) == limit


@pytest.mark.parametrize("ef_search", [1, 40, 1_000])
@pytest.mark.parametrize("where", [field("part") == 7, ~(field("part") != 7)], ids=str)
async def test_a_filter_does_not_cut_the_rows(filled: str, ef_search: int, where: Filter) -> None:
    """Under a filter of one in a hundred all its rows come, in order, told by an index or not."""
    async with PgvectorStore(filled, ef_search=ef_search) as store:
        hits = await store.near_vector("cosine", vector=QUERY.tolist(), limit=30, where=where)
    assert ids(hits) == [id for id, _ in await exactly("cosine", 30, where)]


async def test_an_index_that_stops_early_is_made_good(filled: str) -> None:
    """Rows come in full even where the index may look at a single one of them."""
    stingy = ("hnsw.max_scan_tuples=1", "enable_sort=off")  # which leaves the index only
    options = " ".join(f"-c {each}" for each in stingy)
    where = field("part") < 90
    async with PgvectorStore(make_conninfo(filled, options=options)) as store:
        hits = await store.near_vector("cosine", vector=QUERY.tolist(), limit=2_600, where=where)
    assert len(hits) == 2_600
    assert len(set(ids(hits)) - {id for id, _ in await exactly("cosine", 2_600, where)}) <= 1


async def test_hits_are_in_order_though_the_index_brings_them_in_none(filled: str) -> None:
    """Under relaxed order the hits are sorted again, by score and then by id."""
    async with PgvectorStore(filled, ef_search=10) as store:
        hits = await store.near_vector(
            "cosine", vector=QUERY.tolist(), limit=200, where=field("part") < 90
        )
    keys = [(-hit.score, hit.id) for hit in hits]
    assert keys == sorted(keys)
    assert len(keys) == 200


async def test_the_index_is_used(filled: str) -> None:
    """The search orders by the bare operator of the index's own class."""
    async with PgvectorStore(filled) as store:
        for distance in DISTANCES:
            layout = await store._targets.layout(distance, "fields")
            assert isinstance(layout.vectors, Vectors)
            assert layout.vectors.distance == distance
            sql, _ = Search(layout, None).near_vector(layout.vectors, QUERY.tolist(), 10)
            text = f"'{QUERY.tolist()}'"
            explained = plan(filled, sql.replace("$1::", f"{text}::"))
            assert f"Index Scan using {distance}_embedding_idx on {distance} t" in explained


@pytest.mark.parametrize(
    ("where", "told"),
    [
        (field("part") == 7, True),
        (field("part") < 90, True),
        ((field("part") != 7) & (field("part") < 9), True),
        (field("part") != 7, False),
        ((field("part") == 7) | (field("part") == 8), False),
        (~(field("part") == 7), False),
    ],
    ids=str,
)
async def test_an_index_tells_how_few_rows_match(filled: str, where: Filter, told: bool) -> None:
    """How many rows match is asked first where an index can tell, and the answer is the same."""
    async with PgvectorStore(filled) as store:
        layout = await store._targets.layout("cosine", "fields")
        assert isinstance(layout.vectors, Vectors)
        sql, _ = Search(layout, where).near_vector(layout.vectors, QUERY.tolist(), 3)
        hits = await store.near_vector("cosine", vector=QUERY.tolist(), limit=9, where=where)
    assert ("few AS MATERIALIZED" in sql) == told
    assert ids(hits) == [id for id, _ in await exactly("cosine", 9, where)]


async def test_exact_leaves_the_index_unused(filled: str) -> None:
    """A table that is read exactly is scanned, and its rows are those of the definition."""
    tables = {"exact": Table("cosine", id="chunk_id", exact=True)}
    async with PgvectorStore(filled, tables=tables, ef_search=1) as store:
        hits = await store.near_vector("exact", vector=QUERY.tolist(), limit=100)
        layout = await store._targets.layout("exact", "fields")
        assert isinstance(layout.vectors, Vectors)
        sql, _ = Search(layout, None).near_vector(layout.vectors, QUERY.tolist(), 10)
    assert ids(hits) == [id for id, _ in await exactly("cosine", 100)]
    assert "Index" not in plan(filled, sql.replace("$1::", f"'{QUERY.tolist()}'::"))


async def test_equal_vectors_come_in_the_order_of_their_ids(store: PgvectorStore) -> None:
    """Of more equal vectors than the limit those with the least ids come, index or not."""
    await store.create("ties", spec(dimension=3))
    records = [Record(f"r{row:03}", {}, [1.0, 2.0, 3.0]) for row in range(300)]
    await store.upsert("ties", reversed(records))
    hits = await store.near_vector("ties", vector=[3.0, 2.0, 1.0], limit=5)
    assert ids(hits) == ["r000", "r001", "r002", "r003", "r004"]


async def test_no_vector_and_a_vector_of_zeros_are_not_found(
    store: PgvectorStore, database: str
) -> None:
    """A row whose vector is NULL, or all zeros under cosine, is found by no plan."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute("CREATE TABLE odd (id int PRIMARY KEY, v vector(2))")
        connection.execute("INSERT INTO odd VALUES (1, '[1,0]'), (2, NULL), (3, '[0,0]')")
        connection.execute("CREATE INDEX ON odd USING hnsw (v vector_cosine_ops)")
    for exact in (False, True):
        async with PgvectorStore(database, tables={"odd": Table("odd", exact=exact)}) as reading:
            hits = await reading.near_vector("odd", vector=[1.0, 1.0], limit=10)
            assert ids(hits) == ["1"]


async def test_a_vector_of_zeros_has_a_distance_elsewhere(store: PgvectorStore) -> None:
    """Under the euclidean distance a vector of zeros is as good as any other."""
    await store.create("euclid", spec("euclidean", dimension=2))
    await store.upsert("euclid", [Record("zero", {}, [0.0, 0.0]), Record("far", {}, [3.0, 4.0])])
    hits = await store.near_vector("euclid", vector=[0.0, 0.0], limit=5)
    assert [(hit.id, hit.score) for hit in hits] == [("zero", 0.0), ("far", -5.0)]


@pytest.mark.parametrize("dimension", [2_001, 16_000])
async def test_vectors_too_long_for_an_index_are_searched_without(
    store: PgvectorStore, dimension: int
) -> None:
    """Vectors of more than 2,000 numbers have no index, and are found all the same."""
    await store.drop("long")
    await store.create("long", spec(dimension=dimension))
    records = [Record(str(row), {}, np.eye(1, dimension, row)[0].tolist()) for row in range(3)]
    await store.upsert("long", records)
    hits = await store.near_vector("long", vector=np.eye(1, dimension, 1)[0].tolist(), limit=1)
    assert ids(hits) == ["1"]


async def test_vectors_too_long_for_a_column_are_refused(store: PgvectorStore) -> None:
    """A dimension that no column can have is refused when the target is created."""
    with pytest.raises(InvalidQueryError):
        await store.create("longer", spec(dimension=16_001))


async def test_halfvec_is_searched_with_halfvec(database: str) -> None:
    """A halfvec column is compared with the query in its own type, by its own index."""
    async with PgvectorStore(database, making=Making(vector_type="halfvec")) as store:
        await store.create("half", spec())
        await store.upsert("half", RECORDS[:500])
        hits = await store.near_vector("half", vector=QUERY.tolist(), limit=10)
        assert len(hits) == 10
        assert hits[0].score == pytest.approx(
            max(
                MATRIX[:500] @ QUERY / np.linalg.norm(MATRIX[:500], axis=1) / np.linalg.norm(QUERY)
            ),
            abs=2e-3,
        )


async def test_a_target_without_vectors_has_none_to_compare(store: PgvectorStore) -> None:
    """near_vector and hybrid on a table without vectors are Unconfigured."""
    await store.create("plain", FieldSpec([Field("text", "text", searchable=True)]))
    with pytest.raises(Unconfigured, match="vector"):
        await store.near_vector("plain", vector=[1.0], limit=1)
    with pytest.raises(Unconfigured, match="vector"):
        await store.hybrid("plain", query="x", vector=[1.0], limit=1, alpha=0.5)


@pytest.mark.parametrize("ef_search", [0, 1_001, 2.5, True])
def test_ef_search_is_what_the_server_takes(ef_search: Any) -> None:
    """An ef_search outside 1 to 1,000 is refused; the server would drop it in silence."""
    with pytest.raises(InvalidQueryError, match="ef_search"):
        PgvectorStore("postgresql://", ef_search=ef_search)
