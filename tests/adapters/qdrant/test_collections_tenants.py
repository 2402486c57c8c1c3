"""A part of a collection as a target: by a payload key, or by a shard key."""

from typing import Any

import pytest
from qdrant_client import models

from soev_retrieval.domain import AllOf, Field, Filter, Unconfigured, field
from soev_retrieval_qdrant import Analysis, Collection, QdrantStore
from tests.adapters.qdrant._standin_client import client_of
from tests.adapters.qdrant.existing import TARGET, There, existing, point, refusal
from tests.adapters.qdrant.standin import StandIn
from tests.adapters.qdrant.stores import EVERYWHERE, SERVER, STAND_IN

everywhere = pytest.mark.parametrize("place", EVERYWHERE)
FIELDS = [
    Field("body", "text", searchable=True),
    Field("tenant", "text"),
    Field("n", "int"),
]
MAKING: dict[str, Any] = {
    "vectors_config": {"v": models.VectorParams(size=2, distance=models.Distance.COSINE)},
    "sparse_vectors_config": {"s": models.SparseVectorParams(modifier=models.Modifier.IDF)},
}
INDEXES: dict[str, Any] = {
    "tenant": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    "n": "integer",
}
# A word that is rare for one tenant and in every text of the other.
TEXTS = {
    "north": ["a wing", "a wing in heat", "the slab", "a slab in flow", "flow"],
    "south": ["heat", "heat and wing", "heat of a slab", "heat in flow", "heat", "heat", "heat"],
}


def stored(place: str, *tenants: str) -> list[models.PointStruct]:
    """The texts of these tenants."""
    made = []
    for tenant in tenants:
        for at, text in enumerate(TEXTS[tenant]):
            payload = {"body": text, "tenant": tenant, "n": at}
            terms = Analysis().asked(text, here=place == "local")
            id = at + (100 if tenant == "south" else 0)
            made.append(point(id, payload, {"v": [1.0, float(at)], "s": terms}))
    return made


async def _answers(there: There, where: Filter | None = None, limit: int = 50) -> list[Any]:
    """What every method finds, with its scores."""
    store = there.store
    rest: dict[str, Any] = {"limit": limit, "where": where}
    found = [
        await store.bm25(TARGET, query="heat wing", **rest),
        await store.near_vector(TARGET, vector=[1, 1], **rest),
        await store.hybrid(TARGET, query="heat wing", vector=[1, 1], **rest),
    ]
    chunks = [await store.fetch(TARGET, **rest)]
    if (await store.fields(TARGET))["n"].sortable:
        chunks += [
            await store.fetch(TARGET, order_by="n", descending=down, **rest)
            for down in (False, True)
        ]
    hits = [[(each.id, round(each.score, 5)) for each in answer] for answer in found]
    return [hits, [[each.id for each in answer] for answer in chunks]]


@everywhere
async def test_a_tenant_is_as_if_it_were_alone(place: str) -> None:
    """Every method finds the tenant's own, with the scores that a collection of it alone has."""
    both = stored(place, "south", "north")
    more: dict[str, Any] = {"making": MAKING, "indexes": INDEXES, "fields": FIELDS}
    async with (
        existing(place, both, where=field("tenant") == "north", **more) as tenant,
        existing(place, stored(place, "north"), **more) as alone,
    ):
        for where in (None, field("n") > 1, ~(field("n") == 1)):
            assert await _answers(tenant, where) == await _answers(alone, where)
        assert await _answers(tenant, limit=2) == await _answers(alone, limit=2)
    async with existing(place, both, **more) as whole:
        hits, _ = await _answers(whole, field("tenant") == "north")
        assert hits != (await _answers_of(place))[0]


async def _answers_of(place: str) -> list[Any]:
    async with existing(
        place, stored(place, "north"), making=MAKING, indexes=INDEXES, fields=FIELDS
    ) as alone:
        return await _answers(alone)


@everywhere
async def test_nothing_of_another_tenant_comes_back(place: str) -> None:
    """A filter that asks for another tenant, for all, or for none of one's own finds nothing of it."""
    own = field("tenant") == "north"
    async with existing(
        place,
        stored(place, "south", "north"),
        making=MAKING,
        indexes=INDEXES,
        fields=FIELDS,
        where=own,
    ) as there:
        for where in (field("tenant") == "south", field("tenant") != "north", ~own, own & ~own):
            hits, chunks = await _answers(there, where)
            assert (any(hits), any(chunks)) == (False, False), where
        for every in (AllOf([]), field("tenant").exists(), own | (field("tenant") == "south")):
            hits, chunks = await _answers(there, every)
            assert {id for answer in hits for id, _ in answer} <= set("01234"), every
            assert {id for answer in chunks for id in answer} == set("01234"), every


@everywhere
async def test_a_target_of_everything_and_of_nothing(place: str) -> None:
    """A `where` that is always true is none, and under one that never is nothing is found."""
    more: dict[str, Any] = {"making": MAKING, "fields": FIELDS, "indexes": INDEXES}
    async with existing(
        place, stored(place, "north"), where=field("n").not_in([]), **more
    ) as there:
        assert await _answers(there) == await _answers_of(place)
    async with existing(place, stored(place, "north"), where=field("n").in_([]), **more) as there:
        hits, chunks = await _answers(there)
        assert not any(hits)
        assert not any(chunks)


@pytest.mark.parametrize("place", STAND_IN)
async def test_words_are_counted_in_what_the_target_is(place: str) -> None:
    """The filter of a target is the corpus of its word statistics, and one of everything is none."""
    more: dict[str, Any] = {"making": MAKING, "fields": FIELDS}
    for where, counted in ((field("n") == 1, True), (field("n").not_in([]), False)):
        async with existing(place, where=where, **more) as there:
            await there.store.bm25(TARGET, query="heat", limit=1)
            [sent] = there.sent()
            assert ("corpus" in str(sent)) is counted


@everywhere
async def test_a_target_by_a_field_that_is_not_declared(place: str) -> None:
    """Its `where` is checked like any filter."""
    async with existing(place, fields=FIELDS, where=field("tenat") == "north") as there:
        assert "did you mean 'tenant'" in await refusal(there.fetch())


async def test_an_older_server_counts_words_of_the_whole() -> None:
    """Before 1.19 no part of a collection has word statistics of its own, and bm25 says so."""
    collections = {TARGET: Collection("c", FIELDS, where=field("tenant") == "north")}
    async with StandIn("1.18.2") as server:
        client = client_of(server, "grpc")
        await client.create_collection("c", **MAKING)
        await client.upsert("c", stored("standin-grpc", "north"))
        await client.close()
        async with QdrantStore(
            server.url, grpc_port=server.grpc_port, collections=collections
        ) as store:
            assert "prefix" not in (await store.fields(TARGET))["tenant"].operators
            assert len(await store.fetch(TARGET, limit=9, where=field("body").exists())) == 5
            with pytest.raises(Unconfigured, match=r"word statistics of its own from Qdrant 1\.19"):
                await store.bm25(TARGET, query="heat", limit=1)


@pytest.mark.parametrize("place", STAND_IN)
@pytest.mark.parametrize("key", ["north", 7])
async def test_a_shard_key_is_in_every_request(place: str, key: str | int) -> None:
    """Searches, reading by filter or in an order, and the second looks at ties name the shard."""
    async with existing(
        place,
        stored(place, "north", "south"),
        making=MAKING,
        indexes=INDEXES,
        fields=FIELDS,
        shard_key=key,
        settings={"fusion": "rrf"},
    ) as there:
        await _answers(there, limit=3)
        await there.store.near_vector(TARGET, vector=[1, 0], limit=2)
        await there.store.fetch(TARGET, order_by="n", limit=3)
        for sent in there.sent():
            for each in sent.get("searches") or sent.get("queryPoints") or [sent]:
                assert str(key) in str(each.get("shard_key") or each.get("shardKeySelector"))


async def test_local_mode_has_no_shards() -> None:
    """A shard key is refused there, where it would be left unheeded."""
    async with existing("local", fields=FIELDS, shard_key="north") as there:
        assert "local mode has no shards" in await refusal(there.fetch())


@pytest.mark.parametrize("place", SERVER)
async def test_a_shard_key_that_is_none_is_refused(place: str) -> None:
    """A collection that is not sharded by key is an error, and no empty answer."""
    async with existing(place, fields=FIELDS, shard_key="north") as there:
        assert "InvalidQueryError" in await refusal(there.fetch())
