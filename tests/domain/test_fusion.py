"""The hybrid ranking as a value: how scores are scaled, and what is left of a ranking."""

import math
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.domain import Hit, Properties, best_first, fuse_hybrid, fused, scaled

SCORES = st.floats(allow_nan=False, allow_infinity=False)
GREATEST = sys.float_info.max


def lists() -> st.SearchStrategy[list[Hit]]:
    """Hits of a few ids, each once, with any finite scores."""
    scored = st.tuples(st.sampled_from("abcdefg"), SCORES | st.sampled_from([0.0, 1.0, 2.0]))
    return st.lists(scored, unique_by=lambda pair: pair[0]).map(
        lambda pairs: [Hit(id, score, Properties({"was": score})) for id, score in pairs]
    )


def plain(lists: Sequence[Sequence[Hit]], weights: Sequence[float]) -> list[Hit]:
    """Every hit of the fusion, best first."""
    parts: dict[str, list[float]] = {}
    first: dict[str, Hit] = {}
    for hits, weight in zip(lists, weights, strict=True):
        for hit, score in zip(hits, scaled([hit.score for hit in hits]), strict=True):
            first.setdefault(hit.id, hit)
            parts.setdefault(hit.id, []).append(weight * score)
    return best_first(Hit(id, math.fsum(parts[id]), hit.properties) for id, hit in first.items())


@given(st.lists(SCORES, min_size=1))
def test_scores_are_scaled_to_0_and_1(scores: list[float]) -> None:
    """Any finite scores are scaled to 0..1, the least to 0 and the greatest to 1."""
    given_, scales = sorted(scores), scaled(sorted(scores))
    assert all(0 <= scale <= 1 for scale in scales)
    assert scales == sorted(scales)
    assert scales[-1] == 1
    assert scales[0] == (1 if given_[0] == given_[-1] else 0)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], []),
        ([3.0], [1.0]),
        ([5, 5], [1.0, 1.0]),
        ([2.0, 4.0, 3.0], [0.0, 1.0, 0.5]),
        ([1e308, -1e308], [1.0, 0.0]),
        ([-GREATEST, 0.0, GREATEST], [0.0, 0.5, 1.0]),
        ([GREATEST, GREATEST], [1.0, 1.0]),
        ([-1e308, -1e308, 1e308], [0.0, 0.0, 1.0]),
        ([0.0, 5e-324], [0.0, 1.0]),
        ([math.inf, math.inf], [1.0, 1.0]),
        ([-math.inf, 0.0, math.inf], [0.0, 0.5, 1.0]),
        ([-math.inf, 0.0, 1.0], [0.0, 1.0, 1.0]),
    ],
    ids=str,
)
def test_a_worked_scale(scores: list[float], expected: list[float]) -> None:
    """Scores however far apart have a place between 0 and 1, by hand."""
    assert scaled(scores) == expected


@given(lists(), lists(), st.floats(0, 1, exclude_min=True, exclude_max=True), st.integers(1, 9))
def test_a_limit_takes_the_best(
    near: list[Hit], keyword: list[Hit], alpha: float, limit: int
) -> None:
    """A ranking that is cut is the first part of the whole, hit for hit."""
    whole = plain([near, keyword], [alpha, 1 - alpha])
    assert repr(fused([near, keyword], [alpha, 1 - alpha])) == repr(whole)
    cut = fuse_hybrid(near, keyword, alpha=alpha, limit=limit)
    assert repr(cut) == repr(whole[:limit])


def test_no_hit_is_made_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a hundred candidates a search of three makes three hits."""
    made = []

    def counted(id: str, score: float, properties: Properties) -> Hit:
        made.append(id)
        return Hit(id, score, properties)

    near = [Hit(f"{number:02}", -float(number)) for number in range(100)]
    monkeypatch.setattr("soev_retrieval.domain._hybrid.Hit", counted)
    assert [hit.id for hit in fuse_hybrid(near, [], alpha=0.5, limit=3)] == ["00", "01", "02"]
    assert made == ["00", "01", "02"]
