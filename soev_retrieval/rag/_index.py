"""What a branch asks: one index, by one branch, for one tenant."""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol, cast, runtime_checkable

import attrs

from soev_retrieval.calls import Call, Fields, FilteredCall, Layer, R
from soev_retrieval.domain import (
    DeclaredFilter,
    Filter,
    Hit,
    InvalidQueryError,
    Target,
    Unconfigured,
)
from soev_retrieval.engine import Tenanted, tenant_scope
from soev_retrieval.rag._values import Branch
from soev_retrieval.store import VectorStore


@attrs.frozen
class IndexQuery:
    """One question to an index.

    Args:
        tenant: The tenant whose chunks are searched, and no others: of the context, not the caller's.
        collection: The collection that is searched.
        branch: By which branch.
        k: The maximum number of hits, at least 1.
        text: The question. It shows in no repr.
        vector: Its embedding, where the branch needs one.
        where: The caller's filter, or None.
    """

    tenant: str
    collection: str
    branch: Branch
    k: int
    text: str = attrs.field(repr=False)
    vector: Sequence[float] | None = attrs.field(default=None, repr=False)
    where: Filter | None = None


@runtime_checkable
class SearchIndex(Protocol):
    """What a branch asks.

    The tenant's predicate and the caller's filter are applied inside of the search, before `k`: an
    index that brings k hits and drops those of others has fewer than k left, and none where the
    nearest k are all somebody else's.
    """

    @property
    def name(self) -> str:
        """Its name, for errors and logs."""
        ...

    def supports(self, branch: Branch) -> bool:
        """Whether it can be asked by that branch."""
        ...

    async def search(self, query: IndexQuery) -> Sequence[Hit]:
        """At most `query.k` hits of the query's tenant, best first.

        Raises:
            InvalidQueryError: The query is wrong.
            StoreUnavailable: There is no answer.
        """
        ...


def _nothing(store: VectorStore) -> VectorStore:
    return store


@attrs.frozen
class StoreIndex:
    """A SearchIndex over any VectorStore.

    Args:
        store: The store itself.
        name: The name of the index.
        around: The layers that go around it: what they make of a caller's filter is looked at for
            the tenant too, since its predicate goes inside of them.
        tenant_field: The text field that holds a chunk's tenant.
        target: The target that holds every collection, told apart by `collection_field`; None
            where each collection is a target of its own.
        collection_field: The text field that holds a chunk's collection, where `target` is given.
        branches: The branches that the target serves.

    Raises:
        InvalidQueryError: One of `target` and `collection_field` is given without the other.
    """

    store: VectorStore
    name: str
    around: Callable[[VectorStore], VectorStore] = _nothing
    tenant_field: str = "tenant"
    target: Target | None = None
    collection_field: str | None = None
    branches: Collection[Branch] = tuple(Branch)

    _asked: VectorStore = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        if (self.target is None) is not (self.collection_field is None):
            raise InvalidQueryError(
                "give both target and collection_field, where one target holds every collection,"
                " or none of them"
            )
        store = self.store
        if self.target is not None and self.collection_field is not None:
            store = _Collected(store, self.target, self.collection_field)
        # Once: a layer may keep something between calls.
        asked = self.around(Tenanted(store, self.tenant_field))
        object.__setattr__(self, "_asked", asked)

    def supports(self, branch: Branch) -> bool:
        """As in `SearchIndex`."""
        return branch in self.branches

    async def search(self, query: IndexQuery) -> Sequence[Hit]:
        """As in `SearchIndex`."""
        target = query.collection
        with tenant_scope(query.tenant):
            if query.branch is Branch.KEYWORD:
                return await self._asked.bm25(
                    target, query=query.text, limit=query.k, where=query.where
                )
            if query.vector is None:
                raise Unconfigured(
                    f"the index {self.name!r} does not embed; give the retriever an embedder",
                    store=self.name,
                    operation="near_vector",
                )
            return await self._asked.near_vector(
                target, vector=query.vector, limit=query.k, where=query.where
            )


@attrs.frozen(repr=False, eq=False)
class _Collected(Layer):
    """VectorStore over another, of one target of which each collection is a target here.

    It is inside of the layers, as the tenant's predicate is: no rewrite can make another of it,
    and what a layer keeps of a call it keeps under the collection.

    Args:
        inner: The store that answers each call.
        target: The target that holds every collection.
        field: The text field that holds a chunk's collection.
    """

    target: Target
    field: str

    async def send(self, call: Call[R]) -> R:
        """Perform `call` among the chunks of the collection."""
        if isinstance(call, Fields):
            return cast("R", await Fields(self.target).on(self.inner))
        asked = cast("FilteredCall", call)
        own = DeclaredFilter(self.field, "eq", asked.target)
        where = own if asked.where is None else own & asked.where
        there = attrs.evolve(asked.filtered(where), target=self.target)
        return await cast("Call[R]", there).on(self.inner)
