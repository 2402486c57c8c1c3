"""Any sequence of writes and searches against a plain dict."""

import asyncio
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import attrs
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from soev_retrieval.domain import (
    DISTANCES,
    Chunk,
    Field,
    FieldSpec,
    Filter,
    InvalidQueryError,
    Record,
    matches,
)
from soev_retrieval.memory import MemoryStore
from soev_retrieval.testing import strategies

R = TypeVar("R")

SPEC = FieldSpec(
    [
        Field("body", "text", searchable=True),
        Field("tags", "text", many=True, searchable=True),
        Field("year", "int"),
    ],
    2,
)
WORDS = ("cat", "dog", "wing")
IDS = st.sampled_from("abcdefgh")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
# Few and small, so that many are equally near.
VECTORS = st.tuples(st.integers(-2, 2), st.integers(1, 2))
RECORDS = st.builds(
    Record,
    IDS,
    st.fixed_dictionaries(
        {},
        optional={
            "body": TEXTS,
            "tags": st.lists(TEXTS, min_size=1, max_size=2),
            "year": st.integers(0, 2),
        },
    ),
    st.none() | VECTORS,
)
WHERE = st.none() | strategies.filters(SPEC, max_leaves=3)
BAD_RECORDS = st.sampled_from(
    [
        Record("bad", {"year": "x"}),
        Record("bad", {"other": 1}),
        Record("bad", {}, [1]),
        Record("bad", {}, [float("nan"), 1]),
    ]
)


class StoreAndDict(RuleBasedStateMachine):
    """A store and a dict of records that are written alike, and must answer alike."""

    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._store = MemoryStore(language=None)
        self._spec = SPEC
        self._model: dict[str, Record] = {}

    def teardown(self) -> None:
        self._runner.close()

    def _run(self, call: Coroutine[Any, Any, R]) -> R:
        return self._runner.run(call)

    @initialize(distance=st.sampled_from(DISTANCES), records=st.lists(RECORDS, min_size=4))
    def create(self, distance: str, records: list[Record]) -> None:
        self._spec = attrs.evolve(SPEC, distance=distance)
        self._run(self._store.create("docs", self._spec))
        self.upsert(records)

    @rule(records=st.lists(RECORDS, min_size=1, max_size=6))
    def upsert(self, records: list[Record]) -> None:
        self._run(self._store.upsert("docs", records))
        self._model |= {record.id: record for record in records}

    @rule(records=st.lists(RECORDS, max_size=3), bad=BAD_RECORDS)
    def upsert_with_a_bad_one(self, records: list[Record], bad: Record) -> None:
        with pytest.raises(InvalidQueryError, match="'bad'"):
            self._run(self._store.upsert("docs", [*records, bad]))

    @rule(ids=st.lists(IDS, min_size=1, max_size=3))
    def delete(self, ids: list[str]) -> None:
        self._run(self._store.delete("docs", ids))
        self._model = {id: record for id, record in self._model.items() if id not in ids}

    @precondition(lambda self: len(self._model) > 4)
    @rule()
    def drop_and_create(self) -> None:
        self._run(self._store.drop("docs"))
        self._run(self._store.create("docs", self._spec))
        self._model = {}

    @rule()
    def save_and_load(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "store")
            self._store.save(path)
            self._store = MemoryStore.load(path)

    def _matching(self, where: Filter | None) -> list[Record]:
        records = self._model.values()
        return [each for each in records if where is None or matches(where, each.properties)]

    @rule(where=WHERE, descending=st.booleans(), limit=st.integers(1, 9))
    def fetch(self, where: Filter | None, descending: bool, limit: int) -> None:
        chunks = self._run(
            self._store.fetch(
                "docs", where=where, limit=limit, order_by="year", descending=descending
            )
        )

        def key(record: Record) -> tuple[bool, int, str]:
            year: Any = record.properties.get("year")
            return (year is None, (-year if descending else year) if year else 0, record.id)

        expected = sorted(self._matching(where), key=key)[:limit]
        assert chunks == [Chunk(record.id, record.properties) for record in expected]

    @rule(where=WHERE, vector=VECTORS, limit=st.integers(1, 9))
    def near_vector(self, where: Filter | None, vector: tuple[int, int], limit: int) -> None:
        asked: dict[str, Any] = {"vector": vector, "limit": limit, "where": where}
        hits = self._run(self._store.near_vector("docs", **asked))
        there = [each.id for each in self._matching(where) if each.vector is not None]
        assert len(hits) == min(limit, len(there))
        assert {hit.id for hit in hits} <= set(there)
        assert hits == self._run(self._fresh().near_vector("docs", **asked))

    @rule(where=WHERE, words=st.sets(st.sampled_from(WORDS), min_size=1))
    def bm25(self, where: Filter | None, words: set[str]) -> None:
        query = " ".join(sorted(words))
        hits = self._run(self._store.bm25("docs", query=query, limit=99, where=where))
        fresh = self._run(self._fresh().bm25("docs", query=query, limit=99, where=where))
        assert {hit.id for hit in hits} == {
            record.id for record in self._matching(where) if words & set(_words(record))
        }
        scores = {hit.id: hit.score for hit in fresh}
        assert {hit.id: hit.score for hit in hits} == pytest.approx(scores, rel=1e-9)

    def _fresh(self) -> MemoryStore:
        """A store that never held anything but what the model holds."""
        store = MemoryStore(language=None)
        self._run(store.create("docs", self._spec))
        self._run(store.upsert("docs", self._model.values()))
        return store

    @invariant()
    def answers_as_if_it_had_no_history(self) -> None:
        fresh = self._fresh()
        for store in (self._store, fresh):
            assert repr(store) == f"MemoryStore(docs: {len(self._model)})"
        asked: dict[str, Any] = {"query": "cat dog wing", "vector": [1, 1], "limit": 99}
        for alpha in (0, 1):
            hits = self._run(self._store.hybrid("docs", **asked, alpha=alpha))
            assert hits == self._run(fresh.hybrid("docs", **asked, alpha=alpha))


def _words(record: Record) -> list[str]:
    texts = [record.properties.get("body", ""), *_tuple(record.properties.get("tags", ()))]
    return [word for text in texts for word in str(text).split()]


def _tuple(value: Any) -> tuple[str, ...]:
    return tuple(value)


TestStoreAndDict = StoreAndDict.TestCase
TestStoreAndDict.settings = settings(max_examples=60, stateful_step_count=20)
