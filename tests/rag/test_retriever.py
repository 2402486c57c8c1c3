"""Several branches, one ranking, and what is said of a branch that did not answer."""

import asyncio
import logging
import pickle
from collections.abc import Sequence
from typing import Any

import pytest

from soev_retrieval.domain import (
    MAX_DEPTH,
    AllOf,
    Field,
    FieldSpec,
    Filter,
    Hit,
    InvalidQueryError,
    Not,
    Record,
    RetrievalError,
    StoreUnavailable,
    Unconfigured,
    field,
)
from soev_retrieval.engine import CircuitBreaker, PreFiltered, Renamed
from soev_retrieval.memory import MemoryStore
from soev_retrieval.rag import (
    Branch,
    BranchScore,
    HybridRetriever,
    IndexQuery,
    IndexRetriever,
    ReciprocalRankFusion,
    RetrievalDegradedError,
    RetrievalScope,
    SchemaViolationError,
    StoreIndex,
    WeightedSum,
    tenant_scope,
)
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.faults import Scripted
from tests.adapters.asking import until

SCOPE = RetrievalScope(collection="handbook")
QUESTION = "how do I get my money back for BX-7741"
SPEC = FieldSpec(
    [Field("text", "text", searchable=True), Field("tenant", "text"), Field("page", "int")], 2
)
PASSAGES = [
    Record("refund", {"text": "refunds are paid in a week", "tenant": "a", "page": 1}, [1, 0.1]),
    Record("booking", {"text": "booking BX-7741", "tenant": "a", "page": 2}, [0, 1]),
    Record("both", {"text": "money back for BX-7741", "tenant": "a", "page": 3}, [1, 0.2]),
    Record("twin", {"text": "money back for BX-7741", "tenant": "b", "page": 3}, [1, 0]),
]


async def embedder(text: str) -> Sequence[float]:
    """The same vector for every question."""
    return [1.0, 0.0]


async def index(**settings: Any) -> StoreIndex:
    """An index over the passages."""
    store = MemoryStore()
    await store.create("handbook", SPEC)
    await store.upsert("handbook", PASSAGES)
    return StoreIndex(store, name="memory", **settings)


class Told:
    """A SearchIndex that does as it is told, and remembers what it was asked."""

    def __init__(self, *answers: Any, name: str = "told") -> None:
        self.name, self.answers, self.asked = name, list(answers), list[IndexQuery]()
        self.cancelled = 0

    def supports(self, branch: Branch) -> bool:
        return True

    async def search(self, query: IndexQuery) -> Sequence[Hit]:
        self.asked.append(query)
        answer = self.answers[0] if len(self.answers) == 1 else self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        found: Sequence[Hit] = answer
        return found


def semantic(of: Any, **settings: Any) -> IndexRetriever:
    return IndexRetriever(of, branch=Branch.SEMANTIC, embedder=embedder, **settings)


def keyword(of: Any, **settings: Any) -> IndexRetriever:
    return IndexRetriever(of, branch=Branch.KEYWORD, **settings)


def hits(*ids: str) -> list[Hit]:
    return [Hit(id, 1.0 / n) for n, id in enumerate(ids, 1)]


DOWN = StoreUnavailable("gone", store="told", operation="bm25")


async def test_both_branches_make_one_ranking() -> None:
    """What both found is first, and each hit says who found it, at which rank and score."""
    made = await index()
    retriever = HybridRetriever(semantic(made), keyword(made))
    with tenant_scope("a"):
        found = await retriever.retrieve(QUESTION, scope=SCOPE, k=10)
    assert found.hits[0].id == "both"
    assert {hit.id for hit in found.hits} == {"refund", "booking", "both"}
    assert found.branches == (Branch.SEMANTIC, Branch.KEYWORD)
    assert not found.partial
    assert not found.missing
    by_id = {hit.id: hit for hit in found.hits}
    assert by_id["both"].found_by(Branch.SEMANTIC)
    assert by_id["both"].found_by(Branch.KEYWORD)
    assert not by_id["refund"].found_by(Branch.KEYWORD)
    contributions = by_id["both"].contributions
    assert [(each.branch, each.rank) for each in contributions] == [
        (Branch.SEMANTIC, 2),
        (Branch.KEYWORD, 1),
    ]
    assert by_id["both"].score == pytest.approx(1 / 62 + 1 / 61)
    assert by_id["booking"].properties["text"] == "booking BX-7741"


async def test_a_store_is_an_index() -> None:
    """A store of which each collection is a target needs nothing around it."""
    store = (await index()).store
    retriever = HybridRetriever(semantic(store), keyword(store))
    with tenant_scope("b"):
        found = await retriever.retrieve(QUESTION, scope=SCOPE, k=9)
    assert [hit.id for hit in found.hits] == ["twin"]
    assert repr(retriever).count("IndexRetriever('MemoryStore'") == 2


async def test_k_bounds_the_result_and_each_branch_may_have_its_own() -> None:
    """A branch is asked for its own k, or else for that of the call."""
    left, right = Told(hits("a", "b", "c")), Told(hits("c", "d"))
    retriever = HybridRetriever(semantic(left, k=50), keyword(right))
    with tenant_scope("a"):
        found = await retriever.retrieve(QUESTION, scope=SCOPE, k=2)
    assert (left.asked[0].k, right.asked[0].k) == (50, 2)
    assert [hit.id for hit in found.hits] == ["c", "a"]


@pytest.mark.parametrize("error", [DOWN, Unconfigured("no key")])
async def test_a_branch_that_fails_is_missing_with_its_reason(
    error: RetrievalError, caplog: pytest.LogCaptureFixture
) -> None:
    """The result is partial, and says why; the log does too, without the question."""
    retriever = HybridRetriever(semantic(Told(hits("a"))), keyword(Told(error)))
    with tenant_scope("a"), caplog.at_level(logging.WARNING):
        found = await retriever.retrieve(QUESTION, scope=SCOPE, k=9)
    assert found.partial
    assert found.branches == (Branch.SEMANTIC,)
    assert found.missing == {Branch.KEYWORD: error}
    assert [hit.contributions for hit in found.hits] == [(BranchScore(Branch.SEMANTIC, 1, 1.0),)]
    [record] = caplog.records
    assert "keyword branch of 'told' did not answer" in record.getMessage()
    assert "BX-7741" not in caplog.text


async def test_a_branch_that_is_required_and_missing_is_an_error() -> None:
    """The error names what is missing and what answered, and pickles."""
    retriever = HybridRetriever(
        semantic(Told(hits("a"))), keyword(Told(DOWN)), require=(Branch.KEYWORD,)
    )
    with tenant_scope("a"), pytest.raises(RetrievalDegradedError) as caught:
        await retriever.retrieve(QUESTION, scope=SCOPE, k=9)
    error = caught.value
    assert str(error) == "no answer from keyword; answered: semantic"
    assert (error.missing, error.answered) == (("keyword",), ("semantic",))
    assert error.reasons == {"keyword": DOWN}
    assert error.__cause__ is DOWN
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.missing, copy.answered, str(copy)) == (error.missing, error.answered, str(error))


async def test_no_branch_at_all_is_always_an_error() -> None:
    """Whatever is required, nothing is no answer; one that found nothing is."""
    retriever = HybridRetriever(semantic(Told(DOWN)), keyword(Told(DOWN)))
    with tenant_scope("a"):
        with pytest.raises(RetrievalDegradedError, match="semantic, keyword; answered: none"):
            await retriever.retrieve(QUESTION, scope=SCOPE, k=9)
        nothing = HybridRetriever(semantic(Told([])), keyword(Told(DOWN)))
        found = await nothing.retrieve(QUESTION, scope=SCOPE, k=9)
    assert found.partial
    assert list(found.hits) == []


@pytest.mark.looptime
async def test_a_late_branch_is_missing_and_ended() -> None:
    """Each branch has its own bound, or that of the retriever, and runs beside the others."""
    for own, of_all, late in ((2.0, None, 2.0), (None, 3.0, 3.0), (2.0, 9.0, 2.0)):
        silent = Told(None)
        retriever = HybridRetriever(
            semantic(Told(hits("a"))), keyword(silent, timeout_seconds=own), timeout_seconds=of_all
        )
        loop = asyncio.get_running_loop()
        start = loop.time()
        with tenant_scope("a"):
            found = await retriever.retrieve(QUESTION, scope=SCOPE, k=9)
        assert loop.time() - start == pytest.approx(late)
        assert found.branches == (Branch.SEMANTIC,)
        assert f"within {late} s" in str(found.missing[Branch.KEYWORD])
        assert silent.cancelled == 1


async def test_a_cancellation_is_no_branch_that_failed() -> None:
    """It gets through, and leaves no branch running."""
    left, right = Told(None), Told(None)
    retriever = HybridRetriever(semantic(left), keyword(right), timeout_seconds=9)
    with tenant_scope("a"):
        task = asyncio.ensure_future(retriever.retrieve(QUESTION, scope=SCOPE, k=9))
        await until(lambda: left.asked and right.asked)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (left.cancelled, right.cancelled) == (1, 1)


async def test_a_mistake_that_a_branch_finds_ends_the_others() -> None:
    """It is the caller's, and no branch that happened to fail."""
    silent = Told(None)
    retriever = HybridRetriever(semantic(silent), keyword(Told(InvalidQueryError("no field"))))
    with tenant_scope("a"), pytest.raises(InvalidQueryError, match="no field"):
        await retriever.retrieve(QUESTION, scope=SCOPE, k=9)
    assert silent.cancelled == 1


TENANT: list[Filter] = [
    field("tenant") == "a",
    field("tenant") == "b",
    ~(field("tenant") == "b"),
    (field("page") > 1) & ((field("page") > 2) | Not(AllOf([field("tenant") != "b"]))),
    field("tenant").exists(),
]


async def test_the_callers_mistakes_are_settled_before_any_branch_runs() -> None:
    """Outside of a tenant's scope, k below one, a blank question, a filter on the tenant."""
    told = Told(hits("a"))
    retriever = HybridRetriever(semantic(told), keyword(told))
    with pytest.raises(SchemaViolationError, match="tenant_scope"):
        await retriever.retrieve(QUESTION, scope=SCOPE, k=1)
    with tenant_scope("a"):
        for where in TENANT:
            with pytest.raises(SchemaViolationError, match="not the caller's"):
                await retriever.retrieve(QUESTION, scope=SCOPE, k=1, where=where)
        deep: Filter = field("page") > 1
        for _ in range(MAX_DEPTH - 1):
            deep = Not(deep)
        deep_one: dict[str, Any] = {"where": deep}
        for wrong in (
            {"k": 0},
            {"k": True},
            {"scope": "handbook"},
            {"where": "page > 1"},
            deep_one,
        ):
            asked: dict[str, Any] = {"scope": SCOPE, "k": 1, **wrong}
            with pytest.raises(InvalidQueryError):
                await retriever.retrieve(QUESTION, **asked)
        with pytest.raises(InvalidQueryError, match="blank"):
            await retriever.retrieve(" ", scope=SCOPE, k=1)
    assert not told.asked


async def test_a_rewrite_cannot_name_the_tenant_either() -> None:
    """What a layer makes of the caller's filter is looked at as the filter itself."""

    def renamed(store: VectorStore) -> VectorStore:
        return PreFiltered(store, Renamed({"owner": "tenant"}))

    retriever = HybridRetriever(keyword(await index(around=renamed)))
    with tenant_scope("a"):
        with pytest.raises(SchemaViolationError):
            await retriever.retrieve(QUESTION, scope=SCOPE, k=9, where=field("owner") == "b")
        found = await retriever.retrieve(QUESTION, scope=SCOPE, k=9, where=field("page") >= 3)
    assert [hit.id for hit in found.hits] == ["both"]


async def test_a_rewrite_cannot_name_another_collection() -> None:
    """Where one target holds every collection, its predicate goes inside of the layers too."""
    store = MemoryStore()
    fields = [*SPEC, Field("collection", "text"), Field("kind", "text")]
    await store.create("chunks", FieldSpec(fields, 2))
    rows = [("own", "handbook", "archive"), ("other", "archive", "handbook")]
    await store.upsert(
        "chunks",
        [
            Record(id, {"text": "refund", "tenant": "a", "collection": of, "kind": kind}, [1, 0])
            for id, of, kind in rows
        ],
    )
    made = StoreIndex(
        store,
        name="chunks",
        target="chunks",
        collection_field="collection",
        around=lambda inner: PreFiltered(inner, Renamed({"collection": "kind"})),
    )
    with tenant_scope("a"):
        found = await HybridRetriever(keyword(made)).retrieve("refund", scope=SCOPE, k=9)
    assert [hit.id for hit in found.hits] == ["own"]


async def test_layers_keep_what_they_keep_between_questions() -> None:
    """The layers are made once: a circuit that is open stays open."""
    store = Scripted(DOWN)
    made = StoreIndex(
        store, name="down", around=lambda inner: CircuitBreaker(inner, failures=2, seconds=99)
    )
    retriever = HybridRetriever(keyword(made))
    with tenant_scope("a"):
        for _ in range(5):
            with pytest.raises(RetrievalDegradedError):
                await retriever.retrieve(QUESTION, scope=SCOPE, k=9)
    assert len(store.calls) == 2


async def test_a_weighted_sum_weighs_the_branches() -> None:
    """Scaled scores, weighted; a branch that has no weight is refused when it is made."""
    left, right = Told(hits("a", "b", "c")), Told(hits("c", "b"))
    weights = WeightedSum({Branch.SEMANTIC: 0.9, Branch.KEYWORD: 0.1})
    retriever = HybridRetriever(semantic(left), keyword(right), fusion=weights)
    with tenant_scope("a"):
        found = await retriever.retrieve(QUESTION, scope=SCOPE, k=9)
    assert [hit.id for hit in found.hits] == ["a", "b", "c"]
    assert found.hits[0].score == pytest.approx(0.9)
    with pytest.raises(InvalidQueryError, match="no weight for the branch keyword"):
        HybridRetriever(semantic(left), keyword(right), fusion=WeightedSum({Branch.SEMANTIC: 1.0}))
    with pytest.raises(ValueError, match="weight"):
        WeightedSum({Branch.SEMANTIC: -1.0})
    with pytest.raises(ValueError, match="k must"):
        ReciprocalRankFusion(-1)


async def test_what_cannot_be_is_refused_when_it_is_made() -> None:
    """An unknown branch, one that the index has not, one twice, one required that is not there."""
    only = await index(branches=(Branch.KEYWORD,))
    with pytest.raises(Unconfigured, match="no semantic branch"):
        semantic(only)
    with pytest.raises(Unconfigured, match="needs an embedder"):
        IndexRetriever(await index(), branch=Branch.SEMANTIC)
    unknown: Any = "keywords"
    refused: list[Any] = [
        lambda: IndexRetriever(only, branch=unknown),
        lambda: keyword(only, k=0),
        lambda: keyword(only, timeout_seconds=0),
        HybridRetriever,
        lambda: HybridRetriever(keyword(only), keyword(only)),
        lambda: HybridRetriever(keyword(only), require=(Branch.SEMANTIC,)),
        lambda: HybridRetriever(keyword(only), require=(unknown,)),
        lambda: HybridRetriever(keyword(only), timeout_seconds=-1),
        lambda: RetrievalScope(""),
        lambda: StoreIndex(MemoryStore(), name="x", target="chunks"),
    ]
    for make in refused:
        with pytest.raises(InvalidQueryError):
            make()


async def test_no_question_shows() -> None:
    """Neither the text nor its vector is in a repr."""
    told = Told(hits("a"))
    retriever = HybridRetriever(semantic(told), keyword(told))
    with tenant_scope("a"):
        await retriever.retrieve(QUESTION, scope=SCOPE, k=9)
    for each in (*told.asked, retriever):
        assert "BX-7741" not in repr(each)
        assert "1.0, 0.0" not in repr(each)
