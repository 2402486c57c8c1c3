"""The store of LangChain over Weaviate."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from benchmarks.corpus import PARTS, Corpus, chunk_id
from benchmarks.peers import _schemas
from benchmarks.peers._peer import Words, batches
from benchmarks.peers._qdrant_langchain import _known
from benchmarks.weaviate_bare import address
from tests.servers import Weaviate


class WeaviateLangChain:
    """WeaviateVectorStore of langchain-weaviate.

    As documented it has a sync client, asked in threads; tuned it has an async one beside it.
    """

    package, distribution = "langchain_weaviate", "langchain-weaviate"
    collection = "BenchLangchain"
    id, text = "chunk", "text"

    def __init__(self, server: Weaviate, corpus: Corpus, *, tuned: bool) -> None:
        self._vectors = dict(zip(corpus.questions, corpus.queries, strict=True))
        self._dimension = corpus.vectors.shape[1]
        self._address = address(server)
        self._tuned = tuned
        self._client: Any = None
        self._async_client: Any = None
        self._store: Any = None

    async def fill(self, corpus: Corpus) -> None:
        """Add the texts; the store makes its collection by the schema that it is given."""
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
        """Connect, and make the collection where it is not there."""
        import weaviate

        logging.getLogger("langchain_weaviate").setLevel(logging.ERROR)  # simsimd is not there
        from langchain_weaviate import WeaviateVectorStore

        logging.getLogger("langchain_weaviate.vectorstores").setLevel(logging.ERROR)
        host, port, grpc_port = self._address
        options = {"host": host, "port": port, "grpc_port": grpc_port, "skip_init_checks": True}
        self._client = weaviate.connect_to_local(**options)  # type: ignore[arg-type]
        if self._tuned:
            self._async_client = weaviate.use_async_with_local(**options)  # type: ignore[arg-type]
            await self._async_client.connect()
        self._store = WeaviateVectorStore(
            self._client,
            self.collection,
            self.text,
            embedding=_known(self._vectors, self._dimension),
            schema=self._schema(),
            client_async=self._async_client,
        )

    async def near(self, query: Sequence[float], limit: int, part: int | None) -> list[str]:
        """Similarity search by vector."""
        from weaviate.classes.query import Filter

        number: Any = part if self._tuned or part is None else float(part)
        where = None if part is None else Filter.by_property("part").equal(number)
        found = await self._store.asimilarity_search_by_vector(query, k=limit, filters=where)
        return [each.metadata["chunk"] for each in found]

    def words(self) -> Mapping[str, Words]:
        """Its similarity search by a text, which is the server's hybrid search."""
        if self._tuned:
            return {"hybrid, alpha .5": self._hybrid}
        return {"hybrid, alpha .75, over text and ids": self._hybrid}

    async def _hybrid(self, question: str, query: Sequence[float], limit: int) -> list[str]:
        more = {"alpha": 0.5, "query_properties": [self.text]} if self._tuned else {}
        found = await self._store.asimilarity_search(question, k=limit, **more)
        return [each.metadata["chunk"] for each in found]

    async def close(self) -> None:
        """Close its clients."""
        if self._async_client is not None:
            await self._async_client.close()
        if self._client is not None:
            self._client.close()

    def _schema(self) -> dict[str, Any]:
        if self._tuned:
            return _schemas.careful(self.collection, text=self.text, id=self.id)
        return _schemas.guessed(self.collection, [self.text, self.id], ["part"])
