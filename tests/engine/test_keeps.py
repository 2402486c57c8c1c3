"""Blocklist, ScoreFloor and Deduplicated."""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import pytest

from soev_retrieval.domain import (
    Chunk,
    Hit,
    InvalidQueryError,
    Properties,
    Scalar,
    StoreUnavailable,
)
from soev_retrieval.engine import Blocklist, Deduplicated, Keep, PostFiltered, ScoreFloor
from soev_retrieval.testing.faults import Scripted


def hit(id: str, score: float = 1.0, **properties: Any) -> Hit:
    return Hit(id, score, Properties(properties))


def chunk(id: str, **properties: Any) -> Chunk:
    return Chunk(id, Properties(properties))


def ids(results: Sequence[Hit | Chunk]) -> str:
    return "".join(result.id for result in results)


async def kept(keep: Keep, *results: Hit) -> str:
    """The ids of what a keep passes on; it answers with the very results it was given."""
    passed = await keep("t", results)
    assert all(any(one is result for result in results) for one in passed)
    return ids(passed)


RESULTS = [hit("a", doc="1"), hit("b", doc="2"), hit("c", doc="1"), hit("d", doc="3")]


@pytest.mark.parametrize("kind", [set, list, tuple, frozenset, dict.fromkeys])
async def test_what_is_blocked_is_dropped(kind: Callable[[Any], Any]) -> None:
    """Results whose id is in the container are dropped, the others keep their order."""
    assert await kept(Blocklist(kind(["b", "d", "?"])), *RESULTS) == "ac"


async def test_a_document_can_be_blocked() -> None:
    """With a field it is the field's value that is looked for, not the id."""
    assert await kept(Blocklist({"1"}, field="doc"), *RESULTS) == "bd"
    assert await kept(Blocklist({"a"}, field="doc"), *RESULTS) == "abcd"


async def test_any_value_of_a_list_field_counts() -> None:
    """A result is dropped when one of its values is blocked."""
    results = [hit("a", tags=["x", "y"]), hit("b", tags=["y"]), hit("c", tags=["z", "z"])]
    assert await kept(Blocklist({"x", "z"}, field="tags"), *results) == "b"


@pytest.mark.parametrize("blocked", [set(), {"1"}, lambda keys: set()], ids=str)
async def test_what_lacks_the_field_is_dropped(blocked: Any) -> None:
    """Nothing says that a result without the field may be shown, even where nothing is blocked."""
    results = [hit("a"), hit("b", doc=None), hit("c", doc=[]), hit("d", doc="2")]
    assert await kept(Blocklist(blocked, field="doc"), *results) == "d"


async def test_every_result_has_an_id() -> None:
    """By id no field is needed."""
    assert await kept(Blocklist({"b"}), hit("a"), hit("b")) == "a"


async def test_a_set_that_changes_is_seen_by_the_next_call() -> None:
    """The container is read at each call."""
    blocked = {"a"}
    store = PostFiltered(Scripted(RESULTS), Blocklist(blocked))
    seen = []
    for change in ({"b"}, {"c", "d"}):
        seen.append(ids(await store.bm25("t", query="q", limit=4)))
        blocked |= change
    blocked.clear()
    seen.append(ids(await store.bm25("t", query="q", limit=4)))
    assert seen == ["bcd", "cd", "abcd"]


@pytest.mark.parametrize("field", [None, "doc"])
async def test_a_function_is_given_the_keys_at_hand(field: str | None) -> None:
    """A function is asked at each call, once, with the keys of all results in their order."""
    asked: list[list[Scalar]] = []

    def blocked(keys: Sequence[Scalar]) -> Collection[Scalar]:
        asked.append(list(keys))
        return {keys[0]}

    keep = Blocklist(blocked, field)
    assert await kept(keep, *RESULTS) == ("bcd" if field is None else "bd")
    assert await kept(keep, *RESULTS[1:]) == "cd"
    first = ["a", "b", "c", "d"] if field is None else ["1", "2", "1", "3"]
    assert asked == [first, first[1:]]


async def test_a_function_may_be_async() -> None:
    """An async function is awaited, so that a database can be asked."""

    async def blocked(keys: Sequence[Scalar]) -> Collection[Scalar]:
        return [key for key in keys if key in ("b", "c")]

    assert await kept(Blocklist(blocked), *RESULTS) == "ad"


async def test_a_function_may_be_an_object() -> None:
    """What is called is asked, however it is made."""

    class Revoked:
        async def __call__(self, keys: Sequence[Scalar]) -> Collection[Scalar]:
            return {"a"}

    assert await kept(Blocklist(Revoked()), *RESULTS) == "bcd"


async def test_a_function_that_answers_with_an_iterator_lets_nothing_through() -> None:
    """The rows of a cursor are read once for all results: none of the blocked is passed on."""

    def blocked(keys: Sequence[Scalar]) -> Iterator[Scalar]:
        return (key for key in ("d", "c", "a"))

    keep: Any = Blocklist(blocked)  # type: ignore[arg-type]
    try:
        passed = await kept(keep, *RESULTS)
    except InvalidQueryError:
        return  # refused is as good
    assert passed == "b"


@pytest.mark.parametrize("blocked", ["doc-1", lambda keys: "doc-1"], ids=["text", "function"])
async def test_a_text_is_no_list(blocked: Any) -> None:
    """A text holds every part of itself: it is refused, where it would block other ids too."""
    with pytest.raises(InvalidQueryError):
        await kept(Blocklist(blocked), hit("doc"), hit("doc-1"))


async def test_who_cannot_say_what_is_blocked_stops_the_call() -> None:
    """When the list cannot be asked nothing is shown: its error is the call's."""
    error = StoreUnavailable("no list of revocations")

    async def blocked(keys: Sequence[Scalar]) -> Collection[Scalar]:
        raise error

    with pytest.raises(StoreUnavailable) as raised:
        await PostFiltered(Scripted(RESULTS), Blocklist(blocked)).bm25("t", query="q", limit=4)
    assert raised.value is error


async def test_a_function_that_forgot_its_return_shows_nothing() -> None:
    """None is no list of what is blocked: the call fails, it does not pass everything on."""
    keep: Any = Blocklist(lambda keys: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(InvalidQueryError):
        await kept(keep, *RESULTS)


async def test_chunks_are_blocked_like_hits() -> None:
    """The chunks of a fetch go through the same list."""
    store = PostFiltered(Scripted([chunk("a"), chunk("b")]), Blocklist({"a"}))
    assert ids(await store.fetch("t", limit=2)) == "b"


@pytest.mark.parametrize(
    ("floor", "expected"),
    [(2.0, "ab"), (2, "ab"), (2.1, "a"), (-math.inf, "abcd"), (math.inf, ""), (-1.0, "abcd")],
)
async def test_hits_below_the_floor_are_dropped(floor: float, expected: str) -> None:
    """A hit that scores the floor or more is kept, in its place."""
    hits = [hit("a", 3.0), hit("b", 2.0), hit("c", 1.0), hit("d", -1.0)]
    assert await kept(ScoreFloor(floor), *hits) == expected


async def test_chunks_have_no_score_and_stay() -> None:
    """A floor leaves the chunks of a fetch alone."""
    store = PostFiltered(Scripted([chunk("a"), chunk("b")]), ScoreFloor(9))
    assert ids(await store.fetch("t", limit=2)) == "ab"


def test_a_floor_that_is_no_number_is_refused() -> None:
    """NaN would drop everything in silence."""
    with pytest.raises(ValueError, match="floor must be a number"):
        ScoreFloor(math.nan)


async def test_the_first_of_each_kind_is_kept() -> None:
    """Of results with the same value in the field the first stays, in its place."""
    assert await kept(Deduplicated("doc"), *RESULTS) == "abd"


async def test_without_a_field_the_id_tells_kinds_apart() -> None:
    """Results with one id are one kind."""
    assert await kept(Deduplicated(), hit("a", 3), hit("b", 2), hit("a", 1)) == "ab"


async def test_what_lacks_the_field_is_like_no_other() -> None:
    """Results without the field are all kept."""
    results = [hit("a"), hit("b", doc="1"), hit("c"), hit("d", doc=[]), hit("e", doc="1")]
    assert await kept(Deduplicated("doc"), *results) == "abcd"


async def test_lists_are_one_kind_when_they_are_equal() -> None:
    """A list field tells kinds apart by the whole list."""
    results = [hit("a", doc=["1", "2"]), hit("b", doc=["1"]), hit("c", doc=["1", "2"])]
    assert await kept(Deduplicated("doc"), *results) == "ab"


async def test_each_call_begins_anew() -> None:
    """What one call has shown does not count in the next."""
    store = PostFiltered(Scripted(RESULTS), Deduplicated("doc"))
    for _ in range(2):
        assert ids(await store.bm25("t", query="q", limit=4)) == "abd"


@pytest.mark.parametrize(
    "keep", [Blocklist(()), ScoreFloor(0), Deduplicated()], ids=lambda keep: type(keep).__name__
)
async def test_they_are_keeps(keep: Keep) -> None:
    """Each keeps to the protocol, and makes nothing of no results."""
    assert isinstance(keep, Keep)
    assert await kept(keep) == ""
