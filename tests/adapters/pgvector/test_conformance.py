"""The conformance suite, over every way in which the store makes a table."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from soev_retrieval.domain import FieldSpec
from soev_retrieval.testing import StoreConformance, corpus
from soev_retrieval_pgvector import Making, PgvectorStore
from tests.servers import postgres


def on_postgres(
    name: str, **settings: Any
) -> Callable[[], AbstractAsyncContextManager[PgvectorStore]]:
    """A store over a database of its own."""

    @asynccontextmanager
    async def made() -> AsyncIterator[PgvectorStore]:
        with postgres().database(f"soev_conformance_{name}") as address:
            async with PgvectorStore(address, **settings) as store:
                yield store

    return made


class TestColumns(StoreConformance):
    """A column for each field."""

    make_store = on_postgres("columns")


class TestPayload(StoreConformance):
    """All fields in one JSONB object."""

    make_store = on_postgres("payload", making=Making(layout="payload"))


class TestHalfvec(StoreConformance):
    """Vectors in float16."""

    make_store = on_postgres("halfvec", making=Making(vector_type="halfvec"))


class TestEuclidean(StoreConformance):
    """Vectors that compare by their distance."""

    make_store = on_postgres("euclidean")

    @classmethod
    def spec(cls) -> FieldSpec:
        return corpus.spec(distance="euclidean")


class TestDot(StoreConformance):
    """Vectors that compare by their product, in JSONB's company."""

    make_store = on_postgres("dot", making=Making(layout="payload"))

    @classmethod
    def spec(cls) -> FieldSpec:
        return corpus.spec(distance="dot")
