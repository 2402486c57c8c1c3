"""A database for each module, on one server."""

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from soev_retrieval_pgvector import PgvectorStore
from tests.adapters.pgvector.outages import counted_connections
from tests.servers import postgres


@pytest.fixture(scope="module")
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a database of the module's own."""
    name = re.sub(r"\W", "_", f"soev_{Path(str(request.path)).stem}")
    with postgres().database(name) as address:
        yield address


@pytest.fixture
async def store(database: str) -> AsyncIterator[PgvectorStore]:
    """A store over the module's database."""
    async with PgvectorStore(database) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _counted() -> Iterator[None]:
    with counted_connections():
        yield
