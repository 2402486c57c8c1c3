"""Branches that say when they did not answer, and a tenant that is not the caller's."""

from soev_retrieval.domain import RetrievalDegradedError, SchemaViolationError
from soev_retrieval.engine import current_tenant, tenant_scope
from soev_retrieval.rag._fusion import Fusion, ReciprocalRankFusion, WeightedSum
from soev_retrieval.rag._index import IndexQuery, SearchIndex, StoreIndex
from soev_retrieval.rag._retriever import HybridRetriever, IndexRetriever
from soev_retrieval.rag._values import (
    Branch,
    BranchScore,
    RetrievalScope,
    Retrieved,
    RetrievedHit,
)

__all__ = [
    "Branch",
    "BranchScore",
    "Fusion",
    "HybridRetriever",
    "IndexQuery",
    "IndexRetriever",
    "ReciprocalRankFusion",
    "RetrievalDegradedError",
    "RetrievalScope",
    "Retrieved",
    "RetrievedHit",
    "SchemaViolationError",
    "SearchIndex",
    "StoreIndex",
    "WeightedSum",
    "current_tenant",
    "tenant_scope",
]
