"""A reply that does not answer the request is refused whole."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.domain import RetrievalError, StoreUnavailable, Unconfigured, finite_vector
from soev_retrieval.embedders.openai import OpenAIEmbedder

Server = Any  # of conftest.py
Made = Callable[..., OpenAIEmbedder]
NUMBERS = [0.5, 1, -2.0]


def item(index: Any, embedding: Any = NUMBERS) -> dict[str, Any]:
    return {"object": "embedding", "index": index, "embedding": embedding}


SHAPES: dict[str, Any] = {
    "empty": b"",
    "html": b"<!doctype html><title>Sign in</title>",
    "half": b'{"data": [{"index": 0, "embedding": [1.0',
    "not utf-8": b'{"data": "\xff"}',
    "deep": b"[" * 100_000,
    "null": None,
    "number": 7,
    "list": [item(0), item(1)],
    "an error": {"error": {"message": "overloaded"}},
    "no data": {"object": "list"},
    "null data": {"data": None},
    "mapped data": {"data": {"0": item(0), "1": item(1)}},
    "text data": {"data": "ab"},
    "bare vectors": {"data": [NUMBERS, NUMBERS]},
    "null items": {"data": [None, None]},
}
COUNTS: dict[str, Any] = {
    "none": [],
    "one missing": [item(0)],
    "one too many": [item(0), item(1), item(2)],
}
INDEXES: dict[str, Any] = {
    "twice": [item(0), item(0)],
    "from 1": [item(1), item(2)],
    "negative": [item(0), item(-1)],
    "no index": [{"embedding": NUMBERS}, {"embedding": NUMBERS}],
    "null": [item(None), item(1)],
    "text": [item("0"), item("1")],
    "bool": [item(False), item(True)],
    "float": [item(0.0), item(1.0)],
    "list": [item([0]), item([1])],
}
VECTORS: dict[str, Any] = {
    "NaN": [0.5, float("nan"), 1.0],
    "infinity": [0.5, float("inf"), 1.0],
    "beyond float32": [0.5, 1e39, 1.0],
    "beyond float64": [0.5, 10**400, 1.0],
    "null": [0.5, None, 1.0],
    "text": [0.5, "0.5", 1.0],
    "bool": [0.5, True, 1.0],
    "nested": [[0.5, 1.0, 2.0]],
    "empty": [],
    "no list": None,
    "base64": "AAAAPwAAgD8AAADA",
    "mapping": {"0": 0.5},
    "scalar": 0.5,
}


@pytest.mark.parametrize("body", SHAPES.values(), ids=SHAPES)
async def test_another_shape(server: Server, embedder: Made, body: Any) -> None:
    """What is no JSON object with a list of embeddings is no answer, whatever its status says."""
    server.answers = [server.reply(body), server.right]
    embed = embedder()
    with pytest.raises(StoreUnavailable, match="JSON"):
        await embed.embed(["a", "b"])
    assert await embed("cats") == server.vector("cats")


@pytest.mark.parametrize("data", COUNTS.values(), ids=COUNTS)
async def test_another_count(server: Server, embedder: Made, data: Any) -> None:
    """An embedding for each text, no more and no fewer, or it is no answer."""
    server.answers = [server.reply({"data": data})]
    with pytest.raises(StoreUnavailable, match=f"{len(data)} embeddings for 2 texts"):
        await embedder().embed(["a", "b"])


@pytest.mark.parametrize("data", INDEXES.values(), ids=INDEXES)
async def test_indexes_that_do_not_order(server: Server, embedder: Made, data: Any) -> None:
    """Indexes that do not say which embedding is whose are no answer: nothing is guessed."""
    server.answers = [server.reply({"data": data})]
    with pytest.raises(StoreUnavailable, match="index"):
        await embedder().embed(["a", "b"])


@pytest.mark.parametrize("numbers", VECTORS.values(), ids=VECTORS)
async def test_what_is_no_vector(server: Server, embedder: Made, numbers: Any) -> None:
    """An embedding is a list of finite numbers within float32, or there is no answer."""
    server.answers = [server.reply({"data": [item(0), item(1, numbers)]})]
    with pytest.raises(StoreUnavailable, match="embedding"):
        await embedder().embed(["a", "b"])


async def test_another_dimension(server: Server, embedder: Made) -> None:
    """Vectors that are not as long as `dimension` are a matter of set-up; the error says both."""
    with pytest.raises(Unconfigured, match="3 numbers, not 4"):
        await embedder(dimension=4)("cats")
    assert len(await embedder(dimension=3)("cats")) == 3


@pytest.mark.parametrize("batch", [1, 2])
async def test_vectors_of_two_lengths(server: Server, embedder: Made, batch: int) -> None:
    """Vectors of one call are of one length, within a reply and over all of them."""

    def answer(request: Any) -> Any:
        vectors = {"a": [0.5, 1.0], "b": [0.5, 1.0, 2.0]}
        data = [item(at, vectors[text]) for at, text in enumerate(request.texts)]
        return server.reply({"data": data})

    server.answers = [answer]
    with pytest.raises(StoreUnavailable, match="different lengths"):
        await embedder(batch=batch).embed(["a", "b"])


async def test_whole_numbers_are_floats(server: Server, embedder: Made) -> None:
    """A whole number in a vector comes back as the float it stands for."""
    server.answers = [server.reply({"data": [item(0)]})]
    vector = await embedder()("cats")
    assert [(type(number), number) for number in vector] == [(float, 0.5), (float, 1), (float, -2)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["data", "index", "embedding", "error"]), inner)
    ),
    max_leaves=12,
)
ITEMS = st.fixed_dictionaries(
    {}, optional={"index": st.integers(-1, 2) | JSON, "embedding": st.lists(st.floats()) | JSON}
)


@given(JSON | st.fixed_dictionaries({"data": st.lists(ITEMS, max_size=3)}), st.integers(1, 3))
async def test_any_json(body: Any, count: int) -> None:
    """Whatever JSON answers, it is `count` usable vectors of one length or an error of ours."""
    response = httpx.Response(200, content=json.dumps(body).encode())
    async with httpx.AsyncClient(transport=httpx.MockTransport(lambda _: response)) as client:
        try:
            vectors = await OpenAIEmbedder("m", client=client).embed(["a", "b", "c"][:count])
        except RetrievalError:
            return
    assert len(vectors) == count
    assert len({len(vector) for vector in vectors}) == 1
    assert all(finite_vector(vector, what="it") for vector in vectors)
