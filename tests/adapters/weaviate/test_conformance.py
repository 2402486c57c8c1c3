"""The conformance suite, over the stand-in and over a server."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from soev_retrieval.domain import FieldSpec
from soev_retrieval.testing import StoreConformance, corpus
from soev_retrieval_weaviate import Making, Tenant, WeaviateStore
from tests.adapters.weaviate.stores import RUN, needs_server, opened


def over(place: str, **settings: Any) -> Callable[[], AbstractAsyncContextManager[WeaviateStore]]:
    """A store over a place."""
    return lambda: opened(place, **settings)


class TestStandIn(StoreConformance):
    """Over the stand-in."""

    make_store = over("standin")
    examples = 30


@needs_server
class TestServer(StoreConformance):
    """Over a server."""

    target = f"{RUN}Whole"
    make_store = over("server")


@needs_server
class TestServerShards(StoreConformance):
    """A collection in three shards, of which each counts for itself how rare a word is."""

    target = f"{RUN}Shards"
    make_store = over("server", making=Making(shards=3))

    @classmethod
    def terms(cls, text: str) -> None:
        """The same text scores otherwise in another shard."""


@needs_server
class TestServerTenant(StoreConformance):
    """A target that is one tenant of a collection."""

    target = f"{RUN}tenant"
    make_store = over(
        "server",
        tenants={
            f"{RUN}tenant": Tenant(f"{RUN}Tenants", "one"),
            f"{RUN}tenantWrites": Tenant(f"{RUN}TenantsToo", "one"),
        },
    )


@needs_server
class TestServerEuclidean(StoreConformance):
    """Vectors that compare by their distance."""

    target = f"{RUN}Euclidean"
    make_store = over("server")

    @classmethod
    def spec(cls) -> FieldSpec:
        return corpus.spec(distance="euclidean")


@needs_server
class TestServerDot(StoreConformance):
    """Vectors that compare by their product."""

    target = f"{RUN}Dot"
    make_store = over("server")

    @classmethod
    def spec(cls) -> FieldSpec:
        return corpus.spec(distance="dot")
