"""WeaviateStore beside bare weaviate-client, and beside three frameworks' stores, on one server."""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any
from uuid import UUID

from weaviate import WeaviateAsyncClient
from weaviate.classes.config import Configure, DataType, Property, Tokenization
from weaviate.classes.data import DataObject
from weaviate.classes.query import MetadataQuery

from benchmarks import corpus as corpora
from benchmarks.beside import SLACK, Beside
from benchmarks.corpus import PARTS, Corpus, chunk_id
from benchmarks.measure import Aim, Report, Row, race, shown
from benchmarks.qdrant import agreement, ids_of
from benchmarks.searches import (
    EVERY,
    FETCH,
    HUNDREDTH,
    HYBRID,
    NEAR,
    ORDERED,
    QUESTION,
    TENTH,
    Case,
    Search,
    answers,
    in_turn,
    searches,
)
from benchmarks.servers import FLUSHED_SECONDS
from benchmarks.weaviate_bare import Bare, Rows, connect
from benchmarks.weaviate_beside import beside_peers
from soev_retrieval_weaviate import Collection, WeaviateStore
from tests.servers import Weaviate, weaviate

_TARGET = "BenchChunks"
_PLAIN = "BenchPlain"
_SEVERAL = "BenchSeveral"
_TITLE = 6  # words of a text that are its title, where several properties are searched
_LOADS = 10
_BATCH = 500  # objects, as WeaviateStore sends them
_LIMIT = 10
_DEEP = 10_000  # all that the server brings at once
_AIM = Aim(1.10)
_FILTERS = (EVERY, TENTH, HUNDREDTH)
_SEARCHES = (NEAR, QUESTION, HYBRID, FETCH, ORDERED)


async def measured(
    *,
    server: Weaviate | None = None,
    rounds: int = 96,
    peer_rounds: int = 48,
    rows: int = 20_000,
    dimension: int = 384,
    queries: int = 16,
    settle_seconds: float = FLUSHED_SECONDS,
) -> Report:
    """Load the rows, then time every search, once the contenders have been seen to agree.

    Args:
        server: A server, or None for that of `WEAVIATE_URL`, or one that the client has in its cache.
        rounds: How many numbers to take of each search.
        peer_rounds: How many of those of each search of a peer.
        rows: How many chunks there are.
        dimension: How long their vectors are.
        queries: How many different queries each search takes in turn.
        settle_seconds: How long to wait after loading: filters go slower through what is not in
            files yet, and soon is.
    """
    title = f"WeaviateStore over {rows:,} chunks, vectors × {dimension}"
    if (server := server or weaviate()) is None:
        note = (
            "WEAVIATE_URL is not set: there is no server to measure, and the stand-in of the tests"
            " is no place for it"
        )
        return Report(title, [Row("not measured", None, "", note=note)], "")
    # wordllama lets it tell of every request, in the middle of what is timed.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    corpus = corpora.made(rows, dimension, queries)
    client = await connect(server)
    collections = (_TARGET, _PLAIN, _SEVERAL)
    try:
        await _deleted(client, collections)
        async with _store(server) as store:
            lines = await _loaded(store, client, corpus)
            handle = await _several(client, corpus)
            await asyncio.sleep(settle_seconds)
            lines += await _beside_bare(store, client, corpus, rounds)
            lines += await _over_several(store, handle, corpus, rounds)
            lines.append(await _shards(client, rounds))
            beside = Beside(store, corpus, peer_rounds, _TARGET)
            lines += await beside_peers(beside, server, client, settle_seconds)
    finally:
        await _deleted(client, collections)
        await client.close()
    return Report(
        title,
        lines,
        "figure: how many times as long as bare weaviate-client asked by hand, which has been seen"
        " to find the same; for a peer, how many times as long as WeaviateStore takes for the same"
        f" question. A peer is held to ≥ 1 where its recall is at least ours less {SLACK:g}. As"
        " documented their collections are as the server guesses them of the first objects; tuned"
        " they have one searched text, and bring back no vectors where they can be told, and words"
        " are compared with WeaviateStore over the same collection. Times are by the clock: half"
        " of the work is the server's.",
    )


def _store(server: Weaviate) -> WeaviateStore:
    several = Collection(_SEVERAL, id="chunk", searchable=["title", "body"])
    return WeaviateStore(
        server.url,
        grpc_port=server.grpc_port,
        collections={_SEVERAL: several},
        timeout_seconds=120,
    )


async def _deleted(client: WeaviateAsyncClient, names: Sequence[str]) -> None:
    for name in names:
        await client.collections.delete(name)


async def _loaded(store: WeaviateStore, client: WeaviateAsyncClient, corpus: Corpus) -> list[Row]:
    """Fill our collection, and the plain one of a user, in as many parts by turns."""
    rows = len(corpus.texts)
    part = -(-rows // _LOADS)
    await store.create(_TARGET, corpus.spec)
    plain = await client.collections.create(
        _PLAIN,
        properties=[
            Property(name="chunk", data_type=DataType.TEXT, tokenization=Tokenization.FIELD),
            Property(name="text", data_type=DataType.TEXT),
            Property(name="part", data_type=DataType.INT),
        ],
        vector_config=Configure.Vectors.self_provided(),
    )
    ours, theirs = (itertools.count(0, part) for _ in range(2))

    async def upserted() -> None:
        first = next(ours)
        await store.upsert(_TARGET, corpus.records(first, first + part))

    async def inserted() -> None:
        first = next(theirs)
        last = min(first + part, rows)
        for start in range(first, last, _BATCH):
            batch = [_plain(corpus, row) for row in range(start, min(start + _BATCH, last))]
            done = await plain.data.insert_many(batch)
            if done.errors:
                raise AssertionError(f"insert_many: {next(iter(done.errors.values()))}")

    bare, mine = "bare, loading", "WeaviateStore, loading"
    times = await race({bare: inserted, mine: upserted}, rounds=_LOADS - 1)
    await client.collections.delete(_PLAIN)
    notes = {name: f"{part / each.median:,.0f} rows a second" for name, each in times.items()}
    over = times[mine].over(times[bare])
    return [
        Row(bare, 1.0, "×", None, times[bare], f"a text, a part and an id; {notes[bare]}"),
        Row(mine, over, "×", None, times[mine], f"with keys and stems; {notes[mine]}"),
    ]


def _plain(corpus: Corpus, row: int) -> DataObject[Any, Any]:
    properties = {"chunk": chunk_id(row), "text": corpus.texts[row], "part": row % PARTS}
    vector = {"default": corpus.vectors[row].tolist()}
    return DataObject(properties, uuid=UUID(int=row), vector=vector)


async def _beside_bare(
    store: WeaviateStore, client: WeaviateAsyncClient, corpus: Corpus, rounds: int
) -> list[Row]:
    lines: list[Row] = []
    handle = client.collections.use(_TARGET)
    for what, case in _pairs():
        ours = searches(store, corpus, case.where, _LIMIT, _TARGET)[what]
        by = _by_hand(Bare(handle, case.parts), corpus)[what]
        note = await agreement(what, ours, by, len(corpus.queries))
        bare, mine = f"bare, {what}, {case.name}", f"WeaviateStore, {what}, {case.name}"
        contenders = in_turn({bare: ids_of(by), mine: ours}, len(corpus.queries))
        times = await race(contenders, rounds=rounds)
        more = shown(max(times[mine].beyond(times[bare]), 0.0))
        lines.append(Row(bare, 1.0, "×", times=times[bare]))
        over = times[mine].over(times[bare])
        noted = "; ".join(filter(None, [f"{more} more", note]))
        lines.append(Row(mine, over, "×", _AIM, times[mine], noted))
    return lines


def _pairs() -> Iterator[tuple[str, Case]]:
    return ((what, case) for what in _SEARCHES for case in _FILTERS)


_Asked = Callable[[int], Awaitable[Rows]]


def _by_hand(bare: Bare, corpus: Corpus) -> Mapping[str, _Asked]:
    """The searches of bare weaviate-client, by name."""
    queries, questions = corpus.queries, corpus.questions
    return {
        NEAR: lambda at: bare.near_vector(queries[at], _LIMIT),
        QUESTION: lambda at: bare.bm25(questions[at], _LIMIT),
        HYBRID: lambda at: bare.hybrid(questions[at], queries[at], _LIMIT),
        FETCH: lambda at: bare.fetch(_LIMIT),
        ORDERED: lambda at: bare.ordered(_LIMIT),
    }


async def _over_several(
    store: WeaviateStore, handle: Any, corpus: Corpus, rounds: int
) -> list[Row]:
    """Keywords in two properties: what the bare client finds of the best, and the time of both."""

    async def asked(at: int, limit: int) -> list[str]:
        found = await handle.query.bm25(
            query=corpus.questions[at],
            query_properties=["title", "body"],
            limit=limit,
            return_metadata=MetadataQuery(score=True),
            return_properties=["chunk", "title", "body", "part"],
        )
        ranked = [(-each.metadata.score, each.properties["chunk"]) for each in found.objects]
        return [id for _, id in sorted(ranked)]

    async def theirs(at: int) -> list[str]:
        return await asked(at, _LIMIT)

    ours = searches(store, corpus, None, _LIMIT, _SEVERAL)[QUESTION]
    count = len(corpus.queries)
    best = [(await asked(at, _DEEP))[:_LIMIT] for at in range(count)]
    bare, mine = "bare, bm25 over 2 properties", "WeaviateStore, bm25 over 2 properties"
    contenders: dict[str, Search] = {bare: theirs, mine: ours}
    notes = {name: _found(await answers(each, count), best) for name, each in contenders.items()}
    times = await race(in_turn(contenders, count), rounds=rounds)
    return [
        Row(name, times[name].over(times[bare]), "×", None, times[name], notes[name])
        for name in contenders
    ]


async def _several(client: WeaviateAsyncClient, corpus: Corpus) -> Any:
    """A collection of somebody else's, with a title and a body."""
    handle = await client.collections.create(
        _SEVERAL,
        properties=[
            Property(name="chunk", data_type=DataType.TEXT, tokenization=Tokenization.FIELD),
            Property(name="title", data_type=DataType.TEXT),
            Property(name="body", data_type=DataType.TEXT),
            Property(name="part", data_type=DataType.INT),
        ],
        vector_config=Configure.Vectors.self_provided(),
    )
    rows = len(corpus.texts)
    for first in range(0, rows, _BATCH):
        batch = [_titled(corpus, row) for row in range(first, min(first + _BATCH, rows))]
        await handle.data.insert_many(batch)
    return handle


def _titled(corpus: Corpus, row: int) -> DataObject[Any, Any]:
    words = corpus.texts[row].split()
    properties = {
        "chunk": chunk_id(row),
        "title": " ".join(words[:_TITLE]),
        "body": " ".join(words[_TITLE:]),
        "part": row % PARTS,
    }
    return DataObject(properties, uuid=UUID(int=row))


def _found(found: Sequence[Sequence[str]], best: Sequence[Sequence[str]]) -> str:
    pairs = list(zip(found, best, strict=True))
    recall = fmean(len({*one} & {*other}) / len(other) for one, other in pairs if other)
    whole = sum({*one} == {*other} for one, other in pairs)
    return f"{recall:.3f} of the true best {_LIMIT}; all of them for {whole} of {len(pairs)}"


async def _shards(client: WeaviateAsyncClient, rounds: int) -> Row:
    """The request that ends each search of a collection that is spread over nodes."""

    async def looked() -> Any:
        return await client.cluster.nodes(collection=_TARGET, output="verbose")

    nodes = len(await looked())
    what = "the look at the shards"
    times = await race({what: looked}, rounds=rounds)
    note = (
        f"one request, of {nodes} node{'s' * (nodes > 1)}; where there are more, after each search"
    )
    return Row(what, None, "", None, times[what], note)
