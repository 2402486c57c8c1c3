"""The store of Haystack over Weaviate."""

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.corpus import PARTS, Corpus, chunk_id
from benchmarks.peers import _schemas
from benchmarks.peers._peer import Words, batches
from tests.servers import Weaviate


class WeaviateHaystack:
    """WeaviateDocumentStore of weaviate-haystack, by its retrievers."""

    package = "haystack_integrations.document_stores.weaviate"
    distribution = "weaviate-haystack"
    collection = "BenchHaystack"
    id, text = "_original_id", "content"

    def __init__(self, server: Weaviate, corpus: Corpus, *, tuned: bool) -> None:
        os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
        logging.getLogger("weaviate-client").setLevel(logging.WARNING)  # it tells of every batch
        from haystack_integrations.components.retrievers.weaviate import (
            WeaviateBM25Retriever,
            WeaviateEmbeddingRetriever,
            WeaviateHybridRetriever,
        )
        from haystack_integrations.document_stores.weaviate import WeaviateDocumentStore

        self._tuned = tuned
        self._store = WeaviateDocumentStore(
            url=server.url, grpc_port=server.grpc_port, collection_settings=self._schema()
        )
        self._near = WeaviateEmbeddingRetriever(document_store=self._store)
        self._keywords = WeaviateBM25Retriever(document_store=self._store)
        self._both = WeaviateHybridRetriever(document_store=self._store)

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
                )
                for row in batch
            ]
            await self._store.write_documents_async(documents, DuplicatePolicy.OVERWRITE)

    async def open(self) -> None:
        """Its first call makes its client."""
        await self._store.count_documents_async()

    async def near(self, query: Sequence[float], limit: int, part: int | None) -> list[str]:
        """By its embedding retriever."""
        number: Any = part if self._tuned or part is None else float(part)
        equal = {"field": "meta.part", "operator": "==", "value": number}
        where = None if part is None else equal
        found = await self._near.run_async(query_embedding=query, filters=where, top_k=limit)
        return [each.id for each in found["documents"]]

    def words(self) -> Mapping[str, Words]:
        """Its keyword retriever and its hybrid one, the server's own searches."""
        alpha = ".5" if self._tuned else ".7"
        return {"keyword": self._keyword, f"hybrid, alpha {alpha}": self._hybrid}

    async def _keyword(self, question: str, query: Sequence[float], limit: int) -> list[str]:
        found = await self._keywords.run_async(query=question, top_k=limit)
        return [each.id for each in found["documents"]]

    async def _hybrid(self, question: str, query: Sequence[float], limit: int) -> list[str]:
        found = await self._both.run_async(
            query=question,
            query_embedding=query,
            top_k=limit,
            alpha=0.5 if self._tuned else None,
        )
        return [each.id for each in found["documents"]]

    async def close(self) -> None:
        """Close its client."""
        await self._store.close_async()

    def _schema(self) -> dict[str, Any]:
        if self._tuned:
            return _schemas.careful(self.collection, text=self.text, id=self.id)
        texts = [self.id, self.text, "blob_mime_type"]
        guessed = _schemas.guessed(self.collection, texts, ["score", "part"])
        guessed["properties"].append({"name": "blob_data", "dataType": ["blob"]})
        return {**guessed, "invertedIndexConfig": {"indexNullState": True}}
