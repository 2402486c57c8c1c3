"""What the tests of the embedded store share."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest

from soev_retrieval.domain import FieldSpec, Record
from soev_retrieval.memory import MemoryStore


@pytest.fixture(scope="session")
def filled() -> Callable[..., Awaitable[MemoryStore]]:
    """A function that makes a store whose one target, `docs`, holds the records it is given."""

    async def fill(spec: FieldSpec, records: Iterable[Record], **settings: Any) -> MemoryStore:
        store = MemoryStore(**settings)
        await store.create("docs", spec)
        await store.upsert("docs", records)
        return store

    return fill
