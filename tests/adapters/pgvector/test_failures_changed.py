"""A table that is changed under a store that has read what it was."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from soev_retrieval.domain import Chunk, Field, FieldSpec, InvalidQueryError, Unconfigured, field
from soev_retrieval_pgvector import Making, PgvectorStore, Table
from tests.adapters.pgvector.outages import (
    NEW,
    RECORDS,
    SEARCHES,
    SPEC,
    TARGET,
    WRITES,
    address,
    admin,
    answers,
    connects,
    rules,
    stopped,
)

ENOUGH = 7  # a statement is prepared when it is executed for the sixth time


@pytest.fixture
async def store() -> AsyncIterator[PgvectorStore]:
    """A store over a table that is somebody else's."""
    admin("DROP TABLE IF EXISTS plain; CREATE EXTENSION IF NOT EXISTS vector")
    admin(
        "CREATE TABLE plain (id text PRIMARY KEY, year int, kind text, embedding vector(2));"
        "INSERT INTO plain VALUES ('a', 1984, 'rule', '[1,0]'), ('b', 1999, 'guide', '[0,1]')"
    )
    tables = {"plain": Table("plain", distance="cosine")}
    async with PgvectorStore(address(), tables=tables, max_connections=3) as made:
        yield made
    admin("DROP TABLE IF EXISTS plain")


async def years(store: PgvectorStore) -> dict[str, object]:
    found = await store.fetch("plain", limit=5)
    return {chunk.id: chunk.properties.get("year") for chunk in found}


async def test_the_type_of_a_column(store: PgvectorStore) -> None:
    """A prepared statement whose column changed its type is answered, with the new type."""
    for _ in range(ENOUGH):
        assert await years(store) == {"a": 1984, "b": 1999}
    admin("ALTER TABLE plain ALTER year TYPE text")
    assert await years(store) == {"a": "1984", "b": "1999"}
    assert (await store.fields("plain"))["year"].type == "text"
    assert await years(store) == {"a": "1984", "b": "1999"}


async def test_every_connection_has_prepared_it(store: PgvectorStore) -> None:
    """Not one of the idle connections keeps the statement that cannot be executed any more."""
    pool = store._connections._pool
    for taken in range(3):
        async with AsyncExitStack() as held:
            for _ in range(taken):
                await held.enter_async_context(pool.connection())
            for _ in range(ENOUGH):
                await years(store)
    assert pool.idle == 3
    admin("ALTER TABLE plain ALTER year TYPE bigint")
    for _ in range(4):
        assert await years(store) == {"a": 1984, "b": 1999}


async def test_a_connection_comes_back_late(store: PgvectorStore) -> None:
    """Nor does one that was in use meanwhile, and comes back when the table has been read again."""
    for _ in range(ENOUGH):
        await asyncio.gather(years(store), years(store))
    async with store._connections._pool.connection():
        admin("ALTER TABLE plain ALTER year TYPE bigint")
        assert await years(store) == {"a": 1984, "b": 1999}
    assert await years(store) == {"a": 1984, "b": 1999}


async def test_the_operator_of_a_column(store: PgvectorStore) -> None:
    """A filter on a column that has another type now is refused, or answered by the new type."""
    where = field("year") == 1984
    assert len(await store.fetch("plain", where=where, limit=5)) == 1
    admin("ALTER TABLE plain ALTER year TYPE text")
    with pytest.raises(InvalidQueryError, match="year"):
        await store.fetch("plain", where=where, limit=5)
    assert len(await store.fetch("plain", where=field("year") == "1984", limit=5)) == 1


async def test_a_column_is_gone(store: PgvectorStore) -> None:
    """A column that was dropped is no field any more, at the first call."""
    await years(store)
    admin("ALTER TABLE plain DROP year")
    assert await years(store) == {"a": None, "b": None}
    with pytest.raises(InvalidQueryError, match="year"):
        await store.fetch("plain", where=field("year") == 1984, limit=5)
    assert "year" not in {each.name for each in await store.fields("plain")}


async def test_a_column_is_renamed(store: PgvectorStore) -> None:
    """A column that was renamed is a field under its new name."""
    await years(store)
    admin("ALTER TABLE plain RENAME year TO published")
    found = await store.fetch("plain", limit=5, where=field("kind") == "rule")
    assert found == [Chunk("a", {"published": 1984, "kind": "rule"})]


async def test_a_column_is_new(store: PgvectorStore) -> None:
    """A column that was added is a field at the first call that asks for it."""
    await years(store)
    with pytest.raises(InvalidQueryError, match="shelf"):
        await store.fetch("plain", where=field("shelf") == "A3", limit=5)
    admin("ALTER TABLE plain ADD shelf text; UPDATE plain SET shelf = 'A3' WHERE id = 'a'")
    found = await store.fetch("plain", where=field("shelf") == "A3", limit=5)
    assert [chunk.id for chunk in found] == ["a"]
    assert (await store.fetch("plain", limit=1, order_by="shelf"))[0].id == "a"


async def test_what_the_error_says_is_created(store: PgvectorStore) -> None:
    """Once the columns are there that the error prints, the same store searches by keyword."""
    with pytest.raises(Unconfigured, match="tsvector") as caught:
        await store.bm25("plain", query="rule", limit=5)
    printed = str(caught.value).partition("\n")[2]
    admin(printed.replace("<your text>", "coalesce(kind, '')"))
    with pytest.raises(Unconfigured, match="how many words") as caught:
        await store.bm25("plain", query="rule", limit=5)
    admin(str(caught.value).partition("\n")[2].rpartition("\n")[0])
    assert [hit.id for hit in await store.bm25("plain", query="rule", limit=5)] == ["a"]


async def test_a_refusal_stays_one_while_the_server_is_down(store: PgvectorStore) -> None:
    """What was refused by what is known is refused also where nobody can be asked again."""
    await years(store)
    async with stopped():
        with pytest.raises(InvalidQueryError, match="shelf"):
            await store.fetch("plain", where=field("shelf") == "A3", limit=5)


async def test_the_dimension(store: PgvectorStore) -> None:
    """Vectors of another dimension are noticed: the error says which one it is now."""
    assert len(await store.near_vector("plain", vector=[1, 0], limit=2)) == 2
    admin("DELETE FROM plain; ALTER TABLE plain ALTER embedding TYPE vector(3)")
    admin("INSERT INTO plain VALUES ('c', 1, 'x', '[1,0,0]')")
    with pytest.raises(InvalidQueryError, match="3"):
        await store.near_vector("plain", vector=[1, 0], limit=2)
    assert len(await store.near_vector("plain", vector=[1, 0, 0], limit=2)) == 1


async def test_the_table_is_gone(store: PgvectorStore) -> None:
    """A table of the configuration that was dropped is a matter of configuration, until it is back."""
    await years(store)
    admin("ALTER TABLE plain RENAME TO elsewhere")
    for _ in range(2):
        with pytest.raises(Unconfigured, match=r"there is no table public\.plain") as caught:
            await years(store)
        assert (caught.value.store, caught.value.operation) == ("PgvectorStore", "fetch")
    admin("ALTER TABLE elsewhere RENAME TO plain")
    assert await years(store) == {"a": 1984, "b": 1999}


async def test_the_table_is_another_one(store: PgvectorStore) -> None:
    """A table that was made anew is read as it is now."""
    await years(store)
    admin("DROP TABLE plain; CREATE TABLE plain (key int PRIMARY KEY, year int)")
    admin("INSERT INTO plain VALUES (1, 2001)")
    assert await years(store) == {"1": 2001}


async def test_a_target_is_gone() -> None:
    """A target that somebody dropped is unknown again, in every method."""
    async with rules("changed") as store:
        for name, ask in {**SEARCHES, **WRITES}.items():
            if name in {"create", "drop"}:
                continue
            await store.create(TARGET, SPEC)
            await store.upsert(TARGET, RECORDS)
            await answers(store)
            admin(f"DROP TABLE {TARGET}")
            with pytest.raises(InvalidQueryError, match="there is no target 'rules'"):
                await ask(store)


@pytest.mark.parametrize("method", ["upsert", "fetch"])
async def test_a_target_is_made_anew(method: str) -> None:
    """A target that somebody made anew, in another layout, is written and read as it is now."""
    payload = PgvectorStore(address(), making=Making(layout="payload"))
    async with rules("changed") as store, payload as other:
        await other.drop(TARGET)
        await other.create(TARGET, SPEC)
        if method == "upsert":
            await store.upsert(TARGET, iter(RECORDS))
        else:
            await other.upsert(TARGET, RECORDS)
        await answers(store)


async def test_records_are_checked_again() -> None:
    """Records that the new spec does not declare are refused by it."""
    async with rules("changed") as store, PgvectorStore(address()) as other:
        await other.drop(TARGET)
        await other.create(TARGET, FieldSpec([Field("text", "text", searchable=True)], 3))
        with pytest.raises(InvalidQueryError, match="declares no field 'year'"):
            await store.upsert(TARGET, iter(NEW))


async def test_an_error_that_is_not_the_tables_stays() -> None:
    """Where the table is as it was, the catalog is read once more, and the error is raised."""
    async with rules("changed") as store:
        admin(f"ALTER TABLE {TARGET} ADD CHECK (year / 0 > 0) NOT VALID")
        tried = connects(store)
        for _ in range(2):
            with pytest.raises(InvalidQueryError, match="22012"):
                await store.upsert(TARGET, NEW)
        assert not tried
        await answers(store)
