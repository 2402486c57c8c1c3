"""SearchIndexConformance over every store, by keyword and by meaning."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from soev_retrieval.domain import Field, FieldSpec, Record
from soev_retrieval.rag import Branch, StoreIndex
from soev_retrieval.testing import SearchIndexConformance
from tests.adapters.qdrant.stores import needs_server as needs_qdrant
from tests.adapters.weaviate.stores import needs_server as needs_weaviate
from tests.rag.stores import TARGET, filled

SPEC = FieldSpec(
    [
        Field("tenant", "text"),
        Field("collection", "text"),
        Field("text", "text", searchable=True),
        Field("page", "int"),
    ],
    4,
)


def over(place: str) -> Callable[[Sequence[Record]], AbstractAsyncContextManager[StoreIndex]]:
    """An index over one target, which holds every collection, at a place."""

    @asynccontextmanager
    async def made(passages: Sequence[Record]) -> AsyncIterator[StoreIndex]:
        async with filled(place, SPEC, passages) as store:
            yield StoreIndex(store, name=place, target=TARGET, collection_field="collection")

    return made


class ByKeyword(SearchIndexConformance):
    """Asked by keyword."""

    branch = Branch.KEYWORD


class ByMeaning(SearchIndexConformance):
    """Asked by meaning."""

    branch = Branch.SEMANTIC


class TestPgvectorKeyword(ByKeyword):
    """PostgreSQL."""

    make_index = over("pgvector")


class TestPgvectorMeaning(ByMeaning):
    """PostgreSQL."""

    make_index = over("pgvector")


class TestQdrantLocalKeyword(ByKeyword):
    """Qdrant in the memory of this process."""

    make_index = over("qdrant-local")


class TestQdrantLocalMeaning(ByMeaning):
    """Qdrant in the memory of this process."""

    make_index = over("qdrant-local")


class TestQdrantStandInGrpcKeyword(ByKeyword):
    """Qdrant's stand-in, over gRPC."""

    make_index = over("qdrant-standin-grpc")


class TestQdrantStandInGrpcMeaning(ByMeaning):
    """Qdrant's stand-in, over gRPC."""

    make_index = over("qdrant-standin-grpc")


class TestQdrantStandInRestKeyword(ByKeyword):
    """Qdrant's stand-in, over REST."""

    make_index = over("qdrant-standin-rest")


class TestQdrantStandInRestMeaning(ByMeaning):
    """Qdrant's stand-in, over REST."""

    make_index = over("qdrant-standin-rest")


@needs_qdrant
class TestQdrantServerKeyword(ByKeyword):
    """A Qdrant server."""

    make_index = over("qdrant-server-grpc")


@needs_qdrant
class TestQdrantServerMeaning(ByMeaning):
    """A Qdrant server."""

    make_index = over("qdrant-server-grpc")


class TestWeaviateStandInKeyword(ByKeyword):
    """Weaviate's stand-in."""

    make_index = over("weaviate-standin")


class TestWeaviateStandInMeaning(ByMeaning):
    """Weaviate's stand-in."""

    make_index = over("weaviate-standin")


@needs_weaviate
class TestWeaviateServerKeyword(ByKeyword):
    """A Weaviate server."""

    make_index = over("weaviate-server")


@needs_weaviate
class TestWeaviateServerMeaning(ByMeaning):
    """A Weaviate server."""

    make_index = over("weaviate-server")
