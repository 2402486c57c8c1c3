"""A bad record is refused with its whole batch, and the error names it."""

import math
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from soev_retrieval.domain import (
    MAX_INT,
    Chunk,
    Field,
    FieldSpec,
    InvalidQueryError,
    Record,
    Unconfigured,
)
from soev_retrieval.memory import MemoryStore

Fill = Callable[..., Awaitable[MemoryStore]]

SPEC = FieldSpec(
    [
        Field("body", "text", searchable=True),
        Field("year", "int"),
        Field("price", "float"),
        Field("at", "datetime"),
        Field("draft", "bool"),
        Field("tags", "text", many=True),
        Field("years", "int", many=True),
    ],
    2,
)
KEPT = Record("kept", {"body": "cat", "year": 1}, [1, 0])


@pytest.fixture
async def store(filled: Fill) -> MemoryStore:
    return await filled(SPEC, [KEPT])


async def _refused(store: MemoryStore, bad: Any, says: str, kind: type[Exception]) -> str:
    """What the error says; of the batch around the bad record nothing was written."""
    before = await store.bm25("docs", query="cat dog", limit=9)
    batch = [Record("kept", {"body": "dog"}), Record("new", {"body": "dog"}, [0, 1]), bad]
    for records in (batch, batch[::-1]):
        with pytest.raises(kind, match=says) as caught:
            await store.upsert("docs", records)
    assert await store.fetch("docs", limit=9) == [Chunk("kept", KEPT.properties)]
    assert await store.bm25("docs", query="cat dog", limit=9) == before
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("yaer", 1, "no field 'yaer'; did you mean 'year'"),
        ("zzz", 1, "no field 'zzz'; it declares body, year"),
        ("year", "1", "is int and the value str; give int"),
        ("year", 1.0, "is int and the value float; give int"),
        ("year", True, "is int and the value bool; give int"),
        ("year", 2**60, "use text"),
        ("year", -MAX_INT - 1, "use text"),
        ("price", "1", "is float and the value str; give float"),
        ("price", math.nan, "use a finite number"),
        ("price", -math.inf, "use a finite number"),
        ("price", np.float64("inf"), "use a finite number"),
        ("price", False, "is float and the value bool; give float"),
        ("draft", 1, "is bool and the value int; give bool"),
        ("at", "2024-01-31", "is datetime and the value str; give datetime"),
        ("at", datetime(2024, 1, 31), "a datetime without an offset; give it one"),
        ("body", 5, "is text and the value int; give text"),
        ("body", b"cat", "type bytes; use str"),
        ("body", {"a": 1}, "type dict; use str"),
        ("body", "cat\0", "contains NUL .*take it out"),
        ("body", "é\ud800", "lone surrogate; take it out"),
        ("body", ["cat"], "is text and holds a list"),
        ("tags", "cat", "is list of text and holds one value"),
        ("tags", ["cat", 5], "is list of text and the value int; give text"),
        ("tags", ["cat\0"], "contains NUL"),
        ("tags", [["cat"]], "type tuple"),
        ("years", [1, True], "is list of int and the value bool; give int"),
        ("years", [1, 2.0], "is list of int and the value float; give int"),
    ],
)
async def test_properties(store: MemoryStore, name: str, value: Any, says: str) -> None:
    """A property that the target does not declare so is refused, with the record and the field."""
    message = await _refused(store, Record("bad", {name: value}), says, InvalidQueryError)
    assert message.startswith("record 'bad': ")
    assert repr(name) in message


@pytest.mark.parametrize(
    ("vector", "says"),
    [
        ([1], "has 1 numbers, the target's have 2"),
        ([1, 0, 0], "has 3 numbers, the target's have 2"),
        ([], "is empty"),
        ([1, math.nan], "NaN"),
        ([1, math.inf], "infinity"),
        ([1, 1e39], "beyond float32"),
        (["1", "0"], "plain numbers"),
        ([[1, 0]], "plain numbers"),
        (np.array([[1.0, 0.0]]), "plain numbers"),
        ("10", "a sequence of floats, not str"),
        (b"10", "a sequence of floats, not bytes"),
        ([0, 0], "all zeros, which has no direction"),
        ([0, 1e-50], "all zeros, which has no direction"),
    ],
)
async def test_vectors(store: MemoryStore, vector: Any, says: str) -> None:
    """A vector that does not fit is refused with its record."""
    message = await _refused(store, Record("bad", {}, vector), says, InvalidQueryError)
    assert message.startswith("record 'bad': the vector ")


async def test_a_vector_where_there_are_none(filled: Fill) -> None:
    """A vector is Unconfigured in a target that declares no dimension."""
    store = await filled(FieldSpec([*SPEC]), [Record("kept", KEPT.properties)])
    with pytest.raises(Unconfigured, match=r"record 'bad': .* declares no dimension"):
        await store.upsert("docs", [Record("new"), Record("bad", {}, [1, 0])])
    assert len(await store.fetch("docs", limit=9)) == 1


@pytest.mark.parametrize(
    ("id", "says"),
    [
        (5, "the id of record 5 must be text, not int"),
        (None, "the id of record None must be text"),
        (b"bad", "the id of record b'bad' must be text"),
        ("", "the id of record '' is empty; give a name"),
        ("bad\0", r"the id of record 'bad\\x00' contains NUL"),
        ("bad\ud800", "the id of record .* lone surrogate"),
    ],
)
async def test_ids(store: MemoryStore, id: Any, says: str) -> None:
    """An id is text that is not empty."""
    await _refused(store, Record(id), says, InvalidQueryError)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (Chunk("bad"), "a Loader takes Records, not Chunk"),
        ({"id": "bad"}, "a Loader takes Records, not dict"),
        ("bad", "a Loader takes Records, not str"),
        (None, "a Loader takes Records, not NoneType"),
    ],
)
async def test_what_is_no_record(store: MemoryStore, bad: Any, says: str) -> None:
    """What is no Record is refused by its type."""
    await _refused(store, bad, says, InvalidQueryError)


@pytest.mark.parametrize("records", [Record("kept", {"body": "dog"}), None, 5, "kept"])
async def test_what_are_no_records(store: MemoryStore, records: Any) -> None:
    """One Record, or nothing at all, is no batch of records, and the error says what would do."""
    with pytest.raises(InvalidQueryError) as caught:
        await store.upsert("docs", records)
    name = type(records).__name__
    assert str(caught.value) == (
        f"records must be a list or another iterable, not {name}; give [record]"
    )
    assert await store.fetch("docs", limit=9) == [Chunk("kept", KEPT.properties)]


@pytest.mark.parametrize("ids", [None, 5, Record("kept")])
async def test_what_are_no_ids(store: MemoryStore, ids: Any) -> None:
    """What is no batch of ids deletes nothing, and the error says what would do."""
    with pytest.raises(InvalidQueryError) as caught:
        await store.delete("docs", ids)
    name = type(ids).__name__
    assert str(caught.value) == f"ids must be a list or another iterable, not {name}; give [id]"
    assert len(await store.fetch("docs", limit=9)) == 1


async def test_a_text_is_no_list_of_ids(store: MemoryStore) -> None:
    """One text given for the ids is refused: its letters are not deleted one by one."""
    await store.upsert("docs", [Record(letter) for letter in "kept"])
    with pytest.raises(InvalidQueryError, match="ids"):
        await store.delete("docs", "kept")
    assert len(await store.fetch("docs", limit=9)) == 5
