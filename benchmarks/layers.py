"""What a layer costs by itself: a stack over a store that answers at once, less that store."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from timeit import repeat
from typing import Any

from benchmarks.measure import Aim, Contender, Report, Row, race
from benchmarks.stores import Answering
from soev_retrieval.calls import Layer
from soev_retrieval.domain import DeclaredFilter, Filter, Target, field
from soev_retrieval.engine import PostFiltered, PreFiltered, Retrying
from soev_retrieval.store import VectorStore

Around = Callable[[VectorStore], VectorStore]

DEPTHS = range(1, 6)

_ONE = field("year") >= 2020
_THREE = _ONE & (field("status") == "final") & ~field("language").in_(["nl", "en"])


async def _as_it_is(target: Target, term: DeclaredFilter, /) -> Filter:
    return term


async def _all(target: Target, results: Sequence[Any], /) -> Sequence[Any]:
    return results


_KINDS: Mapping[str, tuple[Around, Filter | None]] = {
    "do-nothing Layer": (Layer, None),
    "Retrying": (lambda inner: Retrying(inner, attempts=3), None),
    "PreFiltered, no filter": (lambda inner: PreFiltered(inner, _as_it_is), None),
    "PreFiltered, 1 term": (lambda inner: PreFiltered(inner, _as_it_is), _ONE),
    "PreFiltered, 3 terms": (lambda inner: PreFiltered(inner, _as_it_is), _THREE),
    "PostFiltered": (lambda inner: PostFiltered(inner, _all), None),
}


async def measured(*, rounds: int = 41, calls: int = 200, seconds: float = 1e-3) -> Report:
    """Time each kind of layer one to five deep, and five layers around a longer call.

    Args:
        rounds: How many numbers to take of each.
        calls: How many calls make one number.
        seconds: How long the longer call takes.
    """
    rows = [await _bare(rounds=rounds, calls=calls)]
    for kind, (around, where) in _KINDS.items():
        rows += await _each_deep(kind, around, where, rounds=rounds, calls=calls)
    rows += await _five(rounds=rounds, calls=max(1, calls // 10), seconds=seconds)
    return Report(
        "A layer's own cost per call of hybrid",
        rows,
        "figure: µs for each layer of the stack, the bare store taken off; for the longer call,"
        " how much longer the layers make it. Times are the processor's.",
    )


async def _bare(*, rounds: int, calls: int) -> Row:
    times = await race(
        {"bare": _call(Answering(), None)}, rounds=rounds, calls=calls, clock=time.thread_time
    )
    bare = times["bare"]
    return Row("the bare store", bare.median * 1e6, "µs", times=bare)


async def _each_deep(
    kind: str, around: Around, where: Filter | None, *, rounds: int, calls: int
) -> list[Row]:
    bare: VectorStore = Answering()
    contenders = {"bare": _call(bare, where)}
    for depth in DEPTHS:
        contenders[f"{kind}, {depth} deep"] = _call(_stack(bare, [around] * depth), where)
    times = await race(contenders, rounds=rounds, calls=calls, clock=time.thread_time)
    return [
        Row(
            name,
            times[name].beyond(times["bare"]) / depth * 1e6,
            "µs",
            Aim(3.0),
            times[name],
        )
        for depth, name in enumerate(times)
        if depth
    ]


async def _five(*, rounds: int, calls: int, seconds: float) -> list[Row]:
    bare = Answering(wait=_working(seconds))
    kinds = ("do-nothing Layer", "Retrying", "PreFiltered, no filter", "PostFiltered", "Retrying")
    stack = _stack(bare, [_KINDS[kind][0] for kind in kinds])
    contenders = {
        "bare": _call(bare, None),
        "no filter": _call(stack, None),
        "1 term": _call(stack, _ONE),
        "3 terms": _call(stack, _THREE),
    }
    times = await race(contenders, rounds=rounds, calls=calls, clock=time.thread_time)
    return [
        Row(
            f"five around {seconds * 1e3:g} ms, {name}",
            (times[name].over(times["bare"]) - 1) * 100,
            "%",
            Aim(2.0),
            times[name],
        )
        for name in times
        if name != "bare"
    ]


def _working(seconds: float) -> Callable[[], Awaitable[None]]:
    """What gives way to the loop once, as a call does, and then does the same work each time.

    A sleep would be only as exact as the operating system's timer.
    """
    numbers = range(int(seconds / _seconds_to_add(100_000) * 100_000))

    async def work() -> None:
        await asyncio.sleep(0)
        sum(numbers)

    return work


def _seconds_to_add(count: int) -> float:
    return min(repeat(lambda: sum(range(count)), timer=time.thread_time, repeat=5, number=1))


def _stack(store: VectorStore, kinds: Sequence[Around]) -> VectorStore:
    for around in kinds:
        store = around(store)
    return store


def _call(store: VectorStore, where: Filter | None) -> Contender:
    async def call() -> object:
        return await store.hybrid("target", query="wing flutter", limit=10, where=where)

    return call
