"""The embedded store."""

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeVar

from soev_retrieval.analysis import Analysis
from soev_retrieval.domain import (
    HYBRID_DEPTH,
    Chunk,
    FieldSpec,
    Filter,
    Hit,
    InvalidQueryError,
    Record,
    Target,
    Unconfigured,
    check,
    check_count,
    check_filter,
    check_hybrid,
    check_ids,
    check_limit,
    check_number,
    check_order,
    check_query,
    check_records,
    check_spec,
    check_vector,
    default_alpha,
    fuse_hybrid,
    hybrid_depth,
    portable_name,
    simplify,
)
from soev_retrieval.memory._disk import Saved, read, write
from soev_retrieval.memory._index import Index
from soev_retrieval.memory._keywords import Keywords

T = TypeVar("T")


class MemoryStore:
    """A VectorStore and Loader in the memory of this process, exact and complete.

    Near vectors are found by looking at all of them (cosine, dot product, euclidean or
    manhattan distance, vectors kept in float32), keywords by BM25 (Lucene's form: every score is above 0), filters by
    columns. It is the embedded default, and the oracle that other stores are compared with.

    Searches do not leave the event loop: a search of 100,000 vectors of 384 numbers holds it for
    some 3 to 15 ms. The first search after a write makes anew what depends on every chunk: the columns
    that its filter names, and for keywords the term statistics.

    Args:
        alpha: The weight of the vector side of `hybrid` where the call names none, 0 to 1.
        depth: How many hits each leg of `hybrid` brings at the least.
        language: The language of stop words and stemming, or None to search words as they are.
        k1: How soon BM25 has seen enough of one word.
        b: How much BM25 counts the length of a text, 0 to 1.

    Raises:
        InvalidQueryError: A setting is not one of the above.
    """

    def __init__(
        self,
        *,
        alpha: float = 0.5,
        depth: int = HYBRID_DEPTH,
        language: str | None = "english",
        k1: float = 1.2,
        b: float = 0.75,
    ) -> None:
        self._alpha = default_alpha(alpha)
        self._depth = check_count(depth, "depth")
        self._analysis = Analysis(language)
        self._k1, self._b = check_number(k1, "k1"), check_number(b, "b", most=1)
        self._indexes: dict[Target, Index] = {}

    async def hybrid(
        self,
        target: Target,
        *,
        query: str,
        vector: Sequence[float] | None = None,
        limit: int,
        where: Filter | None = None,
        alpha: float | None = None,
    ) -> Sequence[Hit]:
        """As `VectorStore.hybrid`. It does not embed: with `vector` None, `alpha` must be 0."""
        index = self._index(target)
        query, limit = check_query(query), check_limit(limit)
        weight, vector = check_hybrid(alpha, vector, default=self._alpha, store="MemoryStore")
        if weight == 0 or vector is None:
            return await self.bm25(target, query=query, limit=limit, where=where)
        if weight == 1:
            return await self.near_vector(target, vector=vector, limit=limit, where=where)
        numbers = check_vector(vector, index.spec.dimension, index.spec.distance)
        where = self._filter(where, index)
        depth = hybrid_depth(limit, self._depth)
        near = index.near(numbers, depth, where)
        keyword = index.keyword(query, depth, where)
        return fuse_hybrid(near, keyword, alpha=weight, limit=limit)

    async def near_vector(
        self,
        target: Target,
        *,
        vector: Sequence[float],
        limit: int,
        where: Filter | None = None,
    ) -> Sequence[Hit]:
        """As `VectorStore.near_vector`: exact, ties by id."""
        index = self._index(target)
        numbers = check_vector(vector, index.spec.dimension, index.spec.distance)
        limit = check_limit(limit)
        return index.near(numbers, limit, self._filter(where, index))

    async def bm25(
        self, target: Target, *, query: str, limit: int, where: Filter | None = None
    ) -> Sequence[Hit]:
        """As `VectorStore.bm25`: over all searchable fields as one text, ties by id."""
        index = self._index(target)
        query, limit = check_query(query), check_limit(limit)
        return index.keyword(query, limit, self._filter(where, index))

    async def fetch(
        self,
        target: Target,
        *,
        where: Filter | None = None,
        limit: int,
        order_by: str | None = None,
        descending: bool = False,
    ) -> Sequence[Chunk]:
        """As `VectorStore.fetch`."""
        index = self._index(target)
        limit = check_limit(limit)
        check_order(order_by, index.spec)
        return index.fetch(self._filter(where, index), limit, order_by, descending=descending)

    async def fields(self, target: Target) -> FieldSpec:
        """As `VectorStore.fields`: the spec that the target was created with."""
        return self._index(target).spec

    async def create(self, target: Target, spec: FieldSpec) -> None:
        """As `Loader.create`. Serves every operator, `under` where a field declares it."""
        portable_name(target, "the name of a target")
        check_spec(spec, store="MemoryStore")
        if (there := self._indexes.get(target)) is None:
            self._indexes[target] = self._made(spec)
        elif there.spec != spec:
            raise InvalidQueryError(
                f"target {target!r} exists with another spec; drop it first", target=target
            )

    async def upsert(self, target: Target, records: Iterable[Record]) -> None:
        """As `Loader.upsert`."""
        index = self._index(target)
        index.upsert(check_records(records, index.spec))

    async def delete(self, target: Target, ids: Iterable[str]) -> None:
        """As `Loader.delete`."""
        index = self._index(target)
        index.delete(check_ids(ids))

    async def drop(self, target: Target) -> None:
        """As `Loader.drop`."""
        self._indexes.pop(portable_name(target, "the name of a target"), None)

    def save(self, path: str | PathLike[str]) -> None:
        """Write every target to the file `path`, which holds the old content or the new, never half.

        A file that is there keeps its mode; a new one has that of any file that is opened to write.

        Raises:
            OSError: The file cannot be written.
        """
        settings = {
            "alpha": self._alpha,
            "depth": self._depth,
            "language": self._analysis.language,
            "k1": self._k1,
            "b": self._b,
        }
        targets = {target: index.saved() for target, index in self._indexes.items()}
        write(Path(path), Saved(settings, targets))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "MemoryStore":
        """The store that `save` wrote to the file `path`.

        Raises:
            OSError: The file cannot be read, or there is none.
            Unconfigured: It is no such file, or it is damaged.
        """
        content = Path(path).read_bytes()
        try:
            return cls._restored(read(content))
        except Exception as error:
            message = f"{path} is no saved MemoryStore, or it is damaged: {error}"
            raise Unconfigured(message, store="MemoryStore", operation="load") from error

    @classmethod
    def _restored(cls, saved: Saved) -> "MemoryStore":
        store = cls(**saved.settings)
        for target, each in saved.targets.items():
            store._indexes[target] = store._made(each.spec)
            store._indexes[target].restore(each)
        return store

    def _made(self, spec: FieldSpec) -> Index:
        return Index(spec, Keywords(self._analysis, self._k1, self._b))

    def _index(self, target: Target) -> Index:
        if isinstance(target, str) and target in self._indexes:
            return self._indexes[target]
        raise InvalidQueryError(
            f"there is no target {target!r}; there is {', '.join(self._indexes) or 'none yet'}",
            target=target,
        )

    @staticmethod
    def _filter(where: Filter | None, index: Index) -> Filter | None:
        """`where` checked and folded."""
        if where is None:
            return None
        check_filter(where, "where")
        check(where, index.spec)
        return simplify(where)

    def __repr__(self) -> str:
        held = ", ".join(f"{target}: {len(index)}" for target, index in self._indexes.items())
        return f"MemoryStore({held})"
