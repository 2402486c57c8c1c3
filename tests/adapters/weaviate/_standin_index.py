"""One shard's objects and its inverted index."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from tests.adapters.weaviate._standin_rows import Row, state_rows, value_rows

Vector = NDArray[np.float32]


@attrs.define(eq=False)
class Stored:
    """An object as a shard keeps it. The one vector that has no name is that of the name ""."""

    uuid: str
    properties: dict[str, Any]
    vectors: dict[str, Vector]
    created: int
    updated: int
    doc: int = -1
    values: dict[str, Counter[bytes]] = attrs.field(factory=dict)
    states: set[Row] = attrs.field(factory=set)

    def index(self, config: dict[str, Any], replaced: "Stored | None") -> None:
        """Work out its rows; `replaced` is the object in whose place it comes, vectors and all."""
        own = {"_id": self.uuid}
        if config["invertedIndexConfig"].get("indexTimestamps"):
            own["_creationTimeUnix"] = str(self.created)
            own["_lastUpdateTimeUnix"] = str(self.updated)
        self.values = value_rows(self.properties, own, config)
        before = None if replaced is None else (replaced.properties, replaced.states)
        self.states = state_rows(self.properties, config, before)

    def rows(self) -> Iterator[tuple[str, Counter[bytes]]]:
        """Its keys by bucket."""
        yield from self.values.items()
        for name, key in self.states:
            yield name, Counter([key])


@attrs.define
class Bucket:
    """Rows of document numbers by key, and how often the key is in each."""

    rows: dict[bytes, dict[int, int]] = attrs.field(factory=dict)
    lengths: dict[int, int] = attrs.field(factory=dict)
    _sorted: list[bytes] | None = None
    _seen: set[int] = attrs.field(factory=set)
    _total: int = 0

    @property
    def mean(self) -> float:
        """The mean length, as the server has it in memory: also of documents that are gone."""
        return self._total / max(len(self._seen), 1)

    def add(self, doc: int, terms: Counter[bytes]) -> None:
        """Add a document."""
        self.lengths[doc] = terms.total()
        if terms and doc not in self._seen:
            self._seen.add(doc)
            self._total += terms.total()
        for key, count in terms.items():
            if key not in self.rows:
                self.rows[key] = {}
                self._sorted = None
            self.rows[key][doc] = count

    def drop(self, doc: int, terms: Counter[bytes]) -> None:
        """Remove a document."""
        self.lengths.pop(doc, None)
        for key in terms:
            row = self.rows[key]
            del row[doc]
            if not row:
                del self.rows[key]
                self._sorted = None

    def ordered(self, start: bytes = b"") -> Iterator[bytes]:
        """The keys in their order, from one that need not be there."""
        if self._sorted is None:
            self._sorted = sorted(self.rows)
        for at in range(bisect_left(self._sorted, start), len(self._sorted)):
            yield self._sorted[at]


@attrs.define
class Shard:
    """A part of a collection's objects, with what is asked of them."""

    name: str
    objects: dict[str, Stored] = attrs.field(factory=dict)
    docs: dict[int, Stored] = attrs.field(factory=dict)
    buckets: dict[str, Bucket] = attrs.field(factory=dict)
    dimensions: dict[str, int] = attrs.field(factory=dict)
    _next: int = 0

    def bucket(self, name: str) -> Bucket:
        """The bucket of that name."""
        return self.buckets.setdefault(name, Bucket())

    def put(self, stored: Stored, config: dict[str, Any]) -> None:
        """Take an object in the place of the one of its UUID."""
        before = self.drop(stored.uuid)
        same = before is not None and _same(before.vectors, stored.vectors)
        if before is not None and same:
            stored.doc = before.doc
        else:
            stored.doc, self._next = self._next, self._next + 1
        self.objects[stored.uuid] = self.docs[stored.doc] = stored
        stored.index(config, before if same else None)
        for name, terms in stored.rows():
            self.bucket(name).add(stored.doc, terms)
        for name, vector in stored.vectors.items():
            self.dimensions.setdefault(name, len(vector))

    def drop(self, uuid: str) -> Stored | None:
        """Remove an object; it, if it was there."""
        stored = self.objects.pop(uuid, None)
        if stored is not None:
            del self.docs[stored.doc]
            for name, terms in stored.rows():
                self.bucket(name).drop(stored.doc, terms)
        return stored

    def by_uuid(self) -> list[Stored]:
        """All objects in the order of their UUIDs."""
        return [self.objects[uuid] for uuid in sorted(self.objects)]


def _same(some: dict[str, Vector], others: dict[str, Vector]) -> bool:
    return some.keys() == others.keys() and all(
        np.array_equal(vector, others[name]) for name, vector in some.items()
    )
