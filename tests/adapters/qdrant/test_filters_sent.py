"""What is sent for a filter: only what was found exact on a server."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.domain import NOTHING, AllOf, AnyOf, Field, InvalidQueryError, Not, field
from tests.adapters.formulas import examples
from tests.adapters.qdrant.existing import TARGET, There, existing, points
from tests.adapters.qdrant.formulas import FIELDS, KEYS, corpus, formulas
from tests.adapters.qdrant.stores import STAND_IN

POINTS, CHUNKS = corpus(20)
FORBIDDEN = {"except", "exceptKeywords", "exceptIntegers", "is_null", "isNull", "min_should"}
a, b = field("a"), field("b")


@pytest.fixture(params=STAND_IN)
async def there(request: pytest.FixtureRequest) -> AsyncIterator[There]:
    """A few points at the stand-in."""
    async with existing(request.param, POINTS, fields=FIELDS, keys=KEYS) as served:
        yield served


@pytest.fixture(params=STAND_IN)
async def small(request: pytest.FixtureRequest) -> AsyncIterator[There]:
    """Two fields at the stand-in."""
    fields = [Field("a", "int"), Field("b", "text")]
    async with existing(request.param, points({"a": 1, "b": "x"}), fields=fields) as served:
        yield served


def _walk(sent: Any) -> Iterator[tuple[str, Any]]:
    """Every key with what is under it."""
    if isinstance(sent, dict):
        for key, value in sent.items():
            yield key, value
            yield from _walk(value)
    elif isinstance(sent, list):
        for each in sent:
            yield from _walk(each)


@given(data=st.data())
@examples(100)
async def test_only_the_safe_part_of_filters_is_sent(there: There, data: st.DataObject) -> None:
    """No MatchExcept, no IsNull, no empty list, and one bound on each side of a range."""
    where = data.draw(formulas(await there.store.fields(TARGET), CHUNKS))
    try:
        await there.fetch(where)
    except InvalidQueryError:
        return
    for key, value in _walk(there.sent()[-1:]):
        assert key not in FORBIDDEN
        if key in {"must", "should", "must_not", "mustNot", "any"}:
            assert value not in ([], {})
        if key in {"range", "datetime_range", "datetimeRange"}:
            assert not {"gt", "gte"} <= set(value)
            assert not {"lt", "lte"} <= set(value)


async def test_a_filter_that_matches_nothing_is_not_sent(small: There) -> None:
    """What is NOTHING after folding is answered by itself, in every method."""
    await small.store.fields(TARGET)
    for where in (NOTHING, a.in_([]), AllOf([a == 1, NOTHING]), Not(a.not_in([]))):
        assert await small.fetch(where) == []
        assert await small.store.near_vector(TARGET, vector=[1, 0], limit=1, where=where) == []
    assert small.sent() == []


async def test_a_filter_that_matches_everything_is_left_out(small: There) -> None:
    """What is everything after folding is no filter at all."""
    for where in (None, AllOf([]), a.not_in([]), Not(NOTHING)):
        assert await small.ids(where) == ["0"]
    assert all("filter" not in sent for sent in small.sent())


async def test_one_of_many_equals_is_one_list(small: There) -> None:
    """5,000 alternatives of one field are one MatchAny, in a `not` as well."""
    await small.ids(AnyOf([a == n for n in range(5000)]))
    await small.ids(Not(AnyOf([a == n for n in range(5000)])))
    for sent in small.sent():
        conditions = [value for key, value in _walk(sent) if key == "match"]
        assert len(conditions) == 1
        [match] = conditions
        numbers = match["any"] if "any" in match else match["integers"]["integers"]
        assert sorted(map(int, numbers)) == list(range(5000))


async def test_a_list_of_one_is_an_equal(small: There) -> None:
    """`in [x]` is sent as `== x`."""
    await small.ids(a.in_([7]))
    await small.ids(a == 7)
    first, second = small.sent()
    assert first == second


async def test_negations_are_moved_inwards(small: There) -> None:
    """`not (a or (b and not c))` is sent as `not a and (not b or c)`."""
    await small.ids(Not(AnyOf([a == 1, AllOf([b == "x", Not(a == 2)])])))
    await small.ids(AllOf([a != 1, AnyOf([b != "x", a == 2])]))
    first, second = small.sent()
    assert first == second


async def test_what_must_not_be_is_apart_from_what_must(small: There) -> None:
    """A server with a payload index forgets the must_not next to the same must."""
    await small.ids((a == 1) & (a != 1))
    [sent] = small.sent()
    assert "must_not" not in sent["filter"]
    assert "mustNot" not in sent["filter"]


async def test_every_segment_of_a_key_is_quoted(there: There) -> None:
    """Keys with dots, spaces and brackets are sent as they are meant."""
    await there.ids(field("int one") == 1)
    await there.ids(field("pages").contains(1))
    keys = [value for key, value in _walk(there.sent()) if key == "key"]
    assert keys == ['"deep"."k.e y"."n"', '"pages"[]."n"']


@pytest.mark.parametrize("place", STAND_IN)
async def test_the_filter_is_in_every_leg_and_around_them(place: str) -> None:
    """The server's own fusion is filtered in each prefetch and at the root."""
    from qdrant_client import models

    making = {
        "vectors_config": {"v": models.VectorParams(size=2, distance=models.Distance.COSINE)},
        "sparse_vectors_config": {"s": models.SparseVectorParams(modifier=models.Modifier.IDF)},
    }
    fields = [Field("a", "int"), Field("t", "text", searchable=True)]
    async with existing(place, making=making, fields=fields, settings={"fusion": "rrf"}) as there:
        await there.store.hybrid(TARGET, query="w", vector=[1, 0], limit=3, where=a == 1)
        [sent] = there.sent()
        filters = [value for key, value in _walk(sent) if key == "filter"]
        assert len(filters) == 3
        assert filters[0] == filters[1] == filters[2]
