"""Tables of our own: created, recognised, filled, emptied."""

import asyncio
from typing import Any, cast

import numpy as np
import psycopg
import pytest

from soev_retrieval.domain import (
    Field,
    FieldSpec,
    InvalidQueryError,
    Properties,
    Record,
    Unconfigured,
    field,
)
from soev_retrieval_pgvector import Making, PgvectorStore, Table, _connections
from soev_retrieval_pgvector._errors import is_rolled_back

SPEC = FieldSpec(
    [
        Field("title", "text", searchable=True),
        Field("status", "text"),
        Field("year", "int", operators=("eq", "gte")),
        Field("tags", "text", many=True),
    ],
    3,
)


def indexes(address: str, table: str) -> dict[str, str]:
    """What each index of a table is on, by its method."""
    with psycopg.connect(address) as connection:
        rows = connection.execute(
            "SELECT indexdef FROM pg_indexes WHERE tablename = %s", [table]
        ).fetchall()
    return {row[0].split(" USING ")[1]: row[0] for row in rows}


async def test_every_field_has_an_index_that_serves_it(store: PgvectorStore, database: str) -> None:
    """HNSW for vectors, GIN for terms and lists, hash for text, btree for what has an order."""
    await store.create("indexed", SPEC)
    made = indexes(database, "indexed")
    assert set(made) == {
        "btree (chunk_id)",
        "hnsw (embedding vector_cosine_ops) WITH (m='16', ef_construction='64')",
        "gin (terms)",
        "btree (terms_length)",
        "hash (status)",
        "btree (year)",
        "gin (tags)",
    }


async def test_a_payload_has_one_index(database: str) -> None:
    """In the payload layout one GIN index serves every field."""
    making = Making(layout="payload", vector_type="halfvec", m=8, ef_construction=32)
    async with PgvectorStore(database, making=making) as store:
        await store.create("payload", SPEC)
    assert set(indexes(database, "payload")) == {
        "btree (chunk_id)",
        "hnsw (embedding halfvec_cosine_ops) WITH (m='8', ef_construction='32')",
        "gin (terms)",
        "btree (terms_length)",
        "gin (properties jsonb_path_ops)",
    }


async def test_another_store_finds_what_one_made(store: PgvectorStore, database: str) -> None:
    """A table says by its comment what it was created with, operators and all."""
    await store.create("kept", SPEC)
    await store.upsert("kept", [Record("1", {"title": "a", "year": 1999}, [1, 0, 0])])
    async with PgvectorStore(database) as another:
        assert await another.fields("kept") == SPEC
        assert len(await another.fetch("kept", where=field("year") >= 1999, limit=9)) == 1
        await another.create("kept", SPEC)
        with pytest.raises(InvalidQueryError, match="another spec"):
            await another.create("kept", FieldSpec([Field("title", "text")]))


async def test_a_table_of_somebody_else_is_left_alone(store: PgvectorStore, database: str) -> None:
    """A table that create did not make is no target; it is neither taken over nor dropped."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE theirs (id int)")
    with pytest.raises(InvalidQueryError, match="did not make"):
        await store.create("theirs", SPEC)
    with pytest.raises(InvalidQueryError, match="no target"):
        await store.fetch("theirs", limit=1)
    await store.drop("theirs")
    with psycopg.connect(database) as connection:
        connection.execute("SELECT FROM theirs")


async def test_a_table_of_the_configuration_is_only_read(database: str) -> None:
    """A target that Table describes is neither created, written nor dropped."""
    async with PgvectorStore(database, tables={"t": Table("anything")}) as store:
        for call in (
            store.create("t", SPEC),
            store.upsert("t", []),
            store.delete("t", ["1"]),
            store.drop("t"),
        ):
            with pytest.raises(Unconfigured, match="only reads"):
                await call


async def test_many_create_the_same_target_at_once(database: str) -> None:
    """Of many who create one target at once, each succeeds."""
    async with PgvectorStore(database) as one, PgvectorStore(database) as other:
        await asyncio.gather(*(each.create("raced", SPEC) for each in (one, other) * 4))
        assert await one.fields("raced") == await other.fields("raced") == SPEC


async def test_an_upsert_is_all_or_nothing(store: PgvectorStore) -> None:
    """Where PostgreSQL refuses one record, none is written."""
    await store.create("whole", FieldSpec([Field("tags", "text", many=True)]))
    long = "".join(map(chr, range(0x4E00, 0x9000)))  # which no index entry can hold
    with pytest.raises(InvalidQueryError, match="too much"):
        await store.upsert("whole", [Record("1", {}), Record("2", {"tags": [long]})])
    assert await store.fetch("whole", limit=9) == []


async def test_long_texts_are_kept_in_every_field(store: PgvectorStore) -> None:
    """A text beyond what a btree takes is kept and found by equality."""
    await store.create("texts", FieldSpec([Field("body", "text"), Field("name", "text")]))
    long = "".join(map(chr, range(0x4E00, 0x9000)))
    await store.upsert("texts", [Record("1", {"body": long, "name": "x"})])
    found = await store.fetch("texts", where=field("body") == long, limit=9)
    assert [chunk.properties for chunk in found] == [Properties({"body": long, "name": "x"})]


async def test_of_two_records_with_one_id_the_last_stays(store: PgvectorStore) -> None:
    """Within one upsert the last record of an id stays, and a later upsert replaces all of it."""
    await store.create("twice", SPEC)
    first = [Record("1", {"title": "a"}, [1, 0, 0]), Record("1", {"status": "b"}, [0, 1, 0])]
    await store.upsert("twice", first)
    hits = await store.near_vector("twice", vector=[0, 1, 0], limit=9)
    assert [(hit.score, hit.properties) for hit in hits] == [(1.0, {"status": "b"})]
    await store.upsert("twice", [Record("1", {"year": 3})])
    assert await store.near_vector("twice", vector=[0, 1, 0], limit=9) == []
    assert [each.properties for each in await store.fetch("twice", limit=9)] == [{"year": 3}]


async def test_who_write_the_same_ids_do_not_deadlock(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two who write the same records in opposite orders at once wait for each other, and no more."""
    seen: list[str | None] = []

    def noted(error: psycopg.Error) -> bool:
        seen.append(error.sqlstate)
        return is_rolled_back(error)

    monkeypatch.setattr(_connections, "is_rolled_back", noted)
    records = [Record(f"{number:04}", {"n": number}) for number in range(400)]
    async with PgvectorStore(database) as one, PgvectorStore(database) as other:
        await one.create("rivals", FieldSpec([Field("n", "int")]))
        for _ in range(12):
            await asyncio.gather(
                one.upsert("rivals", records), other.upsert("rivals", reversed(records))
            )
    assert seen == []


async def test_ten_thousand_records_are_copied(store: PgvectorStore) -> None:
    """Records beyond any statement's parameters are written in one upsert, and deleted in one."""
    await store.create("many", FieldSpec([Field("n", "int")], 4))
    matrix = np.random.default_rng(1).standard_normal((10_000, 4))
    await store.upsert(
        "many", (Record(str(n), {"n": n}, matrix[n].tolist()) for n in range(10_000))
    )
    assert len(await store.fetch("many", limit=20_000)) == 10_000
    await store.delete("many", map(str, range(9_990)))
    left = await store.fetch("many", limit=20_000, order_by="n")
    assert [chunk.properties["n"] for chunk in left] == list(range(9_990, 10_000))


async def test_vectors_arrive_as_they_were_sent(store: PgvectorStore, database: str) -> None:
    """Every float32 is kept to the bit, in a list, an array or whatever holds numbers."""
    numbers = np.array([0.1, -1.5e-38, 3.4e38], np.float32)
    await store.create("bits", FieldSpec([], 3, "euclidean"))
    await store.upsert(
        "bits", [Record("a", {}, cast("Any", numbers)), Record("l", {}, numbers.tolist())]
    )
    with psycopg.connect(database) as connection:
        rows = connection.execute("SELECT embedding::real[] FROM bits").fetchall()
    assert [np.array(row[0], np.float32).tobytes() for row in rows] == [numbers.tobytes()] * 2


@pytest.mark.parametrize("name", ["chunk_id", "embedding", "terms", "n" * 64, "é" * 32])
async def test_a_field_that_cannot_be_a_column_is_refused(store: PgvectorStore, name: str) -> None:
    """A field named as one of our own columns, or too long for PostgreSQL, is refused by name."""
    with pytest.raises(InvalidQueryError, match=r"chunk_id|63 bytes"):
        await store.create("refused", FieldSpec([Field(name, "text")]))


async def test_a_payload_takes_any_name(database: str) -> None:
    """In a payload a field may be named anything."""
    names = ("chunk_id", "n" * 64, 'a"b', "$", "a.b", "\\", "'", "😀")
    async with PgvectorStore(database, making=Making(layout="payload")) as store:
        await store.create("named", FieldSpec([Field(name, "text") for name in names]))
        await store.upsert("named", [Record("1", {name: name for name in names})])
        for name in names:
            found = await store.fetch("named", where=field(name) == name, limit=1)
            assert found[0].properties[name] == name


@pytest.mark.parametrize(
    "setting",
    [
        {"layout": "rows"},
        {"vector_type": "bit"},
        {"m": 1},
        {"ef_construction": 31},
        {"language": "x" * 64},
    ],
)
def test_a_making_is_what_postgresql_takes(setting: dict[str, object]) -> None:
    """A layout, type or HNSW parameter that there is not is refused."""
    with pytest.raises(InvalidQueryError):
        Making(**setting)  # type: ignore[arg-type]


async def test_a_language_that_there_is_not_is_named(database: str) -> None:
    """A text search configuration that the server lacks is Unconfigured, and nothing is made."""
    async with PgvectorStore(database, making=Making(language="klingon")) as store:
        with pytest.raises(Unconfigured, match="klingon"):
            await store.create("words_in_klingon", SPEC)
        with pytest.raises(InvalidQueryError, match="no target"):
            await store.fields("words_in_klingon")


async def test_what_is_no_record_and_no_id_is_refused(store: PgvectorStore) -> None:
    """Loaders take an iterable of Records, and one of ids."""
    await store.create("kinds", SPEC)
    wrong: list[object] = [None, Record("1", {}), "1", [None], [{"id": "1"}]]
    for each in wrong:
        with pytest.raises(InvalidQueryError):
            await store.upsert("kinds", each)  # type: ignore[arg-type]
    for each in (None, "1", [1], [""], 7):
        with pytest.raises(InvalidQueryError):
            await store.delete("kinds", each)  # type: ignore[arg-type]
