"""Qdrant as a store of soev-retrieval: a server over gRPC or REST, and local mode."""

from soev_retrieval_qdrant._analysis import Analysis
from soev_retrieval_qdrant._collection import Collection
from soev_retrieval_qdrant._making import Making
from soev_retrieval_qdrant._store import QdrantStore

__all__ = ["Analysis", "Collection", "Making", "QdrantStore"]
