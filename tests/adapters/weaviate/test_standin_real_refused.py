"""What the stand-in refuses is what a real server refuses, where the environment names one."""

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest

from tests.adapters.weaviate._standin_both import NAME, Both, needs_server, opened
from tests.adapters.weaviate._standin_client import (
    Bare,
    Refused,
    bm25,
    hybrid,
    leaf,
    near,
    numbers,
    prop,
    uuid_of,
)
from tests.adapters.weaviate._standin_wrong import FILTERS, PROPERTIES, SEARCHES
from tests.adapters.weaviate._standin_wrong_writes import OBJECTS, SCHEMAS

pytestmark = needs_server


@pytest.fixture
async def both() -> AsyncIterator[Both]:
    """A stand-in of its own and the server."""
    async with opened() as pair:
        yield pair


async def _each(both: Both, *properties: Any, **making: Any) -> None:
    for place in (both.ours, both.theirs):
        await place.create(NAME, *properties, **making)


async def test_refusals(both: Both) -> None:
    """Calls are refused with the same status and in the same words, to the letter."""
    await _each(both, *PROPERTIES)
    for place in (both.ours, both.theirs):
        row = {"w": "a cat", "f": "a", "n": 1, "u": uuid_of(0), "r": 1}
        assert not await place.insert(NAME, {1: row}, {1: [1.0, 0.0]})
    for table in (FILTERS, SEARCHES, SCHEMAS):
        for what, (call, text) in table.items():
            refused = await both.agree(partial(call, of=NAME), what)
            assert isinstance(refused, Refused), what
            assert text in refused.text, what


async def test_objects_that_are_refused(both: Both) -> None:
    """An object that is wrong fails alone, in the same words."""
    await _each(both, *PROPERTIES)
    for what, (wrong, text) in OBJECTS.items():
        errors = await both.same("insert", NAME, {0: {"w": "a"}, 1: wrong, 2: {}})
        assert errors.keys() == {1}, what
        assert text in errors[1], what
    vectors = {0: [1.0, 2.0], 1: [1.0, 2.0, 3.0], 2: {"q": [1.0]}}
    for place in (both.ours, both.theirs):
        await place.insert(NAME, {9: {}}, {9: [0.0, 1.0]})
    await both.same("insert", NAME, {0: {}, 1: {}, 2: {}}, vectors)
    await both.same("insert", f"{NAME}Nowhere", {0: {}})
    await both.same("insert", NAME, {0: {}}, tenant="t")


@pytest.mark.parametrize("kind", ["flat", "hnsw"])
async def test_named_vectors(both: Both, kind: str) -> None:
    """Vectors of names are found by name only, and asked for by name where there are several."""
    named = {name: {"vectorizer": {"none": {}}, "vectorIndexType": kind} for name in ("one", "two")}
    await _each(both, prop("w"), vectorConfig=named)
    rows = {at: {"w": f"word{at % 2}"} for at in range(6)}
    brought: dict[int, Any] = {
        0: {"one": [1.0, 0.0], "two": [1.0, 2.0, 3.0]},
        1: {"one": [0.0, 1.0]},
        2: {"two": [1.0, 1.0, 0.0]},
        4: {"zz": [1.0]},
        5: [1.0, 0.0],
    }
    await both.same("insert", NAME, rows, brought)
    for target in ([], ["one"], ["two"], ["zz"]):
        for asked in (
            near([1.0, 0.5], target_vectors=target),
            hybrid("word1", [1.0, 0.5], 0.5, target_vectors=target),
            hybrid("word1", None, 0, target_vectors=target),
            bm25("word1"),
        ):
            await both.same("found", NAME, **asked)


async def test_tenants(both: Both) -> None:
    """Tenants come, sleep and go, and who asks without one, or one that is not there, is told."""
    await _each(both, prop("w"), multiTenancyConfig={"enabled": True})
    path = f"/schema/{NAME}/tenants"
    made = [{"name": "t1"}, {"name": "t2", "activityStatus": "INACTIVE"}, {"name": "t3"}]
    await both.same("ask", "POST", path, made)
    await both.same("ask", "POST", path, [{"name": "t1"}])
    for wrong in ("", "a/b", "x" * 65):
        await both.same("ask", "POST", path, [{"name": wrong}])
    for tenant in ("", "t1", "t2", "zz", "T1", "a/b"):
        await both.same("insert", NAME, {1: {"w": "a"}}, {1: [1.0]}, tenant)
        searches: list[dict[str, Any]] = [{}, near([1.0]), bm25("a")]
        for asked in [*searches, {"where": leaf("EQUAL", "w", "cat")}]:
            await both.same("found", NAME, **asked, tenant=tenant)
        await both.same("count", NAME, tenant=tenant)
        await both.same("delete", NAME, leaf("EQUAL", "w", "cat"), tenant=tenant)
    await both.same("tenants", NAME)
    await both.same("tenants", NAME, "t1", "zz")
    for status in ("ACTIVE", "HOT"):
        await both.same("ask", "PUT", path, [{"name": "t2", "activityStatus": status}])
    for change in ({"name": "zz", "activityStatus": "ACTIVE"}, {"name": "t1"}):
        await both.same("ask", "PUT", path, [change])
    await both.same("ask", "DELETE", path, ["t3", "zz"])
    await both.same("tenants", NAME)


async def test_classes(both: Both) -> None:
    """A class comes back with the same defaults, on making it and later."""
    properties = [prop("Title"), prop("n", "int", indexRangeFilters=True, description="d")]
    properties += [prop("o", "object", nestedProperties=[prop("a"), prop("i", "int")])]
    properties += [prop("u", "uuid[]"), prop("x", indexInverted=False), prop("g", "geoCoordinates")]
    stops = {"preset": "none", "additions": ["foo"]}
    named: dict[str, dict[str, Any]] = {name: {"vectorizer": {"none": {}}} for name in "ab"}
    named["b"] |= {"vectorIndexType": "flat", "vectorIndexConfig": {"distance": "dot"}}
    makings: list[dict[str, Any]] = [
        {},
        {"vectorIndexType": "hnsw", "vectorIndexConfig": {"ef": 64, "distance": "l2-squared"}},
        {"vectorConfig": named, "description": "what it is"},
        {"multiTenancyConfig": {"enabled": True, "autoTenantActivation": True}},
        {"shardingConfig": {"desiredCount": 3}},
        {"invertedIndexConfig": {"indexNullState": True, "stopwords": stops, "bm25": {"b": 0.5}}},
    ]
    for making in makings:
        await both.same("create", NAME, *properties, **making)
        await both.same("ask", "GET", f"/schema/{NAME}")
    added = prop("Later", tokenization="trigram")
    await both.same("ask", "POST", f"/schema/{NAME}/properties", added)
    changed = await both.same("ask", "GET", f"/schema/{NAME}")
    changed["description"] = "what it was"
    changed["properties"][0]["description"] = "which"
    await both.same("ask", "PUT", f"/schema/{NAME}", changed)
    changed["invertedIndexConfig"]["indexNullState"] = False
    await both.same("ask", "PUT", f"/schema/{NAME}", changed)
    await both.same("ask", "DELETE", f"/schema/{NAME}")
    await both.same("ask", "DELETE", f"/schema/{NAME}")


async def test_single_objects(both: Both) -> None:
    """Objects over REST are made, replaced, found, deleted and refused with the same statuses."""
    await _each(both, prop("w"), prop("n", "int"))
    path, other = (f"/objects/{NAME}/{uuid_of(at)}" for at in (1, 2))
    made = {"class": NAME, "id": uuid_of(1), "properties": {"w": "a", "n": 1}, "vector": [1, 0]}

    async def ask(place: Bare) -> Any:
        answers = []
        for method, where, body in (
            ("POST", "/objects", made),
            ("POST", "/objects", made),
            ("POST", "/objects", {"class": NAME, "id": "x"}),
            ("POST", "/objects", {"class": f"{NAME}Nowhere", "id": uuid_of(1)}),
            ("POST", "/objects", {"class": NAME, "properties": {"n": "a"}}),
            ("PUT", path, made | {"properties": {"w": "b"}}),
            ("PUT", other, made | {"id": uuid_of(2)}),
            ("GET", path, None),
            ("HEAD", path, None),
            ("HEAD", other, None),
            ("DELETE", path, None),
            ("DELETE", path, None),
            ("GET", path, None),
            ("DELETE", f"/objects/{NAME}Nowhere/{uuid_of(1)}", None),
        ):
            answer = await place.ask(method, where, body)
            if isinstance(answer, dict):
                answer = {key: value for key, value in answer.items() if "Unix" not in key}
            answers.append(answer)
        return answers

    await both.agree(ask)


async def test_pages(both: Both) -> None:
    """Without an order they come by UUID: in pages, and after one of them."""
    await _each(both, prop("n", "int"))
    for place in (both.ours, both.theirs):
        assert not await place.insert(NAME, {at: {"n": at} for at in range(50)})
    pages: list[dict[str, Any]] = [
        {},
        {"limit": 7},
        {"limit": 7, "offset": 45},
        {"offset": 60},
        {"after": uuid_of(9), "limit": 8},
        {"after": uuid_of(77)},
    ]
    for page in pages:
        await both.same("found", NAME, **page)


async def test_deletes(both: Both) -> None:
    """A delete tells how many there were, and leaves the others."""
    await _each(both, prop("n", "int"))
    for place in (both.ours, both.theirs):
        assert not await place.insert(NAME, {at: {"n": at} for at in range(50)})
    deletes: list[tuple[Any, dict[str, Any]]] = [
        (leaf("LESS_THAN", "n", 10), {"dry_run": True}),
        (leaf("LESS_THAN", "n", 10), {}),
        (leaf("LESS_THAN", "n", 10), {}),
        (leaf("CONTAINS_ANY", "_id", [uuid_of(20), uuid_of(99)]), {"verbose": True}),
    ]
    for where, more in deletes:
        await both.same("delete", NAME, where, **more)
        await both.same("count", NAME)
        await both.same("found", NAME, limit=100)


async def test_properties_that_come_later(both: Both) -> None:
    """Older objects are neither null nor not null of a property that was added later."""
    await _each(both, prop("n", "int"), invertedIndexConfig={"indexNullState": True})
    for place in (both.ours, both.theirs):
        assert not await place.insert(NAME, {0: {"n": 0}})
        await place.ask("POST", f"/schema/{NAME}/properties", prop("late"))
        assert not await place.insert(NAME, {1: {"n": 1}, 2: {"late": "a"}})
    for value in (True, False):
        await both.same("found", NAME, leaf("IS_NULL", "late", value))


async def test_three_shards(both: Both) -> None:
    """The filtered, the sorted and the near of three shards are those of one."""
    await _each(both, prop("n", "int"), prop("w"), shardingConfig={"desiredCount": 3})
    rows = {at: {"n": at, "w": f"word{at % 7}"} for at in range(60)}
    vectors = {at: [float(at % 13), float(at % 11), 1.0] for at in range(60)}
    for place in (both.ours, both.theirs):
        assert not await place.insert(NAME, rows, vectors)

    async def ask(place: Bare) -> Any:
        where = leaf("GREATER_THAN", "n", 20)
        by_uuid = numbers(await place.search(NAME, where, limit=100))
        near_by = await place.search(NAME, where, limit=20, **near([1.0, 2.0, 3.0]))
        words = sorted(await place.found(NAME, limit=100, **bm25("word3")))
        distances = [round(each.metadata.distance, 5) for each in near_by]
        return by_uuid, distances, words, await place.count(NAME)

    await both.agree(ask)
    shards = await both.ours.ask("GET", f"/schema/{NAME}/shards")
    assert len(shards) == len(await both.theirs.ask("GET", f"/schema/{NAME}/shards")) == 3
