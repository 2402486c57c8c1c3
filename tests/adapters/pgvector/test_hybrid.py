"""Hybrid searches: the core's one definition, in one statement."""

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soev_retrieval.domain import Hit, InvalidQueryError, Unconfigured, field, fuse_hybrid
from soev_retrieval.engine import WeightedRrf
from soev_retrieval_pgvector import PgvectorStore
from tests.adapters.docstrings import DIMENSION, TARGET
from tests.adapters.pgvector.corpus import fill

QUERY = "return the name of a file or a thread"
VECTOR = np.random.default_rng(3).standard_normal(DIMENSION).tolist()


@pytest.fixture(scope="module")
def filled(database: str) -> str:
    """The address of a database that holds the docstrings."""
    fill(database)
    return database


async def both(store: PgvectorStore, depth: int, **more: object) -> list[Sequence[Hit]]:
    near = await store.near_vector(TARGET, vector=VECTOR, limit=depth, **more)  # type: ignore[arg-type]
    return [near, await store.bm25(TARGET, query=QUERY, limit=depth, **more)]  # type: ignore[arg-type]


@settings(max_examples=40)
@given(
    alpha=st.floats(0.01, 0.99),
    limit=st.integers(1, 150),
    depth=st.integers(1, 200),
    kind=st.sampled_from([None, "class", "module", "nothing"]),
)
def test_it_is_the_one_definition(
    filled: str, alpha: float, limit: int, depth: int, kind: str | None
) -> None:
    """The hits, their scores and their order are those of fuse_hybrid over the two legs."""
    where = None if kind is None else field("kind") == kind

    async def ask() -> None:
        async with PgvectorStore(filled, depth=depth) as store:
            found = await store.hybrid(
                TARGET, query=QUERY, vector=VECTOR, limit=limit, where=where, alpha=alpha
            )
            near, keyword = await both(store, max(depth, limit), where=where)
        assert found == fuse_hybrid(near, keyword, alpha=alpha, limit=limit)

    asyncio.run(ask())


@pytest.mark.parametrize("alpha", [0, 0.0, 1, 1.0])
async def test_the_ends_are_one_leg(filled: str, alpha: float) -> None:
    """Alpha 1 is near_vector and alpha 0 is bm25, hit for hit, vector or not."""
    async with PgvectorStore(filled) as store:
        found = await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=20, alpha=alpha)
        near, keyword = await both(store, 20)
    assert found == (near if alpha else keyword)


async def test_without_a_vector_it_is_unconfigured(filled: str) -> None:
    """Without a vector hybrid is Unconfigured, unless alpha is 0."""
    async with PgvectorStore(filled) as store:
        for alpha in (None, 0.5, 1.0):
            with pytest.raises(Unconfigured, match="does not embed"):
                await store.hybrid(TARGET, query=QUERY, limit=3, alpha=alpha)
        keyword = await store.bm25(TARGET, query=QUERY, limit=3)
        assert await store.hybrid(TARGET, query=QUERY, limit=3, alpha=0) == keyword


async def test_the_stores_own_alpha_is_used_where_the_call_names_none(filled: str) -> None:
    """Alpha None is the store's default, which 0 is not."""
    async with PgvectorStore(filled, alpha=0.9) as store:
        default = await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=9)
        named = await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=9, alpha=0.9)
        assert default == named
    async with PgvectorStore(filled, alpha=0) as store:
        found = await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=9)
        assert found == await store.bm25(TARGET, query=QUERY, limit=9)


@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.8])
async def test_ranks_are_fused_as_the_core_fuses_them(filled: str, alpha: float) -> None:
    """With fusion="ranks" the ranking is WeightedRrf of the two legs."""
    async with PgvectorStore(filled, fusion="ranks") as store:
        found = await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=30, alpha=alpha)
        legs = await both(store, 100)
    expected = (await WeightedRrf((alpha, 1 - alpha))(QUERY, legs))[:30]
    assert [hit.id for hit in found] == [hit.id for hit in expected]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected])


async def test_it_is_one_statement(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search is one statement in one round trip, whatever it needs."""
    sent: list[object] = []
    execute = psycopg.AsyncConnection.execute

    async def noted(self: object, query: object, *rest: Any, **more: Any) -> Any:
        sent.append(query)
        return await execute(self, query, *rest, **more)  # type: ignore[call-overload]

    async with PgvectorStore(filled, max_connections=1) as store:
        await store.bm25(TARGET, query=QUERY, limit=1)  # the connection is made and set up
        monkeypatch.setattr(psycopg.AsyncConnection, "execute", noted)
        await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=5, where=field("line") > 9)
        await store.near_vector(TARGET, vector=VECTOR, limit=5)
        await store.bm25(TARGET, query=QUERY, limit=5)
        await store.fetch(TARGET, limit=5, order_by="line")
    assert len(sent) == 4


@pytest.mark.parametrize("setting", [{"fusion": "sum"}, {"alpha": None}, {"k1": -1}, {"b": 2}])
def test_settings_are_checked(setting: dict[str, object]) -> None:
    """A fusion, an alpha or a parameter of BM25 that there is not is refused."""
    with pytest.raises(InvalidQueryError):
        PgvectorStore("postgresql://", **setting)  # type: ignore[arg-type]
