"""Rrf and WeightedRrf against the textbook."""

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.domain import Hit, InvalidQueryError, Properties
from soev_retrieval.engine import Combine, Rrf, WeightedRrf

Lists = list[list[Hit]]


def hits(list_number: int, ids: Sequence[str]) -> list[Hit]:
    return [Hit(id, 9.0 - n, Properties({"from": list_number})) for n, id in enumerate(ids)]


def lists(*, repeats: bool) -> st.SearchStrategy[Lists]:
    """Some lists of a few ids, so that many hits meet."""
    ids = st.lists(st.sampled_from("abcdefg"), max_size=7, unique=not repeats)
    return st.lists(ids, max_size=5).map(lambda each: [hits(n, ids) for n, ids in enumerate(each)])


def textbook(ranked: Lists, k: int, weights: Sequence[float]) -> list[tuple[str, float]]:
    """The formula as the paper has it: for each document the sum over the lists that rank it."""
    documents = {hit.id for hits in ranked for hit in hits}
    scores, best = {}, {}
    for document in documents:
        ranks = {
            number: next(rank for rank, hit in enumerate(hits, 1) if hit.id == document)
            for number, hits in enumerate(ranked)
            if any(hit.id == document for hit in hits)
        }
        parts = [Fraction(weights[number] / (k + rank)) for number, rank in ranks.items()]
        scores[document], best[document] = float(sum(parts)), min(ranks.values())
    order = sorted(documents, key=lambda id: (-scores[id], best[id], id))
    return [(id, scores[id]) for id in order]


def pairs(ranking: Sequence[Hit]) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in ranking]


async def fused(ranked: Any, combine: Combine | None = None) -> list[tuple[str, float]]:
    return pairs(await (combine or Rrf())("q", ranked))


KS = st.sampled_from([0, 1, 60]) | st.integers(0, 1000)


@given(lists(repeats=True), KS)
def test_it_is_the_textbook(virtual: Callable[..., Any], ranked: Lists, k: int) -> None:
    """Scores are the sums of 1 / (k + rank), best first, ties by best rank and then id."""
    assert virtual(fused(ranked, Rrf(k))) == textbook(ranked, k, [1.0] * len(ranked))


@given(st.data(), lists(repeats=True), KS)
def test_the_order_of_the_lists_never_decides(
    virtual: Callable[..., Any], data: st.DataObject, ranked: Lists, k: int
) -> None:
    """The lists in another order make the same ranking with the very same scores."""
    permuted = data.draw(st.permutations(ranked))
    assert virtual(fused(permuted, Rrf(k))) == virtual(fused(ranked, Rrf(k)))


@given(lists(repeats=True))
def test_properties_are_those_of_the_first_appearance(
    virtual: Callable[..., Any], ranked: Lists
) -> None:
    """A hit that is in several lists carries its properties from the first of them."""
    for hit in virtual(Rrf()("q", ranked)):
        assert hit.properties == next(
            {"from": number}
            for number, hits in enumerate(ranked)
            if any(hit.id == one.id for one in hits)
        )


@given(lists(repeats=True))
def test_nothing_is_mutated(virtual: Callable[..., Any], ranked: Lists) -> None:
    """The lists and their hits are after the fusion what they were before."""
    before = deepcopy(ranked)
    virtual(Rrf()("q", ranked))
    assert ranked == before


async def test_a_worked_example() -> None:
    """Two lists and k = 60, by hand."""
    ranked = [hits(0, "abc"), hits(1, "bd")]
    assert await fused(ranked) == [
        ("b", 1 / 62 + 1 / 61),
        ("a", 1 / 61),
        ("d", 1 / 62),
        ("c", 1 / 63),
    ]


async def test_ties_go_to_the_best_rank() -> None:
    """Of equal scores the one with the best rank in any list comes first, whatever its id."""
    # 1/2 + 1/2 of two second ranks is 1/1 of one first rank, where k is 0.
    ranked = [hits(0, "za"), hits(1, ["y", "a"])]
    assert await fused(ranked, Rrf(k=0)) == [("y", 1.0), ("z", 1.0), ("a", 1.0)]


async def test_ties_of_rank_go_to_the_id() -> None:
    """Of equal scores and ranks the lower id comes first, in whatever list it is."""
    for ranked in ([hits(0, "b"), hits(1, "a")], [hits(0, "a"), hits(1, "b")]):
        assert [id for id, _ in await fused(ranked)] == ["a", "b"]


async def test_a_hit_counts_once_in_a_list() -> None:
    """A list that repeats a hit counts it at its best rank, and the ranks of others stay."""
    assert await fused([hits(0, "aab")]) == [("a", 1 / 61), ("b", 1 / 63)]


@pytest.mark.parametrize("ranked", [[], [[]], [[], [], []]])
async def test_nothing_fuses_to_nothing(ranked: Lists) -> None:
    """Without a hit in any list there is none in the ranking."""
    assert await fused(ranked) == []


async def test_scores_are_not_read() -> None:
    """Ranks only: lists with the same order and other scores fuse alike, NaN or not."""
    odd = [[Hit("b", math.nan), Hit("a", math.inf)], [Hit("a", -5.0)]]
    assert await fused(odd) == await fused([hits(0, "ba"), hits(1, "a")])


async def test_any_sequence_of_sequences_will_do() -> None:
    """Tuples fuse like lists: a store may answer with either."""
    ranked = [hits(0, "abc"), hits(1, "bd")]
    assert await fused(tuple(map(tuple, ranked))) == await fused(ranked)


async def test_a_larger_k_evens_the_ranks_out() -> None:
    """With a small k one first rank beats two third ranks, with a large one it does not."""
    ranked = [hits(0, "axb"), hits(1, "yzb")]
    assert (await fused(ranked, Rrf(k=0)))[0][0] == "a"
    assert (await fused(ranked, Rrf(k=60)))[0][0] == "b"


def test_k_is_60_unless_said() -> None:
    """The rank constant of the paper is the default."""
    assert Rrf() == Rrf(60) == Rrf(k=60) != Rrf(k=61)


WEIGHTS = st.sampled_from([0, 0.0, 1, 0.5, 2]) | st.floats(0, 1e6)


@given(st.data(), lists(repeats=True), KS)
def test_weighted_it_is_the_weighted_textbook(
    virtual: Callable[..., Any], data: st.DataObject, ranked: Lists, k: int
) -> None:
    """Scores are the sums of weight / (k + rank), ordered as in Rrf."""
    weights = data.draw(st.lists(WEIGHTS, min_size=len(ranked), max_size=len(ranked)))
    assert virtual(fused(ranked, WeightedRrf(weights, k))) == textbook(ranked, k, weights)


@given(lists(repeats=True))
def test_equal_weights_are_rrf(virtual: Callable[..., Any], ranked: Lists) -> None:
    """With each weight 1 it is Rrf, properties and all."""
    weighted = WeightedRrf([1] * len(ranked))
    assert virtual(weighted("q", ranked)) == virtual(Rrf()("q", ranked))


async def test_a_weight_of_nothing_still_lists() -> None:
    """A list with weight 0 adds no score, and its hits are there all the same."""
    ranked = [hits(0, "ab"), hits(1, "bc")]
    assert await fused(ranked, WeightedRrf([1, 0])) == [("a", 1 / 61), ("b", 1 / 62), ("c", 0.0)]


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_another_number_of_weights_is_refused(count: int) -> None:
    """One weight for each list, or the error counts both."""
    with pytest.raises(InvalidQueryError, match=f"{count} weights for 2 lists"):
        await fused([hits(0, "a"), hits(1, "b")], WeightedRrf([1.0] * count))


@pytest.mark.parametrize("k", [-1, 2.5, 60.0, True, "60", None, math.nan], ids=repr)
@pytest.mark.parametrize("make", [Rrf, lambda k: WeightedRrf([1], k)], ids=["Rrf", "WeightedRrf"])
def test_a_k_that_is_none_is_refused(make: Callable[[Any], Any], k: Any) -> None:
    """`k` is an int of at least 0, or there is no strategy."""
    with pytest.raises(ValueError, match="k must be an int of at least 0"):
        make(k)


@pytest.mark.parametrize("weight", [-1, -0.1, math.nan, math.inf, True, "1", None, 1j], ids=repr)
def test_a_weight_that_is_none_is_refused(weight: Any) -> None:
    """A weight is a finite number of at least 0, or there is no strategy."""
    with pytest.raises(ValueError, match="a weight must be a finite number"):
        WeightedRrf([1.0, weight])


@pytest.mark.parametrize("combine", [Rrf(), WeightedRrf([1])], ids=str)
def test_they_are_combines(combine: object) -> None:
    """Each keeps to the protocol."""
    assert isinstance(combine, Combine)
