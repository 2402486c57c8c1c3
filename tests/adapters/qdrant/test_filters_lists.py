"""Long lists of values, which local mode would compare one by one at each point."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from soev_retrieval.domain import DeclaredFilter, Field, FieldSpec, Record, field
from soev_retrieval_qdrant._conditions import OneOf
from soev_retrieval_qdrant._paths import Path
from soev_retrieval_qdrant._plain import Plain
from soev_retrieval_qdrant._server import Server
from tests.adapters.qdrant.existing import TARGET, existing, points
from tests.adapters.qdrant.stores import LOCAL, RUN, SERVER, opened

MANY = 100_000
_DAY = datetime(2000, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("place", [LOCAL, *SERVER])
async def test_a_hundred_thousand_ids(place: str) -> None:
    """A filter with 100,000 texts or ints is answered exactly in every search, within its time."""
    stored = points(*({"a": f"id{n}", "n": n, "tags": [f"id{n}", "x"]} for n in range(1000)))
    fields = [Field("a", "text"), Field("n", "int"), Field("tags", "text", many=True)]
    texts = [f"id{n}" for n in range(500, MANY)] + ["none"] * 500
    async with existing(place, stored, fields=fields) as there:
        expected = sorted(str(n) for n in range(500, 1000))
        assert await there.ids(field("a").in_(texts)) == expected
        assert await there.ids(~field("a").not_in(texts)) == expected
        assert await there.ids(field("tags").contains_any(texts)) == expected
        assert await there.ids(field("n").in_(range(500, MANY + 500))) == expected
        near = await there.store.near_vector(
            TARGET, vector=[1, 0], where=field("a").in_(texts), limit=1000
        )
        assert sorted(hit.id for hit in near) == expected


@pytest.mark.parametrize("type", ["text", "int", "float", "bool", "datetime"])
@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
async def test_lists_in_local_mode_are_exact(type: str, many: bool) -> None:
    """What local mode is asked in place of a list tells apart what the list does."""
    values: Any = {
        "text": ["1", "", "a"],
        "int": [1, 0, -7],
        "float": [1, 0.0, 2.5],
        "bool": [True, True],
        "datetime": [_DAY, _DAY + timedelta(microseconds=1)],
    }[type]
    held = ["1", "a", "b", 1, 1.0, True, False, 0, -0.0, 2.5, {}, "2000-01-01", None, []]
    held += ["2000-01-01T01:00:00.000001+01:00", ["a", 1], [True, 2.5], [{"a": 1}]]
    stored = points(*({"a": each} for each in held if many or not isinstance(each, list)))
    op, one = ("contains_any", "contains") if many else ("in", "eq")
    async with existing("local", stored, fields=[Field("a", type, many=many)]) as there:
        alone = [await there.ids(DeclaredFilter("a", one, value)) for value in values]
        expected = sorted(set().union(*alone))
        assert await there.ids(DeclaredFilter("a", op, values)) == expected


async def test_a_hundred_thousand_floats_of_our_own() -> None:
    """In local mode a list of floats is as fast as one of texts."""
    target = f"{RUN}many"
    spec = FieldSpec([Field("f", "float"), Field("body", "text", searchable=True)], dimension=1)
    records = [Record(str(n), {"f": n / 7, "body": "word"}, [1.0]) for n in range(1000)]
    where = field("f").in_([n / 7 for n in range(500, MANY)])
    async with opened("local") as store:
        await store.create(target, spec)
        await store.upsert(target, records)
        for found in (
            await store.fetch(target, where=where, limit=1000),
            await store.bm25(target, query="word", where=where, limit=1000),
            await store.hybrid(target, query="word", vector=[1.0], where=where, limit=1000),
        ):
            assert sorted(each.id for each in found) == sorted(str(n) for n in range(500, 1000))


@pytest.mark.parametrize("type", ["text", "int", "float", "datetime"])
def test_local_mode_is_asked_for_one_value(type: str) -> None:
    """A list is one condition there, with one operand, however long it is."""
    values: Any = {"text": ["a", "b"], "int": [1, 2], "float": [1, 2], "datetime": [_DAY, _DAY]}
    values["datetime"][1] += timedelta(1)
    source = Plain(Field("a", type), Path.of("a"), Server(is_local=True))
    condition: Any = source.condition("in", DeclaredFilter("a", "in", values[type]))
    bounds = condition.match or condition.range
    operands = [value for _, value in bounds if value is not None]
    assert operands
    assert all(isinstance(operand, OneOf) for operand in operands)


def test_what_stands_for_a_list_is_one_value_to_local_mode() -> None:
    """It is copied as itself, hashes, and equals its members alone."""
    from copy import deepcopy

    values = OneOf(["a", "b"])
    assert deepcopy(values) is values
    assert "a" == values != "c"
    assert hash(values) == hash(OneOf(["b", "a"]))
    assert values != {"a": 1}
