"""The contract: what a vector store answers, and how tests and small applications fill one."""

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from soev_retrieval.domain import Chunk, FieldSpec, Filter, Hit, Record, Target

__all__ = ["Loader", "VectorStore"]


@runtime_checkable
class VectorStore(Protocol):
    """A store is anything that answers five questions, and whatever wraps a store is a store.

    **What every method owes**

    - `where` means what `soev_retrieval.domain.matches` says, for every chunk, in every method
      and in every leg of a search. It is applied before `limit`, never after. A filter that the
      target does not serve is refused with `InvalidQueryError`; it is never dropped, weakened or
      approximated. `NOTHING` is answered with no results, and the server is not asked.
    - Bad arguments are refused with `InvalidQueryError` before anything is sent: a limit below 1,
      a blank query, an alpha outside 0..1, a vector that does not fit, an unknown target.
    - An empty result means that nothing matched, and a short one that no more did. Who could not
      look, or could look at a part of the index only, raises `StoreUnavailable`.
    - Ids come back as they were loaded. Properties are the declared fields of that very chunk.
    - Cancellation gets through as it is, and leaves nothing running.
    - Arguments are not changed, and calls that run at once do not see each other.

    **What a store may do**: keep vectors in float32; find near vectors approximately, as long as
    it returns `limit` of them where they exist; serve fewer operators and orders than the
    algebra has, as long as its `FieldSpec` says so.

    **What the caller must not assume**: that scores of two searches compare, that scores have a
    range, that a fetch without `order_by` has an order, that a result is a list.
    """

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
        """Find the chunks that match `query` by meaning and by keyword.

        The ranking is `soev_retrieval.domain.fuse_hybrid` of the two legs, each brought to a
        depth of max(100, limit). `alpha=1` is `near_vector` and `alpha=0` is `bm25`, hit for hit.

        Args:
            target: The target to search.
            query: The query text.
            vector: The query embedding, or None to leave embedding to the store.
            limit: The maximum number of hits, at least 1.
            where: The filter that restricts the candidates of both legs, or None.
            alpha: The weight of the vector side, 0 to 1, or None for the store's own default.

        Returns:
            At most `limit` hits, best first, each chunk once.

        Raises:
            InvalidQueryError: The call is wrong.
            StoreUnavailable: The store gave no answer.
            Unconfigured: The store cannot serve the call: `vector` is None, `alpha` is not 0, and
                it cannot embed the query; or the target has no vectors or no searchable field.
        """
        ...

    async def near_vector(
        self,
        target: Target,
        *,
        vector: Sequence[float],
        limit: int,
        where: Filter | None = None,
    ) -> Sequence[Hit]:
        """Find the chunks whose vectors are nearest to `vector`. A chunk without one is not found.

        Args:
            target: The target to search.
            vector: The query embedding, as long as the target's vectors.
            limit: The maximum number of hits, at least 1.
            where: The filter that restricts the candidates, or None.

        Returns:
            At most `limit` hits, best first, each chunk once. A higher score is better.

        Raises:
            InvalidQueryError: The call is wrong.
            StoreUnavailable: The store gave no answer.
            Unconfigured: The target has no vectors.
        """
        ...

    async def bm25(
        self, target: Target, *, query: str, limit: int, where: Filter | None = None
    ) -> Sequence[Hit]:
        """Find the chunks whose searchable text holds words of `query`, any of them.

        No character of the query is an operator. A query of stop words alone finds nothing.

        Args:
            target: The target to search.
            query: The query text.
            limit: The maximum number of hits, at least 1.
            where: The filter that restricts the candidates, or None. Word statistics are those of
                the whole target.

        Returns:
            At most `limit` hits, best first, each chunk once. A chunk that holds no word of the
            query is not among them.

        Raises:
            InvalidQueryError: The call is wrong.
            StoreUnavailable: The store gave no answer.
            Unconfigured: The target has no searchable field.
        """
        ...

    async def fetch(
        self,
        target: Target,
        *,
        where: Filter | None = None,
        limit: int,
        order_by: str | None = None,
        descending: bool = False,
    ) -> Sequence[Chunk]:
        """Read chunks by filter alone.

        Args:
            target: The target to read.
            where: The filter, or None for every chunk.
            limit: The maximum number of chunks, at least 1, beyond any page of the server.
            order_by: A sortable field, or None for the order of the store.
            descending: Whether the greatest value comes first.

        Returns:
            At most `limit` chunks, each once. With `order_by`, chunks that lack the field come
            last in both directions, and equal keys in id order.

        Raises:
            InvalidQueryError: The call is wrong.
            StoreUnavailable: The store gave no answer.
        """
        ...

    async def fields(self, target: Target) -> FieldSpec:
        """Say what `target` declares: its fields, what each serves, and its vectors.

        Args:
            target: The target to describe.

        Returns:
            What a filter may name and a record may hold.

        Raises:
            InvalidQueryError: The store does not know the target.
            StoreUnavailable: The store gave no answer.
        """
        ...


@runtime_checkable
class Loader(Protocol):
    """Fills an index. When a method returns, the next search sees what it did.

    Everything that a call brings is checked before any of it is written, and an error names the
    record. Each method raises `InvalidQueryError` for the caller's mistakes and
    `StoreUnavailable` where the store gave no answer.
    """

    async def create(self, target: Target, spec: FieldSpec) -> None:
        """Create `target`. Again with the same spec does nothing.

        Raises:
            InvalidQueryError: It exists with another spec.
        """
        ...

    async def upsert(self, target: Target, records: Iterable[Record]) -> None:
        """Write `records`, each replacing what had its id. Of two with one id the last stays."""
        ...

    async def delete(self, target: Target, ids: Iterable[str]) -> None:
        """Remove the chunks with these ids. An id that is not there is none to remove."""
        ...

    async def drop(self, target: Target) -> None:
        """Remove `target` and all it holds. One that is not there is none to remove."""
        ...
