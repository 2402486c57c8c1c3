"""The installed wheel of the Weaviate adapter by itself: it says that nobody answers."""

import asyncio
import importlib.metadata

import soev_retrieval_weaviate
from soev_retrieval.domain import StoreUnavailable
from soev_retrieval.store import Loader, VectorStore
from soev_retrieval_weaviate import WeaviateStore


async def main() -> None:
    async with WeaviateStore("http://127.0.0.1:1", grpc_port=2) as store:
        assert isinstance(store, VectorStore)
        assert isinstance(store, Loader)
        came: object = None
        try:
            came = await store.fetch("chunks", limit=1)
        except StoreUnavailable as error:
            came = error.operation
        assert came == "fetch", came  # the method that nobody answered


asyncio.run(main())
assert "venv" in soev_retrieval_weaviate.__file__, soev_retrieval_weaviate.__file__
name = "soev-retrieval-weaviate"
print(name, importlib.metadata.version(name), "works as a wheel")
