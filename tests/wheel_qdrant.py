"""The installed wheel of the Qdrant adapter by itself: local mode answers, and says who is out."""

import asyncio
import importlib.metadata

import soev_retrieval_qdrant
from soev_retrieval.domain import Field, FieldSpec, Record, StoreUnavailable
from soev_retrieval.store import Loader, VectorStore
from soev_retrieval_qdrant import QdrantStore


async def main() -> None:
    async with QdrantStore(":memory:") as store:
        assert isinstance(store, VectorStore)
        assert isinstance(store, Loader)
        await store.create("notes", FieldSpec([Field("text", "text", searchable=True)]))
        await store.upsert("notes", [Record("1", {"text": "copper wire"})])
        assert [hit.id for hit in await store.bm25("notes", query="wires", limit=1)] == ["1"]
    async with QdrantStore("http://127.0.0.1:1", grpc_port=1) as store:
        came: object = None
        try:
            came = await store.fetch("chunks", limit=1)
        except StoreUnavailable as error:
            came = error.operation
        assert came == "fetch", came  # the method that nobody answered


asyncio.run(main())
assert "venv" in soev_retrieval_qdrant.__file__, soev_retrieval_qdrant.__file__
name = "soev-retrieval-qdrant"
print(name, importlib.metadata.version(name), "works as a wheel")
