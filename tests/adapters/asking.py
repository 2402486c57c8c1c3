"""What the tests of failures ask of a store, whichever it is."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from soev_retrieval.domain import field

_QUERY, _VECTOR, _WHERE = "sesame", (0.1234567, 0.9, 0.1), field("year") == 987654321

Methods = Mapping[str, Callable[[Any], Awaitable[Any]]]


def searches_of(target: str) -> Methods:
    """A call of each search. It finds what says sesame, in the year 987654321."""
    return {
        "hybrid": lambda store: store.hybrid(
            target, query=_QUERY, vector=_VECTOR, limit=5, where=_WHERE, alpha=0.5
        ),
        "near_vector": lambda store: store.near_vector(
            target, vector=_VECTOR, limit=5, where=_WHERE
        ),
        "bm25": lambda store: store.bm25(target, query=_QUERY, limit=5, where=_WHERE),
        "fetch": lambda store: store.fetch(target, where=_WHERE, limit=5),
    }


async def until(true: Callable[[], Any]) -> None:
    """Come back when `true` is."""
    async with asyncio.timeout(30):
        while not (await came if isinstance(came := true(), Awaitable) else came):  # noqa: ASYNC110  (the server tells nobody)
            await asyncio.sleep(0.01)
