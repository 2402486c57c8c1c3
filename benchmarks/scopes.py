"""search_scopes over many targets, beside one search of one of them."""

import asyncio

from benchmarks.measure import Aim, Report, Row, race
from benchmarks.stores import Answering
from soev_retrieval.domain import Hit, SearchScope
from soev_retrieval.engine import Rrf, SearchGroup, hybrid_search, search_scopes

_QUERY = "wing flutter"


async def _embed(query: str) -> list[float]:
    return [1.0, 0.0]


async def measured(*, rounds: int = 31, targets: int = 16, seconds: float = 0.02) -> Report:
    """Time the searches of all targets in one group, in a group each, and one after the other.

    Args:
        rounds: How many numbers to take of each.
        targets: How many targets there are.
        seconds: How long the store takes to answer for each.
    """
    store = Answering(
        [Hit(f"chunk-{rank}", 1 / rank) for rank in range(1, 11)],
        lambda: asyncio.sleep(seconds),
    )
    scopes = [SearchScope(f"target-{number}") for number in range(targets)]
    in_one = [SearchGroup(store, scopes, _embed)]
    in_each = [SearchGroup(store, [scope], _embed) for scope in scopes]

    async def one_search() -> object:
        return await hybrid_search(store, "target-0", _QUERY, limit=10, embed=_embed)

    async def one_group() -> object:
        return await search_scopes(in_one, _QUERY, limit=10, combine=Rrf())

    async def a_group_each() -> object:
        return await search_scopes(in_each, _QUERY, limit=10, combine=Rrf())

    async def one_after_the_other() -> None:
        for scope in scopes:
            await hybrid_search(store, scope.target, _QUERY, limit=10, embed=_embed)

    one, single, each = "one search", f"{targets} targets, 1 group", f"{targets} groups"
    serial = f"{targets} targets, one after the other"
    times = await race({one: one_search, single: one_group, each: a_group_each}, rounds=rounds)
    slow = await race({one: one_search, serial: one_after_the_other}, rounds=max(2, rounds // 6))
    aim = Aim(1.15)
    return Report(
        f"search_scopes over {targets} targets of {seconds * 1e3:g} ms each",
        [
            Row(one, 1.0, "×", times=times[one]),
            Row(single, times[single].over(times[one]), "×", aim, times[single]),
            Row(each, times[each].over(times[one]), "×", aim, times[each]),
            Row(serial, slow[serial].over(slow[one]), "×", times=slow[serial]),
        ],
        "figure: how many times as long as one search, which is the slowest one: all take as long",
    )
