"""Calls that a server refuses, with its status on either protocol and what its text holds."""

from collections.abc import Awaitable, Callable
from typing import Any

from qdrant_client import AsyncQdrantClient, models

from tests.adapters.qdrant._standin_client import Code, is_

Call = Callable[[AsyncQdrantClient, str], Awaitable[Any]]
WRONG: dict[str, tuple[Call, int, Any, str]] = {
    "unknown collection": (
        lambda client, name: client.scroll(name + "_zz"),
        404,
        Code.NOT_FOUND,
        "Not found: Collection `{name}_zz` doesn't exist!",
    ),
    "known collection": (
        lambda client, name: client.create_collection(name, vectors_config={}),
        409,
        Code.ALREADY_EXISTS,
        "Wrong input: Collection `{name}` already exists!",
    ),
    "slash": (
        lambda client, name: client.scroll("standin/b"),
        422,
        Code.INVALID_ARGUMENT,
        'collection name cannot contain "/" char',
    ),
    "limit 0": (
        lambda client, name: client.scroll(name, limit=0),
        422,
        Code.INVALID_ARGUMENT,
        "limit: value 0 invalid, must be 1 or larger",
    ),
    "query of another dimension": (
        lambda client, name: client.query_points(name, [1.0, 2.0, 3.0], using="dense"),
        400,
        Code.INVALID_ARGUMENT,
        "Wrong input: Vector dimension error: expected dim: 2, got 3",
    ),
    "point of another dimension": (
        lambda client, name: client.upsert(
            name, [models.PointStruct(id=9, vector={"dense": [1.0]})]
        ),
        400,
        Code.INVALID_ARGUMENT,
        "Wrong input: Vector dimension error: expected dim: 2, got 1",
    ),
    "unknown vector": (
        lambda client, name: client.query_points(name, [1.0, 2.0], using="zz"),
        400,
        Code.INVALID_ARGUMENT,
        "Wrong input: Not existing vector name error: zz",
    ),
    "no vector name": (
        lambda client, name: client.query_points(name, [1.0, 2.0]),
        400,
        Code.INVALID_ARGUMENT,
        "Wrong input: Not existing vector name error: ",
    ),
    "unknown vector of a point": (
        lambda client, name: client.upsert(name, [models.PointStruct(id=9, vector={"zz": [1.0]})]),
        400,
        Code.INVALID_ARGUMENT,
        "Wrong input: Not existing vector name error: zz",
    ),
    "sparse query of a dense vector": (
        lambda client, name: client.query_points(
            name, models.SparseVector(indices=[1], values=[1.0]), using="dense"
        ),
        400,
        Code.INVALID_ARGUMENT,
        "Wrong input: Conversion between sparse and regular vectors failed",
    ),
    "dense query of a sparse vector": (
        lambda client, name: client.query_points(name, [1.0], using="text"),
        400,
        Code.INVALID_ARGUMENT,
        "Wrong input: Conversion between sparse and regular vectors failed",
    ),
    "offset with an order": (
        lambda client, name: client.scroll(name, order_by="i", offset=1),
        400,
        Code.INVALID_ARGUMENT,
        "Cannot use an `offset` when using `order_by`",
    ),
    "no points": (
        lambda client, name: client.upsert(name, []),
        400,
        Code.INVALID_ARGUMENT,
        "Bad request: Empty update request",
    ),
    "point without a vector's name": (
        lambda client, name: client.upsert(name, [models.PointStruct(id=9, vector=[1.0, 2.0])]),
        400,
        Code.INVALID_ARGUMENT,
        "Wrong input: Not existing vector name error: ",
    ),
    "bad key": (
        lambda client, name: client.scroll(name, scroll_filter=is_('a"b', 1)),
        400,
        Code.INVALID_ARGUMENT,
        "Invalid json path",
    ),
    "bad id": (
        lambda client, name: client.retrieve(name, ["abc"]),
        400,
        Code.INVALID_ARGUMENT,
        "abc",
    ),
    "text query": (
        lambda client, name: client.query_points(name, models.TextQuery(text="cat"), using="text"),
        400,
        Code.INVALID_ARGUMENT,
        "",
    ),
    "substring": (
        lambda client, name: client.scroll(
            name,
            scroll_filter=models.Filter(
                must=[models.FieldCondition(key="tag", match=models.MatchSubstring(substring="a"))]
            ),
        ),
        400,
        Code.INVALID_ARGUMENT,
        "",
    ),
    "payload of no point": (
        lambda client, name: client.set_payload(name, {"a": 1}, points=[99]),
        404,
        Code.NOT_FOUND,
        "No point with id 99 found",
    ),
}
"""By what is wrong: the call, with the collection of `fill`, and how it is refused."""
