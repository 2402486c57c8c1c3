"""What the stand-in serves, to a real client over both protocols."""

from typing import Any

import httpx
from qdrant_client import AsyncQdrantClient, models

from tests.adapters.qdrant._standin_client import (
    TEXTS,
    Code,
    document,
    fill,
    is_,
    refusal,
    status,
)
from tests.adapters.qdrant.standin import StandIn

NEUTRAL = {"stemmer": {"type": "none"}, "stopwords": {"custom": []}}


async def test_reports_its_version(client: AsyncQdrantClient) -> None:
    """It says that it is Qdrant 1.19.0."""
    assert (await client.info()).version == "1.19.0"


async def test_keeps_a_collection_with_its_metadata(client: AsyncQdrantClient) -> None:
    """A collection is there with its vectors and metadata until it is deleted."""
    assert not await client.collection_exists("x")
    await fill(client)
    assert await client.collection_exists("x")
    assert [each.name for each in (await client.get_collections()).collections] == ["x"]
    await client.update_collection("x", metadata={"more": [1, 2.5]})
    info = await client.get_collection("x")
    assert info.config.metadata == {"spec": {"year": "int"}, "more": [1, 2.5]}
    params: Any = info.config.params
    assert params.vectors["dense"].size == 2
    assert params.sparse_vectors["text"].modifier == models.Modifier.IDF
    assert info.points_count == 3
    assert await client.delete_collection("x")
    assert not await client.delete_collection("x")
    assert not await client.collection_exists("x")


async def test_reports_payload_indexes(client: AsyncQdrantClient) -> None:
    """An index shows with its type, its parameters and its points, and no more once deleted."""
    await fill(client)
    await client.create_payload_index("x", "year", models.PayloadSchemaType.INTEGER)
    tag = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
    await client.create_payload_index("x", '"tag"', tag)
    await client.create_payload_index("x", '"a b"', models.PayloadSchemaType.BOOL)
    schema = (await client.get_collection("x")).payload_schema
    assert {key: (str(each.data_type.value), each.points) for key, each in schema.items()} == {
        "year": ("integer", 3),
        "tag": ("keyword", 3),
        '"a b"': ("bool", 0),
    }
    assert schema["tag"].params == tag
    await client.delete_payload_index("x", "tag")
    assert "tag" not in (await client.get_collection("x")).payload_schema


async def test_retrieves_and_deletes_points(client: AsyncQdrantClient) -> None:
    """Points come back by id, whole or in part, until they are deleted."""
    await fill(client)
    (point,) = await client.retrieve("x", [2, 9], with_vectors=["dense"])
    assert point.id == 2
    assert point.payload == {"text": TEXTS[2], "year": 2020, "tag": "a"}
    assert point.vector == {"dense": [2.0, 0.5]}
    (bare,) = await client.retrieve("x", [2], with_payload=False)
    assert not bare.payload
    await client.delete("x", [2])
    await client.delete("x", models.FilterSelector(filter=is_("year", 2021)))
    assert (await client.count("x")).count == 0


async def test_changes_payloads_and_vectors(client: AsyncQdrantClient) -> None:
    """A payload is added to or replaced, and a vector is replaced, by a document too."""
    await fill(client)
    await client.set_payload("x", {"seen": True}, points=[1])
    await client.overwrite_payload("x", {"only": 1}, points=is_("year", 2020))
    vector: Any = {"text": document("zebra"), "dense": [9.0, 9.0]}
    await client.update_vectors("x", [models.PointVectors(id=1, vector=vector)])
    found = {each.id: each for each in await client.retrieve("x", [1, 2], with_vectors=True)}
    assert (found[1].payload or {})["seen"] is True
    assert found[2].payload == {"only": 1}
    assert found[1].vector["dense"] == [9.0, 9.0]  # type: ignore[index,call-overload]
    hits = (await client.query_points("x", document("zebra"), using="text")).points
    assert [hit.id for hit in hits] == [1]


async def test_answers_queries(client: AsyncQdrantClient) -> None:
    """Dense, sparse and document queries find what they should, filtered and not."""
    await fill(client)
    dense = (await client.query_points("x", [1.0, 0.0], using="dense", limit=2)).points
    assert [(hit.id, hit.score) for hit in dense] == [(3, 3.0), (2, 2.0)]
    assert (dense[0].payload or {})["text"] == TEXTS[3]
    kept_out = await client.query_points(
        "x", [1.0, 0.0], using="dense", query_filter=is_("tag", "a"), with_payload=False
    )
    assert [(hit.id, hit.payload) for hit in kept_out.points] == [(2, None)]
    cats = (await client.query_points("x", document("cats"), using="text")).points
    assert {hit.id for hit in cats} == {1, 2}
    stored = (await client.retrieve("x", [1], with_vectors=True))[0].vector["text"]  # type: ignore[index,call-overload]
    assert isinstance(stored, models.SparseVector)
    assert (await client.query_points("x", stored, using="text")).points[0].id == 1
    assert (await client.query_points("x", document("the"), using="text")).points == []


async def test_answers_a_batch(client: AsyncQdrantClient) -> None:
    """A batch has one answer for each query, and fuses prefetches of documents and vectors."""
    await fill(client)
    keyword = models.Prefetch(query=document("cat"), using="text", filter=is_("tag", "b"), limit=5)
    nearest = models.Prefetch(query=[1.0, 0.0], using="dense", limit=5)
    fused, plain = await client.query_batch_points(
        "x",
        [
            models.QueryRequest(
                prefetch=[keyword, nearest],
                query=models.FusionQuery(fusion=models.Fusion.RRF),
                filter=is_("tag", "b"),
                with_payload=True,
            ),
            models.QueryRequest(query=[0.0, 1.0], using="dense", limit=1),
        ],
    )
    assert {hit.id for hit in fused.points} == {1, 3}
    assert (fused.points[0].payload or {})["tag"] == "b"
    assert [(hit.score, hit.payload) for hit in plain.points] == [(0.5, None)]


async def test_takes_a_neutral_bm25_config(client: AsyncQdrantClient) -> None:
    """Options reach the embedding: without stemming and stop words every word is its own."""
    await fill(client)
    options = NEUTRAL | {"k": 1.5, "b": 0.5, "avg_len": 5.5, "ascii_folding": True}
    vector: Any = {"text": document("the cafés", **options)}
    await client.upsert("x", [models.PointStruct(id=7, vector=vector)])
    for text, expected in (("the", [7]), ("cafés", [7]), ("CAFES", [7]), ("cafe", [])):
        found = await client.query_points("x", document(text, **options), using="text")
        assert [hit.id for hit in found.points if hit.id == 7] == expected, text


async def test_an_unknown_language_is_none(client: AsyncQdrantClient) -> None:
    """A language that the model does not have disables stop words and stemming."""
    await fill(client)
    vector: Any = {"text": document("the", language="none")}
    await client.upsert("x", [models.PointStruct(id=7, vector=vector)])
    found = await client.query_points("x", document("the", language="none"), using="text")
    assert [hit.id for hit in found.points] == [7]


async def test_scrolls_by_id_in_pages(client: AsyncQdrantClient) -> None:
    """A page ends with the id that the next one starts with."""
    await fill(client)
    first, offset = await client.scroll("x", limit=2)
    rest, end = await client.scroll("x", limit=2, offset=offset)
    assert ([each.id for each in [*first, *rest]], end) == ([1, 2, 3], None)
    named, _ = await client.scroll("x", scroll_filter=is_("tag", "b"))
    assert [each.id for each in named] == [1, 3]


async def test_scrolls_by_a_field_with_an_index_only(
    client: AsyncQdrantClient, protocol: str
) -> None:
    """order_by needs an index that has ranges, and comes back reversed where it descends."""
    await fill(client)
    for schema in (None, models.PayloadSchemaType.KEYWORD):
        if schema:
            await client.create_payload_index("x", "year", schema)
        code, text = await refusal(client.scroll("x", order_by="year"))
        assert code == status(protocol, 400, Code.INVALID_ARGUMENT)
        assert text.startswith("Wrong input: No range index for `order_by` key: `year`")
    await client.create_payload_index("x", "year", models.PayloadSchemaType.INTEGER)
    up = [each.id for each in (await client.scroll("x", order_by='"year"'))[0]]
    down = models.OrderBy(key="year", direction=models.Direction.DESC)
    back = [each.id for each in (await client.scroll("x", order_by=down, limit=2))[0]]
    assert (up[0], set(up[1:])) == (2, {1, 3})
    assert back == [up[2], up[1]]
    ordered = await client.query_points("x", models.OrderByQuery(order_by=down), limit=1)
    assert ordered.points[0].id in (1, 3)


async def test_records_what_was_sent(
    client: AsyncQdrantClient, server: StandIn, protocol: str
) -> None:
    """A request is kept as it came: the filter of each prefetch and that of the root."""
    await fill(client)
    where = is_("tag", "a")
    prefetch = models.Prefetch(query=[1.0, 0.0], using="dense", filter=where)
    fusion = models.FusionQuery(fusion=models.Fusion.RRF)
    await client.query_points("x", fusion, prefetch=[prefetch, prefetch], query_filter=where)
    (request,) = server.sent("query_points")
    assert request.protocol == protocol
    if protocol == "rest":
        assert (request.method, request.path) == ("POST", "/collections/x/points/query")
        body = request.body
        assert [each["filter"] for each in (body, *body["prefetch"])] == [body["filter"]] * 3
        assert body["filter"]["must"][0]["match"] == {"value": "a"}
    else:
        message: Any = request.message
        for each in (message, *message.prefetch):
            assert each.filter.must[0].field.match.keyword == "a"


async def test_keeps_connections(server: StandIn) -> None:
    """A client that keeps its connection is answered on it again."""
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=1)) as client:
        for _ in range(3):
            assert (await client.get(server.url)).json()["version"] == "1.19.0"


async def test_an_unknown_path_is_not_found(server: StandIn) -> None:
    """What it does not serve is 404 without a body, as the server's own router says."""
    async with httpx.AsyncClient() as client:
        answer = await client.get(f"{server.url}/collections/x/snapshots")
    assert (answer.status_code, answer.content) == (404, b"")


async def test_equal_values_come_in_no_order_of_ids(client: AsyncQdrantClient) -> None:
    """Where an order has ties, the first few are not those of the lowest ids."""
    await fill(client)
    ids = range(1, 31)
    points = [models.PointStruct(id=id, vector={}, payload={"same": 0}) for id in ids]
    await client.upsert("x", points)
    await client.create_payload_index("x", "same", models.PayloadSchemaType.INTEGER)
    seen = [each.id for each in (await client.scroll("x", order_by="same", limit=30))[0]]
    assert sorted(seen) == list(ids)
    assert seen != list(ids)
    few = [each.id for each in (await client.scroll("x", order_by="same", limit=5))[0]]
    assert few == seen[:5]
