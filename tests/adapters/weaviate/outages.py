"""What the tests of failures ask of a store, the network between, and what an error may say."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import attrs
import grpc
import httpx
import pytest
from grpc.aio import AioRpcError, Metadata
from weaviate.exceptions import UnexpectedStatusCodeError, WeaviateQueryError

from soev_retrieval.domain import (
    Field,
    FieldSpec,
    Record,
    RetrievalError,
    StoreUnavailable,
    Unconfigured,
)
from soev_retrieval.testing.faults import FaultProxy
from soev_retrieval_weaviate import WeaviateStore
from tests.adapters.asking import Methods, searches_of, until
from tests.adapters.weaviate.standin import StandIn
from tests.adapters.weaviate.stores import RUN, Where, up

TARGET = f"{RUN}Rules"
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
    "drop": lambda store: store.drop(f"{RUN}Nothing"),
}
"""A call of each method of the Loader. It leaves all as it was."""

METHODS = {**SEARCHES, **WRITES}
"""Each method that asks the server whenever it is called."""

Call = Callable[[Any], Awaitable[Any]]


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


def of_status(status: int, body: Any = None) -> UnexpectedStatusCodeError:
    """What the client raises for an HTTP status, with the server's JSON or what else is given."""
    if isinstance(body, str):
        body = {"error": [{"message": body}]}
    response = httpx.Response(status, content=b"" if body is None else None, json=body)
    return UnexpectedStatusCodeError("what", response)


def of_code(
    code: grpc.StatusCode, details: str = "", *trailers: tuple[str, str | bytes]
) -> WeaviateQueryError:
    """What it raises for a gRPC status: the status is in the context alone."""
    under = AioRpcError(code, Metadata(), Metadata(*trailers), details)
    with pytest.raises(WeaviateQueryError) as caught:
        _queried(under)
    return caught.value


def _queried(under: AioRpcError) -> None:
    try:
        raise under
    except AioRpcError as error:
        raise WeaviateQueryError(str(error.details()), "GRPC search")  # noqa: B904  (as it does)


def said(error: RetrievalError, operation: str) -> BaseException | None:
    """What is behind one of our errors, which says all that it owes and no secret."""
    for each in (str(error), repr(error)):
        assert not any(secret in each for secret in SECRETS), each
    if isinstance(error, StoreUnavailable | Unconfigured):
        assert (error.store, error.operation) == ("WeaviateStore", operation)
    return error.__cause__


async def failed(
    store: Any, name: str, ask: Call, kind: type[RetrievalError], match: str | None = None
) -> RetrievalError:
    """The error of a call, which is of that kind and owes nothing."""
    with pytest.raises(kind, match=match) as caught:
        await ask(store)
    said(caught.value, name)
    return caught.value


@attrs.frozen
class Network:
    """Both ways to a server, which fail together. The commands are those of `FaultProxy`."""

    rest: FaultProxy
    grpc: FaultProxy

    def reset(self) -> None:
        self.rest.reset()
        self.grpc.reset()

    def refuse(self) -> None:
        self.rest.refuse()
        self.grpc.refuse()

    def truncate(self, after_bytes: int) -> None:
        self.rest.truncate(after_bytes)
        self.grpc.truncate(after_bytes)

    def stall(self) -> None:
        self.rest.stall()
        self.grpc.stall()

    def half_open(self) -> None:
        self.rest.half_open()
        self.grpc.half_open()

    def garbage(self) -> None:
        self.rest.garbage()
        self.grpc.garbage()

    def delay(self, seconds: float) -> None:
        self.rest.delay(seconds)
        self.grpc.delay(seconds)

    def heal(self) -> None:
        self.rest.heal()
        self.grpc.heal()


@attrs.frozen
class Far:
    """A store, and what can fail between it and its server."""

    store: WeaviateStore
    network: Network
    stand_in: StandIn | None

    async def once_more(self) -> None:
        """The network is whole, and the store answers."""
        self.network.heal()
        await answers_again(self.store)


@asynccontextmanager
async def between(where: Where, *, seed: int = 0) -> AsyncIterator[tuple[Network, Where]]:
    """A network before a place, and the place as it is seen from behind it."""
    address = urlsplit(where.url)
    async with (
        FaultProxy(address.hostname, address.port, seed=seed) as rest,
        FaultProxy(address.hostname, where.grpc_port, seed=seed) as over_grpc,
    ):
        network = Network(rest, over_grpc)
        try:
            yield (
                network,
                Where(f"http://{rest.host}:{rest.port}", over_grpc.port, where.stand_in),
            )
        finally:
            network.heal()


@asynccontextmanager
async def far(place: str, *, seed: int = 0, **settings: Any) -> AsyncIterator[Far]:
    """A filled store that asks a place through a network."""
    async with up(place) as where:
        async with where.store() as near:  # however short the time is that the other one has
            await filled(near)
        async with (
            between(where, seed=seed) as (network, there),
            there.store(**settings) as store,
        ):
            await answers_again(store)
            yield Far(store, network, where.stand_in)
            network.heal()


async def cancelled(call: "asyncio.Task[Any]") -> None:
    """Cancel a call, which lets that through."""
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
