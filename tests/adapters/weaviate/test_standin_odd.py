"""What is odd about a server, and so about the stand-in: each oddity alone, asked of both."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from weaviate.proto.v1 import search_get_pb2

from tests.adapters.weaviate._standin_both import NAME, needs_server, opened
from tests.adapters.weaviate._standin_client import (
    Bare,
    Refused,
    bare,
    bm25,
    by,
    hybrid,
    joined,
    leaf,
    prop,
)
from tests.adapters.weaviate.standin import StandIn

FIELD: dict[str, Any] = {"tokenization": "field", "indexSearchable": False}
INDEXED = {"indexNullState": True, "indexPropertyLength": True}


@pytest.fixture(params=["standin", pytest.param("server", marks=needs_server)])
async def place(request: pytest.FixtureRequest) -> AsyncIterator[Bare]:
    """A bare client of a stand-in, and of a server."""
    if request.param == "standin":
        async with StandIn() as server, bare(server.url, server.grpc_port) as asked:
            yield asked
        return
    async with opened() as both:
        yield both.theirs


async def _of(place: Bare, property: Any, *values: Any) -> None:
    """A collection of one property and its values; None is an object without it."""
    await place.create(NAME, property, invertedIndexConfig=INDEXED)
    rows = {at: {} if each is None else {property["name"]: each} for at, each in enumerate(values)}
    assert not await place.insert(NAME, rows)


async def _holds(place: Bare, operator: str, name: str, value: Any) -> Any:
    found = await place.found(NAME, leaf(operator, name, value), limit=100)
    return found if isinstance(found, Refused) else sorted(found)


async def test_trims_what_is_one_token(place: Bare) -> None:
    """White space at the edges counts for nothing, neither stored nor asked; for its length it does."""
    await _of(place, prop("f", **FIELD), "a", " a\n", "a b", "\x1fa")
    assert await _holds(place, "EQUAL", "f", "\ta ") == [0, 1]
    assert await _holds(place, "CONTAINS_ANY", "f", ["\u2003a", "a b"]) == [0, 1, 2]
    assert await _holds(place, "EQUAL", "len(f)", 3) == [1, 2]


async def test_counts_length_in_code_points(place: Bare) -> None:
    """A letter is one however many bytes it has."""
    await _of(place, prop("f", **FIELD), "日本", "\U0001f600", "é")
    assert await _holds(place, "EQUAL", "len(f)", 2) == [0]
    assert await _holds(place, "EQUAL", "len(f)", 1) == [1, 2]


async def test_takes_what_is_empty_for_nothing(place: Bare) -> None:
    """An empty text is null, and not less than any text; an empty list is null."""
    await _of(place, prop("f", **FIELD), "", None, "a")
    assert await _holds(place, "IS_NULL", "f", True) == [0, 1]
    assert await _holds(place, "GREATER_THAN_EQUAL", "f", "") == [0, 2]
    await _of(place, prop("l", "int[]"), [], None, [1])
    assert await _holds(place, "IS_NULL", "l", True) == [0, 1]


async def test_unequal_is_also_what_is_missing(place: Bare) -> None:
    """But not where there is an index of ranges only."""
    await _of(place, prop("n", "int"), 1, 2, None)
    assert await _holds(place, "NOT_EQUAL", "n", 1) == [1, 2]
    only = prop("r", "int", indexFilterable=False, indexRangeFilters=True)
    await _of(place, only, 1, 2, None)
    assert await _holds(place, "NOT_EQUAL", "r", 1) == [1]


@pytest.mark.parametrize(
    ("tokenization", "asked", "expected"),
    [
        ("word", "hello WORLD", [0, 1, 2]),
        ("word", "the hello", [0, 1, 2]),
        ("lowercase", "hello world", [1, 2]),
        ("lowercase", "hello, world!", [0]),
        ("whitespace", "hello world", [2]),
        ("trigram", "ello", [0, 1, 2]),
        ("field", "hello world", []),
    ],
)
async def test_equals_by_tokens(
    place: Bare, tokenization: str, asked: str, expected: list[int]
) -> None:
    """Equal is to have every token of what is asked, stop words aside."""
    values = "Hello, World!", "world Hello", "hello the world"
    await _of(place, prop("t", tokenization=tokenization), *values)
    assert await _holds(place, "EQUAL", "t", asked) == expected


async def test_likes_without_an_escape(place: Bare) -> None:
    """A star is any letters and a question mark is one, and none of them is a newline."""
    await _of(place, prop("f", **FIELD), "a*c", "abc", "ac", "a\nc")
    assert await _holds(place, "LIKE", "f", "a*c") == [0, 1, 2]
    assert await _holds(place, "LIKE", "f", "a?c") == [0, 1]
    assert await _holds(place, "LIKE", "f", r"a\*c") == []


async def test_wraps_far_dates(place: Bare) -> None:
    """A date is nanoseconds in 64 bits: beyond 2262 it is before 1970."""
    await _of(place, prop("d", "date"), "2020-01-01T00:00:00Z", "9999-12-31T23:59:59Z")
    assert await _holds(place, "LESS_THAN", "d", "2021-01-01T00:00:00Z") == [0, 1]
    assert await _holds(place, "LESS_THAN", "d", "9999-12-31T23:59:59Z") == []


async def test_stores_ints_as_floats(place: Bare) -> None:
    """What a float has no digits for is rounded, and not found again."""
    await _of(place, prop("n", "int"), 2**53 - 1, 2**53 + 1)
    assert await _holds(place, "EQUAL", "n", 2**53 - 1) == [0]
    assert await _holds(place, "EQUAL", "n", 2**53 + 1) == []
    assert await _holds(place, "EQUAL", "n", 2**53) == [1]


async def test_compares_any_element(place: Bare) -> None:
    """A list holds for a comparison if one of its elements does."""
    await _of(place, prop("l", "int[]"), [1, 9], [5], [])
    assert await _holds(place, "GREATER_THAN", "l", 5) == [0]
    both = joined("AND", leaf("LESS_THAN", "l", 2), leaf("GREATER_THAN", "l", 8))
    assert await place.found(NAME, both) == [0]


async def test_sorts_texts_as_json_without_case(place: Bare) -> None:
    """Case counts for nothing, and a newline is a backslash and an n."""
    await _of(place, prop("f", **FIELD), "b", "A", "a\nb", "aZ", "a]", None)
    assert await place.found(NAME, **by("f", "_id")) == [5, 1, 2, 4, 3, 0]


async def test_keeps_lengths_of_what_seems_the_same(place: Bare) -> None:
    """An object replaced by one with the same tokens and vector has the length of the old one."""
    await _of(place, prop("f", **FIELD), "abc")
    assert not await place.insert(NAME, {0: {"f": "abc  "}})
    assert await _holds(place, "EQUAL", "len(f)", 5) == []
    assert await _holds(place, "EQUAL", "len(f)", 3) == [0]
    assert not await place.insert(NAME, {0: {"f": "abc  "}}, {0: [1.0]})
    assert await _holds(place, "EQUAL", "len(f)", 5) == [0]


async def test_finds_what_is_empty_by_what_is_blank(place: Bare) -> None:
    """A blank query is the empty token, which an empty text of one token has."""
    await _of(place, prop("f", tokenization="field"), "", "a", None)
    assert await place.found(NAME, **bm25(" ")) == [0]
    assert await place.found(NAME, **hybrid("", None, 0)) == [0]


async def test_cuts_hybrid_at_the_most_without_a_word(place: Bare) -> None:
    """Of keywords alone, it takes a limit that nothing else takes."""
    await _of(place, prop("t"), *["word"] * 3)
    assert len(await place.found(NAME, **hybrid("word", None, 0), limit=20_000)) == 3
    refused = await place.found(NAME, **bm25("word"), limit=20_000)
    assert "query maximum results exceeded" in refused.text


async def test_takes_no_limit_for_ten(place: Bare) -> None:
    """A limit of 0 is that of the server's settings."""
    await _of(place, prop("n", "int"), *range(12))
    assert len(await place.found(NAME)) == len(await place.found(NAME, limit=0)) == 10


async def test_lists_no_shards_where_a_tenant_sleeps(place: Bare) -> None:
    """The shards of a collection cannot be listed while one of its tenants is inactive."""
    await place.create(NAME, multiTenancyConfig={"enabled": True})
    await place.ask("POST", f"/schema/{NAME}/tenants", [{"name": "one"}, {"name": "two"}])
    assert len(await place.ask("GET", f"/schema/{NAME}/shards")) == 2
    sleeps = [{"name": "one", "activityStatus": "INACTIVE"}]
    await place.ask("PUT", f"/schema/{NAME}/tenants", sleeps)
    assert (await place.ask("GET", f"/schema/{NAME}/shards")).status == 500
    assert len(await place.ask("GET", f"/schema/{NAME}/shards?tenant=two")) == 1


async def test_merges_shards_by_what_is_asked_for(place: Bare) -> None:
    """Where the shards of an order are merged under a filter, a key not asked for is missing."""
    await place.create(NAME, prop("n", "int"), prop("m", "int"), shardingConfig={"desiredCount": 3})
    assert not await place.insert(NAME, {at: {"n": at, "m": 1} for at in range(40)})
    every = leaf("EQUAL", "m", 1)
    for where, asked, is_sorted in (
        (every, ["n"], True),
        (every, ["m", "n"], True),
        (every, ["m"], False),
        (None, ["m"], True),
        (None, [], False),
    ):
        wanted = search_get_pb2.PropertiesRequest(non_ref_properties=asked)
        found = await place.found(NAME, where, **by("n", "_id"), limit=40, properties=wanted)
        assert (found == [*range(40)]) is is_sorted, (where, asked)
