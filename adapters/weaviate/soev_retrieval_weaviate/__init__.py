"""Weaviate as a store of soev-retrieval."""

from soev_retrieval_weaviate._collection import Collection, Tenant
from soev_retrieval_weaviate._making import Making
from soev_retrieval_weaviate._store import WeaviateStore

__all__ = ["Collection", "Making", "Tenant", "WeaviateStore"]
