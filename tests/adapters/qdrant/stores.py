"""The store over everything that it can be over: local mode, the stand-in, and a server."""

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import attrs
import pytest
from qdrant_client import AsyncQdrantClient, QdrantClient

from soev_retrieval_qdrant import QdrantStore
from tests.adapters.qdrant.standin import StandIn
from tests.servers import qdrant

RUN = f"soev_{uuid.uuid4().hex[:8]}_"
"""What the names of this run's collections begin with, so that they can be taken away."""

needs_server = pytest.mark.skipif(qdrant() is None, reason="no server: QDRANT_URL is not set")

LOCAL = pytest.param("local", id="local")
STAND_IN = [pytest.param(f"standin-{each}", id=f"standin-{each}") for each in ("grpc", "rest")]
SERVER = [
    pytest.param(f"server-{each}", id=f"server-{each}", marks=needs_server)
    for each in ("grpc", "rest")
]
EVERYWHERE = [LOCAL, *STAND_IN, *SERVER]
"""Every place, for `pytest.mark.parametrize("place", EVERYWHERE)`."""

REMOTE = [*STAND_IN, *SERVER]
"""Every place that is asked over a wire."""


@attrs.frozen
class Where:
    """A place that is up: stores and bare clients of it."""

    settings: dict[str, Any]
    client_settings: dict[str, Any]
    stand_in: StandIn | None = None

    def store(self, **settings: Any) -> QdrantStore:
        """A store over it."""
        return QdrantStore(**self.settings, **settings)

    def client(self) -> AsyncQdrantClient:
        """qdrant-client itself, of a place that is asked over a wire."""
        return AsyncQdrantClient(**self.client_settings, check_compatibility=False)


@asynccontextmanager
async def up(place: str) -> AsyncIterator[Where]:
    """The place of that name, as long as it is needed. Local mode is a new one for each store."""
    if place == "local":
        yield Where({"location": ":memory:"}, {"location": ":memory:"})
        return
    kind, _, transport = place.partition("-")
    if kind == "standin":
        async with StandIn() as server:
            yield _over(server.url, server.grpc_port, transport, server)
        return
    if (found := qdrant()) is None:
        raise RuntimeError("QDRANT_URL is not set")
    yield _over(found.url, found.grpc_port, transport, None)


@asynccontextmanager
async def opened(place: str, **settings: Any) -> AsyncIterator[QdrantStore]:
    """A store over the place of that name."""
    async with up(place) as where, where.store(**settings) as store:
        yield store


@contextmanager
def cleared() -> Iterator[None]:
    """Takes this run's collections from the server at the end."""
    yield
    if (found := qdrant()) is None:
        return
    client = QdrantClient(found.url, check_compatibility=False)
    for each in client.get_collections().collections:
        if each.name.startswith(RUN):
            client.delete_collection(each.name)
    client.close()


def _over(url: str, grpc_port: int, transport: str, stand_in: StandIn | None) -> Where:
    return Where(
        {"location": url, "grpc_port": grpc_port, "transport": transport},
        {"url": url, "grpc_port": grpc_port, "prefer_grpc": transport == "grpc"},
        stand_in,
    )
