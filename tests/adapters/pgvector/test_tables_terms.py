"""The searchable text of a table that was made by hand: language, fields, lengths."""

from typing import Any

import pytest

from soev_retrieval.domain import (
    Unconfigured,
)
from soev_retrieval_pgvector import Table
from tests.adapters.pgvector.tables import DOCS, WORDS, over, run


@pytest.fixture(scope="module", autouse=True)
def extension(database: str) -> None:
    """pgvector, and the function that counts words."""
    run(database, "CREATE EXTENSION vector", WORDS, DOCS)


async def test_a_tsvector_that_a_trigger_keeps_is_configured(database: str) -> None:
    """The errors ask for the language, the fields and the lengths in turn; then it serves."""
    making: tuple[str, ...] = (
        "CREATE TABLE kept (id int PRIMARY KEY, title text, terms tsvector)",
        "CREATE TRIGGER keep BEFORE INSERT OR UPDATE ON kept FOR EACH ROW EXECUTE FUNCTION"
        " tsvector_update_trigger(terms, 'pg_catalog.german', title)",
        "INSERT INTO kept VALUES (1, 'die laufenden Hunde'), (2, 'der Hund, der Hund')",
    )
    known: dict[str, Any] = {}
    for missing, setting in (
        ("language=", {"language": "german"}),
        ("lengths=", {"compute_lengths": True}),
        ("searchable=", {"searchable": ["title"]}),
    ):
        async with over(database, Table("kept", **known), *making) as store:
            with pytest.raises(Unconfigured, match=missing):
                await store.bm25("T", query="Hunde", limit=5)
        known, making = known | setting, ()
    async with over(database, Table("kept", **known)) as store:
        assert [hit.id for hit in await store.bm25("T", query="Hunde", limit=5)] == ["2", "1"]


async def test_the_ddl_in_the_error_is_what_is_missing(database: str) -> None:
    """The statements that an error prints make the column of lengths, which is then recognised."""
    run(
        database,
        "CREATE TABLE told (id int PRIMARY KEY, title text, terms tsvector GENERATED ALWAYS AS"
        " (setweight(to_tsvector('simple', coalesce(title, '')), 'A') || to_tsvector('simple', '')) STORED)",
        "INSERT INTO told VALUES (1, 'dog'), (2, 'dog dog')",
    )
    async with over(database, Table("told")) as store:
        with pytest.raises(Unconfigured) as refused:
            await store.bm25("T", query="dog", limit=5)
    ddl = str(refused.value).partition("create one:\n")[2].partition("\nor name")[0]
    async with over(database, Table("told"), *ddl.split(";\n")) as store:
        assert (await store.fields("T"))["title"].searchable
        assert [hit.id for hit in await store.bm25("T", query="dog", limit=5)] == ["2", "1"]


async def test_a_count_of_other_things_is_no_length(database: str) -> None:
    """A generated length() of the tsvector, which counts each word once, is not mistaken for it."""
    async with over(
        database,
        Table("distinct_"),
        "CREATE TABLE distinct_ (id int PRIMARY KEY, title text,"
        " terms tsvector GENERATED ALWAYS AS (to_tsvector('english', title)) STORED,"
        " n int GENERATED ALWAYS AS (length(to_tsvector('english', title))) STORED)",
    ) as store:
        with pytest.raises(Unconfigured, match="how many words"):
            await store.bm25("T", query="dog", limit=5)


@pytest.mark.parametrize("name", ["simple", "german", '"My Schema"."My Config"'])
async def test_any_text_search_configuration_is_read(database: str, name: str) -> None:
    """The language is that of the expression, in any schema, whatever it is called."""
    async with over(
        database,
        Table("speaks", compute_lengths=True),
        "DROP TABLE IF EXISTS speaks",
        'CREATE SCHEMA IF NOT EXISTS "My Schema"',
        'DROP TEXT SEARCH CONFIGURATION IF EXISTS "My Schema"."My Config"',
        'CREATE TEXT SEARCH CONFIGURATION "My Schema"."My Config" (COPY = german)',
        "CREATE TABLE speaks (id int PRIMARY KEY, title text, terms tsvector"
        f" GENERATED ALWAYS AS (to_tsvector('{name}'::regconfig, title)) STORED)",
        "INSERT INTO speaks VALUES (1, 'Hunden'), (2, 'Katze')",
    ) as store:
        found = await store.bm25("T", query="Hund", limit=5)
        assert [hit.id for hit in found] == ([] if name == "simple" else ["1"])


async def test_a_language_that_is_not_there_is_said(database: str) -> None:
    """A text search configuration that does not exist is Unconfigured, not a server error."""
    for language in ("klingon", "a.b.c.d", "x'; DROP TABLE docs; --"):
        async with over(database, Table("docs", language=language)) as store:
            with pytest.raises(Unconfigured):
                await store.bm25("T", query="dog", limit=5)
