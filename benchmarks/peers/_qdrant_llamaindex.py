"""The store of LlamaIndex over Qdrant."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from benchmarks.corpus import PARTS, Corpus, chunk_id
from benchmarks.peers import _terms
from benchmarks.peers._peer import DEPTH, Words, batches
from tests.servers import Qdrant


class QdrantLlamaIndex:
    """QdrantVectorStore of llama-index-vector-stores-qdrant, hybrid, by its async client."""

    package = "llama_index.vector_stores.qdrant"
    distribution = "llama-index-vector-stores-qdrant"
    collection = "bench_llamaindex"
    part = "part"

    def __init__(self, server: Qdrant, corpus: Corpus, *, over_grpc: bool) -> None:
        from llama_index.vector_stores.qdrant import QdrantVectorStore
        from qdrant_client import AsyncQdrantClient, models

        self._client = AsyncQdrantClient(
            url=server.url, grpc_port=server.grpc_port, prefer_grpc=over_grpc
        )
        self._store = QdrantVectorStore(
            self.collection,
            aclient=self._client,
            enable_hybrid=True,
            sparse_doc_fn=_texts,
            sparse_query_fn=_questions,
            sparse_config=models.SparseVectorParams(modifier=models.Modifier.IDF),
        )

    async def fill(self, corpus: Corpus) -> None:
        """Add the nodes; the store makes its collection."""
        from llama_index.core.schema import TextNode

        for batch in batches(corpus):
            nodes = [
                TextNode(
                    id_=str(UUID(int=row)),  # it must be one that a point can have
                    text=corpus.texts[row],
                    metadata={"part": row % PARTS},
                    embedding=corpus.vectors[row].tolist(),
                )
                for row in batch
            ]
            await self._store.async_add(nodes)

    async def open(self) -> None:
        """Its first search looks at the collection."""

    async def near(self, query: Sequence[float], limit: int, part: int | None) -> list[str]:
        """A query of the default mode."""
        from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

        filters: list[Any] = [MetadataFilter(key="part", value=part or 0)]
        where = None if part is None else MetadataFilters(filters=filters)
        return await self._ask(query_embedding=query, similarity_top_k=limit, filters=where)

    def words(self) -> Mapping[str, Words]:
        """Its hybrid query: both legs' scores scaled to 0..1 and summed, in this process."""
        return {
            "hybrid, scores of 10 of each leg": self._hybrid,
            f"hybrid, scores of {DEPTH} of each leg": self._deep,
        }

    async def _hybrid(self, question: str, query: Sequence[float], limit: int) -> list[str]:
        return await self._both(question, query, limit, limit)

    async def _deep(self, question: str, query: Sequence[float], limit: int) -> list[str]:
        return await self._both(question, query, limit, DEPTH)

    async def _both(
        self, question: str, query: Sequence[float], limit: int, depth: int
    ) -> list[str]:
        from llama_index.core.vector_stores.types import VectorStoreQueryMode

        return await self._ask(
            query_str=question,
            query_embedding=query,
            similarity_top_k=depth,
            sparse_top_k=depth,
            hybrid_top_k=limit,
            alpha=0.5,
            mode=VectorStoreQueryMode.HYBRID,
        )

    async def _ask(self, **query: Any) -> list[str]:
        from llama_index.core.vector_stores import VectorStoreQuery

        found = await self._store.aquery(VectorStoreQuery(**query))
        return [chunk_id(UUID(id).int) for id in found.ids or ()]

    async def close(self) -> None:
        """Close its client."""
        await self._client.close()


def _texts(texts: list[str]) -> tuple[list[list[int]], list[list[float]]]:
    return _listed([_terms.of_text(text) for text in texts])


def _questions(texts: list[str]) -> tuple[list[list[int]], list[list[float]]]:
    return _listed([_terms.of_query(text) for text in texts])


def _listed(
    vectors: list[tuple[list[int], list[float]]],
) -> tuple[list[list[int]], list[list[float]]]:
    return [indices for indices, _ in vectors], [values for _, values in vectors]
