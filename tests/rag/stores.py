"""Every store that an index can be over, and a target in it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from soev_retrieval.domain import FieldSpec, Record
from soev_retrieval.memory import MemoryStore
from soev_retrieval_pgvector import PgvectorStore
from tests.adapters.qdrant import stores as qdrant
from tests.adapters.weaviate import stores as weaviate
from tests.servers import postgres

TARGET = f"{weaviate.RUN}Chunks"
"""A name that every store takes, and that is this run's alone."""

MEMORY = "memory"
SERVED = [
    pytest.param("pgvector"),
    pytest.param("qdrant-local"),
    pytest.param("qdrant-standin-grpc"),
    pytest.param("qdrant-server-grpc", marks=qdrant.needs_server),
    pytest.param("weaviate-standin"),
    pytest.param("weaviate-server", marks=weaviate.needs_server),
]
"""Every place but the memory of this process, for `pytest.mark.parametrize("place", SERVED)`."""


@asynccontextmanager
async def filled(place: str, spec: FieldSpec, records: Sequence[Record]) -> AsyncIterator[Any]:
    """A store over the place of that name, with the records in `TARGET`, as long as needed."""
    async with _opened(place) as store:
        await store.create(TARGET, spec)
        try:
            await store.upsert(TARGET, records)
            yield store
        finally:
            await store.drop(TARGET)


def _opened(place: str) -> AbstractAsyncContextManager[Any]:
    kind, _, where = place.partition("-")
    match kind:
        case "memory":
            return _in_memory()
        case "pgvector":
            return _in_a_database()
        case "qdrant":
            return qdrant.opened(where)
        case _:
            return weaviate.opened(where)


@asynccontextmanager
async def _in_memory() -> AsyncIterator[MemoryStore]:
    yield MemoryStore()


@asynccontextmanager
async def _in_a_database() -> AsyncIterator[PgvectorStore]:
    with postgres().database("soev_rag") as address:
        async with PgvectorStore(address) as store:
            yield store
