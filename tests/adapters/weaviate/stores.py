"""The store over everything that it can be over: the stand-in, and a server."""

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import attrs
import httpx
import pytest
import weaviate
from weaviate import WeaviateAsyncClient

from soev_retrieval_weaviate import WeaviateStore
from tests.adapters.weaviate.standin import StandIn
from tests.servers import weaviate as server

RUN = f"Soev{uuid.uuid4().hex[:8]}"
"""What the names of this run's collections begin with, so that they can be taken away."""

needs_server = pytest.mark.skipif(server() is None, reason="no server: WEAVIATE_URL is not set")

STAND_IN = pytest.param("standin", id="standin")
SERVER = pytest.param("server", id="server", marks=needs_server)
EVERYWHERE = [STAND_IN, SERVER]
"""Every place, for `pytest.mark.parametrize("place", EVERYWHERE)`."""


@attrs.frozen
class Where:
    """A place that is up: stores and bare clients of it."""

    url: str
    grpc_port: int
    stand_in: StandIn | None = None

    def store(self, **settings: Any) -> WeaviateStore:
        """A store over it."""
        return WeaviateStore(self.url, grpc_port=self.grpc_port, **settings)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[WeaviateAsyncClient]:
        """weaviate-client itself."""
        host, port = self.url.removeprefix("http://").split(":")
        client = weaviate.use_async_with_local(
            host, int(port), self.grpc_port, skip_init_checks=True
        )
        await client.connect()
        try:
            yield client
        finally:
            await client.close()


@asynccontextmanager
async def up(place: str, **settings: Any) -> AsyncIterator[Where]:
    """The place of that name, as long as it is needed. The settings are the stand-in's."""
    if place == "standin":
        async with StandIn(**settings) as standing:
            yield Where(standing.url, standing.grpc_port, standing)
        return
    if (found := server()) is None:
        raise RuntimeError("there is no server")
    yield Where(found.url, found.grpc_port)


@asynccontextmanager
async def opened(place: str, **settings: Any) -> AsyncIterator[WeaviateStore]:
    """A store over the place of that name."""
    async with up(place) as where, where.store(**settings) as store:
        yield store


@contextmanager
def cleared() -> Iterator[None]:
    """Takes this run's collections from the server at the end."""
    yield
    if (found := server()) is None:
        return
    with httpx.Client(base_url=f"{found.url}/v1") as client:
        for each in client.get("/schema").json()["classes"]:
            if each["class"].startswith(RUN):
                client.delete(f"/schema/{each['class']}")
