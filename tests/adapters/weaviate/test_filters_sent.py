"""What a filter is on the wire: only what is exact on a server, and nothing that needs no server."""

import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weaviate.classes.config import Configure, DataType, Property
from weaviate.proto.v1 import base_pb2

from soev_retrieval.domain import NOTHING, AllOf, AnyOf, Filter, InvalidQueryError, Not, field
from tests.adapters.formulas import examples, formulas
from tests.adapters.weaviate.existing import TARGET, There, existing, objects
from tests.adapters.weaviate.formulas import corpus, indexed, properties
from tests.adapters.weaviate.stores import EVERYWHERE

OBJECTS, CHUNKS = corpus(20)
_OPERATOR = base_pb2.Filters.Operator
SAFE = {
    *("AND", "OR", "NOT", "EQUAL", "IS_NULL", "CONTAINS_ANY"),
    *("GREATER_THAN", "GREATER_THAN_EQUAL", "LESS_THAN", "LESS_THAN_EQUAL"),
}
a, b, t = field("a"), field("b"), field("t")


@pytest.fixture
async def there() -> AsyncIterator[There]:
    """A few objects at the stand-in."""
    making = indexed(nulls=False)
    async with existing("standin", properties(ranges=True), OBJECTS, making=making) as served:
        yield served


@pytest.fixture
async def small() -> AsyncIterator[There]:
    """Three properties at the stand-in, one of them rechecked."""
    made = [
        Property(name="a", data_type=DataType.INT),
        Property(name="b", data_type=DataType.INT),
        Property(name="t", data_type=DataType.TEXT),
    ]
    stored = objects({"a": 1, "b": 9, "t": "x"}, {"a": 2, "b": 8})
    async with existing("standin", made, stored, recheck=["t"]) as served:
        await served.store.fields(TARGET)
        yield served


def sent(there: There) -> list[Any]:
    """The questions that came to the stand-in, those of the layout aside."""
    assert there.where.stand_in is not None
    return [each.message for each in there.where.stand_in.sent("search")][1:]


def _walk(filters: Any) -> Iterator[Any]:
    """Every filter in a filter."""
    yield filters
    for each in filters.filters:
        yield from _walk(each)


def _written(filters: Any) -> str:
    """A filter as text, what is in it in an order of its own."""
    if not filters.filters:
        return f"{filters.target.property} {filters.operator} {filters.value_int}"
    name = _OPERATOR.Name(filters.operator).removeprefix("OPERATOR_").lower()
    return f"{name}({', '.join(sorted(map(_written, filters.filters)))})"


def _operators(message: Any) -> set[str]:
    names = {_OPERATOR.Name(each.operator) for each in _walk(message.filters)}
    return {name.removeprefix("OPERATOR_") for name in names}


@given(data=st.data())
@examples(150)
async def test_only_what_is_exact_is_sent(there: There, data: st.DataObject) -> None:
    """No NotEqual, no ContainsNone, no ContainsAll, no Like; every predicate has a value."""
    where = data.draw(formulas(await there.store.fields(TARGET), CHUNKS))
    before = len(sent(there))
    try:
        await there.fetch(where)
    except InvalidQueryError:
        assert not any(message.HasField("filters") for message in sent(there)[before:])
        return
    for message in sent(there)[before:]:
        if not message.HasField("filters"):
            continue
        assert _operators(message) <= SAFE
        for each in _walk(message.filters):
            value = each.WhichOneof("test_value")
            assert bool(value) is not bool(each.filters)
            if value and value.endswith("_array"):
                assert len(getattr(each, value).values) > 0


async def test_a_filter_that_matches_nothing_is_not_sent(small: There) -> None:
    """What is NOTHING after folding is answered by itself, in every method."""
    for where in (NOTHING, a.in_([]), AllOf([a == 1, NOTHING]), Not(a.not_in([]))):
        assert await small.fetch(where) == []
        assert await small.store.near_vector(TARGET, vector=[1, 0], limit=1, where=where) == []
        assert await small.store.bm25(TARGET, query="x", limit=1, where=where) == []
    assert sent(small) == []


async def test_a_filter_that_matches_everything_is_left_out(small: There) -> None:
    """What is everything after folding is no filter at all."""
    for where in (None, AllOf([]), a.not_in([]), Not(NOTHING)):
        assert await small.numbers(where) == [0, 1]
        await small.store.near_vector(TARGET, vector=[1, 0], limit=1, where=where)
    assert not any(message.HasField("filters") for message in sent(small))


async def test_negations_are_moved_inwards(small: There) -> None:
    """`not (a or (b and not c))` is sent as `not a and (not b or c)`."""
    await small.ids(Not(AnyOf([a == 1, AllOf([b == 7, Not(a == 2)])])))
    await small.ids(AllOf([a != 1, AnyOf([b != 7, a == 2])]))
    first, second = sent(small)
    assert _written(first.filters) == _written(second.filters)
    assert _written(first.filters).count("not(") == 2


async def test_what_negations_leave_of_one_kind_is_one_level(small: There) -> None:
    """`x or not (not y and not z)` is one `or` of three, however deep it goes on."""
    where = AnyOf([a == 0, b == 0])
    for n in range(20):
        where = AnyOf([Not(AllOf([Not(where), b != n])), a >= n])
    await small.ids(where)
    [message] = sent(small)
    assert message.filters.operator == _OPERATOR.OPERATOR_OR
    assert not any(each.filters for each in message.filters.filters)


async def test_a_zero_of_either_sign_is_asked_for(there: There) -> None:
    """Servers before 1.38 put `-0.0` before the least of numbers, and there it is asked for."""
    f, least = field("float_one"), -sys.float_info.max
    wheres: list[tuple[Filter, list[tuple[str, float]]]] = [
        (f == 0, [("EQUAL", 0.0), ("LESS_THAN", least)]),
        (f >= 0, [("GREATER_THAN_EQUAL", 0.0), ("LESS_THAN", least)]),
        (f > -1, [("GREATER_THAN", -1.0), ("LESS_THAN", least)]),
        (f < 0, [("LESS_THAN", 0.0), ("GREATER_THAN_EQUAL", least)]),
        (f <= -1, [("LESS_THAN_EQUAL", -1.0), ("GREATER_THAN_EQUAL", least)]),
        (f > 0, [("GREATER_THAN", 0.0)]),
        (f <= 1, [("LESS_THAN_EQUAL", 1.0)]),
    ]
    for where, expected in wheres:
        await there.ids(where)
        filters = sent(there)[-1].filters
        found = filters.filters or [filters]
        assert [
            (_OPERATOR.Name(each.operator).removeprefix("OPERATOR_"), each.value_number)
            for each in found
        ] == expected


async def test_one_of_many_equals_is_one_list(small: There) -> None:
    """Alternatives of one field are one ContainsAny, in a `not` as well."""
    for where in (AnyOf([a == n for n in range(500)]), Not(AnyOf([a == n for n in range(500)]))):
        await small.ids(where)
    for message in sent(small):
        [values] = [
            list(each.value_int_array.values)
            for each in _walk(message.filters)
            if each.WhichOneof("test_value") == "value_int_array"
        ][:1]
        assert sorted(values) == list(range(500))


async def test_what_is_looked_at_again_is_asked_for_equality_alone(small: There) -> None:
    """The server is asked for the words of the value and for what stands beside it, no more."""
    await small.ids((a >= 1) & (t == "x") & (t > "w") & (t != "y"))
    [message] = sent(small)
    asked = sorted((each.target.property, each.value_text) for each in _walk(message.filters))
    assert ("t", "x") in asked
    assert {name for name, _ in asked} == {"", "a", "t"}
    assert _operators(message) == {"AND", "EQUAL", "GREATER_THAN_EQUAL"}


@pytest.mark.parametrize("descending", [False, True])
async def test_nothing_is_sorted_by_one_key_nor_under_a_lone_comparison(
    there: There, descending: bool
) -> None:
    """By one key the server loses what lacks it, under a lone comparison it cuts before it sorts."""
    spec = await there.store.fields(TARGET)
    leaf = field("int_one") >= 0
    for each in spec:
        if not each.sortable:
            continue
        for where in (None, leaf, Not(leaf), field("text_one").exists()):
            for limit in (1, 500):
                await there.store.fetch(
                    TARGET, where=where, order_by=each.name, descending=descending, limit=limit
                )
    ordered = [message for message in sent(there) if message.sort_by]
    assert len(ordered) > 20
    for message in ordered:
        assert len(message.sort_by) > 1 or list(message.sort_by[0].path) == ["_id"]
        if message.HasField("filters"):
            assert message.filters.operator in {_OPERATOR.OPERATOR_AND, _OPERATOR.OPERATOR_OR}
            assert len(message.filters.filters) > 1


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_limit_is_not_taken_before_the_order(place: str) -> None:
    """Of many that match, the first by another property come, on every page of any size."""
    made = [Property(name="a", data_type=DataType.INT), Property(name="b", data_type=DataType.INT)]
    stored = objects(*({"a": n, **({"b": 300 - n} if n % 3 else {})} for n in range(300)))
    async with existing(place, made, stored) as there:
        for where, least in ((a >= 1, 1), (a > 0, 1), ((a >= 5) & (a < 400), 5)):
            for limit in (1, 2, 50, 299):
                for descending in (False, True):
                    chunks = await there.store.fetch(
                        TARGET, where=where, order_by="b", descending=descending, limit=limit
                    )
                    having = [300 - n for n in range(least, 300) if n % 3]
                    having.sort(reverse=descending)
                    lacking: list[Any] = [None] * len([n for n in range(least, 300) if not n % 3])
                    found = [chunk.properties.get("b") for chunk in chunks]
                    assert found == [*having, *lacking][:limit]


@pytest.mark.parametrize("level", ["ONE", "QUORUM", "ALL"])
async def test_the_consistency_is_in_every_question(level: str) -> None:
    """Searches, both legs, what is read after them, and the first look too."""
    made = [Property(name="a", data_type=DataType.INT), Property(name="t", data_type=DataType.TEXT)]
    more = {"replication_config": Configure.replication(factor=1)}
    stored = objects({"a": 1, "t": "x y"}, {"t": "x"})
    async with existing("standin", made, stored, making=more, consistency=level) as there:
        store = there.store
        await store.fetch(TARGET, limit=5)
        await store.fetch(TARGET, limit=5, order_by="a", where=a.exists())
        await store.near_vector(TARGET, vector=[1, 0], limit=5)
        await store.bm25(TARGET, query="x", limit=5)
        await store.hybrid(TARGET, query="x", vector=[1, 0], limit=5)
        await store.hybrid(TARGET, query="x", vector=[1, 0], limit=150)
        assert there.where.stand_in is not None
        asked = [each.message for each in there.where.stand_in.sent("search")]
        assert len(asked) >= 8
        wanted = base_pb2.ConsistencyLevel.Value(f"CONSISTENCY_LEVEL_{level}")
        assert {getattr(message, "consistency_level", None) for message in asked} == {wanted}
