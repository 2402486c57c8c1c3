"""The installed wheel of the pgvector adapter by itself: it finds its driver, and says who is out."""

import asyncio
import importlib.metadata

import soev_retrieval_pgvector
from soev_retrieval.domain import StoreUnavailable
from soev_retrieval.store import Loader, VectorStore
from soev_retrieval_pgvector import PgvectorStore


async def main() -> None:
    async with PgvectorStore("postgresql://127.0.0.1:1/nowhere") as store:
        assert isinstance(store, VectorStore)
        assert isinstance(store, Loader)
        came: object = None
        try:
            came = await store.fetch("chunks", limit=1)
        except StoreUnavailable as error:
            came = error.operation
        assert came == "fetch", came  # the method that nobody answered


asyncio.run(main())
assert "venv" in soev_retrieval_pgvector.__file__, soev_retrieval_pgvector.__file__
name = "soev-retrieval-pgvector"
print(name, importlib.metadata.version(name), "works as a wheel")
