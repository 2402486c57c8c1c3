"""SearchIndexConformance over every kind of index, and what it has to catch."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import attrs
import pytest

from soev_retrieval.domain import Field, FieldSpec, Hit, Record
from soev_retrieval.engine import Deduplicated, PostFiltered, Rechecked, Timed
from soev_retrieval.memory import MemoryStore
from soev_retrieval.rag import Branch, IndexQuery, StoreIndex
from soev_retrieval.store import VectorStore
from soev_retrieval.testing import SearchIndexConformance

SPEC = FieldSpec(
    [
        Field("tenant", "text"),
        Field("collection", "text"),
        Field("text", "text", searchable=True),
        Field("page", "int"),
    ],
    4,
)


async def one_target(store: Any, passages: Sequence[Record], **settings: Any) -> StoreIndex:
    """An index over one target that holds every collection."""
    await store.drop("Chunks")
    await store.create("Chunks", SPEC)
    await store.upsert("Chunks", passages)
    return StoreIndex(
        store, name="chunks", target="Chunks", collection_field="collection", **settings
    )


async def in_memory(passages: Sequence[Record]) -> StoreIndex:
    """An index over one target of a MemoryStore."""
    return await one_target(MemoryStore(), passages)


async def a_target_each(passages: Sequence[Record]) -> StoreIndex:
    """An index over a target for each collection."""
    store = MemoryStore()
    for name in ("handbook", "archive"):
        await store.create(name, SPEC)
        await store.upsert(name, [e for e in passages if e.properties["collection"] == name])
    return StoreIndex(store, name="handbook")


class TestKeyword(SearchIndexConformance):
    """By keyword, over one target."""

    branch = Branch.KEYWORD
    make_index = in_memory


class TestSemantic(SearchIndexConformance):
    """By meaning, over a target for each collection."""

    branch = Branch.SEMANTIC
    make_index = a_target_each


def layers(store: VectorStore) -> VectorStore:
    """Layers around the tenant's predicate."""
    return Timed(Rechecked(PostFiltered(store, Deduplicated())), 30.0)


@asynccontextmanager
async def under_layers(passages: Sequence[Record]) -> AsyncIterator[StoreIndex]:
    """An index that is opened and closed."""
    yield await one_target(MemoryStore(), passages, around=layers)


class TestLayers(SearchIndexConformance):
    """Under layers."""

    branch = Branch.KEYWORD
    make_index = under_layers


@attrs.frozen
class FilteringAfter:
    """An index that fetches k, and then drops what is not the tenant's."""

    inner: VectorStore
    name: str = "after"

    def supports(self, branch: Branch) -> bool:
        return True

    async def search(self, query: IndexQuery) -> Sequence[Hit]:
        hits = await self.inner.bm25("Chunks", query=query.text, limit=query.k, where=query.where)
        return [hit for hit in hits if hit.properties["tenant"] == query.tenant]


@attrs.frozen
class Unfiltered(FilteringAfter):
    """An index that knows of no tenants."""

    async def search(self, query: IndexQuery) -> Sequence[Hit]:
        return await self.inner.bm25("Chunks", query=query.text, limit=query.k, where=query.where)


BROKEN: dict[type[FilteringAfter], set[str]] = {
    FilteringAfter: {
        "test_k_hits_come_where_the_nearest_are_foreign",
        "test_a_callers_predicate_on_the_tenant_is_refused",
        "test_a_collection_is_searched_alone",
        "test_a_callers_filter_is_in_the_search_too",
    },
    Unfiltered: {
        "test_a_foreign_twin_never_comes_back",
        "test_a_tenant_without_chunks_finds_nothing",
    },
}


@pytest.mark.parametrize("broken", BROKEN)
def test_the_suite_fails_an_index_that_is_wrong(broken: type[FilteringAfter]) -> None:
    """One that filters after the fetch, and one that does not filter, fail where they should."""

    async def made(passages: Sequence[Record]) -> FilteringAfter:
        return broken((await in_memory(passages)).store)

    class Suite(SearchIndexConformance):
        branch = Branch.KEYWORD
        make_index = made

    Suite.setup_class()
    failed = set()
    try:
        for name in dir(Suite):
            if name.startswith("test_"):
                try:
                    getattr(Suite(), name)()
                except pytest.fail.Exception:
                    failed.add(name)
    finally:
        Suite.teardown_class()
    assert BROKEN[broken] <= failed
