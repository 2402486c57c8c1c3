"""An attempt is one call: weaviate-client's own retry never stacks under ours."""

import logging
from typing import Any

import grpc
import httpx
import pytest
from grpc.aio import UnaryUnaryMultiCallable

from soev_retrieval.domain import InvalidQueryError, StoreUnavailable
from soev_retrieval.engine import Retrying
from soev_retrieval_weaviate._amended import quietly
from soev_retrieval_weaviate._connection import Address, Connection
from tests.adapters.weaviate.outages import (
    METHODS,
    RECORDS,
    SEARCHES,
    TARGET,
    answers,
    failed,
    filled,
)
from tests.adapters.weaviate.standin import GrpcAnswer, StandIn
from tests.adapters.weaviate.stores import Where

GONE = GrpcAnswer(grpc.StatusCode.UNAVAILABLE, "Socket closed")
OPERATIONS = {"upsert": "batch_objects", "delete": "batch_delete"}
OVER_GRPC = [each for each in METHODS if each not in {"create", "drop"}]
# Where a test fails, it does so before the client has slept its 63 seconds.
SECONDS = 5.0


@pytest.mark.parametrize("method", OVER_GRPC)
async def test_an_attempt_is_one_call(standing: StandIn, method: str) -> None:
    """Of a server that is unavailable each method asks once, and says so at once."""
    where = Where(standing.url, standing.grpc_port)
    async with where.store(timeout_seconds=SECONDS) as store:
        await filled(store)
        await answers(store)
        operation = OPERATIONS.get(method, "search")
        calls = len(standing.sent(operation))
        standing.answer(GONE)
        await failed(store, method, METHODS[method], StoreUnavailable, "Unanswered: UNAVAILABLE")
        # hybrid may be two searches, of which neither is made twice
        assert 1 <= len(standing.sent(operation)) - calls <= (2 if method == "hybrid" else 1)


@pytest.mark.parametrize("method", SEARCHES)
async def test_attempts_are_not_multiplied(standing: StandIn, method: str) -> None:
    """Under Retrying there are as many calls as attempts."""
    where = Where(standing.url, standing.grpc_port)
    async with where.store(timeout_seconds=SECONDS) as store:
        await filled(store)
        await answers(store)
        calls = len(standing.sent("search"))
        await SEARCHES[method](store)
        of_one = len(standing.sent("search")) - calls
        standing.answer(GONE)
        retrying = Retrying(store, attempts=3, backoff=0.0)
        with pytest.raises(StoreUnavailable):
            await SEARCHES[method](retrying)
        assert len(standing.sent("search")) - calls - of_one <= 3 * of_one
        standing.recover()
        standing.answer(GONE, times=1)
        assert len(await SEARCHES[method](retrying)) == 2


@pytest.mark.parametrize("code", [each for each in grpc.StatusCode if each.value[0]])
async def test_no_code_is_retried(standing: StandIn, code: grpc.StatusCode) -> None:
    """Whatever the status is, there is one call of it."""
    where = Where(standing.url, standing.grpc_port)
    async with where.store(timeout_seconds=SECONDS) as store:
        await filled(store)
        await answers(store)
        calls = len(standing.sent("search"))
        standing.answer(GrpcAnswer(code, "what"))
        with pytest.raises(Exception, match=code.name):
            await SEARCHES["fetch"](store)
        assert len(standing.sent("search")) == calls + 1


async def test_what_it_leans_on(standing: StandIn) -> None:
    """The insides of weaviate-client that are amended are there; where not, it goes on without."""
    connection = Connection(Address(standing.url, grpc_port=standing.grpc_port), 5.0)

    async def looked(client: Any) -> Any:
        return client._connection

    inside = await connection.call(looked, operation="fetch")
    calls = {name: call for name, call in vars(inside._grpc_stub).items() if name != "BatchStream"}
    assert {"Search", "BatchObjects", "BatchDelete", "TenantsGet", "Aggregate"} <= {*calls}
    assert not any(isinstance(call, UnaryUnaryMultiCallable) for call in calls.values())
    assert isinstance(inside._client, httpx.AsyncClient)
    assert len(inside._client.event_hooks["response"]) == 1
    assert await connection.version("fetch") == (1, 39, 0)
    await connection.close()


async def test_a_batch_of_which_a_part_fails(
    standing: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    """The client would log the objects that failed, texts and all; under the store it does not."""
    caplog.set_level(logging.DEBUG)
    where = Where(standing.url, standing.grpc_port)
    connection = Connection(Address(standing.url, grpc_port=standing.grpc_port), 5.0)
    async with where.store() as store:
        await filled(store)

        async def written(client: Any) -> Any:
            handle = connection.handle(client, TARGET, None, None)
            return await handle.data.insert_many([{"year": "sesame"}, {"year": 1}])

        done = await connection.call(written, operation="upsert")
        assert [*done.errors] == [0]
        await connection.close()
    assert "sesame" not in caplog.text
    logger = logging.getLogger("weaviate-client")
    with quietly():
        logger.error("sesame")
    logger.error("somebody else's")
    assert [each.getMessage() for each in caplog.records if each.name == "weaviate-client"] == [
        "somebody else's"
    ]


async def test_a_batch_that_fails_as_a_whole(standing: StandIn) -> None:
    """Where every object of a batch fails, that is an error too, and the records stay unnamed."""
    async with Where(standing.url, standing.grpc_port).store() as store:
        await filled(store)
        async with Where(standing.url, standing.grpc_port).client() as client:
            await client.collections.delete(TARGET)
        with pytest.raises(InvalidQueryError, match="there is no target"):
            await store.upsert(TARGET, RECORDS)
