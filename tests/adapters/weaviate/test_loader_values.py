"""Any value of any field in collections of our own: given back, and asked exactly."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soev_retrieval.domain import (
    MAX_INT,
    Chunk,
    DeclaredFilter,
    Field,
    FieldSpec,
    Record,
    field,
    matches,
)
from soev_retrieval.testing import strategies
from soev_retrieval_weaviate import WeaviateStore
from tests.adapters.formulas import examples, formulas
from tests.adapters.weaviate.formulas import EDGED
from tests.adapters.weaviate.stores import EVERYWHERE, RUN, opened

TARGET = f"{RUN}Loader"


NAMES = ("Year", "year", "id", "a b", "日本", "vector", "soev_id", "x_searchable", "_a", "a" * 300)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_field_may_have_any_name(place: str) -> None:
    """What the server would change, reserve or refuse stands under another name, and is told apart."""
    spec = FieldSpec([Field(name, "text") for name in NAMES])
    properties = {name: f"value {at}" for at, name in enumerate(NAMES)}
    async with opened(place) as store:
        await store.create(TARGET, spec)
        await store.upsert(TARGET, [Record("1", properties), Record("2")])
        for name in NAMES:
            where = field(name) == properties[name]
            assert await store.fetch(TARGET, where=where, limit=2) == [Chunk("1", properties)]
        await store.drop(TARGET)


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6
) | st.sampled_from(["", " ", *EDGED, "\x01", "the", "\U0010ffff", "a\U0010ffff", "x", "g"])
TIMES = strategies.scalars(type="datetime") | st.sampled_from(
    [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
)
ANY = FieldSpec(
    [
        Field("text", "text", searchable=True),
        Field("time", "datetime"),
        Field("number", "int"),
        Field("price", "float"),
        Field("texts", "text", many=True),
        Field("times", "datetime", many=True),
        Field("flags", "bool", many=True),
    ]
)


def held(count: int = 80) -> list[Record]:
    """Records of odd values: text with white space at its edges, times of every century."""
    values = st.fixed_dictionaries(
        {},
        optional={
            "text": TEXTS,
            "time": TIMES,
            "number": st.sampled_from([0, -1, 1, MAX_INT, -MAX_INT]),
            "price": st.floats(allow_nan=False, allow_infinity=False),
            "texts": st.lists(TEXTS, max_size=3),
            "times": st.lists(TIMES, max_size=3),
            "flags": st.lists(st.booleans(), max_size=2),
        },
    )
    drawn: list[Any] = []

    @settings(max_examples=count, database=None, derandomize=True)
    @given(values)
    def draw(properties: dict[str, Any]) -> None:
        drawn.append(properties)

    draw()
    return [Record(f"{n}", each) for n, each in enumerate(drawn)]


HELD = held()
CHUNKS = [Chunk(each.id, each.properties) for each in HELD]


@pytest.fixture(params=EVERYWHERE)
async def holding(request: pytest.FixtureRequest) -> Any:
    """A store that holds the odd values."""
    async with opened(request.param) as store:
        await store.create(TARGET, ANY)
        await store.upsert(TARGET, HELD)
        yield store
        await store.drop(TARGET)


async def test_any_value_comes_back_as_it_was_loaded(holding: WeaviateStore) -> None:
    """White space at edges, the empty text, times before 1677 and after 2262, any double."""
    chunks = await holding.fetch(TARGET, limit=999)
    assert {chunk.id: chunk.properties for chunk in chunks} == {
        each.id: each.properties for each in HELD
    }


@given(data=st.data())
@examples(150)
async def test_any_formula_is_exact(holding: WeaviateStore, data: st.DataObject) -> None:
    """Every operator, of every value, finds what `matches` says."""
    where = data.draw(formulas(ANY, CHUNKS))
    found = sorted(chunk.id for chunk in await holding.fetch(TARGET, where=where, limit=999))
    assert found == sorted(c.id for c in CHUNKS if matches(where, c.properties)), where


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_text_of_a_megabyte_is_asked_exactly(place: str) -> None:
    """No length of text is too long to be compared."""
    long = "copper " * 150_000
    async with opened(place) as store:
        await store.create(TARGET, ANY)
        await store.upsert(TARGET, [Record("1", {"text": long}), Record("2", {"text": long + "x"})])
        for op, value, ids in (
            ("eq", long, ["1"]),
            ("gt", long, ["2"]),
            ("prefix", long, ["1", "2"]),
            ("ne", long + "x", ["1"]),
        ):
            where = DeclaredFilter("text", op, value)
            chunks = await store.fetch(TARGET, where=where, limit=9)
            assert sorted(chunk.id for chunk in chunks) == ids
        await store.drop(TARGET)
