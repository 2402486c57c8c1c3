"""Where a field is in a payload."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from qdrant_client.local.json_path_parser import parse_json_path

from soev_retrieval.domain import Field, InvalidQueryError, field
from soev_retrieval.testing import strategies
from soev_retrieval_qdrant._paths import Path
from tests.adapters.qdrant.existing import existing, points
from tests.adapters.qdrant.stores import EVERYWHERE

KEYS = strategies.names().filter(lambda key: not set('"\\') & set(key))
PATHS = st.lists(st.tuples(KEYS, st.booleans()), min_size=1, max_size=4).map(
    lambda segments: Path(tuple(segments))
)
ODD = [
    "a.b",
    "a b",
    " ",
    "a[]",
    "[0]",
    "é",
    "e\u0301",
    "😀",
    "日本",
    "$x",
    "it's",
    "a\nb",
    "%s",
    "A",
]


@given(PATHS)
@example(Path((("a[]", True), ("0", False))))
def test_a_path_is_read_back_from_both_its_forms(path: Path) -> None:
    """Quoted as it is sent, or written as people do, it is the same path."""
    assert Path.parse(path.quoted) == Path.parse(path.written) == path


@given(PATHS)
def test_the_client_reads_the_same_path(path: Path) -> None:
    """Each segment is one key for qdrant-client, whatever characters it holds."""
    for text in (path.quoted, path.written):
        keys = [item.key for item in parse_json_path(text) if item.key is not None]
        assert keys == [key for key, _ in path.segments]


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("year", [("year", False)]),
        ("meta.year", [("meta", False), ("year", False)]),
        ("pages[].text", [("pages", True), ("text", False)]),
        ('"a.b".c', [("a.b", False), ("c", False)]),
        ('"a[]"[]', [("a[]", True)]),
        ("with space.$x", [("with space", False), ("$x", False)]),
    ],
)
def test_paths_are_written_as_in_qdrant(text: str, segments: Any) -> None:
    """Dots separate keys, brackets go through a list, quotation marks hold both."""
    assert Path.parse(text).segments == tuple(segments)


@pytest.mark.parametrize(
    "text",
    *[["", ".", "a.", ".a", "a..b", '"a', 'a"b', '""', "a[0]", "a[]b", "[]", "a[", "a\\b", "a\0"]],
)
def test_what_is_no_path_is_refused(text: str) -> None:
    """The error says so before a server does."""
    with pytest.raises(InvalidQueryError):
        Path.parse(text)


@pytest.mark.parametrize("key", ["", 'a"b', "a\\b", "a\0", "\ud800"])
def test_a_key_that_cannot_be_asked_is_refused(key: str) -> None:
    """A field of that name cannot be in a payload."""
    with pytest.raises(InvalidQueryError):
        Path.of("a", key)


@pytest.mark.parametrize(
    ("text", "payload", "found"),
    [
        ("a", {"a": 1}, 1),
        ("a", {}, None),
        ("a.b", {"a": {"b": 1}}, 1),
        ("a.b", {"a": [{"b": 1}]}, None),
        ("a.b", {"a": 1}, None),
        ('"a.b"', {"a.b": 1, "a": {"b": 2}}, 1),
        ("a[]", {"a": [1, 2]}, [1, 2]),
        ("a[]", {"a": 1}, None),
        ("a[].b", {"a": [{"b": 1}, {}, 5, {"b": [2, 3]}]}, [1, None, None, 2, 3]),
        ("a[].b[].c", {"a": [{"b": [{"c": 1}, {"c": 2}]}, {"b": 7}]}, [1, 2, None]),
    ],
)
def test_reading_goes_where_the_server_looks(text: str, payload: Any, found: Any) -> None:
    """A list is gone through where the path says so, and nowhere else."""
    assert Path.parse(text).read(payload) == found


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_keys_of_any_characters_are_found(place: str) -> None:
    """At the top and nested, with an index or without, every key is the one that is meant."""
    payload = {key: at for at, key in enumerate(ODD)}
    fields = [Field(key, "int") for key in ODD] + [Field(f"deep {key}", "int") for key in ODD]
    keys = {f"deep {key}": Path.of("deep.er", key).quoted for key in ODD}
    async with existing(
        place,
        points({**payload, "deep.er": payload}, {}),
        fields=fields,
        keys=keys,
        indexes={Path.of(key).quoted: "integer" for key in ODD[::2]},
    ) as there:
        for at, key in enumerate(ODD):
            assert await there.ids((field(key) == at) & (field(f"deep {key}") == at)) == ["0"]
        [chunk, _] = await there.fetch()
        assert chunk.properties == payload | {f"deep {key}": at for key, at in payload.items()}
