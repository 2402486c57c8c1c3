"""Rrf beside the textbook version in plain Python, and beside ranx."""

import math
import random
import time
import warnings
from collections.abc import Sequence
from typing import Any

from benchmarks.measure import Aim, Contender, Report, Row, installed, race
from soev_retrieval.domain import Hit
from soev_retrieval.engine import Rrf

_TEXTBOOK = "textbook, plain Python"
_OURS = "Rrf"
_RANX = ("ranx, Runs to Run", "ranx, Hits to Hits")


def textbook(ranked: Sequence[Sequence[Hit]], k: int = 60) -> list[Hit]:
    """Reciprocal rank fusion as it is usually written: nothing is said about ties."""
    scores: dict[str, float] = {}
    first: dict[str, Hit] = {}
    for hits in ranked:
        for rank, hit in enumerate(hits, 1):
            scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (k + rank)
            first.setdefault(hit.id, hit)
    order = sorted(scores.items(), key=lambda pair: pair[1], reverse=True)
    return [Hit(id, score, first[id].properties) for id, score in order]


def lists(*, count: int, length: int, seed: int = 1) -> list[list[Hit]]:
    """Ranked lists that draw from one pool of three times their length."""
    pick = random.Random(seed)
    return [
        [
            Hit(f"chunk-{number}", 1 / rank, {"year": 1950 + number % 20})
            for rank, number in enumerate(pick.sample(range(3 * length), length), 1)
        ]
        for _ in range(count)
    ]


async def measured(*, rounds: int = 41, count: int = 10, length: int = 1_000) -> Report:
    """Time the fusions of the same lists, once they have been seen to agree.

    Args:
        rounds: How many numbers to take of each.
        count: How many lists there are.
        length: How many hits each has.
    """
    ranked = lists(count=count, length=length)

    async def plain() -> list[Hit]:
        return textbook(ranked)

    async def ours() -> Sequence[Hit]:
        return await Rrf()("", ranked)

    _agree(await ours(), await plain())
    times = await race({_TEXTBOOK: plain, _OURS: ours}, rounds=rounds, clock=time.thread_time)
    rows = [
        Row(_TEXTBOOK, 1.0, "×", times=times[_TEXTBOOK]),
        Row(_OURS, times[_OURS].over(times[_TEXTBOOK]), "×", Aim(1.5), times[_OURS]),
        *await _ranx_rows(ranked, plain, rounds=rounds),
    ]
    return Report(
        f"Reciprocal rank fusion of {count} lists of {length:,}",
        rows,
        "figure: how many times as long as the textbook version, which makes the same Hits",
    )


async def _ranx_rows(
    ranked: Sequence[Sequence[Hit]], plain: Contender, *, rounds: int
) -> list[Row]:
    """By the clock on the wall, since ranx works in several threads."""
    if not installed("ranx"):
        note = "ranx is not installed: --group bench"
        return [Row(name, None, "×", note=note) for name in _RANX]
    contenders = {_TEXTBOOK: plain, **await _ranx(ranked)}
    times = await race(contenders, rounds=rounds)
    return [Row(name, times[name].over(times[_TEXTBOOK]), "×", times=times[name]) for name in _RANX]


async def _ranx(ranked: Sequence[Sequence[Hit]]) -> dict[str, Contender]:
    import ranx

    def run(hits: Sequence[Hit]) -> Any:
        return ranx.Run({"query": {hit.id: hit.score for hit in hits}})

    def fused(runs: list[Any]) -> Any:
        return ranx.fuse(runs=runs, norm=None, method="rrf", params={"k": 60})

    ready = [run(hits) for hits in ranked]

    async def from_runs() -> object:
        return fused(ready)

    async def from_hits() -> list[Hit]:
        scores = fused([run(hits) for hits in ranked]).to_dict()["query"]
        first = {hit.id: hit for hits in reversed(ranked) for hit in hits}
        order = sorted(scores.items(), key=lambda pair: pair[1], reverse=True)
        return [Hit(id, score, first[id].properties) for id, score in order]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numba, about ranx, while it compiles
        _agree(await from_hits(), textbook(ranked))
    return dict(zip(_RANX, (from_runs, from_hits), strict=True))


def _agree(found: Sequence[Hit], wanted: Sequence[Hit]) -> None:
    scores = {hit.id: hit.score for hit in wanted}
    if len(found) != len(wanted) or not all(
        math.isclose(hit.score, scores[hit.id], rel_tol=1e-9) for hit in found
    ):
        raise AssertionError("the contenders do not fuse to the same scores")
