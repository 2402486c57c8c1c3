"""A network that fails between store and server: the same store answers after it is healed."""

import asyncio
from typing import Any

import pytest
from weaviate.config import AdditionalConfig, GrpcConfig

from soev_retrieval.domain import StoreUnavailable
from tests.adapters.weaviate.outages import METHODS, SEARCHES, between, failed, far, filled, said
from tests.adapters.weaviate.stores import EVERYWHERE, up

PLACE = pytest.mark.parametrize("place", EVERYWHERE)
FIRST_BYTES = [0, 30]

# gRPC alone finds a peer that went away in silence; this is its measure for a test.
SOON = [("grpc.keepalive_time_ms", 100), ("grpc.http2.ping_timeout_ms", 100)]


@PLACE
async def test_reset(place: str) -> None:
    """A connection that was reset while nobody used it is replaced, and every call answers."""
    async with far(place) as there:
        for name, ask in METHODS.items():
            there.network.reset()
            try:
                await ask(there.store)
            except StoreUnavailable as error:  # the reset came when the request was on its way
                said(error, name)
        await there.once_more()


@PLACE
async def test_refuse(place: str) -> None:
    """Where no connection can be made every method is unavailable, and answers when one can."""
    async with far(place) as there:
        there.network.refuse()
        there.network.reset()
        for name, ask in METHODS.items():
            error = await failed(there.store, name, ask, StoreUnavailable)
            assert error.__cause__ is not None
        await there.once_more()


@PLACE
@pytest.mark.parametrize("over", ["rest", "grpc"])
async def test_refuse_one_way(place: str, over: str) -> None:
    """Where one of both ports cannot be reached, what needs it is unavailable, and nothing is half."""
    async with far(place) as there:
        way = getattr(there.network, over)
        way.refuse()
        way.reset()
        for name, ask in SEARCHES.items():
            if over == "grpc":
                await failed(there.store, name, ask, StoreUnavailable)
            else:
                assert len(await ask(there.store)) == 2
        for name in "upsert", "delete":
            await failed(there.store, name, METHODS[name], StoreUnavailable)
        await there.once_more()


@PLACE
async def test_truncate(place: str) -> None:
    """An answer that is cut off, wherever, is unavailable in every method, and no result."""
    async with far(place) as there:
        for name, ask in METHODS.items():
            for after in FIRST_BYTES:
                there.network.truncate(after)
                await failed(there.store, name, ask, StoreUnavailable)
                await there.once_more()


@PLACE
async def test_stall(place: str) -> None:
    """A network that falls silent in the midst of a call is unavailable after timeout_seconds."""
    async with far(place, timeout_seconds=0.5) as there, asyncio.timeout(20):
        there.network.stall()
        came = await asyncio.gather(
            *(ask(there.store) for ask in METHODS.values()), return_exceptions=True
        )
        for name, error in zip(METHODS, came, strict=True):
            assert isinstance(error, StoreUnavailable), name
            said(error, name)
        await there.once_more()


@PLACE
async def test_half_open(place: str) -> None:
    """A peer that went away and said nothing is found out, and the store connects anew."""
    config = AdditionalConfig(grpc_config=GrpcConfig(channel_options=SOON))
    options: dict[str, Any] = {"additional_config": config}
    async with far(place, timeout_seconds=1, options=options) as there:
        there.network.half_open()
        await failed(there.store, "fetch", METHODS["fetch"], StoreUnavailable)
        await there.once_more()


@PLACE
@pytest.mark.parametrize("seed", [1, 2])
async def test_garbage(place: str, seed: int) -> None:
    """Random bytes for an answer are unavailable, and no result."""
    async with far(place, seed=seed, timeout_seconds=0.5) as there:
        there.network.garbage()
        came = await asyncio.gather(
            *(ask(there.store) for ask in METHODS.values()), return_exceptions=True
        )
        for name, error in zip(METHODS, came, strict=True):
            assert isinstance(error, StoreUnavailable), name
            said(error, name)
        await there.once_more()


@PLACE
async def test_delay(place: str) -> None:
    """A slow network is slow, and nothing else."""
    async with far(place) as there:
        there.network.delay(0.002)
        for ask in METHODS.values():
            await ask(there.store)


@PLACE
async def test_it_connects_when_it_can(place: str) -> None:
    """A store whose first calls find nobody connects with the first that finds somebody."""
    async with up(place) as where:
        async with where.store() as near:
            await filled(near)
        async with between(where) as (network, there), there.store() as store:
            network.refuse()
            for name, ask in METHODS.items():
                await failed(store, name, ask, StoreUnavailable, "the connection failed")
            network.heal()
            assert len(await SEARCHES["fetch"](store)) == 2
