"""While a server is frozen a question is answered in time, by the branch that did answer."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import attrs
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from soev_retrieval.domain import Field, FieldSpec, Record, StoreUnavailable
from soev_retrieval.memory import MemoryStore
from soev_retrieval.rag import (
    Branch,
    HybridRetriever,
    IndexRetriever,
    RetrievalDegradedError,
    RetrievalScope,
    StoreIndex,
    tenant_scope,
)
from soev_retrieval.testing.faults import FaultProxy
from soev_retrieval_pgvector import PgvectorStore
from soev_retrieval_qdrant import QdrantStore
from tests.adapters.asking import until
from tests.adapters.qdrant.stores import up as qdrant_up
from tests.adapters.weaviate.outages import between
from tests.adapters.weaviate.stores import up as weaviate_up
from tests.rag.stores import TARGET
from tests.servers import postgres

SPEC = FieldSpec([Field("text", "text", searchable=True), Field("tenant", "text")], 2)
RECORDS = [
    Record("own", {"text": "a refund for BX-7741", "tenant": "north"}, (1.0, 0.5)),
    Record("foreign", {"text": "a refund for BX-7741", "tenant": "south"}, (1.0, 0.0)),
]
SCOPE = RetrievalScope(TARGET)


@attrs.frozen
class Far:
    """A store, and what freezes and thaws its server."""

    store: Any
    freeze: Callable[[], None]
    thaw: Callable[[], None]


async def fill(store: Any) -> None:
    """Put the records into the target."""
    await store.drop(TARGET)
    await store.create(TARGET, SPEC)
    await store.upsert(TARGET, RECORDS)


@asynccontextmanager
async def far_pgvector() -> AsyncIterator[Far]:
    """PostgreSQL behind a proxy."""
    with postgres().database("soev_rag_frozen") as address:
        where = conninfo_to_dict(address)
        host, port = str(where["host"]), int(where.get("port") or 5432)
        server: Any = (
            {"path": postgres().socket} if host.startswith("/") else {"host": host, "port": port}
        )
        async with FaultProxy(**server) as proxy:
            url = make_conninfo(address, host=proxy.host, port=proxy.port)
            async with PgvectorStore(url) as store:
                await fill(store)
                yield Far(store, proxy.stall, proxy.heal)
                proxy.heal()
            await proxy.until(lambda: proxy.open == 0)


@asynccontextmanager
async def far_qdrant() -> AsyncIterator[Far]:
    """Qdrant's stand-in behind a proxy."""
    async with (
        qdrant_up("standin-grpc") as where,
        FaultProxy("127.0.0.1", where.settings["grpc_port"]) as proxy,
        QdrantStore(
            f"http://{proxy.host}:{proxy.port}", grpc_port=proxy.port, transport="grpc"
        ) as store,
    ):
        await fill(store)
        yield Far(store, proxy.stall, proxy.heal)
        proxy.heal()


@asynccontextmanager
async def far_weaviate() -> AsyncIterator[Far]:
    """Weaviate's stand-in behind a proxy."""
    async with (
        weaviate_up("standin") as where,
        between(where) as (network, there),
        there.store() as store,
    ):
        await fill(store)
        yield Far(store, network.stall, network.heal)
        network.heal()


@pytest.fixture(params=[far_pgvector, far_qdrant, far_weaviate])
async def far(request: pytest.FixtureRequest) -> AsyncIterator[Far]:
    """A filled store that answers, at every place."""
    async with request.param() as there:
        yield there


@pytest.fixture
async def near() -> MemoryStore:
    """A filled store in the memory of this process."""
    store = MemoryStore()
    await fill(store)
    return store


async def embedder(text: str) -> Sequence[float]:
    """The same vector for every question."""
    return (1.0, 0.0)


def over(far: Any, near: Any, frozen: Branch, **settings: Any) -> HybridRetriever:
    """A retriever of which one branch is far away, and has some tenths of a second."""
    return HybridRetriever(
        *(
            IndexRetriever(
                StoreIndex(far if branch is frozen else near, name=f"of {branch}"),
                branch=branch,
                embedder=embedder,
                timeout_seconds=0.3 if branch is frozen else None,
            )
            for branch in Branch
        ),
        **settings,
    )


BRANCHES = pytest.mark.parametrize("frozen", Branch)


@BRANCHES
async def test_the_other_branch_answers(far: Far, near: MemoryStore, frozen: Branch) -> None:
    """The result is partial, has the branch that answered, and leaves nothing running at the end."""
    retriever = over(far.store, near, frozen)
    [other] = {*Branch} - {frozen}
    with tenant_scope("north"):
        async with asyncio.timeout(30):
            whole = await retriever.retrieve("refund", scope=SCOPE, k=9)
            far.freeze()
            others = asyncio.all_tasks()
            found = await retriever.retrieve("refund", scope=SCOPE, k=9)
        far.thaw()
    assert not whole.partial
    assert [hit.id for hit in found.hits] == ["own"]
    assert found.branches == (other,)
    assert found.partial
    assert isinstance(found.missing[frozen], StoreUnavailable)
    await until(lambda: asyncio.all_tasks() <= others)


@BRANCHES
async def test_it_is_required(far: Far, near: MemoryStore, frozen: Branch) -> None:
    """Where the frozen branch must not lack, the refusal comes in time too."""
    retriever = over(far.store, near, frozen, require=[frozen])
    far.freeze()
    with tenant_scope("north"), pytest.raises(RetrievalDegradedError) as caught:
        async with asyncio.timeout(30):
            await retriever.retrieve("refund", scope=SCOPE, k=9)
    assert caught.value.missing == (frozen,)


async def test_it_answers_again(far: Far, near: MemoryStore) -> None:
    """After the thaw the result is whole."""
    retriever = over(far.store, near, Branch.KEYWORD)

    async def whole() -> bool:
        with tenant_scope("north"):
            found = await retriever.retrieve("refund", scope=SCOPE, k=9)
        return not found.partial

    async with asyncio.timeout(30):
        assert await whole()
        far.freeze()
        assert not await whole()
        far.thaw()
        await until(whole)
