"""The stand-in against a real server, where the environment names one."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
from qdrant_client import AsyncQdrantClient, models

from tests.adapters.qdrant._standin_client import (
    ODD,
    client_of,
    document,
    fill,
    is_,
    refusal,
    status,
)
from tests.adapters.qdrant._standin_wrong import WRONG
from tests.adapters.qdrant.standin import StandIn

pytestmark = [
    pytest.mark.skipif("QDRANT_URL" not in os.environ, reason="QDRANT_URL names no server"),
    pytest.mark.parametrize("protocol", ["rest", "grpc"]),
]


async def _transcript(client: AsyncQdrantClient, name: str) -> list[Any]:
    """What one sequence of requests is answered, without what differs from run to run."""

    def hits(response: models.QueryResponse) -> Any:
        return [(hit.id, round(hit.score, 4), hit.payload) for hit in response.points]

    def rows(points: Any) -> Any:
        return sorted((each.id, each.payload, each.vector) for each in points)

    seen: list[Any] = []
    await fill(client, name)
    floats = {"f": ODD, "i": 2**53 - 1, "t": "é", "n": None, "l": [1.5, 1e21], "d": {"e": True}}
    point = models.PointStruct(id=str(uuid4()), vector={"dense": [0.1, 0.2]}, payload=floats)
    await client.upsert(name, [point])
    await client.create_payload_index(name, "year", models.PayloadSchemaType.INTEGER)
    info = await client.get_collection(name)
    seen += [info.config.metadata, info.points_count]
    seen += [{key: (each.data_type, each.points) for key, each in info.payload_schema.items()}]
    seen += [[each.payload for each in await client.retrieve(name, [point.id])]]
    seen += [rows(await client.retrieve(name, [1, 2, 99], with_vectors=["dense"]))]
    exact = models.FieldCondition(key="f", range=models.Range(gte=ODD, lte=ODD))
    seen += [(await client.count(name, count_filter=models.Filter(must=[exact]))).count]
    for order in (models.Direction.ASC, models.Direction.DESC):
        by_year = models.OrderBy(key="year", direction=order)
        page, offset = await client.scroll(name, order_by=by_year, limit=3)
        seen += [
            [(each.payload or {})["year"] for each in page],
            {each.id for each in page},
            offset,
        ]
    page, offset = await client.scroll(name, limit=2, scroll_filter=is_("tag", "b"))
    seen += [[each.id for each in page], offset]
    for query, using in (([1.0, 1.0], "dense"), (document("cats and the dog"), "text")):
        request = models.QueryRequest(query=query, using=using, limit=3, with_payload=["tag"])
        seen += [hits(each) for each in await client.query_batch_points(name, [request])]
    return seen


@asynccontextmanager
async def _real(protocol: str) -> AsyncIterator[tuple[AsyncQdrantClient, str]]:
    """A client of the server, and the name of a collection that goes when it goes."""
    name = f"standin_{uuid4().hex}"
    client = AsyncQdrantClient(
        os.environ["QDRANT_URL"],
        grpc_port=int(os.environ.get("QDRANT_GRPC_PORT", "6334")),
        prefer_grpc=protocol == "grpc",
        check_compatibility=False,
    )
    try:
        yield client, name
    finally:
        await client.delete_collection(name)
        await client.close()


async def test_answers_as_a_real_server(protocol: str) -> None:
    """The same requests have the same answers from a real server."""
    async with _real(protocol) as (real, name):
        expected = await _transcript(real, name)
    async with StandIn() as server:
        client = client_of(server, protocol)
        seen = await _transcript(client, name)
        await client.close()
    assert seen == expected


async def test_a_real_server_refuses_as_well(protocol: str) -> None:
    """A real server refuses the same calls, with the same status and text."""
    async with _real(protocol) as (real, name):
        await fill(real, name)
        await real.create_payload_index(name, "i", models.PayloadSchemaType.INTEGER)
        for what, (call, number, code, text) in WRONG.items():
            got, said = await refusal(call(real, name))
            assert got == status(protocol, number, code), what
            assert text.format(name=name) in said, what
