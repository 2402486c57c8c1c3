"""The store of LlamaIndex."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.corpus import PARTS, Corpus, chunk_id
from benchmarks.peers._peer import EF_CONSTRUCTION, M, Words, batches, with_driver


class LlamaIndex:
    """PGVectorStore of llama-index-vector-stores-postgres, hybrid, its metadata in JSON."""

    package = "llama_index.vector_stores.postgres"
    distribution = "llama-index-vector-stores-postgres"
    part = "data_llamaindex (((metadata_ ->> 'part')::float))"

    def __init__(self, url: str, dimension: int, ef_search: int | None) -> None:
        self._url, self._dimension = url, dimension
        self._index = {
            "hnsw_m": M,
            "hnsw_ef_construction": EF_CONSTRUCTION,
            "hnsw_ef_search": ef_search or 40,  # it must be given; its documentation has 40
            "hnsw_dist_method": "vector_cosine_ops",
        }
        self._store = self._made(self._index)

    def _made(self, index: dict[str, Any] | None) -> Any:
        from llama_index.vector_stores.postgres import PGVectorStore

        return PGVectorStore(
            connection_string=with_driver(self._url, "psycopg2"),
            async_connection_string=with_driver(self._url, "asyncpg"),
            table_name="llamaindex",
            embed_dim=self._dimension,
            hybrid_search=True,
            hnsw_kwargs=index,
            initialization_fail_on_error=True,
        )

    async def fill(self, corpus: Corpus) -> None:
        """Add the nodes; the store with an index makes it when it is opened."""
        from llama_index.core.schema import TextNode

        store = self._made(None)
        for batch in batches(corpus):
            nodes = [
                TextNode(
                    id_=chunk_id(row),
                    text=corpus.texts[row],
                    metadata={"part": row % PARTS},
                    embedding=corpus.vectors[row].tolist(),
                )
                for row in batch
            ]
            await store.async_add(nodes)
        await store.close()

    async def open(self) -> None:
        """Its first search makes its connections, and the index where there is none."""
        await self.near([1.0] * self._dimension, 1, None)

    async def near(self, query: Sequence[float], limit: int, part: int | None) -> list[str]:
        """A query of the default mode."""
        from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

        filters: list[Any] = [MetadataFilter(key="part", value=part or 0)]
        where = None if part is None else MetadataFilters(filters=filters)
        return await self._ask(query_embedding=query, similarity_top_k=limit, filters=where)

    def words(self) -> Mapping[str, Words]:
        """Text search by ts_rank of any word, and both one after the other."""
        return {"keyword, any word": self._keyword, "hybrid, one list after the other": self._both}

    async def _keyword(self, question: str, query: Sequence[float], limit: int) -> list[str]:
        from llama_index.core.vector_stores.types import VectorStoreQueryMode

        mode = VectorStoreQueryMode.TEXT_SEARCH
        return await self._ask(query_str=question, similarity_top_k=limit, mode=mode)

    async def _both(self, question: str, query: Sequence[float], limit: int) -> list[str]:
        from llama_index.core.vector_stores.types import VectorStoreQueryMode

        mode = VectorStoreQueryMode.HYBRID
        return await self._ask(
            query_str=question, query_embedding=query, similarity_top_k=limit, mode=mode
        )

    async def _ask(self, **query: Any) -> list[str]:
        from llama_index.core.vector_stores import VectorStoreQuery

        found = await self._store.aquery(VectorStoreQuery(**query))
        ids: list[str] = found.ids
        return ids

    async def close(self) -> None:
        """Close its engines."""
        await self._store.close()
