"""Filling the store: create, upsert, delete and drop."""

from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import pytest

from soev_retrieval.domain import (
    Chunk,
    Field,
    FieldSpec,
    InvalidQueryError,
    Record,
    field,
)
from soev_retrieval.memory import MemoryStore
from soev_retrieval.store import Loader, VectorStore

Fill = Callable[..., Awaitable[MemoryStore]]

SPEC = FieldSpec(
    [
        Field("body", "text", searchable=True),
        Field("tags", "text", many=True),
        Field("year", "int"),
        Field("price", "float"),
        Field("at", "datetime"),
        Field("draft", "bool"),
    ],
    2,
)


@pytest.fixture
async def store(filled: Fill) -> MemoryStore:
    return await filled(
        SPEC,
        [
            Record("a", {"body": "cat", "year": 1}, [1, 0]),
            Record("b", {"body": "dog", "year": 2}, [0, 1]),
        ],
    )


async def _near(store: MemoryStore) -> list[str]:
    return [hit.id for hit in await store.near_vector("docs", vector=[1, 0], limit=9)]


async def _with_word(store: MemoryStore, word: str) -> list[str]:
    return [hit.id for hit in await store.bm25("docs", query=word, limit=9)]


async def _all(store: MemoryStore) -> dict[str, Chunk]:
    return {chunk.id: chunk for chunk in await store.fetch("docs", limit=1_000)}


def test_it_is_a_store_and_a_loader() -> None:
    """A MemoryStore is a VectorStore and a Loader."""
    assert isinstance(MemoryStore(), VectorStore)
    assert isinstance(MemoryStore(), Loader)


async def test_fields_are_the_spec(store: MemoryStore) -> None:
    """A target declares the spec that it was created with."""
    assert await store.fields("docs") == SPEC


async def test_create_again_does_nothing(store: MemoryStore) -> None:
    """To create a target again with an equal spec leaves it as it is, chunks and all."""
    await store.create("docs", attrs.evolve(SPEC, fields=list(SPEC)))
    assert await store.fields("docs") == SPEC
    assert set(await _all(store)) == {"a", "b"}


@pytest.mark.parametrize(
    "other",
    [
        FieldSpec([*SPEC, Field("more", "int")], 2),
        FieldSpec([*SPEC][::-1], 2),
        attrs.evolve(SPEC, dimension=3),
        attrs.evolve(SPEC, dimension=None),
        attrs.evolve(SPEC, distance="dot"),
    ],
)
async def test_create_with_another_spec_is_refused(store: MemoryStore, other: FieldSpec) -> None:
    """A target that exists is not created with another spec, and the error says to drop it."""
    with pytest.raises(InvalidQueryError, match=r"'docs' exists .* drop it first") as caught:
        await store.create("docs", other)
    assert caught.value.target == "docs"
    assert await store.fields("docs") == SPEC
    assert set(await _all(store)) == {"a", "b"}


@pytest.mark.parametrize(
    ("target", "spec", "says"),
    [
        ("", SPEC, "the name of a target is empty"),
        (5, SPEC, "must be text, not int"),
        ("a\0", SPEC, "NUL"),
        ("docs", [Field("a", "int")], "must be a FieldSpec, not list"),
        ("docs", attrs.evolve(SPEC, embeds=True), "leave embeds out"),
    ],
)
async def test_what_create_refuses(target: Any, spec: Any, says: str) -> None:
    """A target needs a name and a spec that the store can serve."""
    store = MemoryStore()
    with pytest.raises(InvalidQueryError, match=says):
        await store.create(target, spec)
    assert repr(store) == "MemoryStore()"


async def test_targets_are_apart(store: MemoryStore) -> None:
    """Two targets of one store do not see each other's chunks, words or writes."""
    await store.create("other", SPEC)
    before = await store.bm25("docs", query="cat", limit=9)
    await store.upsert("other", [Record(id, {"body": "cat"}, [1, 0]) for id in "axyz"])
    assert await store.bm25("docs", query="cat", limit=9) == before
    assert set(await _all(store)) == {"a", "b"}
    await store.drop("other")
    assert set(await _all(store)) == {"a", "b"}


async def test_upsert_replaces_all_of_a_chunk(store: MemoryStore) -> None:
    """A chunk written again has its new properties, terms and vector, and none of the old."""
    await store.upsert("docs", [Record("a", {"body": "bird", "tags": ["x"]}, [-1, 0])])
    assert (await _all(store))["a"] == Chunk("a", {"body": "bird", "tags": ("x",)})
    assert await _with_word(store, "cat") == []
    assert await _with_word(store, "bird") == ["a"]
    assert await _near(store) == ["b", "a"]
    assert not await store.fetch("docs", where=field("year") == 1, limit=9)


async def test_a_replaced_vector_may_be_gone(store: MemoryStore) -> None:
    """A chunk written again without a vector is not near anything any more."""
    await store.upsert("docs", [Record("a", {"body": "cat"})])
    assert await _near(store) == ["b"]
    await store.upsert("docs", [Record("a", {"body": "cat"}, [1, 0])])
    assert await _near(store) == ["a", "b"]


async def test_the_last_of_one_id_stays(store: MemoryStore) -> None:
    """Of two records with one id in a batch, the last one is what is written."""
    await store.upsert(
        "docs",
        [
            Record("c", {"body": "fish", "year": 3}, [1, 0]),
            Record("a", {"body": "fish"}),
            Record("c", {"body": "bird"}),
        ],
    )
    assert (await _all(store))["c"] == Chunk("c", {"body": "bird"})
    assert await _with_word(store, "fish") == ["a"]
    assert await _near(store) == ["b"]
    assert len(await _all(store)) == 3


async def test_delete_removes_a_chunk_from_every_search(store: MemoryStore) -> None:
    """A deleted chunk is not found by filter, word or vector, and the others still are."""
    await store.delete("docs", ["a", "not there", "a"])
    assert set(await _all(store)) == {"b"}
    assert await _with_word(store, "cat dog") == ["b"]
    assert await _near(store) == ["b"]


async def test_a_deleted_chunk_can_come_back(store: MemoryStore) -> None:
    """An id that was deleted can be written again, and brings nothing of its old self along."""
    await store.delete("docs", ["a", "b"])
    assert not await _all(store)
    await store.upsert("docs", [Record("b", {"body": "fish"}), Record("a", {}, [1, 1])])
    assert await _all(store) == {"a": Chunk("a"), "b": Chunk("b", {"body": "fish"})}
    assert await _near(store) == ["a"]
    assert await _with_word(store, "fish cat") == ["b"]


@pytest.mark.parametrize(
    ("target", "says"), [([], "not list"), (None, "not NoneType"), ("", "is empty"), ("a\0", "NUL")]
)
async def test_what_drop_refuses(store: MemoryStore, target: Any, says: str) -> None:
    """What can be the name of no target is refused by name, and nothing is dropped."""
    with pytest.raises(InvalidQueryError, match=f"the name of a target .*{says}"):
        await store.drop(target)
    assert repr(store) == "MemoryStore(docs: 2)"


@pytest.mark.parametrize(("id", "says"), [(5, "not int"), ("", "is empty"), ("a\0", "NUL")])
async def test_a_bad_id_deletes_nothing(store: MemoryStore, id: Any, says: str) -> None:
    """An id that no chunk can have is refused, and nothing of the call is deleted."""
    with pytest.raises(InvalidQueryError, match=f"the id of a chunk.*{says}"):
        await store.delete("docs", ["a", id])
    assert set(await _all(store)) == {"a", "b"}


async def test_drop_removes_the_target(store: MemoryStore) -> None:
    """A dropped target is unknown, may be dropped again, and comes back empty with any spec."""
    await store.drop("docs")
    await store.drop("docs")
    with pytest.raises(InvalidQueryError, match="there is no target 'docs'; there is none yet"):
        await store.fetch("docs", limit=1)
    await store.create("docs", FieldSpec([Field("body", "text", searchable=True)]))
    assert not await _all(store)
    assert await _with_word(store, "cat") == []


async def test_a_search_asked_before_sees_the_write(store: MemoryStore) -> None:
    """A search that was answered before a write is answered anew after it."""
    assert (await _with_word(store, "bird"), await _with_word(store, "cat")) == ([], ["a"])
    assert await _near(store) == ["a", "b"]
    await store.upsert("docs", [Record("b", {"body": "bird"}, [1, 0]), Record("0", {}, [1, 0])])
    assert (await _with_word(store, "bird"), await _with_word(store, "dog")) == (["b"], [])
    assert await _near(store) == ["0", "a", "b"]
    await store.delete("docs", ["a"])
    assert (await _with_word(store, "bird"), await _with_word(store, "cat")) == (["b"], [])
    assert await _near(store) == ["0", "b"]


async def test_a_batch_may_be_any_iterable(store: MemoryStore) -> None:
    """Records and ids may come from generators, also none at all."""
    await store.upsert("docs", (Record(id, {"body": id}) for id in ("c", "d")))
    assert set(await _all(store)) == {"a", "b", "c", "d"}
    await store.delete("docs", (id for id in ("a", "c")))
    await store.upsert("docs", [])
    await store.delete("docs", iter(()))
    assert set(await _all(store)) == {"b", "d"}


async def test_a_batch_that_breaks_off_writes_nothing(store: MemoryStore) -> None:
    """A generator of records that raises has written none of those it gave."""

    def some() -> Any:
        yield Record("a", {"body": "bird"})
        yield Record("c")
        raise OSError("the source is gone")

    with pytest.raises(OSError, match="the source is gone"):
        await store.upsert("docs", some())
    assert await _all(store) == {
        "a": Chunk("a", {"body": "cat", "year": 1}),
        "b": Chunk("b", {"body": "dog", "year": 2}),
    }


async def test_the_repr_says_what_it_holds(store: MemoryStore) -> None:
    """The repr of a store names its targets, each with its number of chunks."""
    await store.create("other", SPEC)
    assert repr(store) == "MemoryStore(docs: 2, other: 0)"
