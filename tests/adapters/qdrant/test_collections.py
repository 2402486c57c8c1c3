"""Collections that were made by others: what the server tells of them, and what has to be told."""

from typing import Any

import pytest
from qdrant_client import models

from soev_retrieval.domain import Field, FieldSpec, field
from soev_retrieval_qdrant import Analysis, Collection
from soev_retrieval_qdrant._analysis import MODEL
from tests.adapters.qdrant.existing import TARGET, existing, point, points, refusal
from tests.adapters.qdrant.stores import EVERYWHERE, REMOTE, SERVER, up

everywhere = pytest.mark.parametrize("place", EVERYWHERE)
IDF = models.SparseVectorParams(modifier=models.Modifier.IDF)
BODY = Field("body", "text", searchable=True)


def dense(distance: models.Distance = models.Distance.COSINE, **more: Any) -> Any:
    """Vectors of two numbers."""
    return models.VectorParams(size=2, distance=distance, **more)


def terms(text: str, place: str) -> Any:
    """A text as the server embeds it, or as local mode has to be given it."""
    return Analysis().asked(text, here=place == "local")


@everywhere
async def test_a_collection_tells_its_dimension_and_distance(place: str) -> None:
    """The unnamed vector is found without being named."""
    making = {"vectors_config": dense(models.Distance.EUCLID)}
    async with existing(
        place, points({"a": 1}), making=making, fields=[Field("a", "int")]
    ) as there:
        spec = await there.store.fields(TARGET)
        assert (spec.dimension, spec.distance) == (2, "euclidean")
        assert [
            hit.id for hit in await there.store.near_vector(TARGET, vector=[1, 0], limit=2)
        ] == ["0"]


@everywhere
@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        (models.Distance.DOT, [("2", 20.0), ("1", 2.0), ("0", 0.0)]),
        (models.Distance.EUCLID, [("1", -1.0), ("0", -1.0), ("2", -9.0)]),
        (models.Distance.MANHATTAN, [("1", -1.0), ("0", -1.0), ("2", -9.0)]),
    ],
)
async def test_a_higher_score_is_better(place: str, distance: Any, expected: Any) -> None:
    """Distances are turned round, products are not."""
    stored = [point(0, {}, (0.0, 0.0)), point(1, {}, (1.0, 1.0)), point(2, {}, (10.0, 0.0))]
    asked = [2, 0] if distance is models.Distance.DOT else [1, 0]
    async with existing(place, stored, making={"vectors_config": dense(distance)}) as there:
        hits = await there.store.near_vector(TARGET, vector=asked, limit=3)
        assert [(hit.id, hit.score) for hit in hits] == sorted(
            expected, key=lambda pair: (-pair[1], pair[0])
        )


@everywhere
async def test_one_of_several_vectors_is_named(place: str) -> None:
    """`vector` chooses, `""` the unnamed one; without it the error names them all."""
    making = {"vectors_config": {"a": dense(), "b": dense(models.Distance.DOT)}}
    stored = [point(0, {}, {"a": [1.0, 0.0], "b": [1.0, 0.0]}), point(1, {}, {"b": [5.0, 0.0]})]
    async with existing(place, stored, making=making, vector="b") as there:
        hits = await there.store.near_vector(TARGET, vector=[1, 0], limit=2)
        assert [(hit.id, hit.score) for hit in hits] == [("1", 5.0), ("0", 1.0)]
    async with existing(place, stored, making=making) as there:
        said = await refusal(there.fetch())
        assert "several vectors: 'a', 'b'; give vector=" in said
    async with existing(place, stored, making=making, vector="c") as there:
        assert "no vector 'c'; it has 'a', 'b'" in await refusal(there.fetch())


@everywhere
async def test_a_collection_may_have_no_vectors(place: str) -> None:
    """It is fetched from, and a search says why it cannot be."""
    async with existing(
        place, [point(0, {"a": 1}, {})], making={"vectors_config": {}}, fields=[Field("a", "int")]
    ) as there:
        assert await there.ids(field("a") == 1) == ["0"]
        said = await refusal(there.store.near_vector(TARGET, vector=[1, 0], limit=1))
        assert "no dense vectors" in said
        assert "no sparse vector" in await refusal(there.store.bm25(TARGET, query="x", limit=1))


@everywhere
async def test_several_vectors_a_point_are_not_served(place: str) -> None:
    """A multivector is refused by its name where it is searched, and the rest is served."""
    several = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    making = {"vectors_config": {"late": dense(multivector_config=several)}}
    async with existing(
        place, [point(0, {"a": 1}, {"late": [[1.0, 0.0]]})], making=making
    ) as there:
        said = await refusal(there.store.near_vector(TARGET, vector=[1, 0], limit=1))
        assert "'late' is several vectors a point" in said
        assert await there.ids() == ["0"]


@everywhere
async def test_keywords_are_in_the_sparse_vector_with_the_modifier(place: str) -> None:
    """Of several sparse vectors the one with IDF is taken; `sparse` chooses among several."""
    making = {
        "vectors_config": {"v": dense()},
        "sparse_vectors_config": {"s": IDF, "splade": models.SparseVectorParams()},
    }
    vectors = [{"v": [1.0, 0.0], "s": terms(text, place)} for text in ("a wing", "the heat")]
    stored = [point(at, {"body": "…"}, vector) for at, vector in enumerate(vectors)]
    async with existing(place, stored, making=making, fields=[BODY]) as there:
        assert (await there.store.fields(TARGET))["body"].searchable
        assert [h.id for h in await there.store.bm25(TARGET, query="wings", limit=2)] == ["0"]
        hits = await there.store.hybrid(TARGET, query="heat", vector=[1, 0], limit=2)
        assert [hit.id for hit in hits] == ["1", "0"]
    two = {"vectors_config": {}, "sparse_vectors_config": {"s": IDF, "t": IDF}}
    stored = [point(0, {}, {"s": terms("wing", place), "t": terms("heat", place)})]
    async with existing(place, stored, making=two, fields=[BODY]) as there:
        assert "several sparse vectors: 's', 't'; give sparse=" in await refusal(there.fetch())
    async with existing(place, stored, making=two, fields=[BODY], sparse="t") as there:
        assert await there.store.bm25(TARGET, query="wing", limit=2) == []
        assert [h.id for h in await there.store.bm25(TARGET, query="heat", limit=2)] == ["0"]


@everywhere
async def test_a_sparse_vector_without_the_modifier_is_refused(place: str) -> None:
    """The reason is that a rare word would count no more than any."""
    making = {"vectors_config": {}, "sparse_vectors_config": {"s": models.SparseVectorParams()}}
    async with existing(place, making=making, fields=[BODY], sparse="s") as there:
        said = await refusal(there.fetch())
        assert "no sparse vector 's' with the modifier IDF" in said
        assert "a rare word counts no more than any" in said
    async with existing(place, making=making, fields=[BODY]) as there:
        assert await there.ids() == []
        assert not (await there.store.fields(TARGET))["body"].searchable
        said = await refusal(there.store.bm25(TARGET, query="x", limit=1))
        assert "no sparse vector with the modifier IDF" in said


@everywhere
async def test_searchable_fields_are_told(place: str) -> None:
    """A sparse vector alone does not say whose text is in it."""
    making = {"vectors_config": {}, "sparse_vectors_config": {"s": IDF}}
    async with existing(place, making=making, fields=[Field("body", "text")]) as there:
        said = await refusal(there.store.bm25(TARGET, query="x", limit=1))
        assert "marks no field as searchable" in said


@pytest.mark.parametrize("place", SERVER)
async def test_quantized_vectors_are_searched(place: str) -> None:
    """Quantization changes nothing that has to be told."""
    scalar = models.ScalarQuantization(
        scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8)
    )
    making = {"vectors_config": dense(), "quantization_config": scalar}
    stored = [point(n, {}, (1.0, float(n))) for n in range(20)]
    async with existing(place, stored, making=making, exact=True) as there:
        hits = await there.store.near_vector(TARGET, vector=[1, 0], limit=3)
        assert [hit.id for hit in hits] == ["0", "1", "2"]


@pytest.mark.parametrize("place", SERVER)
async def test_an_alias_is_a_name(place: str) -> None:
    """A collection is read by its alias, and each new one of it is looked at when it refuses."""
    async with existing(place, points({"a": 1}), fields=[Field("a", "int")]) as there:
        alias = f"{there.name}_alias"
        to = models.CreateAlias(collection_name=there.name, alias_name=alias)
        await there.client.update_collection_aliases([models.CreateAliasOperation(create_alias=to)])
        configured = {"A": Collection(alias, fields=[Field("a", "int")])}
        async with up(place) as where, where.store(collections=configured) as store:
            assert [chunk.id for chunk in await store.fetch("A", limit=2)] == ["0"]


@pytest.mark.parametrize("place", REMOTE)
async def test_fields_are_completed_from_the_payload_indexes(place: str) -> None:
    """A key with an index is a field of its type, named as Qdrant shows the key."""
    indexes: dict[str, Any] = {
        "year": "integer",
        "meta.at": "datetime",
        '"a.b"': "keyword",
        "a.b": "float",
        "pages[].n": "integer",
        "declared": "bool",
        "where": "geo",
    }
    payload = {"year": 1, "a.b": "x", "a": {"b": 0.5}, "pages": [{"n": 7}], "meta": {}}
    async with existing(
        place,
        points(payload),
        indexes=indexes,
        fields=[Field("flag", "bool")],
        keys={"flag": "declared"},
    ) as there:
        spec = {each.name: each for each in await there.store.fields(TARGET)}
        assert {(each.name, str(each)) for each in spec.values()} == {
            ("flag", "bool"),
            ("year", "int"),
            ("meta.at", "datetime"),
            ('"a.b"', "text"),
            ("a.b", "float"),
            ("pages[].n", "list of int"),
        }
        [chunk] = await there.fetch((field('"a.b"') == "x") & (field("a.b") == 0.5))
        assert chunk.properties == {"year": 1, '"a.b"': "x", "a.b": 0.5, "pages[].n": (7,)}
        assert spec["year"].sortable
        assert not spec["pages[].n"].sortable


@everywhere
async def test_what_is_told_is_no_field_of_the_server(place: str) -> None:
    """Local mode tells of no indexes, and has the declared fields alone."""
    async with existing(place, points({"a": 1, "b": 2}), fields=[Field("a", "int")]) as there:
        spec = await there.store.fields(TARGET)
        assert spec == FieldSpec([attrs_evolved(spec["a"])], spec.dimension, spec.distance)
        [chunk] = await there.fetch()
        assert chunk.properties == {"a": 1}


def attrs_evolved(of: Field) -> Field:
    """Itself: an int without an index, which cannot be ordered by."""
    assert not of.sortable
    return of


def test_the_model_is_the_servers() -> None:
    """The name that the server knows its own BM25 by."""
    assert MODEL == "qdrant/bm25"
