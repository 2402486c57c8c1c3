"""What PostgreSQL and `matches` find by a formula."""

from collections.abc import Sequence

from soev_retrieval.domain import Chunk, Filter, matches
from soev_retrieval_pgvector import PgvectorStore


async def expect_same(
    store: PgvectorStore, target: str, chunks: Sequence[Chunk], where: Filter
) -> None:
    """The store finds by `where` the chunks that match it."""
    found = await store.fetch(target, where=where, limit=len(chunks) + 1)
    expected = {each.id for each in chunks if matches(where, each.properties)}
    assert {each.id for each in found} == expected, where
