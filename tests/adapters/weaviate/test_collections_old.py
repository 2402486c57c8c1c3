"""A server before 1.33, which has no negation: what needs none is served, the rest is refused."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weaviate.classes.config import Configure, DataType, Property, StopwordsPreset

from soev_retrieval.domain import (
    AllOf,
    AnyOf,
    DeclaredFilter,
    Field,
    FieldSpec,
    Filter,
    InvalidQueryError,
    Not,
    Record,
    field,
    simplify,
)
from tests.adapters.formulas import examples, formulas
from tests.adapters.weaviate.existing import TARGET, There, exact, existing, objects, refusal
from tests.adapters.weaviate.formulas import (
    CUT,
    corpus,
    expect_same,
    expect_same_or_refused,
    properties,
)
from tests.adapters.weaviate.stores import EVERYWHERE, RUN

everywhere = pytest.mark.parametrize("place", EVERYWHERE)
OBJECTS, CHUNKS = corpus()
OLD = {"version": "1.32.5"}
NEEDS = "a negation, which Weaviate has from 1.33 on"
a = field("a")


@asynccontextmanager
async def old(place: str, *given: Any, **more: Any) -> AsyncIterator[There]:
    """A collection on a server of before, where the place is one."""
    async with existing(place, *given, standing=OLD, **more) as there:
        version = (await there.client.get_meta())["version"]
        if tuple(map(int, version.split(".")[:2])) >= (1, 33):
            pytest.skip(f"the server is {version} and has a negation")
        yield there


@pytest.fixture(params=EVERYWHERE)
async def there(request: pytest.FixtureRequest) -> AsyncIterator[There]:
    """The corpus there."""
    making = {
        "inverted_index_config": Configure.inverted_index(
            index_null_state=True,
            index_property_length=True,
            stopwords_preset=StopwordsPreset.NONE,
        )
    }
    trimmed = ["text_one", "text_many"]
    async with old(
        request.param, properties(ranges=True), OBJECTS, making=making, trimmed=trimmed
    ) as served:
        yield served


def needs_not(where: Filter, *, negated: bool = False) -> bool:
    """Whether a predicate is negated when negations are moved inwards."""
    match where:
        case Not(inner):
            return needs_not(inner, negated=not negated)
        case AllOf(filters) | AnyOf(filters):
            return any(needs_not(one, negated=negated) for one in filters)
        case _:
            return negated


@given(data=st.data())
@examples(100)
async def test_formulas_without_negation_are_exact(there: There, data: st.DataObject) -> None:
    """Double ones are none; what keeps one is refused by name."""
    where = data.draw(formulas(await there.store.fields(TARGET), CHUNKS))
    if not needs_not(simplify(where)):
        return await expect_same_or_refused(there, CHUNKS, where)
    with pytest.raises(InvalidQueryError) as caught:
        await there.ids(where)
    assert caught.value.__cause__ is None
    return None


async def test_fields_declare_no_negation(there: There) -> None:
    """Neither `ne`, `not_in` nor `missing`, nor an order, which puts what is missing last."""
    spec = await there.store.fields(TARGET)
    assert len(spec) == len(properties(ranges=True))
    for each in spec:
        assert not {"ne", "not_in", "missing"} & set(each.operators)
        assert not each.sortable
    assert spec["int_one"].operators == ("eq", "gt", "gte", "lt", "lte", "in", "exists")
    assert spec["int_many"].operators == ("contains", "contains_any", "contains_all", "exists")


@everywhere
async def test_a_negation_is_refused_with_the_version(place: str) -> None:
    """As an operator, as a `not`, and under two."""
    made = [Property(name="a", data_type=DataType.INT)]
    async with old(place, made, objects({"a": 1}, {})) as there:
        for where in (a != 1, a.not_in([1]), a.missing(), ~(a == 1), ~(a.exists() & (a > 3))):
            said = await refusal(there.ids(where))
            assert said.startswith("InvalidQueryError")
            assert NEEDS in said
        assert await there.numbers(Not(Not(a == 1))) == [0]
        assert await there.numbers(Not(AnyOf([Not(a == 1), Not(a >= 1)]))) == [0]
        said = await refusal(there.store.fetch(TARGET, limit=1, order_by="a"))
        assert "not sortable" in said


@everywhere
async def test_what_is_looked_at_again_needs_no_negation(place: str) -> None:
    """It is negated here."""
    made = [Property(name="t", data_type=DataType.TEXT)]
    async with old(place, made, objects({"t": "a b"}, {"t": "b"}, {}), recheck=["t"]) as there:
        t = field("t")
        assert await there.numbers(t != "b") == [0, 2]
        assert await there.numbers(~t.prefix("a")) == [1, 2]
        assert await there.numbers(t.missing()) == [2]


@everywhere
@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
async def test_a_stop_word_cannot_be_asked_for(place: str, many: bool) -> None:
    """Servers before 1.31.19, 1.32.16 and 1.33.4 drop it from what is asked: Norway is `no`."""
    making = {
        "inverted_index_config": Configure.inverted_index(
            index_property_length=True, stopwords_additions=["zebra"], stopwords_removals=["is"]
        )
    }
    values = ["no", "de", "NO", "is", "zebra"]
    stored = objects(*({"t": [value] if many else value} for value in values))
    t, made = field("t"), [exact("t", DataType.TEXT_ARRAY if many else DataType.TEXT)]
    eq, several = ("contains", "contains_any") if many else ("eq", "in")
    async with old(place, made, stored, making=making, trimmed=["t"]) as there:
        wheres: list[tuple[Filter, str]] = [
            (DeclaredFilter("t", eq, "no"), "no"),
            (DeclaredFilter("t", several, ["de", "no"]), "no"),
            (DeclaredFilter("t", eq, "zebra"), "zebra"),
            (DeclaredFilter("t", eq, "is"), "is"),
        ]
        if not many:
            wheres += [(t > "no", "no"), (t.prefix("no"), "no"), (t.prefix("is"), "is")]
        for where, word in wheres:
            said = await refusal(there.ids(where))
            assert f"field 't': {word!r} is a stop word of the collection" in said
        assert await there.numbers(DeclaredFilter("t", eq, "NO")) == [2]
        assert await there.numbers(DeclaredFilter("t", several, ["de", "NO"])) == [1, 2]
    async with old(place, made, stored, making=making, recheck=["t"]) as there:
        for at, value in enumerate(values):
            assert await there.numbers(DeclaredFilter("t", eq, value)) == [at]
            assert await there.numbers(DeclaredFilter("t", several, [value, "x"])) == [at]


@everywhere
async def test_what_is_cut_may_be_stop_words(place: str) -> None:
    """They are dropped from text of every tokenization there; rechecked it is found all the same."""
    values = ("the", "no it", "The", "and", "the cat", "andthe")
    made = [Property(name=each.value, data_type=DataType.TEXT, tokenization=each) for each in CUT]
    stored = objects(*({each.name: value for each in made} for value in values))
    names = [each.name for each in made]
    async with old(place, made, stored, recheck=names) as there:
        for name in names:
            for at, value in enumerate(values):
                assert await there.numbers(field(name) == value) == [at]


@everywhere
@pytest.mark.parametrize("kind", ["filterable", "ranges", "both", "many"])
async def test_zero_has_no_sign(place: str, kind: str) -> None:
    """Servers before 1.38 put `-0.0` before the least of numbers."""
    many = kind == "many"
    values = [0.0, -0.0, 1.5, -1.5, 5e-324, -5e-324, 1.7e308, -1.7e308]
    made = Property(
        name="a",
        data_type=DataType.NUMBER_ARRAY if many else DataType.NUMBER,
        index_range_filters=kind in {"ranges", "both"} or None,
        index_filterable=kind != "ranges",
    )
    stored = objects(*({"a": [value] if many else value} for value in values), {})
    async with old(place, [made], stored) as there:
        chunks = await there.fetch()
        assert len(chunks) == 9
        for value in (*values, 0, -1.0, 1.0):
            ops = ("contains",) if many else ("eq", "gt", "gte", "lt", "lte")
            for op in ops:
                await expect_same(there, chunks, DeclaredFilter("a", op, value))
            several = DeclaredFilter("a", "contains_any" if many else "in", [value, 7.0])
            await expect_same(there, chunks, several)
        await expect_same(there, chunks, field("a").exists())


@everywhere
async def test_our_own_collections_are_served_by_it(place: str) -> None:
    """They are made, filled, searched and filtered, as far as nothing is negated."""
    target = f"{RUN}Old"
    spec = FieldSpec(
        [Field("t", "text", searchable=True), Field("n", "int"), Field("at", "datetime")], 2
    )
    async with old(place, [Property(name="a", data_type=DataType.INT)]) as there:
        store = there.store
        await store.create(target, spec)
        await store.upsert(
            target,
            [Record("1", {"t": " wing ", "n": 1}, [1, 0]), Record("2", {"t": "heat"}, [0, 1])],
        )
        for where, ids in ((field("t") == " wing ", ["1"]), (field("n").exists(), ["1"])):
            for found in (
                await store.fetch(target, where=where, limit=9),
                await store.near_vector(target, vector=[0, 1], where=where, limit=9),
                await store.bm25(target, query="wing heat", where=where, limit=9),
                await store.hybrid(target, query="wing", vector=[0, 1], where=where, limit=9),
            ):
                assert [each.id for each in found] == ids
        assert NEEDS in await refusal(store.fetch(target, where=field("t") != "x", limit=9))
        declared = await store.fields(target)
        assert not declared["n"].sortable
        assert "missing" not in declared["t"].operators
        await store.create(target, spec)
        await store.delete(target, ["1"])
        assert [chunk.id for chunk in await store.fetch(target, limit=9)] == ["2"]
        await store.drop(target)
