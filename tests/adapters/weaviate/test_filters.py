"""Any formula finds what `matches` says, in collections of others, however they are indexed."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weaviate.classes.config import Configure
from weaviate.classes.query import Filter as Native

from soev_retrieval.domain import Chunk, DeclaredFilter
from tests.adapters.formulas import examples, formulas
from tests.adapters.weaviate.existing import TARGET, There, existing
from tests.adapters.weaviate.formulas import (
    CUT,
    corpus,
    cut_corpus,
    cut_properties,
    expect_same,
    expect_same_or_refused,
    indexed,
    properties,
)
from tests.adapters.weaviate.stores import EVERYWHERE

OBJECTS, CHUNKS = corpus()
CUT_OBJECTS, CUT_CHUNKS = cut_corpus()
_TRIMMED = ("text_one", "text_many")
_ROUGH = tuple(each.name for each in cut_properties() if each.name != "n")

KINDS: dict[str, dict[str, Any]] = {
    "indexed": {
        "properties": properties(ranges=True),
        "making": indexed(nulls=True),
        "trimmed": _TRIMMED,
    },
    "bare": {
        "properties": properties(ranges=False),
        "making": indexed(nulls=False),
        "trimmed": _TRIMMED,
    },
    "untrimmed": {
        "properties": properties(ranges=True),
        "making": indexed(nulls=False),
    },
    "nulls": {
        "properties": properties(ranges=False),
        "making": indexed(nulls=True),
        "recheck": ("edged_one", "edged_many", "text_one"),
    },
    "ranges only": {
        "properties": properties(ranges=True, filterable=False),
        "making": indexed(nulls=False),
    },
    "shards": {
        "properties": properties(ranges=True),
        "making": {
            **indexed(nulls=True),
            "sharding_config": Configure.sharding(desired_count=3),
        },
        "trimmed": _TRIMMED,
    },
    "tenant": {
        "properties": properties(ranges=False),
        "making": indexed(nulls=True),
        "tenant": "north",
    },
}


def _beside(kind: str) -> dict[str, Any]:
    """The fields that are looked at again, whatever is asked of them and where it is equality."""
    recheck, trimmed = KINDS[kind].get("recheck", ()), KINDS[kind].get("trimmed", ())
    texts = {"text_one", "text_many", "edged_one", "edged_many"}
    return {"roughly": recheck, "rough": texts - {*recheck, *trimmed}}


@asynccontextmanager
async def _served(place: str, kind: str) -> AsyncIterator[There]:
    async with existing(place, objects=OBJECTS, **KINDS[kind]) as served:
        yield served


@pytest.fixture(params=EVERYWHERE)
async def there(request: pytest.FixtureRequest, kind: str) -> AsyncIterator[There]:
    """The corpus in a collection of that kind, at every place."""
    async with _served(request.param, kind) as served:
        yield served


@pytest.fixture(params=EVERYWHERE)
async def cut(request: pytest.FixtureRequest) -> AsyncIterator[There]:
    """Text that is cut into words, every property of it rechecked, at every place."""
    making = {
        "inverted_index_config": Configure.inverted_index(
            index_property_length=True, stopwords_additions=["zebra"]
        )
    }
    async with existing(
        request.param, cut_properties(), CUT_OBJECTS, making=making, recheck=_ROUGH
    ) as served:
        yield served


@pytest.fixture(params=EVERYWHERE)
async def changed(request: pytest.FixtureRequest) -> AsyncIterator[tuple[There, Sequence[Chunk]]]:
    """The corpus after every other object was replaced and every fifth deleted."""
    others, replaced = corpus(seed=8)
    async with _served(request.param, "indexed") as served:
        made = served.client.collections.use(served.name)
        done = await made.data.insert_many(others[::2])
        assert not done.errors, done.errors
        gone = [chunk.id for chunk in CHUNKS[::5]]
        await made.data.delete_many(where=Native.by_id().contains_any(gone))
        held = [replaced[at] if at % 2 == 0 else chunk for at, chunk in enumerate(CHUNKS)]
        yield served, [chunk for chunk in held if chunk.id not in gone]


@pytest.mark.parametrize("kind", KINDS)
async def test_the_properties_of_an_object_are_those_of_its_chunk(there: There) -> None:
    """Each value comes back as it was stored, and an empty list is none."""
    found = {chunk.id: chunk.properties for chunk in await there.fetch()}
    assert found == {chunk.id: chunk.properties for chunk in CHUNKS}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@examples(60)
async def test_formulas_are_exact(there: There, kind: str, data: st.DataObject) -> None:
    """What any formula finds is what `matches` says, or it is refused with its reason."""
    where = data.draw(formulas(await there.store.fields(TARGET), CHUNKS))
    await expect_same_or_refused(there, CHUNKS, where, **_beside(kind))


@given(data=st.data())
@examples(100)
async def test_formulas_are_exact_after_changes(
    changed: tuple[There, Sequence[Chunk]], data: st.DataObject
) -> None:
    """What was deleted is in no complement, and what was replaced is found as it is now."""
    there, chunks = changed
    where = data.draw(formulas(await there.store.fields(TARGET), CHUNKS))
    await expect_same_or_refused(there, chunks, where, **_beside("indexed"))


@given(data=st.data())
@examples(150)
async def test_formulas_are_exact_over_words(cut: There, data: st.DataObject) -> None:
    """What is cut into words and looked at again serves every operator, and nothing is refused."""
    where = data.draw(formulas(await cut.store.fields(TARGET), CUT_CHUNKS))
    await expect_same(cut, CUT_CHUNKS, where)


async def test_every_operator_tells_every_word_apart(cut: There) -> None:
    """Each operator, on each text that some chunk holds, finds what `matches` does."""
    await _every_operator(cut, CUT_CHUNKS, step=5)
    assert {each.value for each in CUT} < {name.split("_")[0] for name in _ROUGH}


@pytest.mark.parametrize("kind", ["indexed", "untrimmed"])
async def test_every_operator_tells_every_value_apart(there: There, kind: str) -> None:
    """Each operator, on each value that some chunk holds, finds what `matches` does."""
    await _every_operator(there, CHUNKS, step=2, **_beside(kind))


async def _every_operator(
    there: There, chunks: Sequence[Chunk], *, step: int, **beside: Any
) -> None:
    for each in await there.store.fields(TARGET):
        held = [chunk.properties.get(each.name, ()) for chunk in chunks]
        values = {one for v in held for one in (v if isinstance(v, tuple) else (v,))}
        for op in each.operators:
            if op in {"exists", "missing"}:
                await expect_same(there, chunks, DeclaredFilter(each.name, op))
                continue
            several = op in {"in", "not_in", "contains_any", "contains_all"}
            for value in sorted(values, key=repr)[::step]:
                where = DeclaredFilter(each.name, op, [value] if several else value)
                await expect_same_or_refused(there, chunks, where, **beside)
