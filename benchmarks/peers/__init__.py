"""Three frameworks' stores over pgvector, Qdrant and Weaviate, filled with a benchmark's rows.

Each is made as its documentation says. Over pgvector it gets its HNSW index once its rows are
there. They come with the dependency group `peers`, which `make bench` does not install.
"""

from collections.abc import Mapping

from benchmarks.peers._haystack import Haystack
from benchmarks.peers._langchain import LangChain
from benchmarks.peers._llamaindex import LlamaIndex
from benchmarks.peers._peer import Peer, PgvectorPeer, QdrantPeer, WeaviatePeer, Words
from benchmarks.peers._qdrant_haystack import QdrantHaystack
from benchmarks.peers._qdrant_langchain import QdrantLangChain
from benchmarks.peers._qdrant_llamaindex import QdrantLlamaIndex
from benchmarks.peers._weaviate_haystack import WeaviateHaystack
from benchmarks.peers._weaviate_langchain import WeaviateLangChain
from benchmarks.peers._weaviate_llamaindex import WeaviateLlamaIndex

__all__ = [
    "PEERS",
    "QDRANT_PEERS",
    "WEAVIATE_PEERS",
    "Peer",
    "PgvectorPeer",
    "QdrantPeer",
    "WeaviatePeer",
    "Words",
]

PEERS: Mapping[str, type[PgvectorPeer]] = {
    "LangChain": LangChain,
    "LlamaIndex": LlamaIndex,
    "Haystack": Haystack,
}
"""Those over pgvector."""

QDRANT_PEERS: Mapping[str, type[QdrantPeer]] = {
    "LangChain": QdrantLangChain,
    "LlamaIndex": QdrantLlamaIndex,
    "Haystack": QdrantHaystack,
}
"""Those over Qdrant."""

WEAVIATE_PEERS: Mapping[str, type[WeaviatePeer]] = {
    "LangChain": WeaviateLangChain,
    "LlamaIndex": WeaviateLlamaIndex,
    "Haystack": WeaviateHaystack,
}
"""Those over Weaviate."""
