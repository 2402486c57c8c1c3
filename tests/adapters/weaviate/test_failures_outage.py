"""The law of outages, over a server that cannot be reached for a while."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from soev_retrieval.testing import StoreConformance
from soev_retrieval_weaviate import WeaviateStore
from tests.adapters.weaviate.outages import Far, far
from tests.adapters.weaviate.stores import STAND_IN


@pytest.mark.parametrize("place", [STAND_IN])
def test_the_law_of_outages(place: str) -> None:
    """While nobody can be reached every method is unavailable, and after it the store answers."""
    opened: list[Far] = []

    @asynccontextmanager
    async def made() -> AsyncIterator[WeaviateStore]:
        async with far(place) as there:
            opened.append(there)
            yield there.store

    @asynccontextmanager
    async def cut() -> AsyncIterator[None]:
        [there] = opened
        there.network.refuse()
        there.network.reset()
        yield
        await there.once_more()  # gRPC finds out by and by

    class Suite(StoreConformance):
        make_store = made
        outage = cut

    Suite.setup_class()
    try:
        Suite().test_outages_are_unavailable()
    finally:
        Suite.teardown_class()
