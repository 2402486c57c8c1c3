"""What OpenAIEmbedder asks, in which order, how much of it at once, and what it gives back."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from soev_retrieval.domain import Field, FieldSpec, InvalidQueryError, Record, StoreUnavailable
from soev_retrieval.embedders.openai import OpenAIEmbedder
from soev_retrieval.engine import hybrid_search
from soev_retrieval.memory import MemoryStore

Server = Any  # of conftest.py
Made = Callable[..., OpenAIEmbedder]
TEXTS = ["one", "two", "three", "four", "five", "six", "seven"]


def _others() -> set[asyncio.Task[Any]]:
    """The tasks that go on beside this one and the server's."""
    return {
        task
        for task in asyncio.all_tasks() - {asyncio.current_task()}
        if "Server" not in repr(task.get_coro())
    }


async def test_a_query_becomes_its_vector(server: Server, embedder: Made) -> None:
    """One text goes out, and its vector comes back."""
    assert await embedder()("cats") == server.vector("cats")
    assert server.requests[0].body == {"model": "m", "input": ["cats"]}


async def test_it_asks_as_the_protocol_says(server: Server, embedder: Made) -> None:
    """A request is a POST of JSON to `/embeddings` below the url, with the key as a bearer token."""
    await embedder(url=server.url + "/", key="sk-1")("cats")
    request = server.requests[0]
    assert request.line == "POST /v1/embeddings HTTP/1.1"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["authorization"] == "Bearer sk-1"


async def test_it_is_an_embed(server: Server, embedder: Made) -> None:
    """A search takes its vectors, of queries and of records."""
    embed, store = embedder(), MemoryStore()
    await store.create("t", FieldSpec([Field("body", "text", searchable=True)], 3, "euclidean"))
    vectors = zip(TEXTS, await embed.embed(TEXTS), strict=True)
    await store.upsert("t", [Record(text, {}, vector) for text, vector in vectors])
    hits = await hybrid_search(store, "t", "three", limit=1, alpha=1, embed=embed)
    assert [hit.id for hit in hits] == ["three"]


async def test_many_texts_go_in_batches(server: Server, embedder: Made) -> None:
    """No request holds more than `batch` texts, and together they hold each text once, in order."""
    vectors = await embedder(batch=3, at_most=1).embed(iter(TEXTS))
    assert [request.texts for request in server.requests] == [TEXTS[:3], TEXTS[3:6], TEXTS[6:]]
    assert vectors == [server.vector(text) for text in TEXTS]


async def test_the_index_orders(server: Server, embedder: Made) -> None:
    """Embeddings are put in order by their index, however the reply lists them."""

    def shuffled(request: Any) -> Any:
        data = server.data(request)
        return server.reply({"data": data[1::2] + data[::2][::-1]})

    server.answers = [shuffled]
    vectors = await embedder(batch=4).embed(TEXTS)
    assert vectors == [server.vector(text) for text in TEXTS]


async def test_batches_that_overtake(server: Server, embedder: Made) -> None:
    """A batch answered before an earlier one does not come before it."""
    overtaken = asyncio.Event()

    async def late(request: Any) -> Any:
        await overtaken.wait()
        return server.right(request)

    def early(request: Any) -> Any:
        if request.texts == TEXTS[6:]:
            overtaken.set()
        return server.right(request)

    server.answers = [late, early]
    vectors = await embedder(batch=2, at_most=2).embed(TEXTS)
    assert vectors == [server.vector(text) for text in TEXTS]


async def test_no_text_no_request(server: Server, embedder: Made) -> None:
    """Nothing to embed is answered with nothing, and the server is not asked."""
    assert await embedder().embed([]) == []
    assert not server.requests


@pytest.mark.parametrize("text", ["", " \n\t", "\u3000", None, 7, b"secret", "secret\0", "\ud800"])
async def test_a_text_that_is_none(server: Server, embedder: Made, text: Any) -> None:
    """A blank or unportable text is refused, unrepeated, before any is sent, and named in a list."""
    with pytest.raises(InvalidQueryError, match="the query") as alone:
        await embedder()(text)
    with pytest.raises(InvalidQueryError, match="text 2") as among:
        await embedder(batch=1).embed(["a", "b", text])
    assert "secret" not in f"{alone.value!r} {among.value!r}"
    assert not server.requests


async def test_one_text_for_many(server: Server, embedder: Made) -> None:
    """A str is not taken for the sequence of its characters."""
    with pytest.raises(InvalidQueryError, match="several"):
        await embedder().embed("cats")
    assert not server.requests


async def test_at_most_so_many_at_once(server: Server, embedder: Made) -> None:
    """All calls together keep `at_most` requests under way, no fewer and no more."""
    full = asyncio.Event()

    async def held(request: Any) -> Any:
        if server.running == 3:
            full.set()
        await full.wait()
        return server.right(request)

    server.answers = [held]
    embed = embedder(batch=1, at_most=3)
    await asyncio.gather(embed.embed(TEXTS), embed.embed(TEXTS), embed("cats"))
    assert server.most == 3
    assert len(server.requests) == 15


async def test_a_query_passes_a_load(server: Server, embedder: Made) -> None:
    """A query waits for the requests that run, not for all that a long load has yet to send."""
    go = asyncio.Event()

    async def held(request: Any) -> Any:
        await go.wait()
        return server.right(request)

    server.answers = [held]
    embed = embedder(batch=1, at_most=1)
    load = asyncio.create_task(embed.embed(TEXTS))
    await server.until(lambda: server.running == 1)
    query = asyncio.create_task(embed("cats"))
    await asyncio.sleep(0)  # it takes its place
    go.set()
    await asyncio.gather(load, query)
    assert server.requests[1].texts == ["cats"]


async def test_the_first_error_ends_all(server: Server, embedder: Made) -> None:
    """The first batch to fail cancels the others, which have ended when its error is raised."""

    async def fails(request: Any) -> Any:
        await server.until(lambda: server.running == 3)
        return server.reply({}, status=500)

    server.answers = [server.silence, fails, server.silence]
    with pytest.raises(StoreUnavailable, match="500"):
        await embedder(batch=1, at_most=3).embed(TEXTS)
    assert not _others()
    await server.until(lambda: server.running == 0)
    assert len(server.requests) == 3


async def test_a_cancelled_call_leaves_nothing(server: Server, embedder: Made) -> None:
    """A cancellation ends every request, nothing runs on, and the embedder is as good as new."""
    server.answers = [server.silence]
    embed = embedder(batch=1, at_most=3)
    for _ in range(5):
        call = asyncio.create_task(embed.embed(TEXTS))
        await server.until(lambda: server.running == 3)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert not _others()
        await server.until(lambda: server.running == 0)
    server.answers = [server.right]
    assert await embed.embed(TEXTS) == [server.vector(text) for text in TEXTS]


async def test_a_cancel_beats_an_error(server: Server, embedder: Made) -> None:
    """Cancelled as a batch fails, the call ends as cancelled: the cancel is not lost."""

    def fails(request: Any) -> Any:
        asyncio.get_running_loop().call_soon(call.cancel)
        return server.reply({}, status=500)

    server.answers = [server.silence, fails]
    call = asyncio.create_task(embedder(batch=1, at_most=2).embed(TEXTS))
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_cancelled_at_any_moment(server: Server, embedder: Made) -> None:
    """Whichever turn of the loop a cancellation comes in, no task and no connection stays behind."""
    embed = embedder(batch=2, at_most=2)
    for turns in range(60):
        call = asyncio.create_task(embed.embed(TEXTS))
        for _ in range(turns):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait([call])
        assert not _others()
    assert await embed("cats") == server.vector("cats")
    await server.until(lambda: server.connected <= 2)  # those that are kept for the next request
    await embed.aclose()
    await server.until(lambda: server.connected == 0)


async def test_connections_are_used_again(server: Server, embedder: Made) -> None:
    """One call after the other goes over one connection, whatever was cancelled before."""
    embed = embedder(batch=1, at_most=3)
    server.answers = [server.silence]
    call = asyncio.create_task(embed.embed(TEXTS))
    await server.until(lambda: server.running == 3)
    call.cancel()
    await asyncio.wait([call])
    server.answers = [server.right]
    for _ in range(3):
        await embed("cats")
    assert len({request.reader for request in server.requests[3:]}) == 1


async def test_its_own_client_is_closed(server: Server) -> None:
    """Leaving the context closes the connections, and what is closed does not answer."""
    async with OpenAIEmbedder("m", url=server.url) as embed:
        await embed("cats")
    await server.until(lambda: server.connected == 0)
    with pytest.raises(RuntimeError, match="closed"):
        await embed("cats")


async def test_closed_under_way(server: Server, embedder: Made) -> None:
    """A request under way when the embedder is closed is answered, and its connection closed then."""
    go = asyncio.Event()

    async def held(request: Any) -> Any:
        await go.wait()
        return server.right(request)

    server.answers = [held]
    embed = embedder()
    call = asyncio.create_task(embed("cats"))
    await server.until(lambda: server.running == 1)
    await embed.aclose()
    go.set()
    assert await call == server.vector("cats")
    await server.until(lambda: server.connected == 0)


async def test_the_callers_client_stays_open(server: Server) -> None:
    """A client that was given is used, and not closed."""
    async with httpx.AsyncClient(headers={"x-mine": "yes"}) as client:
        async with OpenAIEmbedder("m", url=server.url, client=client) as embed:
            await embed("cats")
        assert not client.is_closed
    assert server.requests[0].headers["x-mine"] == "yes"


@pytest.mark.parametrize(
    "settings",
    [
        {"model": ""},
        {"model": None},
        {"dimension": 0},
        {"dimension": 2.0},
        {"batch": 0},
        {"batch": True},
        {"at_most": 0},
        {"seconds": 0},
        {"seconds": float("nan")},
        {"seconds": float("inf")},
        {"url": "localhost:8080"},
        {"url": "ftp://example.org"},
        {"url": "http://"},
        {"url": None},
    ],
    ids=str,
)
def test_settings_that_are_none(settings: dict[str, Any]) -> None:
    """A setting that cannot be meant is refused when the embedder is made, by its name."""
    with pytest.raises(ValueError, match=next(iter(settings))):
        OpenAIEmbedder(**{"model": "m", **settings})
