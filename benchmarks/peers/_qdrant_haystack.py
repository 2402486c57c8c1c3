"""The store of Haystack over Qdrant."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.corpus import PARTS, Corpus, chunk_id
from benchmarks.peers import _terms
from benchmarks.peers._peer import Words, batches
from tests.servers import Qdrant


class QdrantHaystack:
    """QdrantDocumentStore of qdrant-haystack with sparse vectors, by its retrievers."""

    package = "haystack_integrations.document_stores.qdrant"
    distribution = "qdrant-haystack"
    collection = "bench_haystack"
    part = "meta.part"

    def __init__(self, server: Qdrant, corpus: Corpus, *, over_grpc: bool) -> None:
        os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
        from haystack_integrations.components.retrievers.qdrant import (
            QdrantEmbeddingRetriever,
            QdrantHybridRetriever,
        )
        from haystack_integrations.document_stores.qdrant import QdrantDocumentStore

        self._store = QdrantDocumentStore(
            url=server.url,
            grpc_port=server.grpc_port,
            prefer_grpc=over_grpc,
            index=self.collection,
            embedding_dim=corpus.vectors.shape[1],
            use_sparse_embeddings=True,
            sparse_idf=True,
            progress_bar=False,
        )
        self._near = QdrantEmbeddingRetriever(document_store=self._store)
        self._both = QdrantHybridRetriever(document_store=self._store)

    async def fill(self, corpus: Corpus) -> None:
        """Write the documents; the store makes its collection."""
        from haystack import Document
        from haystack.document_stores.types import DuplicatePolicy

        for batch in batches(corpus):
            documents = [
                Document(
                    id=chunk_id(row),
                    content=corpus.texts[row],
                    meta={"part": row % PARTS},
                    embedding=corpus.vectors[row].tolist(),
                    sparse_embedding=_sparse(*_terms.of_text(corpus.texts[row])),
                )
                for row in batch
            ]
            await self._store.write_documents_async(documents, DuplicatePolicy.OVERWRITE)

    async def open(self) -> None:
        """Its first call makes its client."""
        await self._store.count_documents_async()

    async def near(self, query: Sequence[float], limit: int, part: int | None) -> list[str]:
        """By its embedding retriever."""
        equal = {"field": "meta.part", "operator": "==", "value": part}
        where = None if part is None else equal
        found = await self._near.run_async(query_embedding=query, filters=where, top_k=limit)
        return [each.id for each in found["documents"]]

    def words(self) -> Mapping[str, Words]:
        """Its hybrid retriever: the server's RRF of as many of each leg as the server likes."""
        return {"hybrid, RRF of 10 of each leg": self._hybrid}

    async def _hybrid(self, question: str, query: Sequence[float], limit: int) -> list[str]:
        found = await self._both.run_async(
            query_embedding=query,
            query_sparse_embedding=_sparse(*_terms.of_query(question)),
            top_k=limit,
        )
        return [each.id for each in found["documents"]]

    async def close(self) -> None:
        """Close its client."""
        await self._store.close_async()


def _sparse(indices: list[int], values: list[float]) -> Any:
    from haystack.dataclasses import SparseEmbedding

    return SparseEmbedding(indices, values)
