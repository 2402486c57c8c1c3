"""The vectors of a table that was made by hand: type, dimension, distance, wherever pgvector is."""

from collections.abc import Iterator

import pytest

from soev_retrieval.domain import (
    FieldSpec,
    Unconfigured,
)
from soev_retrieval_pgvector import Table
from tests.adapters.pgvector.tables import DOCS, WORDS, ids, over, refusal, run
from tests.servers import postgres


@pytest.fixture(scope="module", autouse=True)
def extension(database: str) -> None:
    """pgvector, and the function that counts words."""
    run(database, "CREATE EXTENSION vector", WORDS, DOCS)


@pytest.mark.parametrize("type", ["vector", "halfvec"])
@pytest.mark.parametrize(
    ("operators", "distance"),
    [("cosine", "cosine"), ("ip", "dot"), ("l2", "euclidean"), ("l1", "manhattan")],
)
async def test_the_distance_is_that_of_the_index(
    database: str, type: str, operators: str, distance: str
) -> None:
    """An operator class says which distance it is, for vector and halfvec."""
    async with over(
        database,
        Table("near"),
        "DROP TABLE IF EXISTS near",
        f"CREATE TABLE near (id int PRIMARY KEY, v {type}(2))",
        "INSERT INTO near VALUES (1, '[3,0]'), (2, '[1,1]'), (3, '[0,9]')",
        f"CREATE INDEX ON near USING hnsw (v {type}_{operators}_ops)",
    ) as store:
        spec = await store.fields("T")
        assert (spec.dimension, spec.distance) == (2, distance)
        [best, *_] = await store.near_vector("T", vector=[1, 1], limit=3)
        expected = {"cosine": ("2", 1.0), "dot": ("3", 9.0)}.get(distance, ("2", 0.0))
        assert (best.id, best.score) == (expected[0], pytest.approx(expected[1], abs=1e-6))


async def test_without_an_index_the_distance_is_configured(database: str) -> None:
    """`distance` says how to compare, and a view compares as it says too."""
    async with over(database, Table("docs", distance="dot")) as store:
        assert (await store.fields("T")).distance == "dot"


async def test_two_indexes_of_two_distances_leave_a_choice(database: str) -> None:
    """The error names both distances."""
    async with over(
        database,
        Table("choice"),
        "CREATE TABLE choice (id int PRIMARY KEY, v vector(2))",
        "CREATE INDEX ON choice USING hnsw (v vector_l2_ops)",
        "CREATE INDEX ON choice USING hnsw (v vector_ip_ops)",
    ) as store:
        said = await refusal(store)
        assert "dot" in said
        assert "euclidean" in said
        assert "distance=" in said


async def test_a_vector_without_a_dimension_asks_for_it(database: str) -> None:
    """Bare `vector` needs `dimension`, and only where vectors are asked for."""
    making = (
        "CREATE TABLE bare (id int PRIMARY KEY, v vector)",
        "INSERT INTO bare VALUES (1, '[1,2,3]')",
    )
    async with over(database, Table("bare"), *making) as store:
        assert await ids(store) == ["1"]
        with pytest.raises(Unconfigured, match="dimension="):
            await store.near_vector("T", vector=[1, 2, 3], limit=1)
    async with over(database, Table("bare", dimension=3)) as store:
        assert len(await store.near_vector("T", vector=[1, 2, 3], limit=1)) == 1


async def test_several_vector_columns_leave_a_choice(database: str) -> None:
    """The error names them, and `vector` chooses."""
    making = "CREATE TABLE several (id int PRIMARY KEY, v vector(2), w halfvec(3))"
    async with over(database, Table("several"), making) as store:
        assert "v, w; give vector=" in await refusal(store)
    async with over(database, Table("several", vector="w")) as store:
        assert await store.fields("T") == FieldSpec([], 3)


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """A database whose pgvector is in a schema that nobody's search_path names."""
    with postgres().database("soev_elsewhere") as address:
        run(address, "CREATE SCHEMA ext", "CREATE EXTENSION vector SCHEMA ext", WORDS)
        yield address


@pytest.mark.parametrize("type", ["vector", "halfvec"])
@pytest.mark.parametrize("operators", [None, "cosine", "l2", "ip", "l1"])
async def test_pgvector_may_be_in_any_schema(
    elsewhere: str, type: str, operators: str | None
) -> None:
    """Types and operators are named with their schema."""
    index = f"CREATE INDEX ON docs USING hnsw (v ext.{type}_{operators}_ops)"
    async with over(
        elsewhere,
        Table("docs"),
        "DROP TABLE IF EXISTS docs",
        f"CREATE TABLE docs (id int PRIMARY KEY, v ext.{type}(2))",
        "INSERT INTO docs VALUES (1, '[3,0]'), (2, '[1,1]')",
        *([] if operators is None else [index]),
    ) as store:
        assert (await store.fields("T")).dimension == 2
        hits = await store.near_vector("T", vector=[1, 1], limit=2)
        assert {hit.id for hit in hits} == {"1", "2"}
