"""How deep filters may nest, and what is refused by name."""

from collections.abc import AsyncIterator

import pytest

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
)
from soev_retrieval_qdrant import QdrantStore
from tests.adapters.qdrant.stores import EVERYWHERE, RUN, STAND_IN, opened, up

TARGET = f"{RUN}deep"
SPEC = FieldSpec([Field("body", "text", searchable=True), Field("n", "int")], dimension=2)
RECORDS = [Record(str(n), {"body": "word", "n": n}, [1.0, float(n)]) for n in range(6)]


def nested(levels: int) -> Filter:
    """`and` and `or` in turn, that many levels of them; 3 alone matches."""
    where: Filter = AllOf([field("n") >= 3, field("n") <= 3])
    for level in range(1, levels):
        unlikely = DeclaredFilter("n", "eq", 100 + level)
        where = AllOf([where, ~unlikely]) if level % 2 == 0 else AnyOf([where, unlikely])
    return where


@pytest.fixture(params=EVERYWHERE)
async def store(request: pytest.FixtureRequest) -> AsyncIterator[QdrantStore]:
    """Six chunks at every place, with the server's own fusion."""
    async with opened(request.param, fusion="rrf") as opened_store:
        await opened_store.create(TARGET, SPEC)
        await opened_store.upsert(TARGET, RECORDS)
        yield opened_store
        await opened_store.drop(TARGET)


async def _found(store: QdrantStore, where: Filter) -> list[list[str]]:
    return [
        [each.id for each in answer]
        for answer in (
            await store.fetch(TARGET, where=where, limit=9),
            await store.fetch(TARGET, where=where, limit=9, order_by="n"),
            await store.near_vector(TARGET, vector=[1, 0], where=where, limit=9),
            await store.bm25(TARGET, query="word", where=where, limit=9),
            await store.hybrid(TARGET, query="word", vector=[1, 0], where=where, limit=9),
        )
    ]


async def test_forty_levels_are_carried(store: QdrantStore) -> None:
    """40 levels of `and` and `or` in turn are answered by every search, the fused one too."""
    assert await _found(store, nested(40)) == [["3"]] * 5


async def test_more_levels_are_refused(store: QdrantStore) -> None:
    """41 levels are an error that says how many there are and may be."""
    with pytest.raises(InvalidQueryError, match=r"nests 41 levels .* carries 40"):
        await store.fetch(TARGET, where=nested(41), limit=1)


@pytest.mark.parametrize("place", STAND_IN)
async def test_nothing_is_sent_of_what_is_too_deep(place: str) -> None:
    """The refusal is made before anything travels."""
    async with up(place) as where, where.store(fusion="rrf") as store:
        assert where.stand_in is not None
        await store.create(TARGET, SPEC)
        await store.fields(TARGET)
        for asking in (
            store.fetch(TARGET, where=nested(41), limit=1),
            store.fetch(TARGET, where=nested(41), limit=1, order_by="n"),
            store.near_vector(TARGET, vector=[1, 0], where=nested(41), limit=1),
            store.bm25(TARGET, query="word", where=nested(41), limit=1),
            store.hybrid(TARGET, query="word", vector=[1, 0], where=nested(41), limit=1),
        ):
            with pytest.raises(InvalidQueryError, match="nests 41 levels"):
                await asking
        assert {each.operation for each in where.stand_in.requests} <= {
            *("info", "create_collection", "create_payload_index", "get_collection")
        }


async def test_nesting_of_one_kind_is_flattened(store: QdrantStore) -> None:
    """`a and (b and (c and …))`, `or` alike, and doubled negations are no levels."""
    all_of: Filter = field("n") == 3
    any_of: Filter = field("n") == 3
    for level in range(95):
        all_of = AllOf([field("n") != 100 + level, all_of])
        any_of = AnyOf([any_of, field("n") == 100 + level])
    negated: Filter = field("n") == 3
    for _ in range(98):
        negated = Not(negated)
    in_turn: Filter = field("n") == 3
    for level in range(48):  # not (a or not (b or …)) is `not a and (b or …)`
        in_turn = Not(AnyOf([in_turn, field("n") == 100 + level]))
    for where in (all_of, any_of, negated):
        assert await _found(store, where) == [["3"]] * 5
    with pytest.raises(InvalidQueryError, match="write it flatter"):
        await _found(store, in_turn)
