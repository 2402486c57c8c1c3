"""Answers that are errors, or none: what every method makes of each, over both protocols."""

from collections.abc import AsyncIterator

import grpc
import pytest
from weaviate.config import AdditionalConfig, Timeout

from soev_retrieval.domain import (
    InvalidQueryError,
    RetrievalError,
    StoreUnavailable,
    Unconfigured,
)
from soev_retrieval_weaviate import WeaviateStore
from tests.adapters.weaviate.outages import (
    METHODS,
    SEARCHES,
    TARGET,
    answers,
    failed,
    filled,
)
from tests.adapters.weaviate.standin import (
    GrpcAnswer,
    RefusedError,
    RestAnswer,
    StandIn,
    Unanswered,
)
from tests.adapters.weaviate.stores import Where

Code = grpc.StatusCode

NO_ANSWERS: dict[str, RestAnswer | Unanswered] = {
    "nothing": RestAnswer(body=b""),
    "garbage": RestAnswer(body=b"\xff\xfe<html>"),
    "no json": RestAnswer(body=b"<html>"),
    "{}": RestAnswer(body=b"{}"),
    "null": RestAnswer(body=b"null"),
    "a list": RestAnswer(body=b"[]"),
    "a text": RestAnswer(body=b'"what"'),
    "wrong shape": RestAnswer(body=b'{"class": 7, "version": 7, "properties": 7}'),
    "half": RestAnswer(body=b'{"class": []}', cut=5),
    "no gzip": RestAnswer(body=b"\x1f\x8bno", headers={"Content-Encoding": "gzip"}),
    "closed": Unanswered.CLOSED,
}
# What is said by a node that starts, is gone, or leaves a part of the cluster behind.
GONE = [
    "could not find class Rules in schema",
    "tried to browse non-existing index for Rules",
    "could not find index for class Rules. It might have been deleted in the meantime",
    "remote shard object search x: connect: dial tcp 127.0.0.1:1: connection refused",
    "object search at index rules: no read replica found",
    'remote shard object search x: status code: 422, error: local index "Rules" not found',
    'resolve node name "node2" to host',
    "store is read-only due to: disk usage too high",
    "429 Too many requests",
    "what nobody knows",
]
REFUSED: dict[str, type[RetrievalError]] = {
    "no such prop with name 'year' found in class 'Rules' in the schema": InvalidQueryError,
    'tenant not found: "t"': InvalidQueryError,
    "vector lengths don't match": InvalidQueryError,
    "tenant not active: 't'": Unconfigured,
    "extract auth: unauthorized: invalid api key": Unconfigured,
}
ASKED = {name: ask for name, ask in METHODS.items() if name not in {"create", "drop"}}


@pytest.fixture
def where(standing: StandIn) -> Where:
    return Where(standing.url, standing.grpc_port, standing)


@pytest.fixture
async def store(where: Where) -> AsyncIterator[WeaviateStore]:
    async with where.store() as made:
        await filled(made)
        await answers(made)
        yield made


@pytest.mark.parametrize("text", GONE)
async def test_a_node_that_is_not_there(standing: StandIn, store: WeaviateStore, text: str) -> None:
    """A node that starts or is gone is unavailable, though it has no status for that."""
    for name, ask in METHODS.items():
        standing.answer(RefusedError(text, 500))
        await failed(store, name, ask, StoreUnavailable)
        standing.recover()
    await answers(store)


@pytest.mark.parametrize("text", REFUSED)
async def test_what_it_refuses(standing: StandIn, store: WeaviateStore, text: str) -> None:
    """What is the caller's mistake, or the configuration's, is never unavailable."""
    for name, ask in ASKED.items():
        standing.answer(GrpcAnswer(Code.UNKNOWN, text))
        await failed(store, name, ask, REFUSED[text])
        standing.recover()
    await answers(store)


async def test_a_server_that_starts(standing: StandIn, store: WeaviateStore) -> None:
    """Of a collection that the schema has the searches' word that it is unknown is not taken."""
    standing.answer(RefusedError("could not find class Rules in schema"), "search", times=2)
    await failed(store, "fetch", METHODS["fetch"], StoreUnavailable, "not loaded it yet")
    standing.recover()
    await answers(store)


@pytest.mark.parametrize("kind", NO_ANSWERS)
async def test_no_answers(standing: StandIn, where: Where, store: WeaviateStore, kind: str) -> None:
    """What is no answer of Weaviate's is unavailable wherever it comes over REST."""
    for operation in "meta", "schema_get":
        async with where.store() as fresh:
            standing.answer(NO_ANSWERS[kind], operation)
            for name, ask in METHODS.items():
                await failed(fresh, name, ask, StoreUnavailable)
            await failed(fresh, "fields", lambda each: each.fields(TARGET), StoreUnavailable)
            standing.recover()
            await answers(fresh)
    await answers(store)


@pytest.mark.parametrize("kind", ["garbage", "no json", "null", "a list", "closed"])
async def test_no_answers_to_a_write(
    standing: StandIn, where: Where, store: WeaviateStore, kind: str
) -> None:
    """So is what comes of a collection that is made or dropped."""
    async with where.store() as fresh:
        for operation in "schema_create", "schema_delete":
            if isinstance(answer := NO_ANSWERS[kind], RestAnswer):
                answer = RestAnswer(503, answer.body)
            standing.answer(answer, operation)
        await failed(fresh, "create", METHODS["create"], StoreUnavailable)
        await failed(fresh, "drop", lambda each: each.drop(TARGET), StoreUnavailable)
        standing.recover()
        await answers(fresh)
    await answers(store)


async def test_silence(standing: StandIn, where: Where, store: WeaviateStore) -> None:
    """A server that takes a request and never answers is unavailable after timeout_seconds."""
    async with where.store(timeout_seconds=0.3) as hasty:
        await answers(hasty)
        for name in "fetch", "upsert", "drop":
            standing.answer(Unanswered.SILENT)
            await failed(hasty, name, METHODS[name], StoreUnavailable, "in time|too long")
            standing.recover()
        await answers(hasty)
    await answers(store)


async def test_a_shorter_time_of_the_client(
    standing: StandIn, where: Where, store: WeaviateStore
) -> None:
    """Time limits that are given to the client hold as well, for reading apart from writing."""
    config = AdditionalConfig(timeout=Timeout(query=0.3, insert=20))
    async with where.store(options={"additional_config": config}) as hasty:
        await answers(hasty)
        standing.answer(Unanswered.SILENT, "search")
        await failed(hasty, "fetch", METHODS["fetch"], StoreUnavailable, "DEADLINE_EXCEEDED")
        standing.recover()
        standing.answer(Unanswered.SILENT, "schema_get")
        await failed(hasty, "upsert", METHODS["upsert"], StoreUnavailable, "too long")
    standing.recover()
    await answers(store)


async def test_a_key_that_is_refused(standing: StandIn, store: WeaviateStore) -> None:
    """Credentials that the server refuses are the configuration's, in every method."""
    for status, code in (401, Code.UNAUTHENTICATED), (403, Code.PERMISSION_DENIED):
        standing.answer(RestAnswer.error(status, "anonymous access not enabled"))
        standing.answer(GrpcAnswer(code, "forbidden"))
        for name, ask in METHODS.items():
            await failed(store, name, ask, Unconfigured, "credentials")
        standing.recover()
    await answers(store)


async def test_a_key() -> None:
    """A key is sent with each request; without it, or with another, every method says so."""
    async with StandIn(api_key="hunter2") as standing:
        where = Where(standing.url, standing.grpc_port)
        async with where.store(api_key="hunter2") as store:
            await filled(store)
            await answers(store)
        assert all(each.headers["authorization"] == "Bearer hunter2" for each in standing.requests)
        options = {"additional_headers": {"Authorization": "Bearer hunter2"}}
        async with where.store(options=options) as store:
            await answers(store)
        for key in None, "hunter3":
            async with where.store(api_key=key) as store:
                for name, ask in METHODS.items():
                    await failed(store, name, ask, Unconfigured, "credentials")


@pytest.mark.parametrize("operation", [None, "meta", "schema_get"])
async def test_a_path_that_a_proxy_does_not_know(
    standing: StandIn, where: Where, store: WeaviateStore, operation: str | None
) -> None:
    """A proxy's 404 is no word on whether a collection is there: drop does not pass over it."""
    async with where.store() as fresh:
        if operation == "schema_get":
            await answers(fresh)
            fresh._targets.forget(TARGET)
        standing.answer(
            RestAnswer(404, b"default backend - 404", {"Content-Type": "text/plain"}), operation
        )
        for name, ask in METHODS.items():
            if operation == "schema_get" and name == "create":
                continue
            error = await failed(fresh, name, ask, Unconfigured, "no address of Weaviate's")
            assert "target" not in str(error)
        await failed(fresh, "drop", lambda each: each.drop(TARGET), Unconfigured)
    standing.recover()
    await answers(store)


async def test_busy(standing: StandIn, store: WeaviateStore) -> None:
    """A server, or a proxy, that asks for less says when to come back, if it says so."""
    for told, seconds in {"7": 7.0, "0": 0.0, "Wed, 21 Oct 2015 07:28:00 GMT": 0.0}.items():
        for status in 429, 503:
            standing.answer(RestAnswer(status, b"busy", {"Retry-After": told}))
            standing.answer(GrpcAnswer(Code.RESOURCE_EXHAUSTED, "busy", (("retry-after", told),)))
            for name in "bm25", "upsert":
                error = await failed(store, name, METHODS[name], StoreUnavailable, "less at once")
                assert isinstance(error, StoreUnavailable)
                assert error.retry_after == seconds
            standing.recover()
    await answers(store)


async def test_too_old() -> None:
    """A server that the client does not serve says so, in every method."""
    async with (
        StandIn("1.26.9") as standing,
        Where(standing.url, standing.grpc_port).store() as store,
    ):
        for name, ask in METHODS.items():
            await failed(store, name, ask, Unconfigured, "of this version")


@pytest.mark.parametrize("method", SEARCHES)
async def test_more_than_a_message_holds(
    standing: StandIn, store: WeaviateStore, method: str
) -> None:
    """What is too much for one message is the caller's, whichever end says so."""
    for text in (
        "CLIENT: Received message larger than max (104858001 vs. 104858000)",
        "grpc: received message larger than max (104858001 vs. 104858000)",
    ):
        standing.answer(GrpcAnswer(Code.RESOURCE_EXHAUSTED, text))
        await failed(store, method, SEARCHES[method], InvalidQueryError, "too much")
