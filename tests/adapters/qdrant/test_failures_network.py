"""A network that fails between store and server: the same store answers after it is healed."""

import asyncio

import pytest

from soev_retrieval.domain import StoreUnavailable
from tests.adapters.qdrant.outages import METHODS, SEARCHES, answers_again, far, said
from tests.adapters.qdrant.stores import REMOTE

PLACE = pytest.mark.parametrize("place", REMOTE)
FIRST_BYTES = [0, 60]

# gRPC alone finds a peer that went away in silence; this is its measure for a test.
SOON = {"grpc_options": {"grpc.keepalive_time_ms": 100, "grpc.http2.ping_timeout_ms": 100}}


@PLACE
async def test_reset(place: str) -> None:
    """A connection that was reset while nobody used it is replaced, and every call answers."""
    async with far(place) as there:
        for name, ask in METHODS.items():
            there.proxy.reset()
            try:
                await ask(there.store)
            except StoreUnavailable as error:  # the reset came when the request was on its way
                said(error, name)
        await answers_again(there.store)


@PLACE
async def test_refuse(place: str) -> None:
    """Where no connection can be made every method is unavailable, and answers when one can."""
    async with far(place) as there:
        there.proxy.refuse()
        there.proxy.reset()
        for name, ask in METHODS.items():
            with pytest.raises(StoreUnavailable) as caught:
                await ask(there.store)
            assert said(caught.value, name) is not None
        there.proxy.heal()
        await answers_again(there.store)


@PLACE
async def test_truncate(place: str) -> None:
    """An answer that is cut off, wherever, is unavailable in every method, and no result."""
    async with far(place) as there:
        for name, ask in METHODS.items():
            for after in FIRST_BYTES:
                there.proxy.truncate(after)
                with pytest.raises(StoreUnavailable) as caught:
                    await ask(there.store)
                said(caught.value, name)
                await answers_again(there.store)


@PLACE
async def test_stall(place: str) -> None:
    """A network that falls silent in the midst of a call is unavailable after timeout_seconds."""
    async with far(place, timeout_seconds=0.3) as there, asyncio.timeout(20):
        there.proxy.stall()
        came = await asyncio.gather(
            *(ask(there.store) for ask in METHODS.values()), return_exceptions=True
        )
        for name, error in zip(METHODS, came, strict=True):
            assert isinstance(error, StoreUnavailable), name
            said(error, name)
        there.proxy.heal()
        await answers_again(there.store)


@PLACE
async def test_half_open(place: str) -> None:
    """A peer that went away and said nothing is found out, and the store connects anew."""
    async with far(place, timeout_seconds=1, options=SOON) as there:
        there.proxy.half_open()
        with pytest.raises(StoreUnavailable):
            await METHODS["fetch"](there.store)
        await answers_again(there.store)


@PLACE
@pytest.mark.parametrize("seed", [1, 2])
async def test_garbage(place: str, seed: int) -> None:
    """Random bytes for an answer are unavailable, and no result."""
    async with far(place, seed=seed, timeout_seconds=0.5) as there:
        there.proxy.garbage()
        came = await asyncio.gather(
            *(ask(there.store) for ask in SEARCHES.values()), return_exceptions=True
        )
        for name, error in zip(SEARCHES, came, strict=True):
            assert isinstance(error, StoreUnavailable), name
            said(error, name)
        there.proxy.heal()
        await answers_again(there.store)


@PLACE
async def test_delay(place: str) -> None:
    """A slow network is slow, and nothing else."""
    async with far(place) as there:
        there.proxy.delay(0.002)
        for ask in METHODS.values():
            await ask(there.store)
