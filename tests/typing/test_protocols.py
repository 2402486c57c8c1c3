"""Type facts, checked by mypy and pyright and never executed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_type

from soev_retrieval.calls import Call, CallStore, Fields, Hybrid, Layer, R
from soev_retrieval.domain import (
    AllOf,
    AnyOf,
    Chunk,
    DeclaredFilter,
    FieldSpec,
    Filter,
    Hit,
    Not,
    field,
)
from soev_retrieval.engine import (
    AncestorScope,
    Blocklist,
    Catalog,
    Combine,
    Deduplicated,
    Embed,
    FolderScope,
    Keep,
    Lookup,
    MappingCatalog,
    PostFiltered,
    PreFiltered,
    Renamed,
    Retrying,
    Rewrite,
    Rrf,
    ScoreFloor,
    SearchGroup,
    WeightedRrf,
    WeightedSum,
    search_scopes,
)
from soev_retrieval.memory import MemoryStore
from soev_retrieval.store import Loader, VectorStore
from soev_retrieval.testing.faults import Scripted

if TYPE_CHECKING:
    from soev_retrieval.embedders.cached import CachedEmbedder
    from soev_retrieval.embedders.openai import OpenAIEmbedder
    from soev_retrieval.embedders.wordllama import WordLlamaEmbedder
    from soev_retrieval_pgvector import PgvectorStore
    from soev_retrieval_qdrant import QdrantStore
    from soev_retrieval_weaviate import WeaviateStore

    async def stores_are_stores(
        embedder: WordLlamaEmbedder,
        memory: MemoryStore,
        pgvector: PgvectorStore,
        qdrant: QdrantStore,
        weaviate: WeaviateStore,
    ) -> None:
        store: VectorStore = memory
        loader: Loader = memory
        store, loader = pgvector, pgvector
        store, loader = qdrant, qdrant
        store, loader = weaviate, weaviate
        store = Scripted([])
        store = Layer(store)
        store = Retrying(store, 3)
        catalog: Catalog = MappingCatalog({})
        rewrites: list[Rewrite] = [
            FolderScope(catalog),
            AncestorScope(),
            Renamed({}),
            Lookup("a", "b", find),
        ]
        store = PreFiltered(store, rewrites[0])
        keeps: list[Keep] = [Blocklist(set()), ScoreFloor(0.5), Deduplicated("id")]
        store = PostFiltered(store, keeps[0])
        combines: list[Combine] = [Rrf(), WeightedRrf([1.0]), WeightedSum()]
        embed: Embed = embedder
        embed = CachedEmbedder(OpenAIEmbedder("m"), 10)
        assert_type(await Hybrid("t", "q", None, 1, None, None).on(store), Sequence[Hit])
        assert_type(await Fields("t").on(store), FieldSpec)
        assert_type(await store.fetch("t", limit=1), Sequence[Chunk])
        groups = [SearchGroup(store, [], embed)]
        assert_type(await search_scopes(groups, "q", limit=1, combine=combines[0]), Sequence[Hit])
        await loader.drop("t")

    class OneMethod(CallStore):
        async def send(self, call: Call[R]) -> R:
            return await call.on(self)

    def stores_of_one_method_are_stores() -> None:
        store: VectorStore = OneMethod()
        assert_type(Fields.operation, str)
        assert store

    async def find(values: Sequence[object]) -> list[str]:
        return [str(value) for value in values]

    def filters_are_filters() -> None:
        assert_type(field("a") == 1, DeclaredFilter)
        assert_type(field("a").in_({"x"}), DeclaredFilter)
        assert_type((field("a") > 1) & (field("b") < 2), AllOf)
        assert_type((field("a") > 1) | (field("b") < 2), AnyOf)
        assert_type(~(field("a") > 1), Not)
        where: Filter = DeclaredFilter("a", "in", ["x", "y"])
        where = AllOf([where, Not(where)])
        assert where
