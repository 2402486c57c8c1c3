"""Messages over gRPC that are none."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import attrs
import grpc
import pytest

from soev_retrieval.domain import RetrievalError, StoreUnavailable
from soev_retrieval_weaviate import WeaviateStore
from tests.adapters.weaviate.outages import METHODS, SEARCHES, answers, failed, filled, said
from tests.adapters.weaviate.standin import StandIn
from tests.adapters.weaviate.stores import Where

Spoil = Callable[[bytes], bytes]

ASKED = {**SEARCHES, "upsert": METHODS["upsert"], "delete": METHODS["delete"]}
SPOILED: dict[str, Spoil] = {
    "garbage": lambda message: b"\xff\xfe\x00" + message,
    "half": lambda message: message[: len(message) // 2],
    "nothing": lambda message: b"",
    "another message": lambda message: b"\x0a\x03abc",
}


@attrs.define
class Between:
    """Passes gRPC on to a stand-in, message by message, and spoils the answers when told to."""

    target: grpc.aio.Channel
    spoil: Spoil | None = None

    def service(self, details: Any) -> Any:
        """As a `grpc.GenericRpcHandler`: for every method there is."""

        async def handle(request: bytes, context: Any) -> bytes:
            answer = b""
            try:
                answer = await self.target.unary_unary(details.method)(request)
            except grpc.aio.AioRpcError as error:
                await context.abort(error.code(), error.details())
            return answer if self.spoil is None else self.spoil(answer)

        return grpc.unary_unary_rpc_method_handler(handle)


class _Handler(Between, grpc.GenericRpcHandler):  # type: ignore[misc]
    pass


@asynccontextmanager
async def between() -> AsyncIterator[tuple[WeaviateStore, Between]]:
    """A filled store, and what is between it and its server."""
    async with StandIn() as stand_in:
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{stand_in.grpc_port}")
        async with channel:
            handler = _Handler(channel)
            server = grpc.aio.server()
            server.add_generic_rpc_handlers((handler,))
            port = server.add_insecure_port("127.0.0.1:0")
            await server.start()
            try:
                async with Where(stand_in.url, port).store() as store:
                    await filled(store)
                    await answers(store)
                    yield store, handler
            finally:
                await server.stop(None)


async def came(call: Awaitable[Any]) -> RetrievalError | None:
    """One of our errors, or nothing. Whatever else is raised is raised."""
    try:
        await call
    except RetrievalError as error:
        return error
    return None


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "grpc._common")  # it logs what it cannot parse


@pytest.mark.parametrize("kind", ["garbage", "half"])
async def test_no_message(kind: str) -> None:
    """What is no message, or half of one, is unavailable in every method."""
    async with between() as (store, there):
        for name, ask in ASKED.items():
            if kind == "half" and name in {"upsert", "delete"}:
                continue  # a few bytes, of which a half can be read
            there.spoil = SPOILED[kind]
            await failed(store, name, ask, StoreUnavailable)
            there.spoil = None
        await answers(store)


@pytest.mark.parametrize("kind", SPOILED)
async def test_nothing_raw(kind: str) -> None:
    """Whatever comes, no error is another's, and the store answers afterwards."""
    async with between() as (store, there):
        for name, ask in ASKED.items():
            there.spoil = SPOILED[kind]
            if (error := await came(ask(store))) is not None:
                said(error, name)
            there.spoil = None
        await answers(store)
