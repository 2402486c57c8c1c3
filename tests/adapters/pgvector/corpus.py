"""The docstrings in a table of PostgreSQL."""

import asyncio

import psycopg

from soev_retrieval_pgvector import PgvectorStore
from tests.adapters.docstrings import SPEC, TARGET, records


def fill(address: str, **settings: object) -> None:
    """Load the docstrings into a target of a database."""

    async def load() -> None:
        async with PgvectorStore(address, **settings) as store:  # type: ignore[arg-type]
            await store.create(TARGET, SPEC)
            await store.upsert(TARGET, records())

    asyncio.run(load())
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("ANALYZE")
