"""The store of LangChain over Qdrant."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from benchmarks.corpus import PARTS, Corpus, chunk_id
from benchmarks.peers import _terms
from benchmarks.peers._peer import DEPTH, Words, batches
from tests.servers import Qdrant


class QdrantLangChain:
    """QdrantVectorStore of langchain-qdrant, hybrid. Its client is sync, asked in threads."""

    package, distribution = "langchain_qdrant", "langchain-qdrant"
    collection = "bench_langchain"
    part = "metadata.part"

    def __init__(self, server: Qdrant, corpus: Corpus, *, over_grpc: bool) -> None:
        self._vectors = dict(zip(corpus.questions, corpus.queries, strict=True))
        self._dimension = corpus.vectors.shape[1]
        self._client_options = {
            "url": server.url,
            "grpc_port": server.grpc_port,
            "prefer_grpc": over_grpc,
        }
        self._store: Any = None

    async def fill(self, corpus: Corpus) -> None:
        """Add the texts; the store makes its collection."""
        texts = corpus.texts
        self._vectors |= dict(zip(texts, corpus.vectors.tolist(), strict=True))
        await self.open()
        for batch in batches(corpus):
            await self._store.aadd_texts(
                [texts[row] for row in batch],
                [{"part": row % PARTS, "chunk": chunk_id(row)} for row in batch],
                ids=[str(UUID(int=row)) for row in batch],
            )

    async def open(self) -> None:
        """Look at the collection, and make it where it is not there."""
        from langchain_qdrant import (
            QdrantVectorStore,
            RetrievalMode,
        )
        from qdrant_client import models

        self._store = QdrantVectorStore.construct_instance(
            embedding=_known(self._vectors, self._dimension),
            sparse_embedding=_keywords(),
            retrieval_mode=RetrievalMode.HYBRID,
            client_options=self._client_options,
            collection_name=self.collection,
            sparse_vector_params={"modifier": models.Modifier.IDF},
        )

    async def near(self, query: Sequence[float], limit: int, part: int | None) -> list[str]:
        """Similarity search by vector."""
        from qdrant_client import models

        equal = models.FieldCondition(key=self.part, match=models.MatchValue(value=part or 0))
        where = None if part is None else models.Filter(must=[equal])
        found = await self._store.asimilarity_search_by_vector(query, k=limit, filter=where)
        return [each.metadata["chunk"] for each in found]

    def words(self) -> Mapping[str, Words]:
        """Its hybrid search: the server's RRF, of as many of each leg as are wanted in the end."""
        return {
            "hybrid, RRF of 10 of each leg": self._hybrid,
            f"hybrid, RRF of {DEPTH} of each leg": self._deep,
        }

    async def _hybrid(self, question: str, query: Sequence[float], limit: int) -> list[str]:
        found = await self._store.asimilarity_search(question, k=limit)
        return [each.metadata["chunk"] for each in found]

    async def _deep(self, question: str, query: Sequence[float], limit: int) -> list[str]:
        return (await self._hybrid(question, query, DEPTH))[:limit]

    async def close(self) -> None:
        """Close its client."""
        if self._store is not None:
            self._store.client.close()


def _known(vectors: Mapping[str, Sequence[float]], dimension: int) -> Any:
    """An embedder that has the vectors already."""
    from langchain_core.embeddings import Embeddings

    class Known(Embeddings):  # type: ignore[misc]
        def embed_documents(self, texts: list[str]) -> list[Sequence[float]]:
            return [vectors.get(text, [0.0] * dimension) for text in texts]  # it asks for a dummy

        def embed_query(self, text: str) -> Sequence[float]:
            return vectors[text]

    return Known()


def _keywords() -> Any:
    from langchain_qdrant.sparse_embeddings import (
        SparseEmbeddings,
        SparseVector,
    )

    class Keywords(SparseEmbeddings):  # type: ignore[misc]
        def embed_documents(self, texts: list[str]) -> list[Any]:
            return [_sparse(*_terms.of_text(text)) for text in texts]

        def embed_query(self, text: str) -> Any:
            return _sparse(*_terms.of_query(text))

    def _sparse(indices: list[int], values: list[float]) -> Any:
        return SparseVector(indices=indices, values=values)

    return Keywords()
