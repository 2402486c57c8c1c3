"""Messages over gRPC that are none, and answers that do not fit what was asked."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import attrs
import grpc
import pytest

from soev_retrieval.domain import RetrievalError, StoreUnavailable
from soev_retrieval_qdrant import QdrantStore
from tests.adapters.qdrant.outages import METHODS, TARGET, answers, filled, said
from tests.adapters.qdrant.standin import RestAnswer, StandIn

Spoil = Callable[[bytes], bytes]

ASKED: dict[str, Callable[[Any], Awaitable[Any]]] = {
    **METHODS,
    "drop": lambda store: store.drop(TARGET),
    "fields": lambda store: store.fields(TARGET),
}
"""Each method, of a target that is there: that it is not is an error, and no message."""

SPOILED: dict[str, Spoil] = {
    "garbage": lambda message: b"\xff\xfe\x00" + message,
    "half": lambda message: message[: len(message) // 2],
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
            try:
                answer: bytes = await self.target.unary_unary(details.method)(request)
            except grpc.aio.AioRpcError as error:
                await context.abort(error.code(), error.details())
            return answer if self.spoil is None else self.spoil(answer)

        return grpc.unary_unary_rpc_method_handler(handle)


class _Handler(Between, grpc.GenericRpcHandler):  # type: ignore[misc]
    pass


@asynccontextmanager
async def between() -> AsyncIterator[tuple[QdrantStore, Between]]:
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
                async with QdrantStore(stand_in.url, grpc_port=port) as store:
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
            if name == "fields":
                store._targets.forget(TARGET)
            there.spoil = SPOILED[kind]
            with pytest.raises(StoreUnavailable) as caught:
                await ask(store)
            said(caught.value, name)
            there.spoil = None
        await answers(store)


@pytest.mark.parametrize("kind", SPOILED)
async def test_no_message_to_a_new_store(kind: str) -> None:
    """A store that asks for the first time makes one of our errors of it, in `fields` too."""
    async with between() as (store, there):
        for name, ask in ASKED.items():
            store._targets.forget(TARGET)
            there.spoil = SPOILED[kind]
            if (error := await came(ask(store))) is not None:
                said(error, name)
            there.spoil = None
        await answers(store)


async def test_an_empty_message() -> None:
    """A message with nothing in it is no answer to several questions, and no written record."""
    async with between() as (store, there):
        there.spoil = lambda message: b""
        with pytest.raises(StoreUnavailable, match="no answer of Qdrant's"):
            await METHODS["hybrid"](store)
        for name in "upsert", "delete":
            assert isinstance(await came(METHODS[name](store)), RetrievalError), name
        there.spoil = None
        await answers(store)


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_another_number_of_answers(count: int) -> None:
    """Answers of another number than that of the questions are no answer, over REST as well."""
    async with (
        StandIn() as stand_in,
        QdrantStore(stand_in.url, transport="rest") as store,
    ):
        await filled(store)
        body = b'{"result": [' + b", ".join([b'{"points": []}'] * count) + b"]}"
        stand_in.answer(RestAnswer(body=body), "query_batch_points")
        with pytest.raises(StoreUnavailable, match="no answer of Qdrant's") as caught:
            await METHODS["hybrid"](store)
        said(caught.value, "hybrid")
