"""The store of Haystack."""

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.corpus import PARTS, Corpus, chunk_id
from benchmarks.peers._peer import EF_CONSTRUCTION, M, Words, batches


class Haystack:
    """PgvectorDocumentStore of pgvector-haystack, by its retrievers, its metadata in JSONB."""

    package = "haystack_integrations.document_stores.pgvector"
    distribution = "pgvector-haystack"
    part = "haystack (((meta ->> 'part')::integer))"

    def __init__(self, url: str, dimension: int, ef_search: int | None) -> None:
        os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
        logging.getLogger("haystack_integrations").setLevel(logging.ERROR)  # the index is there
        from haystack_integrations.components.retrievers.pgvector import (
            PgvectorEmbeddingRetriever,
            PgvectorKeywordRetriever,
        )

        self._url, self._dimension = url, dimension
        self._store = self._made(search_strategy="hnsw", hnsw_ef_search=ef_search)
        self._near = PgvectorEmbeddingRetriever(document_store=self._store)
        self._words = PgvectorKeywordRetriever(document_store=self._store)

    def _made(self, **settings: Any) -> Any:
        from haystack.utils import Secret
        from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

        return PgvectorDocumentStore(
            connection_string=Secret.from_token(self._url),
            table_name="haystack",
            embedding_dimension=self._dimension,
            hnsw_index_creation_kwargs={"m": M, "ef_construction": EF_CONSTRUCTION},
            **settings,
        )

    async def fill(self, corpus: Corpus) -> None:
        """Write the documents; the store with an index makes it when it is opened."""
        from haystack import Document

        store = self._made()
        for batch in batches(corpus):
            documents = [
                Document(
                    id=chunk_id(row),
                    content=corpus.texts[row],
                    meta={"part": row % PARTS},
                    embedding=corpus.vectors[row].tolist(),
                )
                for row in batch
            ]
            await store.write_documents_async(documents)
        await store.close_async()

    async def open(self) -> None:
        """Its first call makes its connection, and the index where there is none."""
        await self._store.count_documents_async()

    async def near(self, query: Sequence[float], limit: int, part: int | None) -> list[str]:
        """By its embedding retriever."""
        equal = {"field": "meta.part", "operator": "==", "value": part}
        where = None if part is None else equal
        found = await self._near.run_async(query_embedding=query, filters=where, top_k=limit)
        return [each.id for each in found["documents"]]

    def words(self) -> Mapping[str, Words]:
        """Its keyword retriever: plainto_tsquery and ts_rank_cd."""
        return {"keyword, all words": self._keyword}

    async def _keyword(self, question: str, query: Sequence[float], limit: int) -> list[str]:
        found = await self._words.run_async(query=question, top_k=limit)
        return [each.id for each in found["documents"]]

    async def close(self) -> None:
        """Close its connection."""
        await self._store.close_async()
