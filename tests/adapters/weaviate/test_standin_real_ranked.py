"""What the stand-in scores is what a real server scores, where the environment names one."""

import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.adapters.weaviate._standin_both import NAME, Both, needs_server, opened
from tests.adapters.weaviate._standin_client import (
    Bare,
    Refused,
    bm25,
    hybrid,
    joined,
    leaf,
    near,
    numbers,
    prop,
    uuid_of,
)

pytestmark = needs_server

WORDS = [
    *("cat", "dog", "sat", "mat", "user_id", "the", "a", "of", "café", "naïve", "Straße", "42"),
    *("x1", "long-tail", "CAT", "Dog", "quick", "brown", "fox", "jumps", "over", "lazy", "!!!"),
]
PROPERTIES = [
    prop("t"),
    prop("s"),
    prop("lc", tokenization="lowercase"),
    prop("f", tokenization="field"),
    prop("many", "text[]"),
    prop("n", "int"),
]


@pytest.fixture
async def both() -> AsyncIterator[Both]:
    """A stand-in of its own and the server."""
    async with opened() as pair:
        yield pair


def _object(of: random.Random) -> dict[str, Any]:
    def text(most: int) -> str:
        return " ".join(of.choices(WORDS, range(len(WORDS), 0, -1), k=of.randrange(most)))

    result: dict[str, Any] = {
        "t": text(12),
        "s": text(30),
        "lc": text(8),
        "f": of.choice(["", "cat", "the cat"]),
    }
    result |= {"many": [text(4) for _ in range(of.randrange(3))], "n": of.randrange(10)}
    return {name: value for name, value in result.items() if of.random() < 0.9}


async def _filled(both: Both, seed: int, *, count: int = 150, **making: Any) -> random.Random:
    """Objects with texts and vectors, some of them replaced and some deleted."""
    of = random.Random(seed)
    batches = [range(count), of.sample(range(count), 15)]
    parts = [
        (
            {at: _object(of) for at in batch},
            {at: [of.gauss(0, 1) for _ in range(8)] for at in batch},
        )
        for batch in batches
    ]
    gone = of.sample(range(count), 10)
    for each in (both.ours, both.theirs):
        await each.create(NAME, *PROPERTIES, **making)
        for objects, vectors in parts:
            assert not await each.insert(NAME, objects, vectors)
        for at in gone:
            await each.delete(NAME, leaf("EQUAL", "_id", uuid_of(at)))
    return of


async def _scores(place: Bare, where: Any, asked: dict[str, Any]) -> Any:
    """Scores by number, or how it was refused."""
    results = await place.search(NAME, where, **asked)
    if isinstance(results, Refused):
        return results
    near = "near_vector" in asked
    return {
        number: each.metadata.distance if near else each.metadata.score
        for number, each in zip(numbers(results), results, strict=True)
    }


async def _close(both: Both, where: Any, asked: dict[str, Any]) -> None:
    """What both score; the order of nearly equal scores is free, and who of them is the last."""
    ours, theirs = [await _scores(each, where, asked) for each in (both.ours, both.theirs)]
    assert list(ours.values()) == pytest.approx(list(theirs.values()), rel=1e-5, abs=1e-6), asked
    if theirs:
        last = list(theirs.values())[-1]
        for number, score in theirs.items():
            if abs(score - last) > 1e-5:
                assert ours[number] == pytest.approx(score, rel=1e-5, abs=1e-6), asked


def _query(of: random.Random) -> str:
    return " ".join(of.choices(WORDS, k=of.randrange(1, 5)))


@pytest.mark.parametrize("seed", range(2))
async def test_keywords(both: Both, seed: int) -> None:
    """Scores of keywords are the same in one property and in several, weighed and filtered."""
    settings = {"bm25": {"k1": 1.7, "b": 0.4}} if seed else {}
    of = await _filled(both, seed, invertedIndexConfig=settings)
    where = joined("NOT", leaf("LESS_THAN", "n", 4))
    for names in (["t"], ["s"], ["lc"], ["f"], ["many"], ["t", "s"], ["t^3", "lc", "many"], []):
        for filtered in (None, where):
            for _ in range(4):
                asked = bm25(_query(of), *names) | {"limit": 200}
                await _close(both, filtered, asked)


async def test_blank_keywords(both: Both) -> None:
    """What is blank or of stop words finds nothing, but for empty values that are one token."""
    await _filled(both, 3)
    for query in (" ", "the", "the of", "!!!", "_", "\n"):
        for names in (["t"], ["f"], ["lc"], []):
            await _close(both, None, bm25(query, *names) | {"limit": 200})


async def test_keywords_cut_at_the_limit(both: Both) -> None:
    """Of one property the best come at each limit; of several, what their legs have left."""
    of = await _filled(both, 4, count=600)
    for limit in (1, 5, 20):
        for _ in range(5):
            await _close(both, None, bm25(_query(of), "s") | {"limit": limit})


async def test_keywords_of_two_properties_lose_hits(both: Both) -> None:
    """What each property's leg has cut off is missing from the sums, and so are whole hits."""
    of, words = random.Random(8), [f"word{at}" for at in range(60)]

    def text() -> str:
        return " ".join(of.choices(words, range(60, 0, -1), k=of.randrange(20, 90)))

    objects = {at: {"t": text(), "s": text()} for at in range(1500)}
    for place in (both.ours, both.theirs):
        await place.create(NAME, *PROPERTIES)
        assert not await place.insert(NAME, objects)
    lost = 0
    for _ in range(12):
        query = " ".join(of.sample(words, 3))
        few, all = bm25(query, "t", "s") | {"limit": 10}, bm25(query, "t", "s") | {"limit": 5000}
        await _close(both, None, few)
        await _close(both, None, all)
        true = await both.ours.found(NAME, **all)
        lost += len(set(true[:10]) - set(await both.ours.found(NAME, **few)))
    assert lost > 10


@pytest.mark.parametrize("metric", ["cosine", "dot", "l2-squared", "manhattan"])
async def test_neighbours(both: Both, metric: str) -> None:
    """Distances are the same by each metric, filtered and to a bound."""
    of = await _filled(both, 5, vectorIndexConfig={"distance": metric})
    where = joined("NOT", leaf("LESS_THAN", "n", 4))
    for _ in range(5):
        vector = [of.gauss(0, 1) for _ in range(8)]
        for filtered in (None, where):
            for limit, offset in ((10, 0), (20, 5), (200, 0)):
                asked = near(vector) | {"limit": limit, "offset": offset}
                await _close(both, filtered, asked)
            await _close(both, filtered, near(vector, distance=0.9) | {"limit": 200})


@pytest.mark.parametrize("fusion", [1, 2], ids=["ranked", "relative"])
async def test_both(both: Both, fusion: int) -> None:
    """Fused scores are the same, by ranks and by scores, at each weight and limit."""
    of = await _filled(both, 6, count=300)
    where = joined("NOT", leaf("LESS_THAN", "n", 4))
    for alpha in (0, 0.2, 0.5, 0.75, 1, 1.5):
        for filtered in (None, where):
            for limit in (5, 50, 150):
                vector = [of.gauss(0, 1) for _ in range(8)]
                # A server adds words up in any order, and who of equals is among the first 100 is
                # its own affair: a rare word has neither.
                query = of.choice(WORDS[-6:]) if fusion == 1 else _query(of)
                asked = hybrid(query, vector, alpha, "s", fusion_type=fusion)
                await _close(both, filtered, asked | {"limit": limit})


async def test_both_of_a_blank_query(both: Both) -> None:
    """A blank query finds what is empty among the keywords, and counts it."""
    of = await _filled(both, 7)
    for query in ("", " ", "the"):
        for names in (["f"], ["t"], []):
            vector = [of.gauss(0, 1) for _ in range(8)]
            await _close(both, None, hybrid(query, vector, 0.5, *names) | {"limit": 200})
