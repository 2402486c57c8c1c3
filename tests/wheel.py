"""The installed wheel by itself: the main job, and nothing of an extra loaded."""

import asyncio
import importlib.metadata
import sys

import soev_retrieval
from soev_retrieval.domain import Field, FieldSpec, Record, SearchScope, field
from soev_retrieval.engine import Retrying, Rrf, SearchGroup, search_scopes
from soev_retrieval.memory import MemoryStore


async def embed(query: str) -> list[float]:
    return [float("wing" in query), 1.0]


async def main() -> None:
    store = MemoryStore()
    spec = FieldSpec([Field("text", "text", searchable=True), Field("year", "int")], dimension=2)
    await store.create("papers", spec)
    await store.upsert(
        "papers",
        [
            Record("1", {"text": "a wing in a slipstream", "year": 1958}, [1.0, 1.0]),
            Record("2", {"text": "heat in a slab", "year": 1961}, [0.0, 1.0]),
            Record("3", {"text": "wings at high speed", "year": 1963}, [1.0, 0.9]),
        ],
    )
    scopes = [SearchScope("papers", field("year") >= 1960)]
    groups = [SearchGroup(Retrying(store, attempts=2), scopes, embed)]
    hits = await search_scopes(groups, "wing", limit=2, combine=Rrf())
    assert [hit.id for hit in hits] == ["3", "2"], hits


asyncio.run(main())
assert "venv" in soev_retrieval.__file__, soev_retrieval.__file__
assert not {"hypothesis", "httpx", "wordllama", "pytest"} & set(sys.modules)
print("soev-retrieval", importlib.metadata.version("soev-retrieval"), "works as a wheel")
