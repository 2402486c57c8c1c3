"""Reading points by filter alone, in an order or in none."""

from collections.abc import Sequence
from typing import Any

import attrs
from qdrant_client import models

from soev_retrieval.domain import Chunk
from soev_retrieval_qdrant._points import PAGE, Points
from soev_retrieval_qdrant._records import Point, chunk, chunk_id


@attrs.frozen
class Reading:
    """Chunks by filter alone.

    Args:
        points: The points that match.
    """

    points: Points

    async def chunks(self, limit: int) -> list[Chunk]:
        """At most `limit` chunks, in the order of their points' ids."""
        layout = self.points.layout
        points = await self._scrolled(self.points.native, limit, layout.everything)
        return [chunk(point, layout) for point in points]

    async def ordered(self, order_by: str, limit: int, *, descending: bool) -> list[Chunk]:
        """The first `limit` chunks by a field: equal ones by id, those that lack it last."""
        layout = self.points.layout
        points = await self._first(order_by, limit, descending=descending)
        # A point that holds several values comes once for each.
        chunks = list({point.id: chunk(point, layout) for point in points}.values())
        chunks.sort(key=lambda each: each.id)
        there = [each for each in chunks if order_by in each.properties]
        there.sort(key=lambda each: each.properties[order_by], reverse=descending)
        odd = [each for each in chunks if order_by not in each.properties]
        if len(there) >= limit:
            return there[:limit]
        lacking = await self._lacking(order_by, limit - len(there))
        rest = {each.id: each for each in (*odd, *lacking)}
        return [*there, *(rest[id] for id in sorted(rest))][:limit]

    async def _first(self, order_by: str, limit: int, *, descending: bool) -> Sequence[Point]:
        """Every point that can be among the first `limit`, with its payload.

        The server's order knows no chunk ids. Where the last one it brought compares like the next
        one, all that compare so are looked at.
        """
        layout = self.points.layout
        source = layout.sources[order_by]
        payload = layout.everything_and(source.order)
        points = await self._by(order_by, limit + 1, payload, descending=descending)
        if len(points) <= limit:
            return points
        last = source.ordinal(points[limit - 1].payload or {})
        if last != source.ordinal(points[limit].payload or {}):
            return points[:limit]
        some = layout.of([source.order, source.read_from])
        asked, found = limit + 1, points
        while len(found) == asked and source.ordinal(found[-1].payload or {}) == last:
            asked *= 4
            found = await self._by(order_by, asked, some, descending=descending)
        return await self._whole(order_by, points, found, limit, descending=descending)

    async def _whole(
        self,
        order_by: str,
        points: Sequence[models.Record],
        found: Sequence[models.Record],
        limit: int,
        *,
        descending: bool,
    ) -> Sequence[Point]:
        """The first `limit` of those found, with the payload of each."""
        layout = self.points.layout
        source = layout.sources[order_by]
        by_id = sorted(found, key=lambda point: chunk_id(point, layout))
        there = [point for point in by_id if source.read(point.payload or {}) is not None]
        there.sort(key=lambda point: source.read(point.payload or {}), reverse=descending)
        whole: dict[Any, Point] = {point.id: point for point in points}
        return await self.points.filled([point.id for point in there], limit, whole)

    async def _by(
        self, order_by: str, limit: int, payload: Any, *, descending: bool
    ) -> list[models.Record]:
        """The first points that have the field, each once."""
        order = models.OrderBy(
            key=self.points.layout.sources[order_by].order.quoted,
            direction=models.Direction.DESC if descending else models.Direction.ASC,
        )
        points, _ = await self.points.scrolled(self.points.native, limit, payload, order_by=order)
        return points

    async def _lacking(self, order_by: str, limit: int) -> list[Chunk]:
        """The first `limit` by id of the chunks that lack a field."""
        layout = self.points.layout
        lacks = models.Filter(must_not=[layout.sources[order_by].exists])
        points = await self._scrolled(self.points.and_of(lacks), None, layout.of())
        points.sort(key=lambda point: chunk_id(point, layout))
        first = await self.points.filled([point.id for point in points], limit, {})
        return [chunk(point, layout) for point in first]

    async def _scrolled(
        self, where: models.Filter | None, limit: int | None, payload: Any
    ) -> list[models.Record]:
        """At most `limit` points, or all, page by page."""
        points: list[models.Record] = []
        offset = None
        while limit is None or len(points) < limit:
            size = PAGE if limit is None else min(PAGE, limit - len(points))
            page, offset = await self.points.scrolled(where, size, payload, offset=offset)
            points += page
            if offset is None:
                break
        return points
