"""What a third party tests its own store and its own layers with. Needs the extra `testing`."""

from soev_retrieval.testing._conformance import StoreConformance

__all__ = ["StoreConformance"]
