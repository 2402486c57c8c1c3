"""search_scopes against the plain reading of its specification, on a virtual clock."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from soev_retrieval.calls import Hybrid
from soev_retrieval.domain import (
    AnyOf,
    Filter,
    Hit,
    InvalidQueryError,
    SearchScope,
    StoreUnavailable,
    Unconfigured,
    field,
)
from soev_retrieval.engine import SearchGroup, search_scopes
from soev_retrieval.testing.faults import Delay, Scripted

QUERY = "which way"
STORES, TARGETS = (0, 1), ("a", "b", "c")
ERRORS = (StoreUnavailable, Unconfigured, InvalidQueryError, ZeroDivisionError)
WHERES = (None, field("year") >= 2020, field("year") < 1900, field("kind") == "law")


@attrs.frozen
class Plan:
    """What one piece of work does: how long it takes, how it fails, how it takes a cancellation."""

    seconds: int
    error: Exception | None
    resists: str


@attrs.frozen
class Group:
    store: int
    scopes: list[SearchScope]
    embed: Plan | None


@attrs.frozen
class World:
    groups: list[Group]
    searches: dict[tuple[int, str], Plan]
    combine: Plan
    limit: int
    alpha: float | None
    cancel: tuple[int, int] | None
    """After how many seconds the caller is cancelled, and how many turns of the loop later."""


@attrs.define
class Record:
    """What was seen while the call ran."""

    searched: Counter[tuple[int, Hybrid, float]] = attrs.field(factory=Counter)
    embedded: Counter[tuple[int, str, float]] = attrs.field(factory=Counter)
    combined: list[tuple[str, list[Sequence[Hit]]]] = attrs.field(factory=list)


@attrs.frozen
class Expected:
    """What the specification says comes of a world whose caller is not cancelled."""

    searches: Counter[tuple[int, Hybrid, float]]
    embeddings: Counter[tuple[int, str, float]]
    lists: list[list[Hit]]
    at: float
    errors: list[Exception]


def plan(seconds: int, failing: type[Exception] | None, resists: str) -> Plan:
    return Plan(seconds, None if failing is None else failing("on purpose"), resists)


def plans(*, errors: bool, resists: Sequence[str] = ("no",)) -> st.SearchStrategy[Plan]:
    failing = st.sampled_from([*(None,) * 16, *(ERRORS if errors else ())])
    return st.builds(plan, st.integers(0, 3), failing, st.sampled_from(resists))


def worlds(*, errors: bool, resists: Sequence[str] = ("no",)) -> st.SearchStrategy[World]:
    work, search = plans(errors=errors), plans(errors=errors, resists=resists)
    scope = st.builds(SearchScope, st.sampled_from(TARGETS), st.sampled_from(WHERES))
    scopes = st.lists(scope, max_size=5)
    group = st.builds(Group, st.sampled_from(STORES), scopes, st.none() | work)
    return st.builds(
        World,
        groups=st.lists(group, min_size=1, max_size=4),
        searches=st.fixed_dictionaries(dict.fromkeys(product(STORES, TARGETS), search)),
        combine=work,
        limit=st.integers(1, 9),
        alpha=st.sampled_from([None, 0.25]),
        cancel=st.none() | st.tuples(st.integers(0, 5), st.integers(0, 15)),
    )


def any_world(*, resists: Sequence[str] = ("no",)) -> st.SearchStrategy[World]:
    """Half of the worlds without an error, so that many come to their end."""
    return worlds(errors=False, resists=resists) | worlds(errors=True, resists=resists)


def hits_of(store: int, target: str) -> list[Hit]:
    return [Hit(f"{store}{target}{n}", float(9 - n)) for n in range(3)]


def vector_of(group: int) -> list[float]:
    return [float(group), 1.0]


def expected(world: World) -> Expected:
    """The plain reading: one embedding a group, one search a group and target, the slowest decides."""
    searches: Counter[tuple[int, Hybrid, float]] = Counter()
    embeddings: Counter[tuple[int, str, float]] = Counter()
    lists, ends, errors = [], [0.0], []
    for number, group in enumerate(world.groups):
        if not group.scopes:
            continue
        ready, vector = 0.0, None
        if group.embed is not None:
            ready, vector = float(group.embed.seconds), vector_of(number)
            embeddings[number, QUERY, 0.0] += 1
            if group.embed.error is not None:
                errors.append((ready, group.embed.error))
                continue
        for target, where in one_search_each(group.scopes):
            plan = world.searches[group.store, target]
            call = Hybrid(target, QUERY, vector, world.limit, where, world.alpha)
            searches[group.store, call, ready] += 1
            lists.append(hits_of(group.store, target))
            ends.append(ready + plan.seconds)
            if plan.error is not None:
                errors.append((ends[-1], plan.error))
    if lists and not errors:
        ends.append(max(ends) + world.combine.seconds)
        errors += [(ends[-1], world.combine.error)] if world.combine.error else []
    first = min((at for at, _ in errors), default=max(ends))
    at_first = [error for at, error in errors if at == first]
    return Expected(searches, embeddings, lists, first, at_first)


def one_search_each(scopes: Sequence[SearchScope]) -> list[tuple[str, Filter | None]]:
    searches: list[tuple[str, Filter | None]] = []
    for target in dict.fromkeys(scope.target for scope in scopes):
        wheres = [scope.where for scope in scopes if scope.target == target]
        given = [where for where in wheres if where is not None]
        if len(given) < len(wheres):
            searches.append((target, None))
        else:
            searches.append((target, given[0] if len(given) == 1 else AnyOf(given)))
    return searches


def store_of(world: World, number: int, record: Record) -> Scripted:
    async def answer(call: Hybrid) -> Any:
        record.searched[number, call, asyncio.get_running_loop().time()] += 1
        plan, hits = world.searches[number, call.target], hits_of(number, call.target)
        if plan.resists == "no":
            return Delay(plan.seconds, plan.error or hits)
        try:
            await asyncio.sleep(plan.seconds)
        except asyncio.CancelledError:
            return hits if plan.resists == "by answering" else StoreUnavailable("cut off")
        return plan.error or hits

    return Scripted(answer)


def embedder_of(plan: Plan, number: int, record: Record) -> Callable[[str], Any]:
    async def embed(query: str) -> Sequence[float]:
        record.embedded[number, query, asyncio.get_running_loop().time()] += 1
        await asyncio.sleep(plan.seconds)
        if plan.error is not None:
            raise plan.error
        return vector_of(number)

    return embed


async def run(world: World, observed: Callable[..., Any]) -> tuple[Any, Record, list[Hit]]:
    record, ranking = Record(), [Hit("fused", 1.0)]
    stores = [store_of(world, number, record) for number in STORES]

    async def combine(query: str, ranked: Sequence[Sequence[Hit]], /) -> Sequence[Hit]:
        record.combined.append((query, list(ranked)))
        await asyncio.sleep(world.combine.seconds)
        if world.combine.error is not None:
            raise world.combine.error
        return ranking

    asked = [
        SearchGroup(
            stores[group.store],
            group.scopes,
            None if group.embed is None else embedder_of(group.embed, number, record),
        )
        for number, group in enumerate(world.groups)
    ]
    cancel_at, after = world.cancel or (None, 0)
    outcome = await observed(
        lambda: search_scopes(asked, QUERY, limit=world.limit, combine=combine, alpha=world.alpha),
        stores=stores,
        cancel_at=cancel_at,
        after=after,
    )
    return outcome, record, ranking


def check(world: World, outcome: Any, record: Record, ranking: list[Hit]) -> None:
    want = expected(world)
    check_end(world, want, outcome, ranking)
    assert (outcome.left, outcome.running) == (frozenset(), 0)
    assert outcome.cancelling == (1 if outcome.cancelled else 0) or outcome.at == 0
    assert_begun(record.searched, want.searches, outcome)
    assert_begun(record.embedded, want.embeddings, outcome)
    assert record.combined in ([], [(QUERY, want.lists)])
    if outcome.error is None:
        assert bool(record.combined) == bool(want.lists)


def check_end(world: World, want: Expected, outcome: Any, ranking: list[Hit]) -> None:
    if world.cancel is not None and world.cancel[0] < want.at:
        assert outcome.cancelled
    if outcome.cancelled:
        # Within one instant either may come first; a cancel that came in time is never lost.
        assert isinstance(outcome.error, asyncio.CancelledError)
        assert world.cancel is not None
        assert outcome.at == world.cancel[0] <= want.at
        return
    assert outcome.at == want.at
    if want.errors:
        assert any(outcome.error is error for error in want.errors)
    else:
        assert outcome.error is None
        assert outcome.value is ranking if want.lists else outcome.value == []


def assert_begun(seen: Counter[Any], want: Counter[Any], outcome: Any) -> None:
    """All that was due before the end has begun, and nothing that was due after it."""
    ended = outcome.error is not None
    must = Counter({key: n for key, n in want.items() if key[-1] < outcome.at or not ended})
    may = Counter({key: n for key, n in want.items() if key[-1] <= outcome.at})
    assert must <= seen <= may


@settings(max_examples=2 * settings().max_examples)
@given(any_world())
def test_every_search_is_the_plain_reading(
    virtual: Callable[..., Any], observed: Callable[..., Any], world: World
) -> None:
    """Whatever the groups, the delays, the failures and the cancel: what comes is what must come."""
    check(world, *virtual(run(world, observed)))


@settings(max_examples=2 * settings().max_examples)
@given(any_world(resists=("no", "by answering", "by failing")))
def test_stores_that_resist_their_cancellation_change_nothing(
    virtual: Callable[..., Any], observed: Callable[..., Any], world: World
) -> None:
    """A store that answers, or fails, when it is cancelled decides nothing any more."""
    check(world, *virtual(run(world, observed)))
