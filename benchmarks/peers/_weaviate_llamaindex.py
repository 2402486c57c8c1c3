"""The store of LlamaIndex over Weaviate."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from benchmarks.corpus import PARTS, Corpus, chunk_id
from benchmarks.peers import _schemas
from benchmarks.peers._peer import Words, batches
from benchmarks.weaviate_bare import address
from tests.servers import Weaviate

_OWN = ("_node_content", "_node_type", "document_id", "doc_id", "ref_doc_id")


class WeaviateLlamaIndex:
    """WeaviateVectorStore of llama-index-vector-stores-weaviate, by its async client."""

    package = "llama_index.vector_stores.weaviate"
    distribution = "llama-index-vector-stores-weaviate"
    collection = "BenchLlamaindex"
    id, text = "chunk", "text"

    def __init__(self, server: Weaviate, corpus: Corpus, *, tuned: bool) -> None:
        self._address = address(server)
        self._tuned = tuned
        self._client: Any = None
        self._store: Any = None

    async def fill(self, corpus: Corpus) -> None:
        """Add the nodes to a collection that is there: its own schema leaves the rest to be guessed."""
        from llama_index.core.schema import TextNode

        await self.open()
        await self._client.collections.create_from_dict(self._schema())
        for batch in batches(corpus):
            nodes = [
                TextNode(
                    id_=str(UUID(int=row)),  # it must be one that an object can have
                    text=corpus.texts[row],
                    metadata={"part": row % PARTS, "chunk": chunk_id(row)},
                    embedding=corpus.vectors[row].tolist(),
                )
                for row in batch
            ]
            await self._store.async_add(nodes)

    async def open(self) -> None:
        """Connect."""
        import weaviate
        from llama_index.vector_stores.weaviate import WeaviateVectorStore

        host, port, grpc_port = self._address
        self._client = weaviate.use_async_with_local(host, port, grpc_port, skip_init_checks=True)
        await self._client.connect()
        self._store = WeaviateVectorStore(
            weaviate_client=self._client, index_name=self.collection, text_key=self.text
        )

    async def near(self, query: Sequence[float], limit: int, part: int | None) -> list[str]:
        """A query of the default mode."""
        from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

        filters: list[Any] = [MetadataFilter(key="part", value=part or 0)]
        where = None if part is None else MetadataFilters(filters=filters)
        return await self._ask(
            {"query_embedding": query, "similarity_top_k": limit, "filters": where}
        )

    def words(self) -> Mapping[str, Words]:
        """Its hybrid query, the server's own."""
        over = "the text" if self._tuned else "all of a node"
        return {f"hybrid, alpha .5, over {over}": self._hybrid}

    async def _hybrid(self, question: str, query: Sequence[float], limit: int) -> list[str]:
        from llama_index.core.vector_stores.types import VectorStoreQueryMode

        asked = {
            "query_str": question,
            "query_embedding": query,
            "similarity_top_k": limit,
            "alpha": 0.5,
            "mode": VectorStoreQueryMode.HYBRID,
        }
        more = {"query_properties": [self.text]} if self._tuned else {}
        return await self._ask(asked, **more)

    async def _ask(self, query: Mapping[str, Any], **more: Any) -> list[str]:
        from llama_index.core.vector_stores import VectorStoreQuery

        if self._tuned:
            more["include_vector"] = False
        found = await self._store.aquery(VectorStoreQuery(**query), **more)
        return [chunk_id(UUID(id).int) for id in found.ids or ()]

    async def close(self) -> None:
        """Close its client."""
        if self._client is not None:
            await self._client.close()

    def _schema(self) -> dict[str, Any]:
        if self._tuned:
            return _schemas.careful(self.collection, text=self.text, id=self.id, kept=_OWN)
        return _schemas.guessed(self.collection, [self.text, self.id, *_OWN], ["part"])
