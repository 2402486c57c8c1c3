"""The law of outages, over a server that is really stopped."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from soev_retrieval.testing import StoreConformance
from soev_retrieval_pgvector import PgvectorStore
from tests.adapters.pgvector.outages import server, stopped


@asynccontextmanager
async def made() -> AsyncIterator[PgvectorStore]:
    """A store over a database of its own."""
    with server().database("soev_outage") as address:
        async with PgvectorStore(address) as store:
            yield store


class TestOutage(StoreConformance):
    """The suite again, briefly, with an outage in its midst."""

    make_store = made
    outage = stopped
    examples = 2
