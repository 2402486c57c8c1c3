"""Three frameworks' stores over pgvector, filled with the rows of the benchmark's own table.

Each is made as its documentation says, and gets its HNSW index once its rows are there. They come
with the dependency group `peers`, which `make bench` does not install.
"""

from collections.abc import Mapping

from benchmarks.peers._haystack import Haystack
from benchmarks.peers._langchain import LangChain
from benchmarks.peers._llamaindex import LlamaIndex
from benchmarks.peers._peer import Peer, Words

__all__ = ["PEERS", "Peer", "Words"]

PEERS: Mapping[str, type[Peer]] = {
    "LangChain": LangChain,
    "LlamaIndex": LlamaIndex,
    "Haystack": Haystack,
}
