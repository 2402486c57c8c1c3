"""HybridRetriever beside its slower branch alone, and beside its branches one after the other."""

import asyncio
import itertools
import time
from collections.abc import Callable, Sequence

import attrs

from benchmarks.corpus import Corpus, made
from benchmarks.measure import Aim, Contender, Report, Row, Times, race
from soev_retrieval.domain import Field, FieldSpec, Hit, Record
from soev_retrieval.memory import MemoryStore
from soev_retrieval.rag import (
    Branch,
    HybridRetriever,
    IndexQuery,
    IndexRetriever,
    RetrievalScope,
    SearchIndex,
    StoreIndex,
    tenant_scope,
)

_TENANTS = ("north", "south")
_SCOPE = RetrievalScope("chunks")
_IN_TURN, _PLAIN, _BOUNDED = "both in turn", "retrieve", "retrieve, bounded"
_SECONDS = 60.0  # never over: what is timed is that it is kept


@attrs.frozen
class Listed:
    """A SearchIndex that has its hits in a list for each branch.

    Args:
        hits: They, best first.
        seconds: How long it waits before it answers; 0 for not at all.
    """

    hits: dict[Branch, Sequence[Hit]]
    seconds: float = 0.0
    name: str = "listed"

    def supports(self, branch: Branch) -> bool:
        """Whether there is a list for it."""
        return branch in self.hits

    async def search(self, query: IndexQuery) -> Sequence[Hit]:
        """The first of its hits."""
        if self.seconds:
            await asyncio.sleep(self.seconds)
        return self.hits[query.branch][: query.k]


@attrs.frozen
class _Kind:
    """Where two branches look, by which clock they are timed, and how many calls make one number."""

    name: str
    index: SearchIndex
    clock: Callable[[], float]
    calls: int
    aim: Aim | None = None


async def measured(
    *,
    rounds: int = 41,
    rows: int = 5_000,
    dimension: int = 384,
    queries: int = 16,
    ks: Sequence[int] = (10, 100),
    seconds: float = 0.02,
) -> Report:
    """Time retrievals of two branches that compute, that have their answer, and that wait.

    Args:
        rounds: How many numbers to take of each.
        rows: How many chunks the MemoryStore has, half of them the tenant's.
        dimension: How long their vectors are.
        queries: How many questions make one number; two do where branches wait.
        ks: How many hits to ask for.
        seconds: How long the branches that wait do.
    """
    corpus = made(rows, dimension, queries)
    lists = _lists(max(ks))
    waiting = f"{seconds * 1e3:g} ms each"
    kinds = [
        _Kind("MemoryStore", await _memory(corpus), time.thread_time, queries),
        _Kind("lists", Listed(lists), time.thread_time, queries),
        _Kind(waiting, Listed(lists, seconds), time.perf_counter, 2, Aim(1.15)),
    ]
    with tenant_scope(_TENANTS[0]):
        shown = [
            row for kind in kinds for k in ks for row in await _rows(kind, corpus, k, rounds=rounds)
        ]
    return Report(
        f"HybridRetriever over a semantic and a keyword branch; MemoryStore has {rows:,} chunks",
        shown,
        "figure: how many times as long as the slower branch asked by itself. Branches that wait do so"
        " at once; what computes in the event loop, as MemoryStore does, takes no less than both in"
        " turn. bounded: with timeout_seconds. Times are the processor's, save those of waiting.",
    )


async def _rows(kind: _Kind, corpus: Corpus, k: int, *, rounds: int) -> list[Row]:
    vectors = dict(zip(corpus.questions, corpus.queries, strict=True))

    async def embedder(text: str) -> Sequence[float]:
        return vectors[text]

    semantic = IndexRetriever(kind.index, branch=Branch.SEMANTIC, embedder=embedder)
    keyword = IndexRetriever(kind.index, branch=Branch.KEYWORD)
    plain = HybridRetriever(semantic, keyword)
    bounded = HybridRetriever(semantic, keyword, timeout_seconds=_SECONDS)
    await _agree(plain, bounded, corpus.questions[0], k)
    branches = {f"{each.branch} alone": _asked([each], corpus, k) for each in (semantic, keyword)}
    times = await race(
        {
            **branches,
            _IN_TURN: _asked([semantic, keyword], corpus, k),
            _PLAIN: _retrieved(plain, corpus, k),
            _BOUNDED: _retrieved(bounded, corpus, k),
        },
        rounds=rounds,
        calls=kind.calls,
        clock=kind.clock,
    )
    slower = max(branches, key=lambda name: times[name].median)
    title = f"{kind.name}, k {k}"
    return [
        Row(f"{title}, {slower}", 1.0, "×", times=times[slower]),
        Row(
            f"{title}, {_IN_TURN}", times[_IN_TURN].over(times[slower]), "×", times=times[_IN_TURN]
        ),
        *(
            Row(
                f"{title}, {name}",
                times[name].over(times[slower]),
                "×",
                kind.aim,
                times[name],
                _beside(times[name], times[slower], times[_IN_TURN]),
            )
            for name in (_PLAIN, _BOUNDED)
        ),
    ]


def _beside(times: Times, slower: Times, in_turn: Times) -> str:
    return (
        f"{times.beyond(slower) * 1e6:+,.0f} µs; {times.over(in_turn):.3g} × both in turn,"
        f" {times.beyond(in_turn) * 1e6:+,.0f} µs"
    )


def _asked(retrievers: Sequence[IndexRetriever], corpus: Corpus, k: int) -> Contender:
    """The next question, by each of these branches in turn."""
    turn = itertools.cycle(corpus.questions)

    async def call() -> None:
        query = next(turn)
        for each in retrievers:
            await each.search(query, tenant=_TENANTS[0], scope=_SCOPE, k=k, where=None)

    return call


def _retrieved(retriever: HybridRetriever, corpus: Corpus, k: int) -> Contender:
    """The next question, by all branches."""
    turn = itertools.cycle(corpus.questions)

    async def call() -> object:
        return await retriever.retrieve(next(turn), scope=_SCOPE, k=k)

    return call


async def _agree(plain: HybridRetriever, bounded: HybridRetriever, query: str, k: int) -> None:
    found = [await each.retrieve(query, scope=_SCOPE, k=k) for each in (plain, bounded)]
    if found[0] != found[1] or found[0].partial or not found[0].hits:
        raise AssertionError("the contenders do not find the same, or not by both branches")


async def _memory(corpus: Corpus) -> StoreIndex:
    """An index over the corpus, every other chunk of another tenant."""
    store = MemoryStore()
    fields = [*corpus.spec.fields, Field("tenant", "text")]
    await store.create(_SCOPE.collection, FieldSpec(fields, dimension=corpus.spec.dimension))
    await store.upsert(
        _SCOPE.collection,
        [
            Record(each.id, {**each.properties, "tenant": _TENANTS[at % 2]}, each.vector)
            for at, each in enumerate(corpus.records(0, len(corpus.texts)))
        ],
    )
    return StoreIndex(store, name="memory")


def _lists(length: int) -> dict[Branch, Sequence[Hit]]:
    """A ranking for each branch: half of what the one found the other found too."""
    return {
        branch: [
            Hit(f"chunk-{number}", 1 / rank, {"text": "wing flutter", "tenant": _TENANTS[0]})
            for rank, number in enumerate(range(first, first + length), 1)
        ]
        for branch, first in ((Branch.SEMANTIC, 0), (Branch.KEYWORD, length // 2))
    }
