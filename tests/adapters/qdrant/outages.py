"""What the tests of failures ask of a store, the network between, and what an error may say."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import attrs
import httpx
from grpc.aio import AioRpcError, Metadata
from qdrant_client.http.exceptions import UnexpectedResponse

from soev_retrieval.domain import (
    Field,
    FieldSpec,
    Record,
    RetrievalError,
    StoreUnavailable,
    Unconfigured,
)
from soev_retrieval.testing.faults import FaultProxy
from soev_retrieval_qdrant import QdrantStore
from tests.adapters.asking import Methods, searches_of, until
from tests.adapters.qdrant.standin import StandIn
from tests.adapters.qdrant.stores import RUN, up

TARGET = f"{RUN}rules"
SPEC = FieldSpec(
    [Field("text", "text", searchable=True), Field("year", "int"), Field("price", "float")], 3
)
RECORDS = [
    Record("a", {"text": "sesame opens the door", "year": 987654321}, (1.0, 0.0, 0.0)),
    Record("b", {"text": "sesame seeds", "year": 987654321, "price": 0.5}, (0.0, 1.0, 0.0)),
]
KEY = "hunter2"
SECRETS = ("sesame", "0.1234", "987654321", KEY)

SEARCHES = searches_of(TARGET)
"""A call of each search. It finds both of the records."""

WRITES: Methods = {
    "create": lambda store: store.create(TARGET, SPEC),
    "upsert": lambda store: store.upsert(TARGET, RECORDS),
    "delete": lambda store: store.delete(TARGET, ["nobody"]),
    "drop": lambda store: store.drop(f"{RUN}nothing"),
}
"""A call of each method of the Loader. It leaves all as it was."""

METHODS = {**SEARCHES, **WRITES}
"""Each method that asks the server whenever it is called."""


async def filled(store: Any) -> None:
    """Put the records into the target."""
    await store.drop(TARGET)
    await store.create(TARGET, SPEC)
    await store.upsert(TARGET, RECORDS)


async def answers(store: Any) -> None:
    """Every search finds both records."""
    for name, ask in SEARCHES.items():
        found = await ask(store)
        assert sorted(each.id for each in found) == ["a", "b"], name


async def answers_again(store: Any) -> None:
    """So they do, as soon as gRPC has found out that its server is back."""

    async def found() -> bool:
        try:
            await answers(store)
        except StoreUnavailable:
            return False
        return True

    await until(found)


def of_status(status: int, error: str | None = "what") -> UnexpectedResponse:
    """What the client raises for an HTTP status, with the server's JSON or another body."""
    body = b"<html>" if error is None else json.dumps({"status": {"error": error}}).encode()
    return UnexpectedResponse(status, "", body, httpx.Headers())


def of_code(code: Any, details: str = "", *trailers: tuple[str, str]) -> AioRpcError:
    """What it raises for a gRPC status."""
    return AioRpcError(code, Metadata(), Metadata(*trailers), details)


def said(error: RetrievalError, operation: str) -> BaseException | None:
    """What is behind one of our errors, which says all that it owes and no secret."""
    for each in (str(error), repr(error)):
        assert not any(secret in each for secret in SECRETS), each
    if isinstance(error, StoreUnavailable | Unconfigured):
        assert (error.store, error.operation) == ("QdrantStore", operation)
    return error.__cause__


@attrs.frozen
class Far:
    """A store, and what can fail between it and its server."""

    store: QdrantStore
    proxy: FaultProxy
    stand_in: StandIn | None


@asynccontextmanager
async def far(place: str, *, seed: int = 0, **settings: Any) -> AsyncIterator[Far]:
    """A filled store that asks a place through a proxy."""
    async with up(place) as where:
        transport, port = where.settings["transport"], where.settings["grpc_port"]
        address = urlsplit(where.settings["location"])
        if transport == "rest":
            port = address.port
        async with where.store() as near:  # however short the time is that the other one has
            await filled(near)
        async with FaultProxy(address.hostname, port, seed=seed) as proxy:
            url = f"http://{proxy.host}:{proxy.port}"
            async with QdrantStore(
                url, grpc_port=proxy.port, transport=transport, **settings
            ) as store:
                await answers_again(store)
                yield Far(store, proxy, where.stand_in)
                proxy.heal()
