"""The conformance suite, in local mode, over the stand-in and over a server."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from soev_retrieval.domain import DeclaredFilter, FieldSpec, Filter, predicates
from soev_retrieval.testing import StoreConformance, corpus
from soev_retrieval_qdrant import Making, QdrantStore
from tests.adapters.qdrant.stores import RUN, needs_server, opened


def over(place: str, **settings: Any) -> Callable[[], AbstractAsyncContextManager[QdrantStore]]:
    """A store over a place."""
    return lambda: opened(place, **settings)


def bounds_beyond_text(where: Filter) -> bool:
    """Whether a filter bounds ints where decimal text does not carry them.

    Over REST they are refused: the server reads `9007199254740991.0` as another number.
    """
    return any(_is_beyond_text(term) for term in predicates(where))


def _is_beyond_text(term: DeclaredFilter) -> bool:
    ordered = term.op in {"gt", "gte", "lt", "lte"}
    return ordered and type(term.value) is int and abs(term.value) > 2**53 // 10


class OverRest(StoreConformance):
    """What is asked over REST."""

    @classmethod
    def may_refuse(cls, where: Filter) -> bool:
        return bounds_beyond_text(where)


class TestLocalMode(StoreConformance):
    """In the memory of this process."""

    make_store = over("local")


class TestLocalModeEuclidean(StoreConformance):
    """Vectors that compare by their distance."""

    make_store = over("local")

    @classmethod
    def spec(cls) -> FieldSpec:
        return corpus.spec(distance="euclidean")


class TestStandInGrpc(StoreConformance):
    """Over gRPC, to the stand-in."""

    make_store = over("standin-grpc")
    examples = 30


class TestStandInRest(OverRest):
    """Over REST, to the stand-in."""

    make_store = over("standin-rest")
    examples = 30


@needs_server
class TestServerGrpc(StoreConformance):
    """Over gRPC, to a server."""

    target = f"{RUN}grpc"
    make_store = over("server-grpc")


@needs_server
class TestServerRest(OverRest):
    """Over REST, to a server."""

    target = f"{RUN}rest"
    make_store = over("server-rest")


@needs_server
class TestServerWithoutIndexes(StoreConformance):
    """Every filter looks at every point, and nothing can be ordered by."""

    target = f"{RUN}bare"
    make_store = over("server-grpc", making=Making(indexes=False))


@needs_server
class TestServerDot(StoreConformance):
    """Vectors that compare by their product."""

    target = f"{RUN}dot"
    make_store = over("server-grpc")

    @classmethod
    def spec(cls) -> FieldSpec:
        return corpus.spec(distance="dot")


@needs_server
class TestServerManhattan(StoreConformance):
    """Vectors that compare by their distance along the axes."""

    target = f"{RUN}manhattan"
    make_store = over("server-grpc")

    @classmethod
    def spec(cls) -> FieldSpec:
        return corpus.spec(distance="manhattan")
