"""The suite that a SearchIndex is tested with: whose chunks come back, and how many."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from typing import Any, ClassVar

import pytest

from soev_retrieval.domain import Filter, Hit, Record, SchemaViolationError, field
from soev_retrieval.rag import Branch, IndexQuery, SearchIndex
from soev_retrieval.testing._suites import given_by, made

_COLLECTION, _OTHER = "handbook", "archive"
_OWN, _FOREIGN = "north", "south"
_QUERY, _VECTOR = "refund", (1.0, 0.0, 0.0, 0.0)
_COUNT = 12


def passages() -> list[Record]:
    """Passages of two tenants, word for word the same, the foreign ones nearer to the question.

    Each has the text fields `tenant`, `collection` and `text`, an int `page`, and a vector of four
    numbers. Twenty more of the foreign tenant's are nearer than any of the own.
    """
    pairs = [
        _passage(
            f"{tenant}-{n}", tenant, f"a refund is paid within {n + 2} days", n, near * (n + 1)
        )
        for n in range(_COUNT)
        for tenant, near in ((_OWN, 0.5), (_FOREIGN, 0.1))
    ]
    nearest = [
        _passage(f"near-{n}", _FOREIGN, "refund refund refund", n, 0.001 * n) for n in range(20)
    ]
    archived = _passage("archived", _OWN, "a refund of long ago", 0, 0.0)
    elsewhere = Record(archived.id, {**archived.properties, "collection": _OTHER}, archived.vector)
    return [*pairs, *nearest, elsewhere]


def _passage(id: str, tenant: str, text: str, page: int, away: float) -> Record:
    properties = {"tenant": tenant, "collection": _COLLECTION, "text": text, "page": page}
    return Record(id, properties, (1.0, away, 0.0, 0.0))


class SearchIndexConformance:
    """Whether an index shows a tenant its own chunks, all of them that match, and no others.

    ```python
    from soev_retrieval.domain import Field, FieldSpec
    from soev_retrieval.memory import MemoryStore
    from soev_retrieval.rag import Branch, StoreIndex
    from soev_retrieval.testing import SearchIndexConformance

    TEXTS = [Field(name, "text", searchable=name == "text") for name in ("tenant", "collection", "text")]

    async def my_index(passages):
        store = MemoryStore()
        await store.create("all", FieldSpec([*TEXTS, Field("page", "int")], 4))
        await store.upsert("all", passages)
        return StoreIndex(store, name="mine", target="all", collection_field="collection")

    class TestMyIndex(SearchIndexConformance):
        branch = Branch.KEYWORD
        make_index = my_index
    ```

    An index that filters after the fetch fails here: the nearest passages are all somebody else's.
    """

    branch: ClassVar[Branch]
    """How the index is asked."""

    make_index: ClassVar[Callable[[Sequence[Record]], Any]]
    """Makes an index that holds the passages: a function of them that returns it, an awaitable of
    it, or an async context."""

    _runner: ClassVar[asyncio.Runner | None] = None
    _open: ClassVar[AsyncExitStack | None] = None
    _index: ClassVar[Any] = None

    @classmethod
    def setup_class(cls) -> None:
        """Make the index."""
        if not {"make_index", "branch"} <= {name for each in cls.__mro__ for name in vars(each)}:
            pytest.skip("SearchIndexConformance is a base: give make_index and branch")
        cls._runner, cls._open = asyncio.Runner(), AsyncExitStack()
        given = given_by(cls, "make_index")(passages())
        cls._index = cls._runner.run(made(given, cls._open))

    @classmethod
    def teardown_class(cls) -> None:
        """Close it."""
        if cls._runner is not None and cls._open is not None:
            cls._runner.run(cls._open.aclose())
            cls._runner.close()
            cls._runner = cls._open = cls._index = None

    def _search(
        self,
        *,
        k: int,
        tenant: str = _OWN,
        collection: str = _COLLECTION,
        where: Filter | None = None,
    ) -> Sequence[Hit]:
        query = IndexQuery(
            tenant=tenant,
            collection=collection,
            branch=self.branch,
            k=k,
            text=_QUERY,
            vector=_VECTOR if self.branch is Branch.SEMANTIC else None,
            where=where,
        )
        if self._runner is None:
            raise RuntimeError("the index is made in setup_class; call it first")
        found: Sequence[Hit] = self._runner.run(self._index.search(query))
        return found

    def test_it_is_a_search_index(self) -> None:
        """It has a name, and says which branches it serves."""
        is_one = isinstance(self._index, SearchIndex) and bool(self._index.name)
        _expect(is_one, f"{type(self._index).__name__} lacks a name, `supports` or `search`")
        _expect(self._index.supports(self.branch), f"it does not serve its branch, {self.branch}")

    def test_a_foreign_twin_never_comes_back(self) -> None:
        """Of two passages that are word for word the same each tenant sees its own."""
        for tenant in (_OWN, _FOREIGN):
            found = {hit.properties["tenant"] for hit in self._search(k=100, tenant=tenant)}
            _expect(found == {tenant}, f"to {tenant} came passages of {found or 'nobody'}")

    def test_k_hits_come_where_the_nearest_are_foreign(self) -> None:
        """The tenant's predicate is in the search: nothing is dropped after it."""
        for k in (1, 5, _COUNT):
            came = len(self._search(k=k))
            _expect(came == k, f"of {_COUNT} passages {k} were asked for, and {came} came")
        self._expect_ids(range(_COUNT), k=99)

    def test_a_callers_filter_is_in_the_search_too(self) -> None:
        """So is the caller's own filter, beside the tenant's predicate."""
        last = _COUNT - 3
        self._expect_ids(range(last, _COUNT), k=3, where=field("page") >= last)
        self._expect_ids([], k=3, where=field("page") > 99)

    def test_hits_come_best_first_and_once(self) -> None:
        """By falling score, no chunk twice."""
        hits = self._search(k=100)
        scores = [hit.score for hit in hits]
        _expect(scores == sorted(scores, reverse=True), f"the scores do not fall: {scores}")
        _expect(len({hit.id for hit in hits}) == len(hits), "a chunk came twice")

    def test_a_collection_is_searched_alone(self) -> None:
        """What is in another collection is not found."""
        found = [hit.id for hit in self._search(k=99, collection=_OTHER)]
        _expect(found == ["archived"], f"in a collection of one passage {found} were found")

    def test_a_tenant_without_chunks_finds_nothing(self) -> None:
        """No chunk is everybody's."""
        found = [hit.id for hit in self._search(k=9, tenant="nobody")]
        _expect(not found, f"a tenant without passages found {found}")

    def test_a_callers_predicate_on_the_tenant_is_refused(self) -> None:
        """Not merged, not overridden, not dropped: wherever it stands, it is an error."""
        own = field("tenant") == _OWN
        for where in (own, field("tenant") == _FOREIGN, ~own, (field("page") >= 0) & ~(own | own)):
            with pytest.raises(SchemaViolationError):
                self._search(k=1, where=where)

    def _expect_ids(self, pages: Iterable[int], *, k: int, where: Filter | None = None) -> None:
        found = {hit.id for hit in self._search(k=k, where=where)}
        expected = {f"{_OWN}-{page}" for page in pages}
        _expect(found == expected, f"expected {sorted(expected)}, came {sorted(found)}")


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        pytest.fail(otherwise, pytrace=False)
