"""Tables that are made by hand, and a store over them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest

from soev_retrieval.domain import (
    InvalidQueryError,
    Unconfigured,
)
from soev_retrieval_pgvector import PgvectorStore, Table

WORDS = """
CREATE OR REPLACE FUNCTION public.soev_retrieval_words(tsvector) RETURNS int
  LANGUAGE sql IMMUTABLE AS
  $$SELECT coalesce(sum(cardinality(positions)), 0)::int FROM unnest($1)$$;
"""
"""Counts the words of a tsvector."""
DOCS = """
CREATE TABLE docs (id text PRIMARY KEY, title text, year int, tags text[],
  embedding vector(2),
  terms tsvector GENERATED ALWAYS AS (to_tsvector('english', coalesce(title, ''))) STORED,
  words int GENERATED ALWAYS AS
    (soev_retrieval_words(to_tsvector('english', coalesce(title, '')))) STORED);
INSERT INTO docs VALUES ('a', 'the running dogs', 1999, '{x,y}', '[1,0]'),
  ('b', 'a cat and a dog', 2001, NULL, '[0,1]'), ('c', NULL, NULL, '{}', NULL);
"""
"""A table of three documents."""


def run(address: str, *statements: str) -> None:
    """Run statements, each with its own transaction."""
    with psycopg.connect(address, autocommit=True) as connection:
        for each in statements:
            connection.execute(each.encode())


@asynccontextmanager
async def over(address: str, table: Table, *statements: str, **more: Any) -> AsyncIterator[Any]:
    """A store whose target `T` is `table`, after some statements."""
    run(address, *statements)
    async with PgvectorStore(address, tables={"T": table}, **more) as store:
        yield store


async def ids(store: PgvectorStore, **asked: Any) -> list[str]:
    """The ids that a fetch brings, in order."""
    return [each.id for each in await store.fetch("T", limit=100, **asked)]


async def refusal(store: PgvectorStore, **asked: Any) -> str:
    """What the store says to a fetch that it refuses."""
    with pytest.raises((InvalidQueryError, Unconfigured)) as refused:
        await store.fetch("T", limit=1, **asked)
    return str(refused.value)
