"""What a third party tests its own store and its own layers with. Needs the extra `testing`."""

from soev_retrieval.testing._conformance import StoreConformance
from soev_retrieval.testing._index_conformance import SearchIndexConformance

__all__ = ["SearchIndexConformance", "StoreConformance"]
