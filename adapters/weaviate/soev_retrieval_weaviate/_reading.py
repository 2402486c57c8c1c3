"""Fetching: chunks by filter alone, in pages of the server, in whatever order."""

from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from typing import Any
from uuid import UUID

import attrs
from weaviate.classes.query import Filter as Native
from weaviate.collections.classes.filters import _Filters as Condition

from soev_retrieval.domain import Chunk, Unconfigured
from soev_retrieval_weaviate._filters import rooted
from soev_retrieval_weaviate._objects import PAGE, Objects
from soev_retrieval_weaviate._records import chunk, chunk_id
from soev_retrieval_weaviate._sources import ID, Source

_FILLED = 0.7  # of a page, what a window is made to hold


@attrs.frozen
class Reading:
    """Reads the objects of a target.

    Args:
        objects: The objects that match.
    """

    objects: Objects

    async def chunks(self, limit: int) -> list[Chunk]:
        """`limit` chunks, in no order."""
        found: list[Any] = []
        async for page in self._pages(self.objects.condition, limit):
            found += self.objects.kept(page)
            if len(found) >= limit:
                break
        return self._chunks(found[:limit])

    async def ordered(self, order_by: str, limit: int, *, descending: bool) -> list[Chunk]:
        """`limit` chunks by a field, those that lack it last, equal ones by id."""
        source = self.objects.layout.sources[order_by]
        if (whole := await self._at_once(source, limit, descending=descending)) is not None:
            return self._chunks(whole)
        found = await self._with_value(source, limit, descending=descending)
        if len(found) < limit:
            found += await self._by_id(Native.not_(source.exists), limit - len(found))
        return self._chunks(found[:limit])

    async def _at_once(self, source: Source, limit: int, *, descending: bool) -> list[Any] | None:
        """The first of all objects by a field, where the server has them in that order.

        It puts those that lack the field last where the order descends, and else first: if one
        comes that has it, none lacks it. To ask it for those that have it takes it three times as
        long.
        """
        if self.objects.condition is not None or not self._settles(source) or limit > PAGE:
            return None
        orders = self._orders(source, descending=descending)
        page = await self.objects.fetched(None, limit, orders=orders)
        is_whole = descending or not page or page[0].properties.get(source.order) is not None
        return page if is_whole else None

    async def _with_value(self, source: Source, limit: int, *, descending: bool) -> list[Any]:
        """Those that have a value, by it.

        A page is cut within equal values: those of its last one are read for themselves, all of
        them, and the next page begins behind them. Only where the server orders equal ones as it
        should, and the page has all that is asked for, is it taken as it is.
        """
        found: list[Any] = []
        bound: Condition | None = None
        orders = self._orders(source, descending=descending)
        while len(found) < limit:
            needed = limit - len(found)
            is_settled = self._settles(source)
            asked = min(needed if is_settled else max(needed + 1, 100), PAGE)
            more = [source.exists, *([] if bound is None else [bound])]
            page = await self.objects.fetched(
                _as_root(self.objects.narrowed(*more)), asked, orders=orders
            )
            if len(page) < asked or (is_settled and asked == needed):
                return found + self._in_order(page, source, descending=descending)
            last = self._value(page[-1], source)
            before = [each for each in page if self._value(each, source) != last]
            found += self._in_order(before, source, descending=descending)
            if len(found) >= limit:
                return found
            found += await self._by_id(source.equals([last]), None)
            bound = source.compares("lt" if descending else "gt", last)
        return found

    def _orders(self, source: Source, *, descending: bool) -> list[tuple[str | None, bool]]:
        return [(source.order, not descending), (self.objects.layout.id_order, True)]

    def _settles(self, source: Source) -> bool:
        """Whether the server orders equal values as the chunks' ids are, and all of them match."""
        exact = source.field.type != "datetime" or self.objects.layout.id_order is not None
        return self.objects.layout.orders_ids and exact and not self.objects.is_rechecked

    async def _by_id(self, condition: Condition, limit: int | None) -> list[Any]:
        """The first by their ids of those that match a condition too, or all."""
        layout = self.objects.layout
        both = self.objects.narrowed(condition)
        exact = layout.orders_ids and not self.objects.is_rechecked
        if limit is not None and limit <= PAGE and exact:
            orders = [(layout.id_order, True)]
            return await self.objects.fetched(_as_root(both), limit, orders=orders)
        found: list[Any] = []
        async for page in self._pages(both, None):
            found += self.objects.kept(page)
        found.sort(key=lambda each: chunk_id(each, layout))
        return found[:limit]

    async def _pages(
        self, condition: Condition | None, limit: int | None
    ) -> AsyncIterator[list[Any]]:
        """All that match a condition, each once, page by page, at the least `limit` of them.

        The server pages no further than 10,000, and has a cursor only where there is no filter. But
        UUIDs can be compared: what is more than a page is read window by window of them. The UUIDs
        of the first page tell how they are spread.
        """
        asked = PAGE if limit is None or self.objects.is_rechecked else min(limit, PAGE)
        first = await self.objects.fetched(condition, asked)
        if condition is None:
            async for page in self._cursor(first):
                yield page
            return
        if len(first) < PAGE or limit == PAGE:
            yield first
            return
        total = await self._count(condition)
        sample = sorted(each.uuid for each in first)
        windows = max(2, round(total / (PAGE * _FILLED)))
        bounds = [None, *_quantiles(sample, windows), None]
        for low, high in pairwise(bounds):
            async for page in self._window(condition, low, high):
                yield page

    async def _cursor(self, page: list[Any]) -> AsyncIterator[list[Any]]:
        """The first page of everything, which comes by UUID, and those behind it."""
        yield page
        while len(page) == PAGE:
            page = await self.objects.fetched(None, PAGE, after=page[-1].uuid)
            yield page

    async def _window(
        self, condition: Condition, low: str | None, high: str | None
    ) -> AsyncIterator[list[Any]]:
        """The pages of a window of UUIDs: the first that is in, and the first that is not.

        The server compares them as they were written, capitals first. How those of a page were
        written it does not say, so a window is cut at both forms of the one in the middle.
        """
        ends = [
            condition,
            *([] if low is None else [ID.greater_or_equal(low)]),
            *([] if high is None else [ID.less_than(high)]),
        ]
        page = await self.objects.fetched(Native.all_of(ends), PAGE)
        if len(page) < PAGE:
            yield page
            return
        middle = str(sorted(each.uuid for each in page)[len(page) // 2])
        cuts = sorted({middle.upper(), middle})
        within = [cut for cut in cuts if (low or "") < cut and (high is None or cut < high)]
        if not within:
            raise Unconfigured(
                f"collection {self.objects.layout.name!r} has UUIDs in small letters and capitals"
                f" within one, such as {middle}, of which no more than {PAGE:,} can be fetched",
                store="WeaviateStore",
                operation=self.objects.operation,
            )
        for ends_of in pairwise([low, *within, high]):
            async for part in self._window(condition, *ends_of):
                yield part

    async def _count(self, condition: Condition | None) -> int:
        """How many match a condition, about: windows are made by it, nothing is left out."""
        reply = await self.objects.through(
            lambda handle: handle.aggregate.over_all(filters=condition, total_count=True)
        )
        return int(reply.total_count or 0)

    def _in_order(self, found: Sequence[Any], source: Source, *, descending: bool) -> list[Any]:
        """Objects by their value, equal ones by the chunk's id."""
        kept = self.objects.kept(found)
        kept.sort(key=lambda each: chunk_id(each, self.objects.layout))
        kept.sort(key=lambda each: self._value(each, source), reverse=descending)
        return kept

    def _value(self, object: Any, source: Source) -> Any:
        return source.read(object.properties[source.read_from])

    def _chunks(self, found: Sequence[Any]) -> list[Chunk]:
        return [chunk(each, self.objects.layout) for each in found]


def _as_root(condition: Condition | None) -> Condition | None:
    return None if condition is None else rooted(condition)


def _quantiles(sample: Sequence[UUID], windows: int) -> list[str]:
    """Where to cut, so that as much of the sample is in each of so many windows."""
    return [str(sample[len(sample) * at // windows]) for at in range(1, windows)]
