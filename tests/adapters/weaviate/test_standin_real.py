"""What the stand-in finds is what a real server finds, where the environment names one."""

import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.adapters.weaviate._standin_both import NAME, Both, needs_server, opened, plain
from tests.adapters.weaviate._standin_client import (
    Bare,
    Refused,
    by,
    joined,
    leaf,
    prop,
    uuid_of,
)
from tests.adapters.weaviate._standin_odd import PROPERTIES, random_formula, random_object

pytestmark = needs_server

INDEXED = {"indexNullState": True, "indexPropertyLength": True}


@pytest.fixture
async def both() -> AsyncIterator[Both]:
    """A stand-in of its own and the server."""
    async with opened() as pair:
        yield pair


async def _odd(both: Both, seed: int, count: int = 120) -> random.Random:
    """A collection of odd objects, some of them replaced and some deleted."""
    of = random.Random(seed)
    objects = {number: random_object(of) for number in range(count)}
    changed = {number: random_object(of) for number in of.sample(range(count), 20)}
    gone = of.sample(range(count), 10)
    for each in (both.ours, both.theirs):
        await each.create(NAME, *PROPERTIES, invertedIndexConfig=INDEXED)
        assert not await each.insert(NAME, objects)
        assert not await each.insert(NAME, changed)
        for number in gone:
            assert await each.delete(NAME, leaf("EQUAL", "_id", uuid_of(number))) == (1, 1)
    return of


async def _sorted(place: Bare, where: Any) -> Any:
    found = await place.found(NAME, where, limit=1000)
    return found if isinstance(found, Refused) else sorted(found)


@pytest.mark.parametrize("seed", range(4))
async def test_filters(both: Both, seed: int) -> None:
    """Random formulas over odd values find the same objects, or are refused in the same words."""
    of = await _odd(both, seed)
    for at in range(250):
        where = random_formula(of, at % 4)
        ours, theirs = [await _sorted(each, where) for each in (both.ours, both.theirs)]
        if isinstance(theirs, Refused) and where.filters:
            # Of several reasons, the server tells one or another.
            assert isinstance(ours, Refused), (where, ours, theirs)
        else:
            assert plain(ours) == plain(theirs), where


async def test_answers_whole_objects(both: Both) -> None:
    """Properties come back the same, missing ones and odd ones too."""
    await _odd(both, 5)

    async def ask(place: Bare) -> Any:
        return [
            (result.metadata.id, dict(result.properties.non_ref_props.fields))
            for result in await place.search(NAME, limit=1000)
        ]

    await both.agree(ask)


@pytest.mark.parametrize("seed", range(2))
async def test_orders(both: Both, seed: int) -> None:
    """Several keys sort the same, missing values first where they ascend."""
    of = await _odd(both, seed)
    names = [each["name"] for each in PROPERTIES if not each["dataType"][0].startswith("uuid")]
    for _ in range(60):
        keys = [of.choice(["", "-"]) + name for name in of.sample(names, of.randrange(1, 3))]
        where = joined("NOT", joined("NOT", leaf("GREATER_THAN", "n", -(2**40))))
        for filtered in (None, where):
            asked = by(*keys, "_id") | {"limit": of.randrange(1, 60), "offset": of.randrange(5)}
            await both.same("found", NAME, filtered, **asked)


async def test_the_limit_that_comes_before_the_order(both: Both) -> None:
    """A lone comparison is cut at the limit in the order of its values; not one of a range index."""
    of = random.Random(1)
    ranks = of.sample(range(300), 200)
    objects = {
        at: {"n": at % 40, "f": f"v{at % 30}", "r": at % 40, "rank": rank}
        for at, rank in enumerate(ranks)
    }
    properties = [
        prop("n", "int"),
        prop("f", tokenization="field", indexSearchable=False),
        prop("r", "int", indexRangeFilters=True),
        prop("rank", "int"),
    ]
    for each in (both.ours, both.theirs):
        await each.create(NAME, *properties)
        assert not await each.insert(NAME, objects)
    lone = [leaf(each, "n", 17) for each in ("GREATER_THAN", "LESS_THAN_EQUAL", "NOT_EQUAL")]
    lone += [leaf("LIKE", "f", "v1*"), leaf("GREATER_THAN", "f", "v2"), leaf("LESS_THAN", "r", 20)]
    lone += [leaf("CONTAINS_ANY", "n", [3]), leaf("EQUAL", "n", 3)]
    seen = set()
    for each in lone:
        for where in (each, joined("AND", each), joined("AND", each, each), joined("OR", each)):
            for limit, offset in ((1, 0), (5, 0), (5, 5), (30, 2)):
                asked = by("-rank", "_id") | {"limit": limit, "offset": offset}
                seen.add(tuple(await both.same("found", NAME, where, **asked)))
    assert len(seen) > 40


async def test_the_lone_key_that_loses(both: Both) -> None:
    """A filtered search that is sorted by one number has no objects without it."""
    objects = {at: {"n": at * 7 % 101} if at % 3 else {} for at in range(100)}
    for each in (both.ours, both.theirs):
        await each.create(NAME, prop("n", "int"), prop("all", "int"))
        rows = {at: {**each, "all": at} for at, each in objects.items()}
        assert not await each.insert(NAME, rows)
    where = joined("NOT", joined("NOT", leaf("GREATER_THAN", "all", -1)))
    for key in ("n", "-n"):
        for limit, offset in ((5, 0), (20, 10), (40, 30)):
            asked = by(key) | {"limit": limit, "offset": offset}
            await both.same("found", NAME, where, **asked)
