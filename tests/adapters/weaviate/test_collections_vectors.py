"""The vectors of collections of others: which, how long, how they compare, and who makes them."""

from typing import Any

import pytest
from weaviate.classes.config import Configure, DataType, Property, VectorDistances
from weaviate.classes.data import DataObject

from soev_retrieval.domain import Unconfigured, field
from soev_retrieval_weaviate import Collection
from tests.adapters.weaviate.existing import TARGET, existing, number_id, objects, refusal
from tests.adapters.weaviate.standin import StandIn
from tests.adapters.weaviate.stores import EVERYWHERE, Where

everywhere = pytest.mark.parametrize("place", EVERYWHERE)
INT = Property(name="n", data_type=DataType.INT)
TEXT = Property(name="t", data_type=DataType.TEXT)
Index = Configure.VectorIndex


def own(**more: Any) -> Any:
    """Vectors that whoever writes brings along."""
    return Configure.Vectors.self_provided(**more)


def of(number: int, vector: Any, **properties: Any) -> DataObject[Any, Any]:
    """An object with its vectors."""
    return DataObject(properties=properties, uuid=number_id(number), vector=vector)


@everywhere
@pytest.mark.parametrize(
    ("distance", "named", "expected"),
    [
        (VectorDistances.COSINE, "cosine", {0: 1.0, 1: 0.0}),
        (VectorDistances.DOT, "dot", {0: 2.0, 1: 0.0}),
        (VectorDistances.L2_SQUARED, "euclidean", {0: -1.0, 1: -(10.0**0.5)}),
        (VectorDistances.MANHATTAN, "manhattan", {0: -1.0, 1: -4.0}),
    ],
)
async def test_a_higher_score_is_better(
    place: str, distance: Any, named: str, expected: dict[int, float]
) -> None:
    """Distances are turned round, and those of the euclidean are no squares."""
    making = {"vector_config": own(vector_index_config=Index.hnsw(distance_metric=distance))}
    stored = [of(0, [2.0, 0.0]), of(1, [0.0, 3.0])]
    async with existing(place, [INT], stored, making=making) as there:
        spec = await there.store.fields(TARGET)
        assert (spec.dimension, spec.distance) == (2, named)
        hits = await there.store.near_vector(TARGET, vector=[1, 0], limit=2)
        assert {hit.id: round(hit.score, 5) for hit in hits} == {
            number_id(at): pytest.approx(score, abs=1e-4) for at, score in expected.items()
        }
        assert [hit.id for hit in hits] == [number_id(0), number_id(1)]


@everywhere
async def test_one_of_several_vectors_is_named(place: str) -> None:
    """`vector` chooses; without it the error names them all, and the rest is served."""
    making = {"vector_config": [own(name="a"), own(name="b", vector_index_config=Index.flat())]}
    stored = [
        of(0, {"a": [1.0, 0.0], "b": [1.0, 0.0, 0.0]}, t="wing"),
        of(1, {"b": [0.0, 1.0, 0.0]}, t="wing"),
    ]
    near: dict[str, Any] = {"vector": [0, 1, 0], "limit": 5}
    async with existing(place, [TEXT], stored, making=making, vector="b") as there:
        assert (await there.store.fields(TARGET)).dimension == 3
        hits = await there.store.near_vector(TARGET, **near)
        assert [hit.id for hit in hits] == [number_id(1), number_id(0)]
        hits = await there.store.hybrid(TARGET, query="wing", **near)
        assert len(hits) == 2
        assert "3" in await refusal(there.store.near_vector(TARGET, vector=[1, 0], limit=1))
    async with existing(place, [TEXT], stored, making=making) as there:
        for asking in (
            there.store.near_vector(TARGET, **near),
            there.store.hybrid(TARGET, query="wing", **near),
        ):
            said = await refusal(asking)
            assert said == "Unconfigured: there are the vectors a, b; name one in the Collection"
        assert len(await there.fetch()) == 2
        assert len(await there.store.bm25(TARGET, query="wing", limit=5)) == 2
        assert len(await there.store.hybrid(TARGET, query="wing", alpha=0, limit=5)) == 2
        assert (await there.store.fields(TARGET)).dimension is None


@everywhere
@pytest.mark.filterwarnings("ignore:Dep02:DeprecationWarning")
async def test_a_vector_without_a_name(place: str) -> None:
    """Collections of before have one, and it is found without being named."""
    making = {"vector_config": None, "vectorizer_config": Configure.Vectorizer.none()}
    stored = [of(0, [1.0, 0.0], t="wing"), of(1, [0.0, 1.0], t="heat")]
    async with existing(place, [TEXT], stored, making=making) as there:
        assert (await there.store.fields(TARGET)).dimension == 2
        hits = await there.store.near_vector(TARGET, vector=[0, 1], limit=5)
        assert [hit.id for hit in hits] == [number_id(1), number_id(0)]
        hits = await there.store.hybrid(TARGET, query="wing", vector=[1, 0], limit=5)
        assert hits[0].id == number_id(0)
    async with existing(place, [TEXT], stored, making=making, vector="default") as there:
        said = await refusal(there.fetch())
        assert "it has no vector 'default': its vector has no name" in said


@everywhere
async def test_several_vectors_an_object_are_not_served(place: str) -> None:
    """They are refused where they are searched, and the rest is served."""
    making = {"vector_config": Configure.MultiVectors.self_provided(name="late")}
    stored = [of(0, {"late": [[1.0, 0.0], [0.0, 1.0]]}, n=1)]
    async with existing(place, [INT], stored, making=making) as there:
        said = await refusal(there.store.near_vector(TARGET, vector=[1, 0], limit=1))
        assert "several to an object, which this store does not search" in said
        assert await there.numbers(field("n") == 1) == [0]


@everywhere
async def test_vectors_that_nothing_searches(place: str) -> None:
    """Vectors without an index, and a distance that is none of ours, are refused with the reason."""
    for index, why in (
        (Index.none(), "have no index (skip)"),
        (Index.hnsw(distance_metric=VectorDistances.HAMMING), "a distance that this store"),
    ):
        making = {"vector_config": own(vector_index_config=index)}
        async with existing(place, [INT], [of(0, [1.0, 0.0], n=1)], making=making) as there:
            said = await refusal(there.store.near_vector(TARGET, vector=[1, 0], limit=1))
            assert said.startswith("Unconfigured: its vectors")
            assert why in said
            assert await there.numbers(field("n") == 1) == [0]


@everywhere
@pytest.mark.parametrize("index", [Index.flat(), Index.hnsw(), None], ids=["flat", "hnsw", "none"])
async def test_any_index_is_searched(place: str, index: Any) -> None:
    """Flat or HNSW changes nothing that has to be told."""
    making = {"vector_config": own(vector_index_config=index)}
    stored = [of(n, [1.0, float(n)], n=n) for n in range(20)]
    async with existing(place, [INT], stored, making=making) as there:
        hits = await there.store.near_vector(TARGET, vector=[1, 0], limit=3, where=field("n") >= 5)
        assert [hit.properties["n"] for hit in hits] == [5, 6, 7]


@everywhere
async def test_a_dimension_is_that_of_the_first_vector(place: str) -> None:
    """Nobody knows that of an empty collection, nor where the first objects have none."""
    async with existing(place, [INT]) as there:
        assert (await there.store.fields(TARGET)).dimension is None
        assert await there.store.near_vector(TARGET, vector=[1, 2, 3], limit=1) == []
    stored = [*(DataObject(properties={"n": n}, uuid=number_id(n)) for n in range(3))]
    async with existing(place, [INT], [*stored, of(3, [1.0, 0.0, 0.0])]) as there:
        assert (await there.store.fields(TARGET)).dimension == 3
        said = await refusal(there.store.near_vector(TARGET, vector=[1, 0], limit=1))
        assert said.startswith("InvalidQueryError")
        assert len(await there.store.near_vector(TARGET, vector=[1, 0, 0], limit=9)) == 1
    lacking = [DataObject(properties={"n": n}, uuid=number_id(n)) for n in range(30)]
    async with existing(place, [INT], lacking) as there:
        assert (await there.store.fields(TARGET)).dimension is None
        made = there.client.collections.use(there.name)
        await made.data.insert_many(objects({"n": 99}))
        assert len(await there.store.near_vector(TARGET, vector=[1, 0], limit=9)) == 1


async def test_a_server_that_embeds_needs_no_vector() -> None:
    """`fields` says so; `hybrid` embeds at every alpha; `near_vector` still needs a vector."""
    async with StandIn(modules=["text2vec-ollama"]) as standing:
        where = Where(standing.url, standing.grpc_port, standing)
        async with where.client() as client:
            made = await client.collections.create(
                "Embedded",
                properties=[TEXT],
                vector_config=Configure.Vectors.text2vec_ollama(),
            )
            await made.data.insert_many([{"t": "a wing"}, {"t": "the heat"}])
        configured = {TARGET: Collection("Embedded")}
        async with where.store(collections=configured) as store:
            assert (await store.fields(TARGET)).embeds
            for alpha in (None, 0.3, 1):
                hits = await store.hybrid(TARGET, query="a wing", limit=2, alpha=alpha)
                assert hits[0].properties["t"] == "a wing", alpha
            dimension = (await store.fields(TARGET)).dimension
            assert dimension
            await store.near_vector(TARGET, vector=[1.0] * dimension, limit=2)


@everywhere
async def test_a_server_that_does_not_embed_is_said(place: str) -> None:
    """`hybrid` without a vector is refused where nothing would make one."""
    async with existing(place, [TEXT], objects({"t": "wing"})) as there:
        assert not (await there.store.fields(TARGET)).embeds
        for alpha in (None, 1):
            with pytest.raises(Unconfigured, match="vector"):
                await there.store.hybrid(TARGET, query="wing", limit=1, alpha=alpha)
        assert len(await there.store.hybrid(TARGET, query="wing", limit=1, alpha=0)) == 1
