"""Laws of writes: what a Loader returned from is what the next search sees."""

import copy
from collections.abc import Sequence
from typing import Any, Protocol

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from soev_retrieval.domain import (
    DeclaredFilter,
    Field,
    FieldSpec,
    InvalidQueryError,
    Record,
    check_record,
)
from soev_retrieval.store import Loader, VectorStore
from soev_retrieval.testing import strategies
from soev_retrieval.testing.laws._asking import (
    ask_all,
    expect_refusal,
    has_vectors,
    has_words,
    methods,
    undeclared,
)
from soev_retrieval.testing.laws._law import (
    Held,
    LawBroken,
    expect,
    expect_ids,
    expect_properties,
    law,
)


class LoadableStore(VectorStore, Loader, Protocol):
    """A store that fills itself."""


async def _filled(store: LoadableStore, held: Held, records: Sequence[Record]) -> Held:
    """The target of the law, made anew with these records."""
    await store.drop(held.target)
    await store.create(held.target, held.spec)
    await store.upsert(held.target, records)
    return attrs.evolve(held, spec=await store.fields(held.target), records=records)


def _axis(held: Held, place: int) -> list[float] | None:
    if held.spec.dimension is None:
        return None
    return [float(each == place % held.spec.dimension) for each in range(held.spec.dimension)]


def _record(held: Held, id: str, word: str, place: int) -> Record:
    text = {field.name: [word] if field.many else word for field in held.spec if field.searchable}
    return Record(id, text, _axis(held, place))


def _corpora(held: Held) -> SearchStrategy[list[Record]]:
    return strategies.corpora(held.spec, min_size=1, max_size=4)


@law(writes=True, records=_corpora)
async def what_was_loaded_comes_back(
    store: LoadableStore, held: Held, *, records: list[Record]
) -> None:
    """Every portable value comes back as it was loaded, and a filter finds it by that value."""
    now = await _filled(store, held, records)
    chunks = await store.fetch(now.target, limit=now.limit)
    expect_ids(now, chunks, set(now.by_id))
    came = {chunk.id: dict(chunk.properties) for chunk in chunks}
    for id, record in now.by_id.items():
        expect_properties(came[id], record.properties, f"of the chunk {id!r}")
        for name, value in record.properties.items():
            where = _asking_for(now.spec[name], value)
            if where is not None and not held.may_refuse(where):
                found = await store.fetch(now.target, where=where, limit=now.limit)
                expect_ids(now, found, now.matching(where), f"where    {where}")


def _asking_for(field: Field, value: Any) -> DeclaredFilter | None:
    op = "contains_all" if field.many else "eq"
    return DeclaredFilter(field.name, op, value) if op in field.operators else None


@law(writes=True)
async def writes_are_seen(store: LoadableStore, held: Held) -> None:
    """The next search sees what an upsert wrote, in every method."""
    one, two = _record(held, "one", "zebra", 0), _record(held, "two", "quartz", 1)
    now = attrs.evolve(await _filled(store, held, [one]), records=[one, two])
    await store.upsert(held.target, [two])
    answers = await ask_all(
        store, now, where=None, limit=5, vector=_axis(held, 1) or [], query="quartz"
    )
    for method, results in answers.items():
        found = {result.id for result in results}
        expect("two" in found, True, f"{method} after an upsert brought {found}")


@law(writes=True)
async def upserts_replace(store: LoadableStore, held: Held) -> None:
    """An upsert replaces what had its id: its properties, its words, its vector."""
    old, other = _record(held, "one", "zebra", 0), _record(held, "two", "copper", 1)
    filled = await _filled(store, held, [old, other])
    new = Record("one", _record(held, "one", "quartz", 0).properties, None)
    await store.upsert(held.target, [new])
    now = attrs.evolve(filled, records=[new, other])
    chunks = await store.fetch(held.target, limit=5)
    expect_ids(now, chunks, {"one", "two"}, "after an upsert of 'one' again")
    came = {chunk.id: dict(chunk.properties) for chunk in chunks}
    expect_properties(came["one"], new.properties, "after an upsert of 'one' again")
    if has_words(now):
        for word, ids in (("zebra", set[str]()), ("quartz", {"one"})):
            hits = await store.bm25(held.target, query=word, limit=5)
            expect_ids(now, hits, ids, f"bm25 of {word!r}, which was replaced by 'quartz'")
    if has_vectors(now):
        hits = await store.near_vector(held.target, vector=_axis(held, 0) or [], limit=5)
        expect_ids(now, hits, {"two"}, "near_vector, 'one' was replaced without a vector")


@law(writes=True)
async def the_last_of_one_id_stays(store: LoadableStore, held: Held) -> None:
    """Of two records with one id in one upsert, the last stays."""
    first, last = _record(held, "one", "zebra", 0), _record(held, "one", "quartz", 1)
    await _filled(store, held, [first, last])
    chunks = await store.fetch(held.target, limit=5)
    expect([dict(chunk.properties) for chunk in chunks], [dict(last.properties)])


@law(writes=True)
async def deletes_remove(store: LoadableStore, held: Held) -> None:
    """A deleted chunk is found by no method, and an id that is not there is none to delete."""
    one, two = _record(held, "one", "zebra", 0), _record(held, "two", "zebra", 0)
    now = attrs.evolve(await _filled(store, held, [one, two]), records=[two])
    await store.delete(held.target, ["one", "never loaded"])
    answers = await ask_all(
        store, now, where=None, limit=5, vector=_axis(held, 0) or [], query="zebra"
    )
    for method, results in answers.items():
        expect_ids(now, results, {"two"}, f"{method} after 'one' was deleted")


@law(writes=True)
async def bad_records_are_refused_whole(store: LoadableStore, held: Held) -> None:
    """A record that does not fit is refused by its id, and nothing of its batch is written."""
    await _filled(store, held, [_record(held, "kept", "zebra", 0)])
    good = _record(held, "good", "quartz", 1)
    wrongs = [
        Record("bad", {undeclared(held): "a"}),
        Record("bad", {}, [1.0] * ((held.spec.dimension or 0) + 1)),
        *(Record("bad", {field.name: _wrong_for(field)}) for field in held.spec),
    ]
    for wrong in wrongs:
        try:
            await store.upsert(held.target, [good, wrong])
        except InvalidQueryError as refused:
            expect("bad" in str(refused), True, f"the error does not name the record: {refused}")
        except Exception as other:
            if held.spec.dimension is not None or wrong.vector is None:
                raise LawBroken(f"{wrong!r}: expected InvalidQueryError, came {other!r}") from other
        else:
            raise LawBroken(f"{wrong!r} was written; expected InvalidQueryError")
    now = Held(held.target, held.spec, [good])
    expect_ids(now, await store.fetch(held.target, limit=5), {"kept"}, "after refused batches")


def _wrong_for(field: Field) -> Any:
    wrong: Any = 1 if field.type in ("text", "bool", "datetime") else "1"
    return [wrong] if field.many else wrong


@law(writes=True)
async def targets_are_created_once(store: LoadableStore, held: Held) -> None:
    """Creating a target twice is creating it once, with another spec is refused; dropping ends it."""
    one = _record(held, "one", "zebra", 0)
    now = await _filled(store, held, [one])
    await store.create(held.target, held.spec)
    expect_ids(now, await store.fetch(held.target, limit=5), {"one"}, "created again")
    other = FieldSpec(
        [*held.spec, Field(undeclared(held), "int")], held.spec.dimension, held.spec.distance
    )
    await expect_refusal(store.create(held.target, other), "created with another spec")
    await store.drop(held.target)
    await store.drop(held.target)
    for method, ask in methods(store, now).items():
        await expect_refusal(ask(), f"{method} after the target was dropped")
    await store.create(held.target, held.spec)
    expect_ids(now, await store.fetch(held.target, limit=5), set(), "created after a drop")


def _batches(held: Held) -> SearchStrategy[list[list[Record]]]:
    ids = st.sampled_from(["a", "b", "c"])
    record = st.builds(
        lambda id, chunk: Record(id, chunk.properties, chunk.vector),
        ids,
        strategies.corpora(held.spec, min_size=1, max_size=1).map(lambda each: each[0]),
    )
    return st.lists(st.lists(record, max_size=3), max_size=3)


@law(writes=True, records=_corpora)
async def records_are_left_alone(
    store: LoadableStore, held: Held, *, records: list[Record]
) -> None:
    """An upsert changes neither the list that it is given nor a record in it."""
    await _filled(store, held, [])
    given = copy.deepcopy(records)
    await store.upsert(held.target, given)
    expect(given, records, "an upsert changed what it was given")


@law(writes=True, batches=_batches)
async def upserts_add_up(store: LoadableStore, held: Held, *, batches: list[list[Record]]) -> None:
    """After any upserts a target holds the last record of each id, and no other."""
    await _filled(store, held, [])
    state: dict[str, Record] = {}
    for batch in batches:
        await store.upsert(held.target, batch)
        state |= {each.id: each for each in batch}
    chunks = await store.fetch(held.target, limit=10)
    came = {chunk.id: dict(chunk.properties) for chunk in chunks}
    expected = {id: dict(check_record(each, held.spec).properties) for id, each in state.items()}
    expect(len(chunks), len(expected), f"after {batches!r}")
    expect(came, expected, f"after {batches!r}")
