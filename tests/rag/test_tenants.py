"""Two tenants who hold the same never see each other's chunks, whatever is asked, or fails."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import product, starmap
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from soev_retrieval.domain import (
    Chunk,
    Field,
    FieldSpec,
    Filter,
    Not,
    Record,
    SchemaViolationError,
    matches,
    predicates,
    simplify,
)
from soev_retrieval.engine import PreFiltered, Renamed
from soev_retrieval.rag import (
    Branch,
    HybridRetriever,
    IndexRetriever,
    RetrievalDegradedError,
    RetrievalScope,
    Retrieved,
    StoreIndex,
    tenant_scope,
)
from soev_retrieval.testing import corpus, strategies
from soev_retrieval.testing.faults import Scripted
from tests.adapters.formulas import examples, formulas
from tests.rag.stores import MEMORY, SERVED, TARGET, filled
from tests.rag.tenants import (
    COLLECTIONS,
    FATES,
    OWN,
    RECORDS,
    SEEN,
    SPEC,
    STACKS,
    Fated,
    Layers,
    seen,
)

ASKING = [*product(corpus.TENANTS, COLLECTIONS)]
CHUNKS = [Chunk(record.id, seen(record)) for record in RECORDS]


@attrs.frozen
class Question:
    """What both tenants ask of each collection, through which layers, and each branch's fate."""

    stack: str
    where: Filter | None
    words: Sequence[str]
    vector: Sequence[float]
    k: int
    fates: dict[Branch, str]

    def expects(self, record: Record, tenant: str, collection: str) -> bool:
        """Whether a branch that answers finds the chunk for the tenant, in the collection."""
        held = record.properties
        by = {
            Branch.SEMANTIC: record.vector is not None,
            Branch.KEYWORD: bool({*self.words} & {*str(held.get("text", "")).split()}),
        }
        return (
            (held["tenant"], held["collection"]) == (tenant, collection)
            and (self.where is None or matches(self.where, seen(record)))
            and any(by[branch] for branch in self.answering)
        )

    @property
    def answering(self) -> tuple[Branch, ...]:
        """The branches that answer."""
        return tuple(branch for branch in Branch if self.fates[branch] == "answers")


def questions(fate: SearchStrategy[str]) -> SearchStrategy[Question]:
    """Any question, through any stack."""

    def through(stack: str) -> SearchStrategy[Question]:
        spec = SEEN if STACKS[stack].rewrites else OWN
        return st.builds(
            Question,
            st.just(stack),
            formulas(spec, CHUNKS) | formulas(spec, CHUNKS).map(Not) | st.none(),
            st.lists(st.sampled_from(corpus.WORDS), min_size=1, max_size=3),
            st.lists(st.integers(-3, 3).map(float), min_size=8, max_size=8).filter(any),
            st.integers(1, 6) | st.just(100),
            st.fixed_dictionaries(dict.fromkeys(Branch, fate)),
        )

    return st.sampled_from([*STACKS]).flatmap(through)


ANY = questions(st.just("answers")) | questions(st.sampled_from(FATES))


async def asked(store: Any, question: Question) -> list[Retrieved | BaseException]:
    """What each of ASKING is answered; they ask at once."""
    stack = STACKS[question.stack]
    index = StoreIndex(
        stack.inside(store),
        name=question.stack,
        around=stack.around,
        target=TARGET,
        collection_field="collection",
    )

    async def embedder(text: str) -> Sequence[float]:
        return question.vector

    retriever = HybridRetriever(
        *(
            IndexRetriever(
                Fated(index, question.fates[branch]),
                branch=branch,
                embedder=embedder,
                timeout_seconds=0.01 if question.fates[branch] == "hangs" else None,
            )
            for branch in Branch
        )
    )

    async def of(tenant: str, collection: str) -> Retrieved:
        with tenant_scope(tenant):
            return await retriever.retrieve(
                " ".join(question.words),
                scope=RetrievalScope(collection),
                k=question.k,
                where=question.where,
            )

    return await asyncio.gather(*starmap(of, ASKING), return_exceptions=True)


async def expect_own(store: Any, question: Question) -> None:
    """Each tenant gets its own chunks that match, as many as there are, and is told what lacks."""
    for own, found in zip(ASKING, await asked(store, question), strict=True):
        if not question.answering:
            assert isinstance(found, RetrievalDegradedError)
            continue
        assert isinstance(found, Retrieved), found
        expected = {each.id for each in RECORDS if question.expects(each, *own)}
        held = [hit.properties for hit in found.hits]
        assert {(each["tenant"], each["collection"]) for each in held} <= {own}
        assert {hit.id for hit in found.hits} <= expected
        assert len(found.hits) == min(question.k, len(expected))
        assert found.branches == question.answering
        assert found.partial is (len(question.answering) < len(Branch))


@pytest.fixture
async def store(request: pytest.FixtureRequest, place: str) -> AsyncIterator[Any]:
    """The chunks of both tenants, at the place."""
    async with filled(place, SPEC, RECORDS) as opened:
        yield opened


@pytest.mark.parametrize("place", [MEMORY])
@examples(300)
@given(ANY)
async def test_in_memory(store: Any, question: Question) -> None:
    """No foreign chunk comes back, and none is lacking."""
    await expect_own(store, question)


@pytest.mark.parametrize("place", SERVED)
@examples(25)
@given(ANY)
async def test_on_every_store(store: Any, question: Question) -> None:
    """So it is on every store."""
    await expect_own(store, question)


def filters_on(name: str) -> SearchStrategy[Filter]:
    """Any filter about that field and another."""
    return strategies.filters(FieldSpec([Field(name, "text"), Field("number", "int")]))


def names(where: Filter, name: str) -> bool:
    """Whether a filter has a predicate on that field, wherever it sits."""
    return any(term.field == name for term in predicates(where))


async def embedder(text: str) -> Sequence[float]:
    """The same vector for every question."""
    return [1.0]


async def expect_refused(where: Filter, around: Layers) -> None:
    """No branch gets as far as its store."""
    store = Scripted([])
    index = StoreIndex(store, name="told", around=around)
    retriever = HybridRetriever(
        *(IndexRetriever(index, branch=branch, embedder=embedder) for branch in Branch)
    )
    with tenant_scope("north"), pytest.raises(SchemaViolationError, match="not the caller's"):
        await retriever.retrieve("zebra", scope=RetrievalScope("handbook"), k=1, where=where)
    assert not store.calls


@examples(200)
@given(
    filters_on("tenant").filter(lambda where: names(where, "tenant")), st.sampled_from([*STACKS])
)
async def test_the_tenant_is_not_the_callers(where: Filter, stack: str) -> None:
    """A filter that names the tenant is refused, whatever the layers would make of it."""
    await expect_refused(where, STACKS[stack].around)


@examples(200)
@given(filters_on("owner").filter(lambda where: names(simplify(where), "owner")))
async def test_by_no_other_name_either(where: Filter) -> None:
    """So is one that names it by what a layer calls it."""
    await expect_refused(where, lambda store: PreFiltered(store, Renamed({"owner": "tenant"})))
