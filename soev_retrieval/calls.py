"""A call as a value, the store that is made of one method, and the layer: a store around a store."""

from collections.abc import Awaitable, Sequence
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import attrs

from soev_retrieval.domain import Chunk, FieldSpec, Filter, Hit, Target, vector_key
from soev_retrieval.store import VectorStore

__all__ = [
    "Bm25",
    "Call",
    "CallStore",
    "Fetch",
    "Fields",
    "FilteredCall",
    "Hybrid",
    "Layer",
    "NearVector",
    "R",
]

R = TypeVar("R")
"""What a call returns."""


class Call(Generic[R]):
    """One call of a VectorStore as a value: it compares, hashes, and is performed with `on`.

    Its repr leaves out the query and the vector.
    """

    __slots__ = ()

    operation: ClassVar[str]
    """The name of the method that it is a call of."""
    target: Target

    def on(self, store: VectorStore) -> Awaitable[R]:
        """Perform the call on `store`. A CallStore is handed the value itself."""
        if isinstance(store, CallStore):
            return store.send(self)
        return self._perform(store)

    def _perform(self, store: VectorStore) -> Awaitable[R]:
        raise NotImplementedError


@attrs.frozen
class Hybrid(Call[Sequence[Hit]]):
    """A call of `VectorStore.hybrid`."""

    operation: ClassVar[str] = "hybrid"
    target: Target
    query: str = attrs.field(repr=False)
    vector: Sequence[float] | None = attrs.field(eq=vector_key, repr=False)
    limit: int
    where: Filter | None
    alpha: float | None

    def filtered(self, where: Filter | None) -> "Hybrid":
        """The same call with another filter."""
        return Hybrid(self.target, self.query, self.vector, self.limit, where, self.alpha)

    def _perform(self, store: VectorStore) -> Awaitable[Sequence[Hit]]:
        return store.hybrid(
            self.target,
            query=self.query,
            vector=self.vector,
            limit=self.limit,
            where=self.where,
            alpha=self.alpha,
        )


@attrs.frozen
class NearVector(Call[Sequence[Hit]]):
    """A call of `VectorStore.near_vector`."""

    operation: ClassVar[str] = "near_vector"
    target: Target
    vector: Sequence[float] = attrs.field(eq=vector_key, repr=False)
    limit: int
    where: Filter | None

    def filtered(self, where: Filter | None) -> "NearVector":
        """The same call with another filter."""
        return NearVector(self.target, self.vector, self.limit, where)

    def _perform(self, store: VectorStore) -> Awaitable[Sequence[Hit]]:
        return store.near_vector(
            self.target, vector=self.vector, limit=self.limit, where=self.where
        )


@attrs.frozen
class Bm25(Call[Sequence[Hit]]):
    """A call of `VectorStore.bm25`."""

    operation: ClassVar[str] = "bm25"
    target: Target
    query: str = attrs.field(repr=False)
    limit: int
    where: Filter | None

    def filtered(self, where: Filter | None) -> "Bm25":
        """The same call with another filter."""
        return Bm25(self.target, self.query, self.limit, where)

    def _perform(self, store: VectorStore) -> Awaitable[Sequence[Hit]]:
        return store.bm25(self.target, query=self.query, limit=self.limit, where=self.where)


@attrs.frozen
class Fetch(Call[Sequence[Chunk]]):
    """A call of `VectorStore.fetch`."""

    operation: ClassVar[str] = "fetch"
    target: Target
    where: Filter | None
    limit: int
    order_by: str | None
    descending: bool

    def filtered(self, where: Filter | None) -> "Fetch":
        """The same call with another filter."""
        return Fetch(self.target, where, self.limit, self.order_by, self.descending)

    def _perform(self, store: VectorStore) -> Awaitable[Sequence[Chunk]]:
        return store.fetch(
            self.target,
            where=self.where,
            limit=self.limit,
            order_by=self.order_by,
            descending=self.descending,
        )


@attrs.frozen
class Fields(Call[FieldSpec]):
    """A call of `VectorStore.fields`."""

    operation: ClassVar[str] = "fields"
    target: Target

    def _perform(self, store: VectorStore) -> Awaitable[FieldSpec]:
        return store.fields(self.target)


FilteredCall: TypeAlias = Hybrid | NearVector | Bm25 | Fetch
"""The calls that carry a filter: the three searches and fetch."""

_METHODS = ("hybrid", "near_vector", "bm25", "fetch", "fields")


class CallStore:
    """A VectorStore whose five methods are one: `send`. A subclass defines it, and none of the five.

    Each of the five methods makes the value of its call and hands it to `send`; `Call.on` hands it
    over as it is.
    """

    __slots__ = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        changed = (name for name in _METHODS if getattr(cls, name) is not getattr(CallStore, name))
        if overridden := sorted(changed):
            # `Call.on` passes these methods over, and what they do with them.
            raise TypeError(f"{cls.__name__} overrides {', '.join(overridden)}; override send")

    async def send(self, call: Call[R]) -> R:
        """Answer `call`."""
        raise NotImplementedError

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
        """As `VectorStore.hybrid`, through `send`."""
        return await self.send(Hybrid(target, query, vector, limit, where, alpha))

    async def near_vector(
        self,
        target: Target,
        *,
        vector: Sequence[float],
        limit: int,
        where: Filter | None = None,
    ) -> Sequence[Hit]:
        """As `VectorStore.near_vector`, through `send`."""
        return await self.send(NearVector(target, vector, limit, where))

    async def bm25(
        self, target: Target, *, query: str, limit: int, where: Filter | None = None
    ) -> Sequence[Hit]:
        """As `VectorStore.bm25`, through `send`."""
        return await self.send(Bm25(target, query, limit, where))

    async def fetch(
        self,
        target: Target,
        *,
        where: Filter | None = None,
        limit: int,
        order_by: str | None = None,
        descending: bool = False,
    ) -> Sequence[Chunk]:
        """As `VectorStore.fetch`, through `send`."""
        return await self.send(Fetch(target, where, limit, order_by, descending))

    async def fields(self, target: Target) -> FieldSpec:
        """As `VectorStore.fields`, through `send`."""
        return await self.send(Fields(target))


@attrs.frozen(repr=False, eq=False)
class Layer(CallStore):
    """A VectorStore around another. A subclass overrides `send`, and nothing else.

    A layer over a layer hands the value of a call on as it is. A layer keeps no state of a call.
    Its repr prints the stack, outermost first.

    ```python
    >>> import attrs
    >>> from soev_retrieval.calls import Call, Layer
    >>> @attrs.frozen(repr=False, eq=False)
    ... class Counted(Layer):
    ...     counts: dict[str, int]
    ...
    ...     async def send(self, call: Call):
    ...         self.counts[call.target] = self.counts.get(call.target, 0) + 1
    ...         return await call.on(self.inner)

    ```

    Args:
        inner: The store that answers each call.
    """

    inner: VectorStore

    async def send(self, call: Call[R]) -> R:
        """Perform `call` on the inner store, with this layer's rule around it."""
        return await call.on(self.inner)

    def __repr__(self) -> str:
        settings = ", ".join(
            f"{setting.name}={getattr(self, setting.name)!r}"
            for setting in attrs.fields(type(self))
            if setting.name != "inner" and setting.repr
        )
        return f"{type(self).__name__}({settings}) > {self.inner!r}"
