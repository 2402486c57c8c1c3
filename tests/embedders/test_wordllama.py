"""The local embedder: unit vectors of one length, None for what has no token, and some sense."""

import math
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.domain import InvalidQueryError
from soev_retrieval.embedders.wordllama import DIMENSION, WordLlamaEmbedder
from soev_retrieval.testing import strategies


@pytest.fixture(scope="module")
def embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


def _closeness(one: Iterable[float] | None, other: Iterable[float] | None) -> float:
    assert one is not None
    assert other is not None
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


@given(st.lists(strategies.texts(), max_size=5))
def test_unit_vectors_or_none(embedder: WordLlamaEmbedder, texts: list[str]) -> None:
    """Each text gives a vector of `dimension` finite numbers and length 1, or None: never NaN."""
    vectors = embedder.embed(texts)
    assert len(vectors) == len(texts)
    for vector in vectors:
        if vector is not None:
            assert len(vector) == embedder.dimension == DIMENSION == 256
            assert all(type(number) is float for number in vector)
            assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)


@given(strategies.queries())
async def test_a_query_and_a_text_are_one(embedder: WordLlamaEmbedder, query: str) -> None:
    """A query has the vector that the same text has among others."""
    beside, alone = embedder.embed(["something else, and rather longer", query])[1], None
    try:
        alone = await embedder(query)
    except InvalidQueryError:
        assert beside is None
    else:
        assert beside is not None
        assert alone == pytest.approx(beside, abs=1e-5)


def test_an_empty_text_has_no_vector(embedder: WordLlamaEmbedder) -> None:
    """The empty text is None, in its place, and costs the others nothing."""
    before, empty, after = embedder.embed(["cat", "", "dog"])
    assert empty is None
    assert _closeness(before, before) == pytest.approx(1, abs=1e-5)
    assert _closeness(after, after) == pytest.approx(1, abs=1e-5)


def test_no_texts_no_vectors(embedder: WordLlamaEmbedder) -> None:
    """Nothing to embed gives nothing."""
    assert embedder.embed([]) == []


async def test_a_query_without_a_token_is_refused(embedder: WordLlamaEmbedder) -> None:
    """A query with nothing to embed is refused, not answered with a vector of no direction."""
    with pytest.raises(InvalidQueryError, match="token"):
        await embedder("")


@pytest.mark.parametrize(
    ("one", "near", "far"),
    [
        ("cat", "kitten", "wing"),
        ("king", "queen", "carburettor"),
        ("how do I reset my password", "recover access to an account", "the lift on a thin wing"),
        ("heat transfer in a pipe", "thermal conduction through a tube", "a poem about the sea"),
    ],
)
def test_it_has_some_sense(embedder: WordLlamaEmbedder, one: str, near: str, far: str) -> None:
    """What means much the same is nearer than what does not."""
    it, close, distant = embedder.embed([one, near, far])
    assert _closeness(it, close) > _closeness(it, distant) + 0.05


def test_two_embedders_agree(embedder: WordLlamaEmbedder) -> None:
    """Another embedder gives the same numbers: an index may outlive the process that filled it."""
    assert WordLlamaEmbedder().embed(["cats and dogs"]) == embedder.embed(["cats and dogs"])
