"""WeightedSum against the plain arithmetic."""

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.domain import Hit, InvalidQueryError, Properties
from soev_retrieval.engine import Combine, WeightedSum

Lists = list[list[Hit]]

SCORES = st.sampled_from([0.0, 1.0, 2.0, -1.0, 0.5]) | st.floats(-1e6, 1e6)
WEIGHTS = st.sampled_from([0, 1, 0.5, 2]) | st.floats(0, 1e6)


def lists() -> st.SearchStrategy[Lists]:
    """Some lists of a few ids with any scores, some of them repeated."""
    scored = st.lists(st.tuples(st.sampled_from("abcdefg"), SCORES), max_size=8)
    return st.lists(scored, max_size=4).map(
        lambda each: [
            [Hit(id, score, Properties({"from": number})) for id, score in pairs]
            for number, pairs in enumerate(each)
        ]
    )


def plain(ranked: Lists, weights: Sequence[float]) -> list[tuple[str, float]]:
    """Each list's first scores scaled to 0..1, weighted and summed; absent counts 0; ties by id."""
    parts: dict[str, list[Fraction]] = {}
    for hits, weight in zip(ranked, weights, strict=True):
        scores: dict[str, float] = {}
        for hit in hits:
            scores.setdefault(hit.id, hit.score)
        for id, score in scores.items():
            least, most = min(scores.values()), max(scores.values())
            scaled = 1.0 if least == most else (score - least) / (most - least)
            parts.setdefault(id, []).append(Fraction(weight * scaled))
    sums = [(id, float(sum(each))) for id, each in parts.items()]
    return sorted(sums, key=lambda pair: (-pair[1], pair[0]))


def pairs(ranking: Sequence[Hit]) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in ranking]


async def fused(ranked: Any, combine: Combine | None = None) -> list[tuple[str, float]]:
    return pairs(await (combine or WeightedSum())("q", ranked))


@given(st.data(), lists())
def test_it_is_the_plain_arithmetic(
    virtual: Callable[..., Any], data: st.DataObject, ranked: Lists
) -> None:
    """Scores are the weighted sums of each list's scores scaled to 0..1, best first, ties by id."""
    weights = data.draw(st.lists(WEIGHTS, min_size=len(ranked), max_size=len(ranked)))
    assert virtual(fused(ranked, WeightedSum(weights))) == plain(ranked, weights)


@given(st.data(), lists())
def test_the_order_of_the_lists_never_decides(
    virtual: Callable[..., Any], data: st.DataObject, ranked: Lists
) -> None:
    """The lists in another order make the same ranking with the very same scores."""
    permuted = data.draw(st.permutations(ranked))
    assert virtual(fused(permuted)) == virtual(fused(ranked))


@given(lists())
def test_weights_are_1_unless_said(virtual: Callable[..., Any], ranked: Lists) -> None:
    """Without weights every list counts alike."""
    assert virtual(fused(ranked)) == virtual(fused(ranked, WeightedSum([1] * len(ranked))))


@given(lists())
def test_properties_are_those_of_the_first_appearance(
    virtual: Callable[..., Any], ranked: Lists
) -> None:
    """A hit that is in several lists carries its properties from the first of them."""
    for hit in virtual(WeightedSum()("q", ranked)):
        assert hit.properties == next(
            {"from": number}
            for number, hits in enumerate(ranked)
            if any(hit.id == one.id for one in hits)
        )


@given(lists())
def test_nothing_is_mutated(virtual: Callable[..., Any], ranked: Lists) -> None:
    """The lists and their hits are after the fusion what they were before."""
    before = deepcopy(ranked)
    virtual(WeightedSum()("q", ranked))
    assert ranked == before


async def test_a_worked_example() -> None:
    """Two lists on scales of their own, by hand."""
    near = [Hit("a", 0.9), Hit("b", 0.7), Hit("c", 0.5)]
    keyword = [Hit("b", 12.0), Hit("d", 4.0)]
    ranking = await fused([near, keyword], WeightedSum([0.75, 0.25]))
    assert [id for id, _ in ranking] == ["a", "b", "c", "d"]
    assert [score for _, score in ranking] == pytest.approx([0.75, 0.625, 0.0, 0.0])


async def test_equal_scores_count_in_full() -> None:
    """A list whose hits all score the same, or that has one, gives each of them its weight."""
    equal, one = [Hit("b", 0.0), Hit("a", 0.0)], [Hit("c", -7.0)]
    assert await fused([equal, one], WeightedSum([2, 3])) == [("c", 3.0), ("a", 2.0), ("b", 2.0)]


async def test_scores_may_be_further_apart_than_a_float_is_great() -> None:
    """The greatest and the least of floats are scaled to 1 and 0, and what is between to its place."""
    far = [Hit("a", 1e308), Hit("b", 0.0), Hit("c", -1e308)]
    assert await fused([far]) == [("a", 1.0), ("b", 0.5), ("c", 0.0)]


@pytest.mark.parametrize("ranked", [[], [[]], [[], []]])
async def test_nothing_fuses_to_nothing(ranked: Lists) -> None:
    """Without a hit in any list there is none in the ranking."""
    assert await fused(ranked) == []


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_another_number_of_weights_is_refused(count: int) -> None:
    """One weight for each list, or the error counts both."""
    with pytest.raises(InvalidQueryError, match=f"{count} weights for 2 lists"):
        await fused([[Hit("a", 1.0)], [Hit("b", 1.0)]], WeightedSum([1.0] * count))


@pytest.mark.parametrize("weight", [-1, -0.1, math.nan, math.inf, True, "1", None, 1j], ids=repr)
def test_a_weight_that_is_none_is_refused(weight: Any) -> None:
    """A weight is a finite number of at least 0, or there is no strategy."""
    with pytest.raises(ValueError, match="a weight must be a finite number"):
        WeightedSum([1.0, weight])


def test_it_is_a_combine() -> None:
    """It keeps to the protocol."""
    assert isinstance(WeightedSum(), Combine)
