"""How well the stores find what answers the questions of Cranfield."""

import logging
import warnings
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from math import fsum, isclose, log2
from time import perf_counter, thread_time
from typing import Any, TypeAlias

import bm25s
import psycopg
import Stemmer

from benchmarks import cranfield, servers
from benchmarks.cranfield import Collection
from benchmarks.measure import Aim, Report, Row, Times, installed
from soev_retrieval.domain import Field, FieldSpec, Record
from soev_retrieval.embedders.wordllama import WordLlamaEmbedder
from soev_retrieval.engine import Rrf
from soev_retrieval.memory import MemoryStore
from soev_retrieval_pgvector import PgvectorStore
from soev_retrieval_qdrant import QdrantStore
from soev_retrieval_weaviate import WeaviateStore
from tests.servers import Qdrant, Weaviate, qdrant, weaviate

Search: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]
"""From a question to the ids of what was found for it, best first."""

DEPTH = 10
_LEG = 100  # hits of each leg that Rrf fuses
_TARGET = "bench_cranfield"
_AIMS = Aim(0.37, least=True), Aim(0.322, least=True), Aim(0.385, least=True)
_QDRANT_AIMS = Aim(0.38, least=True), *_AIMS[1:]
_WEAVIATE_AIMS = *_AIMS[:2], Aim(0.38, least=True)
_ELSEWHERE = "Pgvector", "Qdrant", "Weaviate"  # stores whose work is not this thread's

Store: TypeAlias = MemoryStore | PgvectorStore | QdrantStore | WeaviateStore


def ndcg(found: Sequence[str], relevant: Iterable[str], depth: int = DEPTH) -> float:
    """Normalised discounted cumulative gain of the first `depth`, a relevant one gaining 1.

    The sum of gain / log2(rank + 1), over that of the best ranking there could be; 0 where nothing
    is relevant. Source: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques,
    TOIS 2002.
    """
    wanted = set(relevant)
    gained = fsum(1 / log2(rank + 1) for rank, id in enumerate(found[:depth], 1) if id in wanted)
    best = fsum(1 / log2(rank + 1) for rank in range(1, min(depth, len(wanted)) + 1))
    return gained / best if best else 0.0


async def measured(
    *,
    collection: Collection | None = None,
    url: str | None = None,
    server: Qdrant | None = None,
    weaviate_server: Weaviate | None = None,
) -> Report:
    """Search for every question in each way, and grade what comes first.

    Args:
        collection: What to search, or None for Cranfield, where it is there.
        url: An empty database with pgvector, or None for a server of its own.
        server: A Qdrant server, or None for that of `QDRANT_URL`, where it is set.
        weaviate_server: A Weaviate server, or None for that of `WEAVIATE_URL`, where it is set.
    """
    title = f"nDCG@{DEPTH} on Cranfield"
    if collection is None:
        if (folder := cranfield.folder()) is None:
            return _skipped(title)
        collection = cranfield.read(folder)
    lines, checked = [], installed("ranx")
    logging.getLogger("httpx").setLevel(logging.WARNING)  # wordllama lets it tell of every request
    async with AsyncExitStack() as stack:
        address = stack.enter_context(servers.database(url))
        stores: dict[str, Store] = {
            "MemoryStore": MemoryStore(),
            "PgvectorStore": await stack.enter_async_context(PgvectorStore(address)),
            "QdrantStore, local mode,": await stack.enter_async_context(QdrantStore(":memory:")),
        }
        if (server := server or qdrant()) is not None:
            over = QdrantStore(server.url, grpc_port=server.grpc_port)
            stores["QdrantStore, a server,"] = await stack.enter_async_context(over)
            stack.push_async_callback(over.drop, _TARGET)
        if (weaviate_server := weaviate_server or weaviate()) is not None:
            on = WeaviateStore(weaviate_server.url, grpc_port=weaviate_server.grpc_port)
            stores["WeaviateStore, a server,"] = await stack.enter_async_context(on)
            stack.push_async_callback(on.drop, _TARGET)
        for name, (aim, search) in (await _searches(collection, stores, address)).items():
            clock = perf_counter if name.startswith(_ELSEWHERE) else thread_time
            found, times = await _answers(search, collection.questions, clock)
            figure = mean_ndcg(found, collection.relevant)
            if checked and not isclose(figure, ranx_ndcg(found, collection.relevant), abs_tol=1e-9):
                raise AssertionError(f"ranx grades {name} otherwise")
            lines.append(Row(name, figure, "", aim, times))
    return Report(
        title,
        lines,
        f"figure: the mean over {len(collection.questions)} questions of"
        f" {len(collection.documents):,} documents, relevance 1 or more counting as relevant; "
        + ("ranx computes the same" if checked else "ranx, which checks it, is not installed")
        + ". Times are the calling thread's, and by the clock for PgvectorStore, QdrantStore and"
        " WeaviateStore, embedding included."
        + ("" if weaviate_server else " WeaviateStore was not measured: there is no server."),
    )


def _skipped(title: str) -> Report:
    note = f"there is no Cranfield in {cranfield.place()}; set SOEV_CRANFIELD to its folder"
    return Report(title, [Row("skipped", None, "", note=note)], "")


def mean_ndcg(found: Mapping[str, Sequence[str]], relevant: Mapping[str, Iterable[str]]) -> float:
    """The mean over the questions that have something relevant."""
    return fsum(ndcg(found[each], relevant[each]) for each in relevant) / len(relevant)


def ranx_ndcg(found: Mapping[str, Sequence[str]], relevant: Mapping[str, Iterable[str]]) -> float:
    """The same as ranx computes it."""
    import ranx

    wanted = {question: dict.fromkeys(ids, 1) for question, ids in relevant.items()}
    run = {
        question: {id: 1 / rank for rank, id in enumerate(found[question], 1)} or {"": 0.0}
        for question in relevant
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numba, about ranx, while it compiles
        score: Any = ranx.evaluate(ranx.Qrels(wanted), ranx.Run(run), f"ndcg@{DEPTH}")
    return float(score)


async def _answers(
    search: Search, questions: Mapping[str, str], clock: Callable[[], float]
) -> tuple[dict[str, Sequence[str]], Times]:
    await search(next(iter(questions.values())))  # the first search makes the columns and the terms
    found: dict[str, Sequence[str]] = {}
    seconds = []
    for number, question in questions.items():
        start = clock()
        found[number] = await search(question)
        seconds.append(clock() - start)
    return found, Times(tuple(seconds))


async def _searches(
    collection: Collection, stores: Mapping[str, Store], url: str
) -> dict[str, tuple[Aim | None, Search]]:
    embedder = WordLlamaEmbedder()
    ways: dict[str, tuple[Aim | None, Search]] = {}
    for name, store in stores.items():
        await _load(store, collection, embedder)
        ways |= _ways(name, store, embedder)
    return {
        **ways,
        f"Rrf of MemoryStore's legs, {_LEG} deep": (None, _fused(stores["MemoryStore"], embedder)),
        "bm25s, its English stop words, PyStemmer": (None, _bm25s(collection)),
        "bm25s on PostgreSQL's lexemes": (None, _bm25s_on(url)),
    }


def _ways(
    name: str, store: Store, embedder: WordLlamaEmbedder
) -> dict[str, tuple[Aim | None, Search]]:
    """The three searches of a store, and what each should reach."""

    async def bm25(question: str) -> list[str]:
        return _ids(await store.bm25(_TARGET, query=question, limit=DEPTH))

    async def near(question: str) -> list[str]:
        vector = await embedder(question)
        return _ids(await store.near_vector(_TARGET, vector=vector, limit=DEPTH))

    async def hybrid(question: str) -> list[str]:
        vector = await embedder(question)
        return _ids(
            await store.hybrid(_TARGET, query=question, vector=vector, limit=DEPTH, alpha=0.5)
        )

    aims = _AIMS
    if isinstance(store, QdrantStore):
        aims = _QDRANT_AIMS
    elif isinstance(store, WeaviateStore):
        aims = _WEAVIATE_AIMS
    names = [f"{name} {way}" for way in ("bm25", "near_vector, wordllama", "hybrid, alpha .5")]
    return dict(zip(names, zip(aims, (bm25, near, hybrid), strict=True), strict=True))


def _fused(store: Store, embedder: WordLlamaEmbedder) -> Search:
    async def search(question: str) -> list[str]:
        vector = await embedder(question)
        legs = [
            await store.bm25(_TARGET, query=question, limit=_LEG),
            await store.near_vector(_TARGET, vector=vector, limit=_LEG),
        ]
        return _ids(await Rrf()(question, legs))[:DEPTH]

    return search


def _ids(hits: Iterable[Any]) -> list[str]:
    return [hit.id for hit in hits]


async def _load(store: Store, collection: Collection, embedder: WordLlamaEmbedder) -> None:
    text = Field("text", "text", searchable=True)
    await store.create(_TARGET, FieldSpec([text], dimension=embedder.dimension))
    vectors = embedder.embed([document.text for document in collection.documents])
    await store.upsert(
        _TARGET,
        [
            Record(document.id, {"text": document.text}, vector)
            for document, vector in zip(collection.documents, vectors, strict=True)
        ],
    )


def _bm25s(collection: Collection) -> Search:
    stemmer = Stemmer.Stemmer("english")
    ids = [document.id for document in collection.documents]
    texts = [document.text for document in collection.documents]

    def terms(texts: list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    index = bm25s.BM25()
    index.index(terms(texts), show_progress=False)

    async def search(question: str) -> list[str]:
        found, scores = index.retrieve(
            terms([question]), corpus=ids, k=min(DEPTH, len(ids)), show_progress=False
        )
        return [id for id, score in zip(found[0], scores[0], strict=True) if score > 0]

    return search


def _bm25s_on(url: str) -> Search:
    """bm25s with PgvectorStore's parameters, on what PostgreSQL made of the same texts."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT chunk_id, array_remove(array_agg(lexeme), NULL)"
            f" FROM {_TARGET} LEFT JOIN LATERAL unnest(terms) AS word ON true"
            " LEFT JOIN LATERAL unnest(word.positions) AS place ON true GROUP BY chunk_id"
        ).fetchall()
    texts: dict[str, list[str]] = dict(rows)
    ids = list(texts)
    index = bm25s.BM25(k1=1.2, b=0.75)
    index.index(list(texts.values()), show_progress=False)

    async def search(question: str) -> list[str]:
        with psycopg.connect(url) as connection:
            asked = connection.execute(
                "SELECT lexeme FROM unnest(to_tsvector('english', %s))", [question]
            ).fetchall()
        known = [lexeme for (lexeme,) in asked if lexeme in index.vocab_dict]
        if not known:
            return []
        scores = index.get_scores(known).tolist()
        best = sorted(zip(scores, ids, strict=True), key=lambda pair: (-pair[0], pair[1]))
        return [id for score, id in best[:DEPTH] if score > 0]

    return search
