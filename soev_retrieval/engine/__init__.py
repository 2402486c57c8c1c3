"""Search one or more vector stores, combine the results, and put your own rules around a store."""

from soev_retrieval.engine._breaking import CircuitBreaker
from soev_retrieval.engine._cached import Cached
from soev_retrieval.engine._combine import Combine, Rrf, WeightedRrf, WeightedSum
from soev_retrieval.engine._keeps import Blocked, Blocklist, Deduplicated, ScoreFloor
from soev_retrieval.engine._limited import Limited
from soev_retrieval.engine._postfiltered import Keep, PostFiltered, Result
from soev_retrieval.engine._prefiltered import PreFiltered, Rewrite
from soev_retrieval.engine._rechecked import Rechecked
from soev_retrieval.engine._recording import Recorded, Recording
from soev_retrieval.engine._replaying import Replaying
from soev_retrieval.engine._replenished import Replenished
from soev_retrieval.engine._retrying import Retrying
from soev_retrieval.engine._rewrites import (
    AncestorScope,
    Catalog,
    FolderScope,
    Lookup,
    MappingCatalog,
    Renamed,
)
from soev_retrieval.engine._search import Embed, SearchGroup, hybrid_search, search_scopes
from soev_retrieval.engine._tenanted import Tenanted, current_tenant, tenant_scope
from soev_retrieval.engine._timed import Timed

__all__ = [
    "AncestorScope",
    "Blocked",
    "Blocklist",
    "Cached",
    "Catalog",
    "CircuitBreaker",
    "Combine",
    "Deduplicated",
    "Embed",
    "FolderScope",
    "Keep",
    "Limited",
    "Lookup",
    "MappingCatalog",
    "PostFiltered",
    "PreFiltered",
    "Rechecked",
    "Recorded",
    "Recording",
    "Renamed",
    "Replaying",
    "Replenished",
    "Result",
    "Retrying",
    "Rewrite",
    "Rrf",
    "ScoreFloor",
    "SearchGroup",
    "Tenanted",
    "Timed",
    "WeightedRrf",
    "WeightedSum",
    "current_tenant",
    "hybrid_search",
    "search_scopes",
    "tenant_scope",
]
