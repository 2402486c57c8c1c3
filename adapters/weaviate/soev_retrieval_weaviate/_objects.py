"""The objects of a target that match, and the one way to ask for them."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeVar
from uuid import UUID

import attrs
from weaviate.classes.query import Filter as Native
from weaviate.classes.query import Sort
from weaviate.collections.classes.filters import _Filters as Condition

from soev_retrieval.domain import EVERYTHING, Filter, matches, predicates
from soev_retrieval_weaviate._connection import Connection
from soev_retrieval_weaviate._filters import native, superset
from soev_retrieval_weaviate._layout import Layout
from soev_retrieval_weaviate._sources import by_uuid, values_read

R = TypeVar("R")

PAGE = 10_000
"""How many objects a request brings at the most: QUERY_MAXIMUM_RESULTS, unless the server is told."""


@attrs.frozen
class Objects:
    """The objects of a target that match.

    Args:
        connection: Where they are.
        layout: Where everything is in them.
        where: The filter, checked and folded; None for all.
        operation: Which method asks, for errors.
    """

    connection: Connection
    layout: Layout
    where: Filter | None
    operation: str

    @cached_property
    def is_rechecked(self) -> bool:
        """Whether the server finds more than what matches."""
        return self.where is not None and any(map(self.layout.is_rough, predicates(self.where)))

    @cached_property
    def condition(self) -> Condition | None:
        """What the server is asked; None for everything."""
        where = self.where
        if where is not None and self.is_rechecked:
            where = superset(where, self.layout.is_rough)
        if where is None or where == EVERYTHING:
            return None
        return native(where, self.layout.sources, has_not=self.layout.has_not)

    def narrowed(self, *conditions: Condition) -> Condition | None:
        """What the server is asked, and these."""
        every = [*([] if self.condition is None else [self.condition]), *conditions]
        return Native.all_of(every) if every else None

    def kept(self, found: Iterable[Any]) -> list[Any]:
        """Those of the objects that match: all of them, where the server tells exactly."""
        if self.where is None or not self.is_rechecked:
            return list(found)
        where, sources = self.where, self.layout.sources
        return [each for each in found if matches(where, values_read(sources, each.properties))]

    async def through(self, work: Callable[[Any], Awaitable[R]]) -> R:
        """What `work` makes of the handle of the collection."""
        layout, connection = self.layout, self.connection

        async def asked(client: Any) -> R:
            handle = connection.handle(client, layout.name, layout.tenant, layout.consistency)
            return await work(handle)

        return await connection.call(asked, operation=self.operation)

    async def ask(self, work: Callable[[Any], Awaitable[Any]]) -> list[Any]:
        """The objects that `work` finds through the collection's `query`."""
        reply = await self.through(lambda handle: work(handle.query))
        return list(reply.objects)

    async def fetched(
        self,
        condition: Condition | None,
        limit: int,
        *,
        orders: Sequence[tuple[str | None, bool]] = (),
        after: UUID | None = None,
    ) -> list[Any]:
        """Objects by a condition alone.

        Args:
            condition: The condition, None for all.
            limit: How many at the most.
            orders: What they are ordered by, first comes first: a property, or None for the UUID,
                and whether the least one comes first.
            after: The UUID that they come behind, where there is neither a condition nor an order.
        """
        properties = self.layout.readable
        if orders and condition is not None:
            # Where the results of several shards are merged under a filter, a property that is not
            # asked for is missing in all of them.
            keys = [name for name, _ in orders if name is not None]
            properties = list(dict.fromkeys([*properties, *keys]))
        return await self.ask(
            lambda query: query.fetch_objects(
                filters=condition,
                limit=limit,
                sort=_sorting(orders),
                after=after,
                return_properties=properties,
            )
        )

    async def retrieved(self, ids: Sequence[UUID]) -> dict[UUID, Any]:
        """The objects with these UUIDs that still match."""
        found: dict[UUID, Any] = {}
        for start in range(0, len(ids), PAGE):
            part = ids[start : start + PAGE]
            page = await self.fetched(self.narrowed(by_uuid(part)), len(part))
            found |= {each.uuid: each for each in self.kept(page)}
        return found


def _sorting(orders: Sequence[tuple[str | None, bool]]) -> Any:
    """The orders as the client takes them; the UUID last, since a lone key loses what lacks it."""
    if not orders:
        return None
    name, ascending = orders[0]
    sort = Sort.by_id(ascending) if name is None else Sort.by_property(name, ascending)
    for name, ascending in [*orders[1:], (None, True)]:
        sort = sort.by_id(ascending) if name is None else sort.by_property(name, ascending)
    return sort
