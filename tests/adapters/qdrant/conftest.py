"""What the tests of the Qdrant adapter share."""

from collections.abc import AsyncIterator, Iterator

import pytest
from qdrant_client import AsyncQdrantClient

from tests.adapters.qdrant._standin_client import client_of
from tests.adapters.qdrant.standin import StandIn
from tests.adapters.qdrant.stores import cleared


@pytest.fixture(scope="session", autouse=True)
def _cleared() -> Iterator[None]:
    """The server is left as it was found."""
    with cleared():
        yield


@pytest.fixture
async def server() -> AsyncIterator[StandIn]:
    """A stand-in of its own."""
    async with StandIn() as started:
        yield started


@pytest.fixture(params=["rest", "grpc"])
def protocol(request: pytest.FixtureRequest) -> str:
    """Each protocol that the stand-in speaks."""
    return str(request.param)


@pytest.fixture
async def client(server: StandIn, protocol: str) -> AsyncIterator[AsyncQdrantClient]:
    """A client that asks the stand-in by the protocol."""
    opened = client_of(server, protocol)
    yield opened
    await opened.close()


@pytest.fixture
async def rest(server: StandIn) -> AsyncIterator[AsyncQdrantClient]:
    """A client that asks it over REST, and waits a second."""
    opened = client_of(server, "rest", timeout=1)
    yield opened
    await opened.close()
