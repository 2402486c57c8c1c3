"""MemoryStore.near_vector beside bare numpy, and beside the local mode of qdrant-client."""

import itertools
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Aim, Contender, Report, Row, installed, race
from soev_retrieval.domain import Field, FieldSpec, Filter, Record, field
from soev_retrieval.memory import MemoryStore

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

Matrix = NDArray[np.float32]

_PARTS = 100
_LIMIT = 10
_QUERIES = 8  # so few that their numbers stay in the cache, as those of an embedder do
_TARGET = "chunks"


@attrs.frozen
class Case:
    """A filter, and what is fair to expect of it.

    Args:
        name: What it lets through.
        where: The filter.
        parts: The field `part` runs through 0 to 99; those below this number match.
        calls: How many calls make one number.
        aim: How many times as long as bare numpy it may take.
    """

    name: str
    where: Filter | None
    parts: int
    calls: int
    aim: Aim


CASES = (
    Case("no filter", None, _PARTS, 1, Aim(1.3)),
    Case("1 % filter", field("part") == 0, 1, 10, Aim(2.0)),
    Case("50 % filter", field("part") < _PARTS // 2, _PARTS // 2, 1, Aim(1.3)),
)


async def measured(
    *,
    rounds: int = 61,
    rows: int = 100_000,
    dimension: int = 384,
    qdrant_rounds: int = 7,
    qdrant_rows: int = 20_000,
) -> Report:
    """Time the nearest 10 of `rows` vectors, once the contenders have been seen to agree.

    Args:
        rounds: How many numbers to take of each.
        rows: How many vectors there are.
        dimension: How long they are.
        qdrant_rounds: How many numbers to take of qdrant-client, which is slow.
        qdrant_rows: How many vectors to give it; it advises against more than 20,000.
    """
    matrix = _matrix(rows, dimension)
    store = await _store(matrix)
    lines: list[Row] = []
    for case in CASES:
        bare, ours = f"bare numpy, {case.name}", f"MemoryStore, {case.name}"
        contenders = {bare: _numpy(_own(store, rows), case), ours: _memory(store, case, dimension)}
        await _agree(contenders)
        times = await race(contenders, rounds=rounds, calls=case.calls, clock=time.thread_time)
        lines.append(Row(bare, 1.0, "×", times=times[bare]))
        lines.append(Row(ours, times[ours].over(times[bare]), "×", case.aim, times[ours]))
    lines += await _qdrant_rows(matrix[:qdrant_rows], qdrant_rounds)
    return Report(
        f"near_vector, the nearest {_LIMIT} of {rows:,} × {dimension} by cosine",
        lines,
        "figure: how many times as long as bare numpy, which is given the same matrix and the"
        " numbers of the rows that match; for qdrant-client's local mode, as long as MemoryStore"
        " over the same rows. Times are the calling thread's; numpy lets others work with it.",
    )


def _matrix(rows: int, dimension: int) -> Matrix:
    """Vectors of length 1."""
    matrix = np.random.default_rng(7).standard_normal((rows, dimension), dtype=np.float32)
    unit: Matrix = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return unit


def _own(store: MemoryStore, rows: int) -> Matrix:
    """The very memory that the store looks at.

    Of two equal matrices one can take half as long again as the other: it lies worse.
    """
    vectors = store._indexes[_TARGET]._vectors
    assert vectors is not None
    return vectors._matrix[:rows]


def _queries(dimension: int) -> Iterator[list[float]]:
    """The same queries in the same order for each contender, each call another one."""
    return itertools.cycle(_matrix(_QUERIES, dimension)[:, ::-1].tolist())


async def _store(matrix: Matrix) -> MemoryStore:
    store = MemoryStore()
    await store.create(_TARGET, FieldSpec([Field("part", "int")], dimension=matrix.shape[1]))
    await store.upsert(
        _TARGET,
        (Record(str(row), {"part": row % _PARTS}, vector) for row, vector in enumerate(matrix)),
    )
    return store


def _memory(store: MemoryStore, case: Case, dimension: int) -> Contender:
    queries = _queries(dimension)

    async def call() -> list[int]:
        hits = await store.near_vector(
            _TARGET, vector=next(queries), limit=_LIMIT, where=case.where
        )
        return [int(hit.id) for hit in hits]

    return call


def _numpy(unit: Matrix, case: Case) -> Contender:
    queries = itertools.cycle(_matrix(_QUERIES, unit.shape[1])[:, ::-1].copy())
    rows = np.flatnonzero(np.arange(len(unit)) % _PARTS < case.parts)
    scores = _scores_of(unit, rows)

    async def call() -> list[int]:
        found = scores(next(queries))
        best = np.argpartition(found, -_LIMIT)[-_LIMIT:]
        best = best[np.argsort(-found[best])]
        ids: list[int] = rows[best].tolist()
        return ids

    return call


def _scores_of(unit: Matrix, rows: NDArray[np.intp]) -> Callable[[Matrix], Matrix]:
    """The quickest way to the scores of `rows`: to gather half a matrix costs more than it saves."""
    if len(rows) == len(unit):
        return lambda query: unit @ query
    if 4 * len(rows) < len(unit):
        return lambda query: unit[rows] @ query
    return lambda query: (unit @ query)[rows]


async def _qdrant_rows(matrix: Matrix, rounds: int) -> list[Row]:
    names = {case: f"qdrant-client, {len(matrix):,} rows, {case.name}" for case in CASES}
    if not installed("qdrant_client"):
        note = "qdrant-client is not installed: --group bench"
        return [Row(name, None, "×", note=note) for name in names.values()]
    client, store = _client(matrix), await _store(matrix)
    rows = []
    for case, name in names.items():
        contenders = {
            "MemoryStore": _memory(store, case, matrix.shape[1]),
            name: _qdrant(client, case, matrix.shape[1]),
        }
        await _agree(contenders)
        times = await race(contenders, rounds=rounds, clock=time.thread_time)
        rows.append(Row(name, times[name].over(times["MemoryStore"]), "×", times=times[name]))
    client.close()
    return rows


def _client(matrix: Matrix) -> "QdrantClient":
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    size, distance = matrix.shape[1], models.Distance.COSINE
    client.create_collection(_TARGET, models.VectorParams(size=size, distance=distance))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Local mode is not recommended", UserWarning)
        client.upload_collection(
            _TARGET,
            vectors=matrix,
            payload=[{"part": row % _PARTS} for row in range(len(matrix))],
            ids=range(len(matrix)),
        )
    return client


def _qdrant(client: "QdrantClient", case: Case, dimension: int) -> Contender:
    from qdrant_client import models

    queries = _queries(dimension)
    conditions: Any = [models.FieldCondition(key="part", range=models.Range(lt=case.parts))]
    where = None if case.where is None else models.Filter(must=conditions)

    async def call() -> list[Any]:
        found = client.query_points(_TARGET, query=next(queries), limit=_LIMIT, query_filter=where)
        return [point.id for point in found.points]

    return call


async def _agree(contenders: Mapping[str, Contender]) -> None:
    answers = {name: await contender() for name, contender in contenders.items()}
    if len({repr(answer) for answer in answers.values()}) > 1:
        raise AssertionError(f"the contenders do not find the same: {answers}")
