"""The store of LangChain."""

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg import AsyncConnection

from benchmarks.corpus import Corpus
from benchmarks.peers._peer import DEPTH, EF_CONSTRUCTION, M, Words, with_driver


class LangChain:
    """PGVectorStore of langchain-postgres, its metadata in a column, over a table of its making."""

    package, distribution = "langchain_postgres", "langchain-postgres"
    part = "langchain (part)"

    def __init__(self, url: str, dimension: int, ef_search: int | None) -> None:
        from langchain_postgres import PGEngine
        from sqlalchemy.ext.asyncio import create_async_engine

        self._url, self._dimension, self._ef_search = url, dimension, ef_search
        self._sql = create_async_engine(with_driver(url, "psycopg"))
        self._engine = PGEngine.from_engine(self._sql)  # without a thread of its own
        self._store: Any = None

    async def fill(self, corpus: Corpus) -> None:
        """It writes each row in a transaction of its own, so they are copied by SQL."""
        from langchain_postgres import Column
        from langchain_postgres.v2.indexes import HNSWIndex

        await self._engine.ainit_vectorstore_table(
            "langchain",
            self._dimension,
            id_column=Column("langchain_id", "TEXT", nullable=False),
            metadata_columns=[Column("part", "INTEGER")],
            hybrid_search_config=self._config(),
        )
        async with await AsyncConnection.connect(self._url, autocommit=True) as connection:
            await connection.execute(
                "INSERT INTO langchain (langchain_id, content, embedding, content_tsv, part)"
                " SELECT chunk_id, text, embedding, to_tsvector('english', text), part FROM chunks"
            )
        await self.open()
        await self._store.aapply_vector_index(HNSWIndex(m=M, ef_construction=EF_CONSTRUCTION))
        await self._store.aapply_hybrid_search_index()

    async def open(self) -> None:
        """Read what the table has."""
        from langchain_core.embeddings import DeterministicFakeEmbedding
        from langchain_postgres import PGVectorStore
        from langchain_postgres.v2.indexes import HNSWQueryOptions

        options = None if self._ef_search is None else HNSWQueryOptions(ef_search=self._ef_search)
        self._store = await PGVectorStore.create(
            self._engine,
            DeterministicFakeEmbedding(size=self._dimension),  # it is never asked
            "langchain",
            metadata_columns=["part"],
            index_query_options=options,
            hybrid_search_config=self._config(),
        )

    async def near(self, query: Sequence[float], limit: int, part: int | None) -> list[str]:
        """Similarity search by vector; without a question it is not hybrid."""
        where = None if part is None else {"part": part}
        found = await self._store.asimilarity_search_by_vector(
            query, k=limit, filter=where, hybrid_search_config=None
        )
        return [each.id for each in found]

    def words(self) -> Mapping[str, Words]:
        """Its hybrid search: plainto_tsquery and ts_rank_cd beside vectors, by weighted sum."""
        return {"hybrid, all words": self._hybrid}

    async def _hybrid(self, question: str, query: Sequence[float], limit: int) -> list[str]:
        found = await self._store.asimilarity_search_by_vector(
            query, k=limit, hybrid_search_config=self._config(question)
        )
        return [each.id for each in found]

    def _config(self, question: str = "") -> Any:
        from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig

        return HybridSearchConfig(
            tsv_column="content_tsv",
            fts_query=question,
            primary_top_k=DEPTH,
            secondary_top_k=DEPTH,
        )

    async def close(self) -> None:
        """Close its engine."""
        await self._sql.dispose()
