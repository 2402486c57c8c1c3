"""What the tests of the Weaviate adapter share."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.adapters.weaviate.standin import StandIn
from tests.adapters.weaviate.stores import cleared


@pytest.fixture(scope="session", autouse=True)
def _cleared() -> Iterator[None]:
    """The server is left as it was found."""
    with cleared():
        yield


@pytest.fixture
async def standing() -> AsyncIterator[StandIn]:
    """A stand-in of its own."""
    async with StandIn() as started:
        yield started
