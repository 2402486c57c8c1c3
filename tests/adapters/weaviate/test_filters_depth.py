"""Filters that nest deep, and lists that are long."""

import pytest
from weaviate.classes.config import DataType, Property

from soev_retrieval.domain import AllOf, AnyOf, Filter, Not, field, matches
from tests.adapters.weaviate.existing import TARGET, exact, existing, objects, refusal
from tests.adapters.weaviate.formulas import indexed
from tests.adapters.weaviate.stores import EVERYWHERE

everywhere = pytest.mark.parametrize("place", EVERYWHERE)
a, t = field("a"), field("t")
INT = Property(name="a", data_type=DataType.INT)
FLAT = 80


def nested(levels: int) -> Filter:
    """`and` and `or` in turn, so many levels with the predicate."""
    where: Filter = a <= 0
    for level in range(levels - 1):
        where = AllOf([where, a >= 0]) if level % 2 else AnyOf([where, a == level + 1000])
    return where


@everywhere
async def test_eighty_levels_are_carried(place: str) -> None:
    """One more is refused by name, in every method, before anything is sent."""
    async with existing(place, [INT], objects({"a": 0}, {"a": 7})) as there:
        deep = nested(FLAT)
        assert await there.numbers(deep) == [0]
        hits = await there.store.near_vector(TARGET, vector=[1, 0], limit=9, where=deep)
        assert len(hits) == 1
        [chunk] = await there.store.fetch(TARGET, where=deep, order_by="a", limit=9)
        assert chunk.properties == {"a": 0}
        for levels in (FLAT + 1, 99):
            said = await refusal(there.ids(nested(levels)))
            assert (
                f"nests {levels} levels of 'and' and 'or' in turn, and Weaviate carries 80" in said
            )


@everywhere
async def test_levels_are_counted_after_folding(place: str) -> None:
    """Nested filters of one kind are one level, and double negations none."""
    flat: Filter = a == 0
    turned: Filter = a == 0
    for level in range(90):
        flat = AllOf([flat, a >= -level])
        turned = Not(turned)
    async with existing(place, [INT], objects({"a": 0}, {"a": 7}, {})) as there:
        assert await there.numbers(flat) == [0]
        assert await there.numbers(turned) == [0]
        inner: Filter = a == 0
        for level in range(40):  # `not (x and …)` under `not (…)` is `x or …`: 40 levels, not 80
            inner = Not(AllOf([inner, a != level + 5]))
        expected = [n for n, held in enumerate(({"a": 0}, {"a": 7}, {})) if matches(inner, held)]
        assert await there.numbers(inner) == expected


@everywhere
async def test_a_thousand_alternatives_are_no_depth(place: str) -> None:
    """Wide is not deep: ranges in `or`, in `and`, and in a `not`."""
    async with existing(place, [INT], objects({"a": 0}, {"a": 7}, {"a": -5}, {})) as there:
        wide = AnyOf([(a > 10 * n) & (a < 10 * n + 9) for n in range(1000)])
        assert await there.numbers(wide) == [1]
        assert await there.numbers(Not(wide)) == [0, 2, 3]
        assert await there.numbers(AllOf([a > -n for n in range(1000)])) == [1]


@everywhere
async def test_long_lists(place: str) -> None:
    """Thousands of values are asked at once, of each kind of source, and in a `not`."""
    made = [
        INT,
        exact("t"),
        exact("u"),
        Property(name="w", data_type=DataType.TEXT),
        Property(name="d", data_type=DataType.UUID),
    ]
    texts = [f"value {n}" for n in range(4_000)]
    uuids = [f"{n:08x}-0000-4000-8000-000000000000" for n in range(4_000)]
    held = {"a": 19_999, "t": texts[-1], "u": texts[-1], "w": texts[-1], "d": uuids[-1]}
    making = indexed(nulls=False)
    async with existing(
        place, made, objects(held, {}), making=making, trimmed=["u"], recheck=["w"]
    ) as there:
        for name, values in (("a", range(20_000)), ("t", texts), ("u", texts), ("d", uuids)):
            assert await there.numbers(field(name).in_(values)) == [0]
            if name != "t":
                assert await there.numbers(field(name).not_in(values)) == [1]
        assert await there.numbers(field("w").in_(texts)) == [0]
        assert await there.numbers(t.in_(texts[:-1])) == []
