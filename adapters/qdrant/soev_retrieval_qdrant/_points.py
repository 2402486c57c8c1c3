"""The points of a target that match a filter: read page by page, or by their ids."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs
from qdrant_client import models

from soev_retrieval.domain import Filter
from soev_retrieval_qdrant._connection import Connection
from soev_retrieval_qdrant._filters import native
from soev_retrieval_qdrant._layout import Layout
from soev_retrieval_qdrant._records import Point

PAGE = 2_000
"""How many points come in one answer."""


@attrs.frozen
class Points:
    """The points of a target that match a filter.

    Args:
        connection: Where the target is.
        layout: Where everything is in it.
        where: The filter, checked and simplified together with the target's own; None for all.
        operation: The method that asks.
    """

    connection: Connection
    layout: Layout
    where: Filter | None
    operation: str

    @cached_property
    def native(self) -> models.Filter | None:
        """The filter as Qdrant's; None for all."""
        return None if self.where is None else native(self.where, self.layout.sources)

    async def filled(
        self, ids: Sequence[Any], limit: int, whole: Mapping[Any, Point]
    ) -> list[Point]:
        """The first `limit` of these points that are still there and match, in their order.

        Args:
            ids: The ids of points.
            limit: How many.
            whole: Those that need not be read, by id.
        """
        found: list[Point] = []
        at = 0
        while at < len(ids) and len(found) < limit:
            part = ids[at : at + min(PAGE, limit - len(found))]
            read = await self.retrieved([id for id in part if id not in whole])
            there = {**whole, **{record.id: record for record in read}}
            found += [there[id] for id in part if id in there]
            at += len(part)
        return found

    async def retrieved(self, ids: Sequence[Any]) -> list[models.Record]:
        """The points with these ids, whole: those that are still there and still match."""
        if not ids:
            return []
        same = models.HasIdCondition(has_id=list(ids))
        records, _ = await self.scrolled(self.and_of(same), len(ids), self.layout.everything)
        return records

    def and_of(self, condition: models.Condition) -> models.Filter:
        """The filter, and one condition more."""
        where = self.native
        return models.Filter(must=[condition] if where is None else [condition, where])

    async def scrolled(
        self, where: models.Filter | None, limit: int, payload: Any, **more: Any
    ) -> tuple[list[models.Record], Any]:
        """A page of the points under a filter, and where the next one starts; None after the last.

        Args:
            where: The filter; None for all.
            limit: How many points.
            payload: What of theirs.
            more: What else `scroll` takes: where the page starts, or an order.
        """
        layout = self.layout
        page: tuple[list[models.Record], Any] = await self.connection.call(
            lambda client: client.scroll(
                layout.name,
                scroll_filter=where,
                limit=limit,
                with_payload=payload,
                shard_key_selector=layout.shard_key,
                **more,
            ),
            operation=self.operation,
        )
        return page
