"""Search one or more vector stores, combine the results, and put your own rules around a store."""

from soev_retrieval.engine._combine import Combine, Rrf, WeightedRrf, WeightedSum
from soev_retrieval.engine._keeps import Blocked, Blocklist, Deduplicated, ScoreFloor
from soev_retrieval.engine._postfiltered import Keep, PostFiltered, Result
from soev_retrieval.engine._prefiltered import PreFiltered, Rewrite
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

__all__ = [
    "AncestorScope",
    "Blocked",
    "Blocklist",
    "Catalog",
    "Combine",
    "Deduplicated",
    "Embed",
    "FolderScope",
    "Keep",
    "Lookup",
    "MappingCatalog",
    "PostFiltered",
    "PreFiltered",
    "Renamed",
    "Result",
    "Retrying",
    "Rewrite",
    "Rrf",
    "ScoreFloor",
    "SearchGroup",
    "WeightedRrf",
    "WeightedSum",
    "hybrid_search",
    "search_scopes",
]
