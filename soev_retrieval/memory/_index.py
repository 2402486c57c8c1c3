"""One target in memory: rows that can be written, and what a search needs of them."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from soev_retrieval.domain import (
    NOTHING,
    Chunk,
    FieldSpec,
    Filter,
    Hit,
    Record,
    Unconfigured,
    Value,
)
from soev_retrieval.memory._columns import Columns, Mask
from soev_retrieval.memory._disk import SavedTarget
from soev_retrieval.memory._keywords import Keywords
from soev_retrieval.memory._vectors import Vectors


class Index:
    """The chunks of one target as rows: ids, properties, terms and vectors side by side.

    A deleted row is filled with the last one, so rows have no lasting order. Columns and the order
    of ids are made anew at the first search after a write.
    """

    def __init__(self, spec: FieldSpec, keywords: Keywords) -> None:
        self.spec = spec
        self._searchable = [field.name for field in spec if field.searchable]
        self._keywords = keywords
        self._vectors = Vectors(spec.dimension, spec.distance) if spec.dimension else None
        self._ids: list[str] = []
        self._row_of: dict[str, int] = {}
        self._properties: list[Mapping[str, Value]] = []
        self._columns: Columns | None = None
        self._ranks: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self._ids)

    def upsert(self, records: Iterable[Record]) -> None:
        """Write records that have been checked."""
        for record in records:
            row = self._row_of.setdefault(record.id, len(self._ids))
            self._ids[row : row + 1] = [record.id]
            self._properties[row : row + 1] = [record.properties]
            self._keywords.put(row, self._texts(record.properties))
            if self._vectors is not None:
                self._vectors.put(row, record.vector)
        self._written()

    def restore(self, saved: SavedTarget) -> None:
        """Write what a file held, which has been checked, into this index, which is empty."""
        self._ids = [chunk.id for chunk in saved.chunks]
        self._row_of = {id: row for row, id in enumerate(self._ids)}
        self._properties = [chunk.properties for chunk in saved.chunks]
        for row, properties in enumerate(self._properties):
            self._keywords.put(row, self._texts(properties))
        if self._vectors is not None:
            self._vectors.restore(saved.vectors, saved.there)
        self._written()

    def delete(self, ids: Iterable[str]) -> None:
        """Remove the rows of these ids."""
        for id in ids:
            if (row := self._row_of.pop(id, None)) is None:
                continue
            last_id, last_properties = self._ids.pop(), self._properties.pop()
            self._keywords.move_last(row)
            if row < len(self._ids):
                self._ids[row], self._properties[row] = last_id, last_properties
                self._row_of[last_id] = row
                if self._vectors is not None:
                    self._vectors.move(len(self._ids), row)
        self._written()

    def saved(self) -> SavedTarget:
        """What a file is to hold: what `restore` takes."""
        chunks = [Chunk(*each) for each in zip(self._ids, self._properties, strict=True)]
        if self._vectors is None:
            none = np.zeros(len(self), np.bool_), np.zeros((0, 0), np.float32)
            return SavedTarget(self.spec, chunks, *none)
        return SavedTarget(self.spec, chunks, *self._vectors.saved(len(self)))

    def near(self, vector: Sequence[float], limit: int, where: Filter | None) -> list[Hit]:
        """The nearest rows, ties by id. The vector has been checked."""
        if self._vectors is None:
            raise Unconfigured("the target declares no dimension, so it has no vectors to compare")
        if not self._ids or where is NOTHING:
            return []
        rows, scores = self._vectors.nearest(vector, len(self), limit, self._mask(where))
        return self._hits(rows, scores, limit)

    def keyword(self, query: str, limit: int, where: Filter | None) -> list[Hit]:
        """The best rows by BM25, ties by id."""
        if not self._searchable:
            raise Unconfigured(
                "the target has no searchable field; declare one: Field(…, searchable=True)"
            )
        if where is NOTHING:
            return []
        scores = self._keywords.scores(query)
        mask = self._mask(where)
        rows = np.flatnonzero(scores > 0 if mask is None else (scores > 0) & mask)
        return self._hits(rows, scores[rows], limit)

    def fetch(
        self, where: Filter | None, limit: int, order_by: str | None, *, descending: bool
    ) -> list[Chunk]:
        """The rows that match, in the order of a field, those that lack it last, ties by id."""
        if where is NOTHING:
            return []
        mask = self._mask(where)
        rows = np.arange(len(self)) if mask is None else np.flatnonzero(mask)
        if order_by is not None:
            keys = self._column_store()[order_by].sort_keys(descending=descending)
            rows = rows[np.lexsort((self._id_ranks()[rows], keys[rows]))]
        return [Chunk(self._ids[row], self._properties[row]) for row in rows[:limit].tolist()]

    def _hits(self, rows: NDArray[np.intp], scores: NDArray[np.float64], limit: int) -> list[Hit]:
        if limit < len(rows):
            least = np.partition(scores, -limit)[-limit]
            rows, scores = rows[scores >= least], scores[scores >= least]
        order = np.lexsort((self._id_ranks()[rows], -scores))[:limit]
        return [
            Hit(self._ids[row], score, self._properties[row])
            for row, score in zip(rows[order].tolist(), scores[order].tolist(), strict=True)
        ]

    def _mask(self, where: Filter | None) -> Mask | None:
        return None if where is None else self._column_store().mask(where)

    def _texts(self, properties: Mapping[str, Value]) -> Iterable[str]:
        for name in self._searchable:
            value = properties.get(name, ())
            yield from map(str, value if isinstance(value, tuple) else (value,))

    def _column_store(self) -> Columns:
        if self._columns is None:
            self._columns = Columns(self._properties)
        return self._columns

    def _id_ranks(self) -> NDArray[np.intp]:
        """The place of each row in the order of ids."""
        if self._ranks is None:
            self._ranks = np.empty(len(self._ids), np.intp)
            self._ranks[sorted(range(len(self._ids)), key=self._ids.__getitem__)] = np.arange(
                len(self._ids)
            )
        return self._ranks

    def _written(self) -> None:
        self._columns = self._ranks = None
