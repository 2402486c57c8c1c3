"""Answers that are errors, or none: what every method makes of each, over both protocols."""

import gc
from collections.abc import AsyncIterator

import grpc
import pytest

from soev_retrieval.domain import (
    InvalidQueryError,
    RetrievalError,
    StoreUnavailable,
    Unconfigured,
)
from soev_retrieval_qdrant import QdrantStore
from tests.adapters.qdrant.outages import METHODS, TARGET, answers, filled, said
from tests.adapters.qdrant.standin import (
    NO_REPLICA,
    GrpcAnswer,
    RefusedError,
    RestAnswer,
    StandIn,
    Unanswered,
)
from tests.adapters.qdrant.stores import STAND_IN, Where, up

Code = grpc.StatusCode

NO_ANSWERS: dict[str, RestAnswer | Unanswered] = {
    "nothing": RestAnswer(body=b""),
    "garbage": RestAnswer(body=b"\xff\xfe<html>"),
    "no json": RestAnswer(body=b"<html>"),
    "{}": RestAnswer(body=b"{}"),
    "null": RestAnswer(body=b"null"),
    "a list": RestAnswer(body=b"[]"),
    "no result": RestAnswer(body=b'{"result": null}'),
    "wrong shape": RestAnswer(body=b'{"result": {"points": 7, "status": 7}}'),
    "half": RestAnswer(body=b'{"result": []}', cut=5),
    "no gzip": RestAnswer(body=b"\x1f\x8bno", headers={"Content-Encoding": "gzip"}),
    "closed": Unanswered.CLOSED,
}
REFUSALS: dict[str, tuple[RefusedError, type[RetrievalError]]] = {
    "no replica": (NO_REPLICA, StoreUnavailable),
    "shard": (RefusedError("shard unavailable", "gone"), StoreUnavailable),
    "time": (RefusedError("timeout", "Timeout: 2s"), StoreUnavailable),
    "inside": (RefusedError("internal", "Service internal error: oh"), StoreUnavailable),
    "full": (RefusedError("no space", "Insufficient storage: quota"), StoreUnavailable),
    "key": (RefusedError("forbidden", "Forbidden: read only"), Unconfigured),
    "input": (RefusedError("bad input", "Wrong input: no"), InvalidQueryError),
    "form": (RefusedError("invalid", "Validation error in body"), InvalidQueryError),
}
# `test_failures_messages` says it of gRPC.
OVER_REST = pytest.mark.parametrize("where", ["standin-rest"], indirect=True)


@pytest.fixture(params=STAND_IN)
async def where(request: pytest.FixtureRequest) -> AsyncIterator[Where]:
    async with up(request.param) as there:
        yield there


@pytest.fixture
async def store(where: Where) -> AsyncIterator[QdrantStore]:
    async with where.store() as made:
        await filled(made)
        await answers(made)
        yield made


def stand_in(where: Where) -> StandIn:
    assert where.stand_in is not None
    return where.stand_in


@pytest.mark.parametrize("kind", REFUSALS)
async def test_refusals(where: Where, store: QdrantStore, kind: str) -> None:
    """What the server answers with an error comes to one of ours, in every method."""
    answer, expected = REFUSALS[kind]
    for name, ask in METHODS.items():
        stand_in(where).answer(answer)
        with pytest.raises(RetrievalError) as caught:
            await ask(store)
        assert type(caught.value) is expected, name
        assert said(caught.value, name) is not None
        stand_in(where).recover()
    await answers(store)


@OVER_REST
@pytest.mark.parametrize("kind", NO_ANSWERS)
async def test_no_answers(where: Where, store: QdrantStore, kind: str) -> None:
    """What is no answer of Qdrant's is unavailable in every method, over REST."""
    for name, ask in METHODS.items():
        stand_in(where).answer(NO_ANSWERS[kind])
        with pytest.raises(StoreUnavailable) as caught:
            await ask(store)
        said(caught.value, name)
        stand_in(where).recover()
    await answers(store)


@OVER_REST
@pytest.mark.parametrize("kind", NO_ANSWERS)
async def test_no_answers_to_a_new_store(where: Where, kind: str) -> None:
    """So it is where a store asks for the first time, `fields` too."""
    async with where.store() as filler:
        await filled(filler)
    async with where.store() as store:
        for operation in "info", "get_collection":
            stand_in(where).answer(NO_ANSWERS[kind], operation)
            with pytest.raises(StoreUnavailable) as caught:
                await store.fields(TARGET)
            said(caught.value, "fields")
            stand_in(where).recover()
        await answers(store)


async def test_silence(where: Where) -> None:
    """A server that takes a request and never answers is unavailable after timeout_seconds."""
    async with where.store() as filler:
        await filled(filler)
    async with where.store(timeout_seconds=0.3) as store:
        await answers(store)
        for name in "fetch", "upsert":
            stand_in(where).answer(Unanswered.SILENT)
            with pytest.raises(StoreUnavailable, match="in time") as caught:
                await METHODS[name](store)
            said(caught.value, name)
            stand_in(where).recover()
        await answers(store)


async def test_a_key_that_is_refused(where: Where, store: QdrantStore) -> None:
    """Credentials that the server refuses are the configuration's, though its body is no JSON."""
    server = stand_in(where)
    server.answer(RestAnswer(401, b"Invalid API key or JWT", {"Content-Type": "text/plain"}))
    server.answer(GrpcAnswer(Code.UNAUTHENTICATED, "Invalid API key or JWT"))
    for name, ask in METHODS.items():
        with pytest.raises(Unconfigured, match="credentials") as caught:
            await ask(store)
        said(caught.value, name)


async def test_a_path_that_a_proxy_does_not_know(where: Where, store: QdrantStore) -> None:
    """A proxy's 404 is no word on whether a collection is there: drop does not pass over it."""
    server = stand_in(where)
    server.answer(RestAnswer(404, b"default backend - 404", {"Content-Type": "text/plain"}))
    server.answer(GrpcAnswer(Code.UNIMPLEMENTED, "Received http2 header with status: 404"))
    for name, ask in METHODS.items():
        with pytest.raises(Unconfigured) as caught:
            await ask(store)
        assert "target" not in str(caught.value)
        said(caught.value, name)


async def test_busy(where: Where, store: QdrantStore) -> None:
    """A server that asks for less says when to come back, if it says so."""
    server = stand_in(where)

    async def wait() -> float | None:
        with pytest.raises(StoreUnavailable, match="less at once") as caught:
            await METHODS["bm25"](store)
        return caught.value.retry_after

    for told, seconds in {"7": 7.0, "0": 0.0, "Wed, 21 Oct 2015 07:28:00 GMT": 0.0}.items():
        server.answer(RestAnswer.error(429, "Rate limiting exceeded", {"Retry-After": told}))
        trailers = (("retry-after", told if told.isdigit() else "0"),)
        server.answer(GrpcAnswer(Code.RESOURCE_EXHAUSTED, "Rate limiting exceeded", trailers))
        assert await wait() == seconds
    # The calls' __del__, which raises, has its turn here: in the middle of an import it breaks that
    # (https://github.com/python/cpython/issues/91351).
    gc.collect()


async def test_too_old() -> None:
    """A server that is older than what is served says so, in every method."""
    async with StandIn("1.15.9") as server:
        for transport in "grpc", "rest":
            async with QdrantStore(
                server.url, grpc_port=server.grpc_port, transport=transport
            ) as store:
                for name in "fetch", "upsert", "delete", "drop":
                    with pytest.raises(Unconfigured, match=r"1\.15\.9, and 1\.16") as caught:
                        await METHODS[name](store)
                    said(caught.value, name)
