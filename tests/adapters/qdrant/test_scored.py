"""Keywords in a full-text index that scores, where the version has it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import AsyncQdrantClient, models

from soev_retrieval.domain import Field, InvalidQueryError, Unconfigured, field
from soev_retrieval_qdrant import Collection, QdrantStore
from tests.adapters.docstrings import records
from tests.adapters.qdrant.standin import StandIn

QUERY = "the timezone of a datetime object, in hours and minutes"
NAME = "notes"
NOTES = Collection(
    NAME,
    [Field("body", "text", searchable=True), Field("kind", "text")],
    id="id",
    scored="body",
)


async def load(client: AsyncQdrantClient) -> None:
    """The docstrings, under an index of their text that scores."""
    await client.create_collection(
        NAME, vectors_config=models.VectorParams(size=8, distance=models.Distance.COSINE)
    )
    await client.create_payload_index(
        NAME,
        "body",
        models.TextIndexParams(type=models.TextIndexType.TEXT, scoring=True),
    )
    points = [
        models.PointStruct(
            id=at,
            vector=list(each.vector or [1.0] * 8),
            payload={
                "id": each.id,
                "body": each.properties["text"],
                "kind": each.properties["kind"],
            },
        )
        for at, each in enumerate(records())
    ]
    await client.upsert(NAME, points)


@asynccontextmanager
async def on_disk(folder: Path, **settings: Any) -> AsyncIterator[QdrantStore]:
    client = AsyncQdrantClient(path=str(folder))
    await load(client)
    await client.close()
    async with QdrantStore(str(folder), collections={"notes": NOTES}, **settings) as store:
        yield store


@asynccontextmanager
async def over_grpc(version: str) -> AsyncIterator[QdrantStore]:
    async with StandIn(version) as server:
        address: dict[str, Any] = {"grpc_port": server.grpc_port}
        client = AsyncQdrantClient(server.url, check_compatibility=False)
        await load(client)
        await client.close()
        async with QdrantStore(server.url, **address, collections={"notes": NOTES}) as store:
            yield store


async def test_the_index_scores(tmp_path: Path) -> None:
    """What holds most of the question's rare words comes first, under the filter."""
    async with on_disk(tmp_path) as store:
        assert (await store.fields("notes"))["body"].searchable
        hits = await store.bm25("notes", query=QUERY, limit=10)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert "timezone" in str(hits[0].properties["body"])
        where = field("kind") == "class"
        some = await store.bm25("notes", query=QUERY, limit=5, where=where)
        every = await store.bm25("notes", query=QUERY, limit=999)
        assert list(some) == [hit for hit in every if hit.properties["kind"] == "class"][:5]
        assert await store.bm25("notes", query="qwxz ...", limit=5) == []


async def test_hybrid_fuses_it_with_the_vectors(tmp_path: Path) -> None:
    """The keyword leg of hybrid is that index, in one definition as ever and in the server's RRF."""
    vector = [1.0] * 8
    async with on_disk(tmp_path) as store:
        ends = await store.hybrid("notes", query=QUERY, vector=vector, limit=9, alpha=0)
        assert ends == await store.bm25("notes", query=QUERY, limit=9)
        assert len(await store.hybrid("notes", query=QUERY, vector=vector, limit=9)) == 9


async def test_an_older_server_has_none() -> None:
    """Before 1.20 it is Unconfigured, with both versions in the reason; later it is asked."""
    async with over_grpc("1.19.3") as store:
        assert not (await store.fields("notes"))["body"].searchable
        with pytest.raises(Unconfigured, match=r"from Qdrant 1\.20 on, and this is 1\.19"):
            await store.bm25("notes", query=QUERY, limit=1)
    async with over_grpc("1.20.0") as store:
        assert len(await store.bm25("notes", query=QUERY, limit=3)) == 3


def test_the_field_must_be_searchable() -> None:
    """`scored` names a searchable field of the configuration."""
    with pytest.raises(InvalidQueryError, match="scored"):
        Collection(NAME, [Field("body", "text")], scored="body")


async def test_the_oldest_version_is_said() -> None:
    """A server older than what is served is Unconfigured, and the reason says which one is."""
    async with (
        StandIn("1.15.1") as server,
        QdrantStore(server.url, grpc_port=server.grpc_port) as store,
    ):
        with pytest.raises(Unconfigured, match=r"Qdrant 1\.15\.1, and 1\.16 is the oldest"):
            await store.fetch("notes", limit=1)


async def test_a_prefix_is_served_from_1_19_on() -> None:
    """An older server would not know the condition: the field does not declare it there."""
    notes = Collection(NAME, [Field("kind", "text")])
    for version, served in (("1.18.3", False), ("1.19.0", True)):
        async with StandIn(version) as server:
            client = AsyncQdrantClient(server.url, check_compatibility=False)
            await client.create_collection(NAME, vectors_config={})
            await client.close()
            address: dict[str, Any] = {"grpc_port": server.grpc_port}
            async with QdrantStore(server.url, **address, collections={"notes": notes}) as store:
                assert ("prefix" in (await store.fields("notes"))["kind"].operators) is served
