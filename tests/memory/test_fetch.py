"""fetch reads chunks by filter alone, in the order of a field where one is asked for."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soev_retrieval.domain import Chunk, Field, FieldSpec, Record, field, matches
from soev_retrieval.memory import MemoryStore
from soev_retrieval.testing import strategies

Fill = Callable[..., Awaitable[MemoryStore]]


@attrs.frozen
class Case:
    """A corpus whose field `key` sorts, and has few values so that many are equal."""

    spec: FieldSpec
    records: list[Record]
    descending: bool
    limit: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    others = [each for each in draw(strategies.specs(max_fields=1)) if each.name != "key"]
    key = Field("key", draw(st.sampled_from(["text", "int", "float", "datetime"])))
    spec = FieldSpec([*others, key])
    pool = st.sampled_from(draw(st.lists(strategies.scalars(type=key.type), min_size=1)))
    records = [
        attrs.evolve(record, properties={**record.properties, "key": draw(st.none() | pool)})
        for record in draw(strategies.corpora(spec, max_size=10))
    ]
    return Case(spec, records, draw(st.booleans()), draw(st.integers(1, 10)))


def _in_order(records: list[Record], *, descending: bool) -> list[Chunk]:
    """The plain reading: those with a key in order, then those without, equal ones by id."""
    by_id = sorted((Chunk(each.id, each.properties) for each in records), key=lambda one: one.id)

    def key(chunk: Chunk) -> Any:
        return chunk.properties["key"]

    there = [chunk for chunk in by_id if "key" in chunk.properties]
    return sorted(there, key=key, reverse=descending) + [
        chunk for chunk in by_id if "key" not in chunk.properties
    ]


@settings(max_examples=200)
@given(cases())
async def test_in_the_order_of_a_field(filled: Fill, case: Case) -> None:
    """Chunks come by the field's value, those that lack it last, and equal ones by id."""
    store = await filled(case.spec, case.records)
    chunks = await store.fetch("docs", limit=case.limit, order_by="key", descending=case.descending)
    assert chunks == _in_order(case.records, descending=case.descending)[: case.limit]


@given(st.data())
async def test_ordered_and_filtered(filled: Fill, data: st.DataObject) -> None:
    """An ordered fetch with a filter is the whole order without what does not match, then cut."""
    case = data.draw(cases())
    where = data.draw(strategies.filters(case.spec))
    store = await filled(case.spec, case.records)
    chunks = await store.fetch(
        "docs", where=where, limit=case.limit, order_by="key", descending=case.descending
    )
    ordered = _in_order(case.records, descending=case.descending)
    assert chunks == [one for one in ordered if matches(where, one.properties)][: case.limit]


@given(cases())
async def test_without_an_order_each_chunk_comes_once(filled: Fill, case: Case) -> None:
    """A fetch without an order brings as many distinct chunks as there are, up to the limit."""
    store = await filled(case.spec, case.records)
    chunks = await store.fetch("docs", limit=case.limit)
    assert len(chunks) == min(case.limit, len(case.records))
    loaded = {record.id: Chunk(record.id, record.properties) for record in case.records}
    assert {chunk.id: chunk for chunk in chunks}.items() <= loaded.items()
    assert len({chunk.id for chunk in chunks}) == len(chunks)


@pytest.mark.parametrize(
    ("type", "values"),
    [
        ("text", ["", "10", "9", "B", "a", "a ", "aa", "é", "日本", "😀"]),
        ("int", [-(2**53) + 1, -1, 0, 9, 10, 2**53 - 1]),
        ("float", [-1e300, -0.5, 0.0, 5e-324, 0.1, 0.1 + 0.2, 2.0**53, 1e300]),
        (
            "datetime",
            [
                datetime.fromisoformat(text)
                for text in (
                    "0001-01-02T00:00:00+00:00",
                    "2000-01-01T02:00:00+05:00",  # the evening before, in UTC
                    "1999-12-31T23:00:00+00:00",
                    "2000-01-01T00:00:00.000001+00:00",
                    "1999-12-31T23:00:00-05:00",
                )
            ],
        ),
    ],
)
async def test_what_the_order_is(filled: Fill, type: str, values: list[Any]) -> None:
    """Text sorts by code point, numbers by value, datetimes by instant, and backwards likewise."""
    records = [Record(f"{n:02}", {"key": value}) for n, value in enumerate(values)]
    spec = FieldSpec([Field("key", type)])
    store = await filled(spec, [Record("lacks it"), *records[::-1]])
    up = await store.fetch("docs", limit=99, order_by="key")
    assert [chunk.id for chunk in up] == [*(record.id for record in records), "lacks it"]
    down = await store.fetch("docs", limit=99, order_by="key", descending=True)
    assert [chunk.id for chunk in down] == [*(each.id for each in records[::-1]), "lacks it"]


async def test_one_instant_in_two_zones_is_a_tie(filled: Fill) -> None:
    """Datetimes of two zones that are one instant are equal keys, as are -0.0 and 0.0."""
    spec = FieldSpec([Field("at", "datetime"), Field("number", "float")])
    noon = datetime(2024, 1, 31, 12, tzinfo=UTC)
    there = datetime.fromisoformat("2024-01-31T14:00:00+02:00")
    records = [
        Record("c", {"at": noon, "number": 0.0}),
        Record("a", {"at": there, "number": -0.0}),
        Record("b", {"at": noon, "number": 0.0}),
    ]
    store = await filled(spec, records)
    for order_by in ("at", "number"):
        for descending in (False, True):
            chunks = await store.fetch("docs", limit=9, order_by=order_by, descending=descending)
            assert [chunk.id for chunk in chunks] == ["a", "b", "c"]


async def test_a_limit_beyond_all(filled: Fill) -> None:
    """A limit may be far greater than what there is."""
    store = await filled(FieldSpec([Field("key", "int")]), [Record("a", {"key": 1}), Record("b")])
    for limit in (3, 2**31, 10**30):
        chunks = await store.fetch("docs", limit=limit, order_by="key")
        assert [chunk.id for chunk in chunks] == ["a", "b"]


async def test_an_order_that_no_chunk_has(filled: Fill) -> None:
    """Ordered by a field that no chunk has, chunks come by id in both directions."""
    store = await filled(FieldSpec([Field("key", "int")]), [Record(id) for id in "bca"])
    for descending in (False, True):
        chunks = await store.fetch("docs", limit=9, order_by="key", descending=descending)
        assert [chunk.id for chunk in chunks] == ["a", "b", "c"]


async def test_an_empty_target(filled: Fill) -> None:
    """A target that holds nothing is read as nothing, filtered and ordered or not."""
    store = await filled(FieldSpec([Field("key", "int")]), [])
    assert not await store.fetch("docs", limit=1)
    assert not await store.fetch("docs", where=field("key").missing(), limit=1, order_by="key")
