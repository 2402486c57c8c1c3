"""The vectors of one index in one matrix, and the nearest of them, exactly."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soev_retrieval.memory._columns import Mask

_ROUNDOFF = 2.0**-24  # of float32
_SAFE = 1e12  # norms up to here, and down to its inverse, neither overflow nor vanish in float32


def _norm(vector: NDArray[np.float64]) -> float:
    return math.sqrt(vector.dot(vector))


_BLOCK = 4096  # rows


class Vectors:
    """A matrix in float32 that grows by doubling; row i is the vector of row i of the index."""

    def __init__(self, dimension: int, distance: str) -> None:
        self._distance = distance
        self._matrix = np.zeros((0, dimension), np.float32)
        self._norms = np.zeros(0)
        self._there = np.zeros(0, np.bool_)

    def put(self, row: int, vector: Sequence[float] | NDArray[np.float32] | None) -> None:
        """Write the vector of a row, or that it has none."""
        if row >= len(self._there):
            self._grow(max(16, 2 * row))
        self._matrix[row] = 0 if vector is None else vector
        self._norms[row] = _norm(self._matrix[row].astype(np.float64))
        self._there[row] = vector is not None

    def restore(self, vectors: NDArray[np.float32], there: NDArray[np.bool_]) -> None:
        """Write every row at once: which of them have a vector, and theirs."""
        self._matrix = np.zeros((len(there), vectors.shape[1]), np.float32)
        self._matrix[there] = vectors
        self._there = there
        # One by one: over an axis numpy adds up in another order, and the last bit differs.
        norms = (_norm(vector.astype(np.float64)) for vector in self._matrix)
        self._norms = np.fromiter(norms, np.float64, len(there))

    def saved(self, rows: int) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """What `restore` takes, of the first `rows` rows, which are those in use."""
        there = self._there[:rows]
        return there, self._matrix[:rows][there]

    def move(self, source: int, row: int) -> None:
        """Write the vector of the row `source` into `row`."""
        for array in (self._matrix, self._norms, self._there):
            array[row] = array[source]

    def _grow(self, rows: int) -> None:
        more = rows - len(self._there)
        self._matrix = np.pad(self._matrix, ((0, more), (0, 0)))
        self._norms = np.pad(self._norms, (0, more))
        self._there = np.pad(self._there, (0, more))

    def nearest(
        self, vector: Sequence[float], rows: int, limit: int, mask: Mask | None
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The rows that can be among the best `limit`, and their scores.

        One product in float32 finds them, with all that its rounding could have passed over; they
        are scored again in float64, so that equal vectors have equal scores in every call.

        Args:
            vector: The query.
            rows: How many rows of the matrix are in use.
            limit: How many the caller wants.
            mask: The rows to look at, or None for all.

        Returns:
            At least `limit` rows where there are as many, and the score of each: cosine
            similarity, dot product, or minus the distance.
        """
        query = np.asarray(vector, np.float32)
        there = self._there[:rows]
        there = there if mask is None else there & mask
        found = np.flatnonzero(there)
        if limit < len(found):
            found = self._shortlist(query, found, rows, limit)
        return found, self._scores(self._matrix[found].astype(np.float64), query, found)

    def _shortlist(
        self, query: NDArray[np.float32], found: NDArray[np.intp], rows: int, limit: int
    ) -> NDArray[np.intp]:
        norms, length = self._norms[found], float(np.linalg.norm(query.astype(np.float64)))
        greatest = float(norms.max())
        if max(greatest, length) > _SAFE or min(float(norms.min()), length) < 1 / _SAFE:
            return found
        slack = 4 * (len(query) + 4) * _ROUNDOFF
        if self._distance == "manhattan":
            sums = self._manhattan(query, found)
            most = np.partition(sums, limit - 1)[limit - 1]
            near: NDArray[np.intp] = found[sums <= most * (1 + slack)]
            return near
        # Gathering rows costs a copy: worth it for a small part of the matrix only.
        if 4 * len(found) < rows:
            product = self._matrix[found] @ query
        else:
            with np.errstate(over="ignore", invalid="ignore"):  # in rows that are not looked at
                product = (self._matrix[:rows] @ query)[found]
        rough: NDArray[Any]
        match self._distance:
            case "cosine":
                rough, slack = product / norms, slack * length
            case "dot":
                rough, slack = product, slack * greatest * length
            case _:
                rough, slack = 2 * product - norms**2, slack * (greatest + length) ** 2
        least = np.partition(rough, -limit)[-limit]
        shortlist: NDArray[np.intp] = found[rough >= least - slack]
        return shortlist

    def _manhattan(
        self, query: NDArray[np.float32], found: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """No product gives it, so it goes by blocks of rows: all differences at once are many."""
        blocks = (found[start : start + _BLOCK] for start in range(0, len(found), _BLOCK))
        return np.concatenate([np.abs(self._matrix[block] - query).sum(axis=1) for block in blocks])

    def _scores(
        self, matrix: NDArray[np.float64], query: NDArray[np.float32], rows: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        wanted = query.astype(np.float64)
        if self._distance == "euclidean":
            distances: NDArray[np.float64] = np.sqrt(((matrix - wanted) ** 2).sum(axis=1))
            return -distances
        if self._distance == "manhattan":
            sums: NDArray[np.float64] = np.abs(matrix - wanted).sum(axis=1)
            return -sums
        scores: NDArray[np.float64] = (matrix * wanted).sum(axis=1)
        if self._distance == "cosine":
            scores /= self._norms[rows] * np.linalg.norm(wanted)
        return scores
