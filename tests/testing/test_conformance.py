"""The stores of this distribution keep every law."""

from soev_retrieval.memory import MemoryStore
from soev_retrieval.testing import StoreConformance


class TestMemoryStore(StoreConformance):
    make_store = MemoryStore
