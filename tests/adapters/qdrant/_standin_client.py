"""Clients of the stand-in, and a collection for them."""

from collections.abc import Awaitable
from typing import Any

import grpc
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from tests.adapters.qdrant.standin import StandIn

Code = grpc.StatusCode

TEXTS = {1: "the cat sat on the mat", 2: "a dog and a cat", 3: "user_id of the café"}

ODD = 0.36995516654807925
"""A float that the server reads one bit off; a test says so."""


def client_of(server: StandIn, protocol: str, **options: Any) -> AsyncQdrantClient:
    """A client that asks by one protocol alone."""
    return AsyncQdrantClient(
        server.url,
        grpc_port=server.grpc_port,
        prefer_grpc=protocol == "grpc",
        check_compatibility=False,
        pool_size=1,
        **options,
    )


def document(text: str, **options: Any) -> models.Document:
    """A text that the server embeds."""
    return models.Document(text=text, model="qdrant/bm25", options=options or None)


def is_(key: str, value: Any) -> models.Filter:
    """One equality."""
    match = models.MatchValue(value=value)
    return models.Filter(must=[models.FieldCondition(key=key, match=match)])


async def fill(client: AsyncQdrantClient, name: str = "x") -> None:
    """A collection of `TEXTS`, each with a dense vector of its id."""
    await client.create_collection(
        name,
        vectors_config={"dense": models.VectorParams(size=2, distance=models.Distance.DOT)},
        sparse_vectors_config={"text": models.SparseVectorParams(modifier=models.Modifier.IDF)},
        metadata={"spec": {"year": "int"}},
    )
    await client.upsert(
        name,
        [
            models.PointStruct(
                id=id,
                vector={"dense": [float(id), 0.5], "text": document(text)},
                payload={"text": text, "year": 2020 + id % 2, "tag": "ab"[id % 2]},
            )
            for id, text in TEXTS.items()
        ],
    )


async def refusal(call: Awaitable[Any]) -> tuple[Any, str]:
    """The status and the text of a call that the server refuses."""
    try:
        await call
    except UnexpectedResponse as error:
        return error.status_code, error.structured()["status"]["error"]
    except grpc.aio.AioRpcError as error:
        return error.code(), error.details() or ""
    raise AssertionError("it was answered")


def status(protocol: str, rest: int, code: Any) -> Any:
    """The one of two that this protocol has."""
    return rest if protocol == "rest" else code
