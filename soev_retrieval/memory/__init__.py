"""The embedded default store, and the oracle that all other stores are compared with."""

from soev_retrieval.memory._store import MemoryStore

__all__ = ["MemoryStore"]
