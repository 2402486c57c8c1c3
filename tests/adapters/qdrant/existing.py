"""Collections that were there before: made and filled with the bare client."""

import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
from google.protobuf.json_format import MessageToDict
from qdrant_client import AsyncQdrantClient, models

from soev_retrieval.domain import Chunk, Filter, InvalidQueryError, Unconfigured
from soev_retrieval_qdrant import Collection, QdrantStore
from tests.adapters.qdrant.stores import RUN, Where, up

TARGET = "T"
PLAIN = {"vectors_config": models.VectorParams(size=2, distance=models.Distance.DOT)}
"""One unnamed vector."""


@attrs.frozen
class There:
    """A collection, and a store that reads it.

    Args:
        store: The store, which knows the collection as `TARGET`.
        name: The collection's own name.
        client: The client that filled it; closed in local mode, whose folder has one user.
        where: The place.
    """

    store: QdrantStore
    name: str
    client: AsyncQdrantClient
    where: Where

    async def ids(self, where: Filter | None = None, limit: int = 1000) -> list[str]:
        """The ids that `fetch` finds, sorted."""
        return sorted(chunk.id for chunk in await self.fetch(where, limit))

    async def fetch(self, where: Filter | None = None, limit: int = 1000) -> Sequence[Chunk]:
        """The chunks that match."""
        return await self.store.fetch(TARGET, where=where, limit=limit)

    def sent(self) -> list[dict[str, Any]]:
        """What the stand-in was asked of points, as JSON over either protocol."""
        if self.where.stand_in is None:
            raise RuntimeError("only a stand-in tells what it was sent")
        return [
            each.body if each.message is None else MessageToDict(each.message)
            for each in self.where.stand_in.requests
            if each.operation in {"scroll", "query_points", "query_batch_points", "retrieve"}
        ]


@asynccontextmanager
async def existing(
    place: str,
    points: Sequence[models.PointStruct] = (),
    *,
    making: Mapping[str, Any] | None = None,
    indexes: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    **collection: Any,
) -> AsyncIterator[There]:
    """A collection at a place, and a store over it.

    Args:
        place: As in `stores`.
        points: What is in it.
        making: How `create_collection` makes it.
        indexes: Its payload indexes by their key; local mode has none.
        settings: More of the store.
        collection: The rest of the store's `Collection`.
    """
    name = f"{RUN}{uuid.uuid4().hex[:8]}"
    configured = {TARGET: Collection(name, **collection)}
    async with up(place) as where:
        if place != "local":
            client = where.client()
            await _filled(client, name, points, making)
            for key, kind in (indexes or {}).items():
                await client.create_payload_index(name, key, field_schema=kind, wait=True)
            async with where.store(collections=configured, **(settings or {})) as store:
                yield There(store, name, client, where)
            await client.delete_collection(name)
            await client.close()
            return
        with TemporaryDirectory() as folder:
            client = AsyncQdrantClient(path=str(Path(folder) / "q"))
            await _filled(client, name, points, making)
            await client.close()
            async with QdrantStore(
                str(Path(folder) / "q"), collections=configured, **(settings or {})
            ) as store:
                yield There(store, name, client, where)


def point(id: Any, payload: Mapping[str, Any], vector: Any = (1.0, 0.0)) -> models.PointStruct:
    """A point; by default with an unnamed vector."""
    vector = list(vector) if isinstance(vector, tuple) else vector
    return models.PointStruct(id=id, vector=vector, payload=dict(payload))


def points(*payloads: Mapping[str, Any]) -> list[models.PointStruct]:
    """Points with the ids 0, 1, 2 and so on."""
    return [point(id, payload) for id, payload in enumerate(payloads)]


async def refusal(asking: Any) -> str:
    """What a call that is refused says."""
    try:
        await asking
    except (InvalidQueryError, Unconfigured) as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("it is not refused")


async def _filled(
    client: AsyncQdrantClient,
    name: str,
    points: Sequence[models.PointStruct],
    making: Mapping[str, Any] | None,
) -> None:
    await client.create_collection(name, **(PLAIN if making is None else making))
    for start in range(0, len(points), 500):
        await client.upsert(name, points[start : start + 500], wait=True)
