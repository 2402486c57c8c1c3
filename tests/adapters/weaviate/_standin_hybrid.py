"""Two legs made one, in the server's float32."""

from collections.abc import Callable, Iterable

import attrs
import numpy as np

RANKED = 1
"""The wire's number of the fusion that goes by ranks."""


@attrs.frozen
class Leg:
    """What one search found, best first.

    Args:
        weight: What it counts for.
        scores: By UUID: BM25's score, or 1 minus the distance.
    """

    weight: float
    scores: dict[str, np.float32]


def fused(legs: list[Leg], fusion: int) -> list[tuple[str, float]]:
    """UUIDs and their scores, best first; nearly equal ones by the last leg's score, then by UUID."""
    totals: dict[str, np.float32] = {}
    second: dict[str, np.float32] = {}
    for leg in legs:
        one = _by_rank(leg) if fusion == RANKED else _by_score(leg)
        for at, (uuid, score) in enumerate(leg.scores.items()):
            totals[uuid] = one(at, score) + totals.get(uuid, np.float32(0))
            second[uuid] = score
    return [(uuid, float(totals[uuid])) for uuid in _ordered(totals, second)]


def _by_rank(leg: Leg) -> Callable[[int, np.float32], np.float32]:
    return lambda at, score: np.float32(leg.weight / (at + 60))


def _by_score(leg: Leg) -> Callable[[int, np.float32], np.float32]:
    weight = np.float32(leg.weight)
    low, high = min(leg.scores.values(), default=0), max(leg.scores.values(), default=0)
    if low == high:
        return lambda at, score: weight
    return lambda at, score: np.float32(weight * (np.float32(score - low) / np.float32(high - low)))


def _ordered(totals: dict[str, np.float32], second: dict[str, np.float32]) -> Iterable[str]:
    def place(uuid: str) -> tuple[float, float, str]:
        # The server takes scores for equal whose difference is below 1e-7.
        return -round(float(totals[uuid]), 7), -round(float(second[uuid]), 7), uuid

    return sorted(totals, key=place)
