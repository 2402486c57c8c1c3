"""Any formula finds what `matches` says, in collections of others and in our own."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.domain import (
    Chunk,
    DeclaredFilter,
    Field,
    FieldSpec,
    Hit,
    InvalidQueryError,
    Record,
    matches,
)
from soev_retrieval.testing import strategies
from soev_retrieval_qdrant import QdrantStore
from tests.adapters.formulas import examples
from tests.adapters.qdrant.existing import TARGET, There, existing
from tests.adapters.qdrant.formulas import (
    FIELDS,
    INDEXES,
    KEYS,
    corpus,
    expect_same,
    formulas,
    is_beyond_rest,
    key,
)
from tests.adapters.qdrant.stores import EVERYWHERE, RUN, SERVER, opened

POINTS, CHUNKS = corpus()
_KINDS = {key(each): INDEXES.get(each.type, each.type) for each in FIELDS}


@asynccontextmanager
async def _served(place: str, kinds: dict[str, str] | None = None) -> AsyncIterator[There]:
    async with existing(place, POINTS, indexes=kinds, fields=FIELDS, keys=KEYS) as there:
        yield there


@pytest.fixture(params=EVERYWHERE)
async def there(request: pytest.FixtureRequest) -> AsyncIterator[There]:
    """The corpus at every place, without payload indexes."""
    async with _served(request.param) as served:
        yield served


@pytest.fixture(params=SERVER)
async def indexed(request: pytest.FixtureRequest) -> AsyncIterator[There]:
    """The corpus on a server, with a payload index for every field."""
    async with _served(request.param, _KINDS) as served:
        yield served


async def _asked(there: There, chunks: list[Chunk], data: st.DataObject) -> None:
    where = data.draw(formulas(await there.store.fields(TARGET), CHUNKS))
    try:
        await expect_same(there, chunks, where)
    except InvalidQueryError:
        assert is_beyond_rest(where)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_payload_is_the_properties_of_its_chunk(place: str) -> None:
    """Keys of any characters are read, and values of another type are left out."""
    async with _served(place) as served:
        found = {chunk.id: chunk.properties for chunk in await served.fetch()}
        assert found == {chunk.id: chunk.properties for chunk in CHUNKS}


@given(data=st.data())
@examples(100)
async def test_formulas_are_exact(there: There, data: st.DataObject) -> None:
    """What any formula finds is what `matches` says, of values of another type too."""
    await _asked(there, CHUNKS, data)


@given(data=st.data())
@examples(100)
async def test_formulas_are_exact_under_indexes(indexed: There, data: st.DataObject) -> None:
    """A payload index for every field changes no answer."""
    await _asked(indexed, CHUNKS, data)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_every_operator_tells_every_value_apart(place: str) -> None:
    """Each operator, on each value that some chunk holds, finds what `matches` does."""
    async with _served(place, _KINDS) as there:
        for each in await there.store.fields(TARGET):
            held = [chunk.properties.get(each.name, ()) for chunk in CHUNKS]
            values = {one for v in held for one in (v if isinstance(v, tuple) else (v,))}
            for op in set(each.operators) - {"exists", "missing", "not_in", "ne"}:
                several = op in {"in", "contains_any", "contains_all"}
                for value in sorted(values, key=repr)[:: 3 if several else 2]:
                    where = DeclaredFilter(each.name, op, [value] if several else value)
                    if place.endswith("rest") and is_beyond_rest(where):
                        continue
                    await expect_same(there, CHUNKS, where)


_FLOATS = FieldSpec(
    [
        Field("body", "text", searchable=True),
        Field("one", "float"),
        Field("many", "float", many=True),
        Field("n", "int"),
    ],
    dimension=2,
)


@given(data=st.data())
@examples(4)
@pytest.mark.parametrize("place", EVERYWHERE)
async def test_our_own_collections_know_every_double(place: str, data: st.DataObject) -> None:
    """Any double is found in a collection of our own, after replacements and deletions as well."""
    target = f"{RUN}doubles"
    ids = st.integers(0, 30).map(str)
    records = st.dictionaries(ids, strategies.properties(_FLOATS), min_size=8, max_size=25)
    async with opened(place) as store:
        await store.create(target, _FLOATS)
        held: dict[str, Record] = {}
        for _ in range(2):
            more = {
                id: Record(id, {**each, "body": "word"}, [1.0, int(id)])
                for id, each in data.draw(records).items()
            }
            await store.upsert(target, more.values())
            held |= more
            gone = data.draw(st.sets(st.sampled_from(sorted(held)), max_size=4))
            await store.delete(target, gone)
            held = {id: record for id, record in held.items() if id not in gone}
            await _all_found(store, target, held, data)
        await store.drop(target)


async def _all_found(
    store: QdrantStore, target: str, held: dict[str, Record], data: st.DataObject
) -> None:
    chunks = [Chunk(each.id, each.properties) for each in held.values()]
    for _ in range(12):
        where = data.draw(formulas(await store.fields(target), chunks, any_float=True))
        expected = {each.id for each in chunks if matches(where, each.properties)}
        limit = data.draw(st.sampled_from([3, 50]))
        try:
            found: list[Sequence[Chunk | Hit]] = [
                await store.fetch(target, where=where, limit=limit),
                await store.near_vector(target, vector=[1, 0], where=where, limit=limit),
                await store.bm25(target, query="word", where=where, limit=limit),
            ]
        except InvalidQueryError:
            assert is_beyond_rest(where)
            continue
        for each in found:
            assert len(each) == min(limit, len(expected))
            assert {one.id for one in each} <= expected
