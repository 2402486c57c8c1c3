"""Hybrid searches: the core's one definition, in one request where the server's fusion is that."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from weaviate.classes.config import Configure, DataType, Property, Tokenization, VectorDistances
from weaviate.classes.data import DataObject

from soev_retrieval.domain import (
    Field,
    FieldSpec,
    Hit,
    InvalidQueryError,
    Record,
    Unconfigured,
    field,
    fuse_hybrid,
)
from soev_retrieval_weaviate import Collection, WeaviateStore
from soev_retrieval_weaviate._objects import Objects
from tests.adapters.docstrings import DIMENSION, SPEC, records
from tests.adapters.weaviate.existing import TARGET as OF_OTHERS
from tests.adapters.weaviate.existing import existing, number_id
from tests.adapters.weaviate.stores import EVERYWHERE, RUN, Where, up

TARGET = f"{RUN}Hybrid"
QUERY = "return the name of a file or a thread"
VECTOR = np.random.default_rng(3).standard_normal(DIMENSION).tolist()


@asynccontextmanager
async def filled(place: str, **settings: Any) -> AsyncIterator[tuple[WeaviateStore, Where]]:
    """A store that holds the docstrings."""
    async with up(place) as where, where.store(**settings) as store:
        await store.create(TARGET, SPEC)
        await store.upsert(TARGET, records())
        yield store, where
        await store.drop(TARGET)


async def both(
    store: WeaviateStore, depth: int, target: str = TARGET, **more: Any
) -> list[Sequence[Hit]]:
    near = await store.near_vector(target, vector=VECTOR, limit=depth, **more)
    return [near, await store.bm25(target, query=QUERY, limit=depth, **more)]


def expect_ranking(found: Sequence[Hit], expected: Sequence[Hit]) -> None:
    """The same hits and scores, in float32: what differs by less may change places."""
    scores = [hit.score for hit in found]
    assert scores == pytest.approx([hit.score for hit in expected], abs=1e-5)
    places = {hit.id: hit.score for hit in expected}
    last = expected[-1].score if expected else 0.0
    for hit in found:
        assert places.get(hit.id, last) == pytest.approx(hit.score, abs=1e-5)
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("place", EVERYWHERE)
@pytest.mark.parametrize("depth", [100, 30, 120])
async def test_it_is_the_one_definition(place: str, depth: int) -> None:
    """The hits, their scores and their order are those of fuse_hybrid over the two legs."""
    async with filled(place, depth=depth) as (store, _):
        for limit in (1, 10, 99, 100, 150):
            for alpha in (0.1, 0.5, 0.9):
                for where in (None, field("kind") == "class", field("kind") == "nothing"):
                    found = await store.hybrid(
                        TARGET, query=QUERY, vector=VECTOR, limit=limit, where=where, alpha=alpha
                    )
                    near, keyword = await both(store, max(depth, limit), where=where)
                    expect_ranking(found, fuse_hybrid(near, keyword, alpha=alpha, limit=limit))


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_distances_that_the_server_squares_are_fused_here(place: str) -> None:
    """Under `euclidean` the server would scale squares: the ranking is that of the distances."""
    spec = FieldSpec(SPEC.fields, DIMENSION, "euclidean")
    async with up(place) as where, where.store() as store:
        await store.create(TARGET, spec)
        await store.upsert(TARGET, records())
        found = await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=40, alpha=0.7)
        near, keyword = await both(store, 100)
        expect_ranking(found, fuse_hybrid(near, keyword, alpha=0.7, limit=40))
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_the_ends_are_one_leg(place: str) -> None:
    """Alpha 1 is near_vector and alpha 0 is bm25, hit for hit, vector or not."""
    async with filled(place) as (store, _):
        near, keyword = await both(store, 20)
        for alpha, leg in ((0, keyword), (1, near)):
            assert leg == await store.hybrid(
                TARGET, query=QUERY, vector=VECTOR, limit=20, alpha=alpha
            )
        assert keyword == await store.hybrid(TARGET, query=QUERY, limit=20, alpha=0)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_equal_scores_come_by_id_where_the_limit_cuts(place: str) -> None:
    """Twins score alike in both legs: of those at the cut the least ids are taken."""
    spec = FieldSpec([Field("text", "text", searchable=True)], 2)
    texts = ["copper wire", "tin", "copper"]
    several = [Record(f"{n:02}", {"text": texts[n % 3]}, [1.0, n % 3]) for n in range(60)]
    async with up(place) as where, where.store() as store:
        await store.create(TARGET, spec)
        await store.upsert(TARGET, several)
        for limit in (1, 7, 20, 21, 39):
            hits = await store.hybrid(TARGET, query="copper", vector=[1.0, 0.0], limit=limit)
            near = await store.near_vector(TARGET, vector=[1.0, 0.0], limit=100)
            keyword = await store.bm25(TARGET, query="copper", limit=100)
            expected = fuse_hybrid(near, keyword, alpha=0.5, limit=limit)
            assert [hit.id for hit in hits] == [hit.id for hit in expected]
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_query_of_stop_words_leaves_the_vectors(place: str) -> None:
    """Its keyword leg finds nothing: a blank text would find those whose text is blank."""
    async with filled(place) as (store, _):
        hits = await store.hybrid(TARGET, query="the of and", vector=VECTOR, limit=5)
        near = await store.near_vector(TARGET, vector=VECTOR, limit=100)
        assert hits == fuse_hybrid(near, [], alpha=0.5, limit=5)
        assert not await store.bm25(TARGET, query="the of and", limit=5)
        for blank in ("", " ", "\n"):
            with pytest.raises(InvalidQueryError, match="blank"):
                await store.hybrid(TARGET, query=blank, vector=VECTOR, limit=5)


async def test_without_a_vector_it_is_unconfigured() -> None:
    """Without a vector hybrid is Unconfigured where the collection does not embed."""
    async with filled("standin") as (store, _):
        for alpha in (None, 0.5, 1.0):
            with pytest.raises(Unconfigured, match="does not embed"):
                await store.hybrid(TARGET, query=QUERY, limit=3, alpha=alpha)


async def test_the_stores_own_alpha_is_used_where_the_call_names_none() -> None:
    """Alpha None is the store's default, which 0 is not."""
    async with filled("standin", alpha=0.9) as (store, _):
        default = await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=9)
        named = await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=9, alpha=0.9)
        assert default == named
        keyword = await store.bm25(TARGET, query=QUERY, limit=9)
        assert keyword == await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=9, alpha=0)


async def test_it_is_one_request_where_the_servers_fusion_is_the_definition() -> None:
    """Below a hundred hits both legs and their fusion are one request; else three."""
    async with filled("standin") as (store, where):
        assert where.stand_in is not None
        await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=5)
        for limit, requests in ((5, 1), (99, 1), (100, 3)):
            before = len(where.stand_in.requests)
            await store.hybrid(
                TARGET, query=QUERY, vector=VECTOR, limit=limit, where=field("kind") == "function"
            )
            sent = where.stand_in.requests[before:]
            assert [each.operation for each in sent] == ["search"] * requests
            for each in sent:  # the filter is in each of them: `function` as a key
                assert b"function".hex() in str(each.message)


async def test_what_changes_between_the_requests_is_not_returned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A chunk that stops matching, or goes, while it is ranked makes room for the next one."""
    where = field("kind") == "function"
    read = Objects.retrieved
    async with filled("standin", depth=50) as (store, up_there):
        asked: dict[str, Any] = {"query": QUERY, "vector": VECTOR, "where": where}
        before = await store.hybrid(TARGET, **asked, limit=6)

        async def between(self: Objects, wanted: Any) -> Any:
            monkeypatch.setattr(Objects, "retrieved", read)
            async with up_there.store() as other:
                await other.upsert(TARGET, [Record(before[1].id, {"kind": "class"})])
                await other.delete(TARGET, [before[3].id])
            return await read(self, wanted)

        monkeypatch.setattr(Objects, "retrieved", between)
        gone = {before[1].id, before[3].id}
        after = await store.hybrid(TARGET, **asked, limit=4)
        assert after == [hit for hit in before if hit.id not in gone]


@pytest.mark.parametrize("place", EVERYWHERE)
@pytest.mark.parametrize("fusion", ["relative", "ranked"])
async def test_the_servers_own_fusion_can_be_asked_for(place: str, fusion: str) -> None:
    """The server's fusion ranks what both legs brought, best first, under the filter."""
    async with filled(place, fusion=fusion) as (store, _):
        where = field("kind") == "function"
        hits = await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=20, where=where)
        near, keyword = await both(store, 100, where=where)
        assert len(hits) == 20
        assert {hit.id for hit in hits} <= {hit.id for leg in (near, keyword) for hit in leg}
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        ends = await store.hybrid(TARGET, query=QUERY, vector=VECTOR, limit=20, alpha=0)
        assert ends == await store.bm25(TARGET, query=QUERY, limit=20)


WORDS = [
    Property(name="title", data_type=DataType.TEXT, tokenization=Tokenization.WORD),
    Property(name="body", data_type=DataType.TEXT, tokenization=Tokenization.WORD),
]


@pytest.mark.parametrize("place", EVERYWHERE)
@pytest.mark.parametrize("searchable", [None, ["body"]])
async def test_a_collection_of_others_is_searched_by_the_definition(
    place: str, searchable: list[str] | None
) -> None:
    """Over one property and over several, with a vector that has a name among others."""
    vectors = [
        Configure.Vectors.self_provided(name=name, vector_index_config=index)
        for name, index in (
            ("first", Configure.VectorIndex.hnsw()),
            ("second", Configure.VectorIndex.hnsw(distance_metric=VectorDistances.DOT)),
        )
    ]
    stored = [
        DataObject(
            properties={
                "title": f"{each.properties['text']}"[:30],
                "body": each.properties["text"],
            },
            uuid=number_id(n),
            vector={
                "first": [1.0, float(n)],
                **({} if each.vector is None else {"second": list(each.vector)}),
            },
        )
        for n, each in enumerate(records()[:150])
    ]
    there_: Any = {"vector": "second", "searchable": searchable}
    async with existing(place, WORDS, stored, making={"vector_config": vectors}, **there_) as there:
        assert (await there.store.fields(OF_OTHERS)).dimension == DIMENSION
        for limit in (5, 120):
            found = await there.store.hybrid(OF_OTHERS, query=QUERY, vector=VECTOR, limit=limit)
            near, keyword = await both(there.store, max(100, limit), OF_OTHERS)
            expect_ranking(found, fuse_hybrid(near, keyword, alpha=0.5, limit=limit))


async def test_one_of_several_vectors_has_to_be_named() -> None:
    """Where nobody says which of several vectors is meant, what needs one says so."""
    vectors = [Configure.Vectors.self_provided(name=name) for name in ("first", "second")]
    async with existing("standin", WORDS, making={"vector_config": vectors}) as there:
        with pytest.raises(Unconfigured, match="first, second"):
            await there.store.near_vector(OF_OTHERS, vector=[1.0], limit=1)
        assert await there.store.bm25(OF_OTHERS, query="wing", limit=1) == []
        collections = {OF_OTHERS: Collection(there.name, vector="third")}
        async with there.where.store(collections=collections) as store:
            with pytest.raises(Unconfigured, match="no vector 'third'"):
                await store.fetch(OF_OTHERS, limit=1)


@pytest.mark.parametrize(
    "setting",
    [
        {"fusion": "sum"},
        {"alpha": None},
        {"depth": 0},
        {"timeout_seconds": 0},
        {"url": ""},
        {"url": "http://"},
        {"url": "127.0.0.1:8080"},
        {"grpc_port": 0},
        {"api_key": "a\nb"},
    ],
)
def test_settings_are_checked(setting: dict[str, Any]) -> None:
    """A fusion, an alpha, a time, a key or an address that there is not is refused."""
    with pytest.raises(InvalidQueryError):
        WeaviateStore(**{"url": "http://127.0.0.1:1", **setting})
