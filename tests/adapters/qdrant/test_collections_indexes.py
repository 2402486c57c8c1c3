"""Payload indexes: which are needed, and which would change an answer."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from qdrant_client import models

from soev_retrieval.domain import DeclaredFilter, Field, InvalidQueryError, field
from soev_retrieval_qdrant import Collection
from tests.adapters.qdrant.existing import TARGET, existing, points, refusal
from tests.adapters.qdrant.stores import EVERYWHERE, LOCAL, REMOTE

_LOOKUP = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=False)


@pytest.mark.parametrize("place", EVERYWHERE)
@pytest.mark.parametrize(
    ("type", "kind"), [("int", "integer"), ("float", "float"), ("datetime", "datetime")]
)
async def test_an_order_needs_an_index(place: str, type: str, kind: str) -> None:
    """Without one it is refused, in local mode too, with the call that makes one."""
    async with existing(
        place, points({"m": {"a": 1}}), fields=[Field("a", type)], keys={"a": "m.a"}
    ) as there:
        assert not (await there.store.fields(TARGET))["a"].sortable
        said = await refusal(there.store.fetch(TARGET, limit=1, order_by="a"))
        assert "field 'a'" in said
        assert f"""create_payload_index({there.name!r}, '"m"."a"', {kind!r})""" in said
        assert ("Collection(indexes={'a': " in said) is (place == "local")


@pytest.mark.parametrize("place", EVERYWHERE)
@pytest.mark.parametrize(("type", "kind"), [("float", "float"), ("datetime", "datetime")])
@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
async def test_a_long_list_of_ranges_needs_an_index(
    place: str, type: str, kind: str, many: bool
) -> None:
    """Each value is a range that is tried at every point; the error says what to make."""
    values: list[Any] = list(range(257))
    stored: Any = 7
    if type == "datetime":
        values = [datetime(2000, 1, 1, tzinfo=UTC) + timedelta(days=n) for n in values]
        stored = "2000-01-08"
    op = "contains_any" if many else "in"
    there_: Any = {"fields": [Field("a", type, many=many)]}
    async with existing(place, points({"a": stored}), **there_) as there:
        assert await there.ids(DeclaredFilter("a", op, values[:256])) == ["0"]
        said = await refusal(there.ids(DeclaredFilter("a", op, values)))
        assert "a list of 257 values is more than the 256" in said
        assert f"create_payload_index({there.name!r}, '\"a\"', {kind!r})" in said
    if place != "local":
        async with existing(place, points({"a": stored}), indexes={"a": kind}, **there_) as there:
            assert await there.ids(DeclaredFilter("a", op, values)) == ["0"]


@pytest.mark.parametrize("place", REMOTE)
@pytest.mark.parametrize("kind", ["keyword", "bool", _LOOKUP], ids=["keyword", "bool", "lookup"])
async def test_not_every_index_orders(place: str, kind: Any) -> None:
    """An index of words, of bools or without ranges does not, and the error says what would."""
    async with existing(
        place, points({"a": 2}, {"a": 1}), fields=[Field("a", "int")], indexes={"a": kind}
    ) as there:
        said = await refusal(there.store.fetch(TARGET, limit=2, order_by="a"))
        assert "no integer payload index with ranges" in said
        assert await there.ids(field("a") > 1) == ["0"]
        assert await there.ids(field("a") == 1) == ["1"]


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_an_order_with_an_index(place: str) -> None:
    """Chunks come in the order of the field; local mode is told of the server's index."""
    told = {"indexes": {"a": "integer"}} if place != "local" else {}
    async with existing(
        place, points({"a": 2}, {"a": 1}, {"a": 3}), fields=[Field("a", "int")], **told
    ) as there:
        if place != "local":
            chunks = await there.store.fetch(TARGET, limit=2, order_by="a", descending=True)
            assert [chunk.id for chunk in chunks] == ["2", "0"]


@pytest.mark.parametrize("place", REMOTE)
@pytest.mark.parametrize(
    ("type", "kind"),
    [
        *(("text", "integer"), ("text", "float"), ("text", "datetime"), ("int", "datetime")),
        *(("float", "integer"), ("float", "datetime")),
        *(("datetime", "integer"), ("datetime", "float")),
    ],
)
async def test_an_index_that_changes_answers_is_refused(place: str, type: str, kind: str) -> None:
    """The error names the field, the key, the index and the one to make; the rest is served."""
    async with existing(
        place,
        points({"a": 1, "b": 1}),
        fields=[Field("a", type), Field("b", "int")],
        indexes={"a": kind},
    ) as there:
        for asking in (
            there.ids(field("a").exists()),
            there.ids(~(field("a").missing()) & (field("b") == 1)),
            there.store.fetch(TARGET, limit=1, order_by="a"),
        ):
            said = await refusal(asking)
            assert f"field 'a' ({type}) has a payload index of {kind} at \"a\"" in said
            assert f"create_payload_index({there.name!r}, '\"a\"', " in said
        assert "a" not in await there.store.fields(TARGET)
        assert await there.ids(field("b") == 1) == ["0"]


@pytest.mark.parametrize("place", REMOTE)
async def test_a_target_by_a_refused_field_is_refused(place: str) -> None:
    """The `where` of a Collection is told the reason as well."""
    async with existing(
        place,
        points({"a": "x"}),
        fields=[Field("a", "text")],
        indexes={"a": "integer"},
        where=field("a") == "x",
    ) as there:
        assert "payload index of integer" in await refusal(there.fetch())


@pytest.mark.parametrize("place", [LOCAL])
async def test_local_mode_knows_the_indexes_it_is_told(place: str) -> None:
    """It refuses what a server with that index refuses, and orders by what one would."""
    from tempfile import TemporaryDirectory

    from qdrant_client import AsyncQdrantClient

    from soev_retrieval_qdrant import QdrantStore

    with TemporaryDirectory() as folder:
        client = AsyncQdrantClient(path=folder)
        await client.create_collection(
            "c", vectors_config=models.VectorParams(size=2, distance=models.Distance.DOT)
        )
        await client.upsert("c", points({"a": 2, "b": 1}, {"a": 1, "b": 2}))
        await client.close()
        told = Collection(
            "c",
            [Field("a", "int"), Field("b", "float")],
            indexes={"a": "float", "b": "integer"},
        )
        async with QdrantStore(folder, collections={TARGET: told}) as store:
            chunks = await store.fetch(TARGET, limit=2, order_by="a")
            assert [chunk.id for chunk in chunks] == ["1", "0"]
            with pytest.raises(InvalidQueryError, match="payload index of integer"):
                await store.fetch(TARGET, limit=2, where=field("b") == 1)
