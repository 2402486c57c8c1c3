"""Chunks, hits, records, scopes and errors as values."""

import copy
import json
import pickle
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from soev_retrieval.domain import (
    Chunk,
    Hit,
    InvalidQueryError,
    Properties,
    Record,
    RetrievalError,
    SchemaViolationError,
    SearchScope,
    StoreUnavailable,
    Unconfigured,
    ancestors,
    field,
    lies_under,
    normal_path,
)


def test_properties_are_read_only() -> None:
    """Every way to change the properties of a chunk is refused with what to do instead."""
    properties: Any = Chunk("a", {"n": 1}).properties
    changes: list[Callable[[], object]] = [
        lambda: properties.__setitem__("n", 2),
        lambda: properties.__delitem__("n"),
        lambda: properties.pop("n"),
        properties.popitem,
        properties.clear,
        lambda: properties.update(n=2),
        lambda: properties.setdefault("m", 2),
        lambda: properties.__ior__({"m": 2}),
    ]
    for change in changes:
        with pytest.raises(TypeError, match="read-only"):
            change()
    assert properties == {"n": 1}


def test_a_chunk_keeps_its_own_properties() -> None:
    """What the caller does to its dict and lists afterwards does not reach the chunk."""
    tags = ["x"]
    given: dict[str, Any] = {"tags": tags}
    chunk = Chunk("a", given)
    tags.append("y")
    given["n"] = 1
    assert chunk.properties == {"tags": ("x",)}


def test_missing_null_and_the_empty_list_are_one() -> None:
    """None and the empty list are no value, and a None in a list is no element."""
    assert Chunk("a", {"n": None, "tags": [], "kept": [None, 1], "none": [None]}) == Chunk(
        "a", {"kept": [1]}
    )


def test_datetimes_of_properties_are_in_utc() -> None:
    """The same instant makes the same chunk, whatever its offset."""
    at = datetime(2024, 1, 31, 1, tzinfo=timezone(timedelta(hours=2)))
    assert Chunk("a", {"at": at}).properties["at"].isoformat() == "2024-01-30T23:00:00+00:00"  # type: ignore[union-attr]
    assert Chunk("a", {"at": [at]}) == Chunk("a", {"at": [at.astimezone(UTC)]})


@pytest.mark.parametrize(
    "value",
    [
        Chunk("a", {"tags": ["x"], "n": 1}),
        Hit("a", 0.5, {"tags": ["x"], "n": 1}),
        Record("a", {"tags": ["x"]}, [1.0, 0.0]),
        SearchScope("t", field("n") == 1),
    ],
)
def test_values_copy_and_pickle(value: object) -> None:
    """A copy of a value, through pickle too, is equal to it and hashes alike."""
    for copied in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
        assert copied == value
        assert hash(copied) == hash(value)


def test_properties_go_through_json() -> None:
    """The properties of a chunk are a dict to json.dumps."""
    assert json.loads(json.dumps(Chunk("a", {"tags": ["x"]}).properties)) == {"tags": ["x"]}
    assert type(Properties({"n": 1}).copy()) is dict


def test_records_with_arrays_compare() -> None:
    """A record's vector may be an array, and it does not show in its repr."""
    vector: Any = np.array([0.5, 1.0])
    record = Record("a", {}, vector)
    assert record == Record("a", {}, [0.5, 1.0])
    assert "0.5" not in repr(record)


def test_a_scope_is_checked_where_it_is_made() -> None:
    """A scope without a name, or with what is no filter, is refused."""
    with pytest.raises(InvalidQueryError, match="empty"):
        SearchScope("")
    with pytest.raises(InvalidQueryError, match="must be text"):
        SearchScope(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidQueryError, match="must be a filter"):
        SearchScope("t", "year >= 2020")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "normal"),
    [("a/b", "a/b"), ("/a//b/", "a/b"), ("", ""), ("///", ""), ("a/../b", "a/../b"), (" a", " a")],
)
def test_paths_are_normalised(path: str, normal: str) -> None:
    """Slashes at the ends and double ones are nothing; everything else is a name."""
    assert normal_path(path) == normal
    assert normal_path(normal) == normal


def test_ancestors_are_what_a_path_lies_under() -> None:
    """A path lies under each of its ancestors, and it is one of them."""
    assert ancestors("/a/b//c") == ("a", "a/b", "a/b/c")
    assert ancestors("") == ()
    assert all(lies_under("a/b/c", folder) for folder in ancestors("a/b/c"))


ERRORS: list[RetrievalError] = [
    RetrievalError("m"),
    InvalidQueryError("m"),
    InvalidQueryError("m", target="t", field="f"),
    SchemaViolationError("m", target="t", field="tenant"),
    Unconfigured("m", store="s", operation="hybrid"),
    StoreUnavailable("m"),
    StoreUnavailable(
        "m", store="s", operation="fetch", cause=ConnectionError("refused"), retry_after=1.5
    ),
]


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_errors_pickle(error: RetrievalError) -> None:
    """An error survives pickle with all that it carries."""
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is type(error)
    assert str(copied) == "m"
    assert copied.__dict__ == error.__dict__
    assert repr(copied.__cause__) == repr(error.__cause__)


def test_errors_are_one_tree() -> None:
    """One except clause catches them all, and each kind is caught by no other's."""
    kinds: list[type[RetrievalError]] = [InvalidQueryError, Unconfigured, StoreUnavailable]
    assert all(issubclass(kind, RetrievalError) for kind in kinds)
    assert not any(issubclass(a, b) for a in kinds for b in kinds if a is not b)


def test_the_cause_of_unavailability() -> None:
    """The cause is what was given by keyword or raised from."""
    cause = ConnectionError("refused")
    assert StoreUnavailable("m", cause=cause).cause is cause
    with pytest.raises(StoreUnavailable) as caught:
        raise StoreUnavailable("m") from cause
    assert caught.value.cause is cause


def test_a_cause_that_does_not_pickle_is_left_out() -> None:
    """An error pickles also where what the driver raised does not."""

    class Unpicklable(Exception):
        def __reduce__(self) -> str:
            raise TypeError("not me")

    error = StoreUnavailable("m", cause=Unpicklable(), retry_after=2.0)
    copied = pickle.loads(pickle.dumps(error))
    assert copied.cause is None
    assert copied.retry_after == 2.0
