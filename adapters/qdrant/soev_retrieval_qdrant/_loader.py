"""Collections of our own: created, filled, emptied."""

import asyncio
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

import attrs
from qdrant_client import models

from soev_retrieval.domain import (
    Record,
    RetrievalError,
    Target,
)
from soev_retrieval_qdrant._connection import Connection
from soev_retrieval_qdrant._errors import is_missing_point, is_there_already
from soev_retrieval_qdrant._layout import Layout
from soev_retrieval_qdrant._making import (
    TERMS,
    VECTOR,
    WRITE,
    Made,
    creation,
    indexes_of,
    payload_of,
    point_id,
    text_of,
)

BATCH = 256
"""How many points are sent at once, at the most."""

_BYTES = 8_000_000  # of them, about; the server takes 32 MB
_DRIFT = 0.1
_DELETED = 10_000
_PATIENCE = 10  # how often a page is read again, of which points are gone


class Loading:
    """Writes to collections that `create` made.

    The weight of a term depends on the average length of a text, which is known only by and by. It
    is counted over all texts that were ever loaded and kept with the collection. Where it has moved
    by more than a tenth since the vectors were weighed, they are weighed anew. What few texts add is
    kept here until they are a tenth of all, so that not every write changes the collection.

    Args:
        connection: Where they are.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._turns = WeakValueDictionary[Target, asyncio.Lock]()
        self._unwritten: dict[Target, tuple[int, int]] = {}

    def turn(self, target: Target) -> asyncio.Lock:
        """What is held while texts are counted and written: one after the other."""
        return self._turns.setdefault(target, asyncio.Lock())

    async def create(self, target: Target, made: Made) -> None:
        """Make the collection unless it is there, and the indexes that it lacks."""
        try:
            await self._connection.call(
                lambda client: client.create_collection(target, **creation(made)),
                operation="create",
            )
        except RetrievalError as error:
            if not is_there_already(error):
                raise

    async def index(self, target: Target, made: Made) -> None:
        """Make the payload indexes. Local mode keeps none, and looks at every point."""
        if self._connection.is_local:
            return
        for path, kind in indexes_of(made):
            await self._connection.call(
                lambda client, path=path, kind=kind: client.create_payload_index(  # type: ignore[misc]
                    target, path.quoted, field_schema=kind, wait=True
                ),
                operation="create",
            )

    async def upsert(
        self, target: Target, made: Made, layout: Layout, records: Sequence[Record]
    ) -> None:
        """Write the records to a collection as it is now, in turn."""
        if not made.searchable:
            await self._write(target, self._points(records, made, layout))
            return
        counted = _counted(made, records, self._unwritten.get(target, (0, 0)))
        weighed = _weighed_anew(counted)
        if weighed is not counted and made.weighed[1]:
            await self._weigh_anew(target, weighed, layout)
        await self._write(target, self._points(records, weighed, layout))
        if _is_worth_writing(made, weighed):
            await self._note(target, weighed)
            self._unwritten.pop(target, None)
        else:
            self._unwritten[target] = weighed.texts - made.texts, weighed.terms - made.terms

    async def delete(self, target: Target, ids: Sequence[str]) -> None:
        """Remove the points of these chunks."""
        for start in range(0, len(ids), _DELETED):
            points: list[Any] = [point_id(id) for id in ids[start : start + _DELETED]]
            await self._connection.call(
                lambda client, points=points: client.delete(  # type: ignore[misc]
                    target, points_selector=models.PointIdsList(points=points), wait=True
                ),
                operation="delete",
            )

    async def drop(self, target: Target) -> None:
        """Remove the collection."""
        self._unwritten.pop(target, None)
        await self._connection.call(
            lambda client: client.delete_collection(target), operation="drop"
        )

    def _points(
        self, records: Sequence[Record], made: Made, layout: Layout
    ) -> list[models.PointStruct]:
        write, here = secrets.randbits(52), self._connection.is_local
        return [_point(record, made, layout, write, here=here) for record in records]

    async def _write(self, target: Target, points: Sequence[models.PointStruct]) -> None:
        for batch in _batches(points):
            await self._connection.call(
                lambda client, batch=batch: client.upsert(target, points=batch, wait=True),  # type: ignore[misc]
                operation="upsert",
            )

    async def _note(self, target: Target, made: Made) -> None:
        await self._connection.call(
            lambda client: client.update_collection(target, metadata=made.metadata()),
            operation="upsert",
        )

    async def _weigh_anew(self, target: Target, made: Made, layout: Layout) -> None:
        """Make the sparse vectors of every point that is there with other weights."""
        texts = [layout.sources[name].read_from for name in made.searchable]
        selector = layout.of([*texts, WRITE])
        start, again = None, _PATIENCE
        while True:
            points, following = await self._connection.call(
                lambda client, start=start: client.scroll(  # type: ignore[misc]
                    target, limit=BATCH, offset=start, with_payload=selector
                ),
                operation="upsert",
            )
            try:
                await self._weigh(target, points, made)
            except RetrievalError as error:
                if not is_missing_point(error) or not again:
                    raise
                again -= 1  # somebody deletes meanwhile: the same page without it
                continue
            if following is None:
                return
            start, again = following, _PATIENCE

    async def _weigh(self, target: Target, points: Sequence[models.Record], made: Made) -> None:
        """Give points other weights, but for those that somebody wrote anew meanwhile."""
        here = self._connection.is_local
        vectors = [
            models.PointVectors(id=point.id, vector={TERMS: terms})
            for point in points
            if (terms := _terms(point.payload or {}, made, here=here)) is not None
        ]
        if not vectors:
            return
        writes = sorted({WRITE.read(point.payload or {}) for point in points})
        unchanged = models.FieldCondition(key=WRITE.quoted, match=models.MatchAny(any=writes))
        await self._connection.call(
            lambda client: client.update_vectors(
                target,
                points=vectors,
                update_filter=models.Filter(must=[unchanged]),
                wait=True,
            ),
            operation="upsert",
        )


def _point(
    record: Record, made: Made, layout: Layout, write: int, *, here: bool
) -> models.PointStruct:
    vectors: dict[str, Any] = {}
    if record.vector is not None:
        vectors[VECTOR] = _plain(record.vector)
    if made.searchable and (terms := _terms(record.properties, made, here=here)) is not None:
        vectors[TERMS] = terms
    # All of it is checked, number by number: the client need not do so again.
    return models.PointStruct.model_construct(
        id=point_id(record.id), vector=vectors, payload=payload_of(record, layout.sources, write)
    )


def _plain(vector: Any) -> list[float]:
    """The numbers of a vector, none of them of a kind that JSON does not have."""
    return vector.tolist() if hasattr(vector, "tolist") else [float(each) for each in vector]


def _terms(properties: Mapping[str, Any], made: Made, *, here: bool) -> Any:
    """The sparse vector of a point, or None where it has no terms."""
    text = text_of(properties, made.searchable)
    if not text.strip():
        return None
    terms = made.analysis.loaded(text, made.weights, here=here)
    if isinstance(terms, models.SparseVector) and not terms.indices:
        return None
    return terms


def _counted(made: Made, records: Sequence[Record], unwritten: tuple[int, int]) -> Made:
    """With the texts of these records counted in, and those that are not written down."""
    lengths = [
        made.analysis.length(text_of(record.properties, made.searchable)) for record in records
    ]
    texts = [length for length in lengths if length]
    return attrs.evolve(
        made,
        texts=made.texts + unwritten[0] + len(texts),
        terms=made.terms + unwritten[1] + sum(texts),
    )


def _weighed_anew(made: Made) -> Made:
    """Weighed by what is counted, where that has moved; else the same."""
    if not made.terms:
        return made
    average = made.terms / made.texts
    if made.weighed[1] and abs(average / made.weights.average - 1) <= _DRIFT:
        return made
    return attrs.evolve(made, weighed=(made.texts, made.terms))


def _is_worth_writing(before: Made, after: Made) -> bool:
    """Whether so many texts came that what is written down should know of them."""
    return after.weighed != before.weighed or after.texts >= (1 + _DRIFT) * before.texts


def _batches(points: Sequence[models.PointStruct]) -> Iterator[list[models.PointStruct]]:
    batch: list[models.PointStruct] = []
    size = 0
    for point in points:
        more = _size(point)
        if batch and (len(batch) == BATCH or size + more > _BYTES):
            yield batch
            batch, size = [], 0
        batch.append(point)
        size += more
    if batch:
        yield batch


def _size(point: models.PointStruct) -> int:
    """How many bytes a point is as JSON, about."""
    vectors: Any = point.vector
    vector = vectors.get(VECTOR) or ()
    return 22 * len(vector) + 4 * len(str(point.payload)) + 500
