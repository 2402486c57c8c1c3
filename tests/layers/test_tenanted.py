"""Tenanted: a caller sees its own tenant's chunks, in every order of a stack."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.calls import Call, Layer
from soev_retrieval.domain import (
    MAX_DEPTH,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Field,
    FieldSpec,
    Filter,
    InvalidQueryError,
    Not,
    Record,
    SchemaViolationError,
    field,
    predicates,
)
from soev_retrieval.engine import (
    Blocklist,
    Cached,
    CircuitBreaker,
    Deduplicated,
    Limited,
    PostFiltered,
    PreFiltered,
    Rechecked,
    Recording,
    Renamed,
    Replenished,
    Retrying,
    Tenanted,
    Timed,
    current_tenant,
    tenant_scope,
)
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.faults import Scripted

TENANTS = ("ours", "theirs")
OWN = field("tenant") == "ours"


async def everything(target: str, results: Sequence[Any]) -> Sequence[Any]:
    return results


async def as_it_is(target: str, term: DeclaredFilter) -> Filter:
    return term


def never(target: str, dropped: int) -> None:
    raise AssertionError(f"{dropped} results of {target} did not match")


Wrap = Callable[[VectorStore], VectorStore]
NEUTRAL: dict[str, Wrap] = {
    "tenanted": Tenanted,
    "rechecked": lambda store: Rechecked(store, never),
    "timed": lambda store: Timed(store, 60.0),
    "limited": lambda store: Limited(store, 2),
    "breaker": lambda store: CircuitBreaker(store, 1, 60.0),
    "replenished": lambda store: Replenished(store, everything, 100),
    "cached": lambda store: Cached(store, 100),
    "retrying": lambda store: Retrying(store, 3),
    "prefiltered": lambda store: PreFiltered(store, as_it_is),
    "postfiltered": lambda store: PostFiltered(store, everything),
    "recording": lambda store: Recording(store, []),
}
RULES: dict[str, Wrap] = {
    **NEUTRAL,
    "rechecked": lambda store: Rechecked(store, lambda target, dropped: None),
    "cached": lambda store: Cached(store, 1),
    "replenished": lambda store: Replenished(store, Deduplicated("body"), 8),
    "prefiltered": lambda store: PreFiltered(store, Renamed({"kind": "body", "sort": "kind"})),
    "postfiltered": lambda store: PostFiltered(store, Blocklist({"ours-a", "theirs-b"})),
}


def stacked(store: VectorStore, order: Sequence[str], layers: dict[str, Wrap]) -> VectorStore:
    """The layers of `order` around `store`, outermost first."""
    for name in reversed(order):
        store = layers[name](store)
    return store


def twins(records: Sequence[Record]) -> list[Record]:
    """Every chunk once for each tenant: the same text, vector and properties."""
    return [
        attrs.evolve(
            record,
            id=f"{tenant}-{record.id}",
            properties={**record.properties, "tenant": tenant},
        )
        for record in records
        for tenant in TENANTS
    ]


async def ask_as(tenant: str, call: Call[Any], store: VectorStore) -> Any:
    with tenant_scope(tenant):
        return await call.on(store)


def spec_of(worlds: Any) -> FieldSpec:
    return FieldSpec([*worlds.spec, Field("tenant", "text")], dimension=2)


@attrs.frozen(repr=False, eq=False)
class Yielding(Layer):
    """Lets others run before it asks, as a store over a network does."""

    async def send(self, call: Call[Any]) -> Any:
        await asyncio.sleep(0)
        return await call.on(self.inner)


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "in turn"])
def test_a_foreign_chunk_never_comes_back(worlds: Any, virtual: Any, at_once: bool) -> None:
    """Whatever the filter, the method, the rules around and their order, results are one's own."""

    @given(
        st.permutations(list(RULES)),
        worlds.records(),
        st.lists(worlds.calls(), min_size=1, max_size=3),
    )
    def law(order: list[str], records: list[Record], calls: list[Call[Any]]) -> None:
        async def main() -> None:
            store = Yielding(await worlds.store(twins(records), spec_of(worlds)))
            stack = stacked(store, order, RULES)
            asked = [(tenant, call) for call in calls for tenant in TENANTS] * 2
            asking = [ask_as(tenant, call, stack) for tenant, call in asked]
            answers = await asyncio.gather(*asking) if at_once else [await one for one in asking]
            for (tenant, _), answer in zip(asked, answers, strict=True):
                if not isinstance(answer, FieldSpec):
                    assert {each.properties["tenant"] for each in answer} <= {tenant}

        virtual(main())

    law()


def test_ones_own_chunks_all_come_back(worlds: Any, virtual: Any) -> None:
    """In every order of neutral layers, the answer is the store's own to the ANDed filter."""

    @given(
        st.permutations(list(NEUTRAL)),
        worlds.records(),
        st.lists(worlds.calls(), min_size=1, max_size=3),
    )
    def law(order: list[str], records: list[Record], calls: list[Any]) -> None:
        async def main() -> None:
            store = await worlds.store(twins(records), spec_of(worlds))
            stack = stacked(Yielding(store), order, NEUTRAL)
            asked = [(tenant, call) for call in calls for tenant in TENANTS]
            answers = await asyncio.gather(*(ask_as(*each, stack) for each in asked))
            for (tenant, call), answer in zip(asked, answers, strict=True):
                if isinstance(answer, FieldSpec):
                    assert answer == spec_of(worlds)
                    continue
                where = [field("tenant") == tenant, *([] if call.where is None else [call.where])]
                assert list(answer) == await call.filtered(AllOf(where)).on(store)

        virtual(main())

    law()


def test_a_callers_predicate_on_the_field_is_refused(
    worlds: Any, virtual: Any, asked: Any, filtered_method: str
) -> None:
    """Wherever it sits and whatever it says, also what is true of the caller: nothing is sent."""
    mine: list[Filter] = [
        OWN,
        ~OWN,
        field("tenant") != "theirs",
        field("tenant").exists(),
        field("tenant").in_([]),
    ]
    filters = worlds.filters(mine * 20).filter(
        lambda where: any(term.field == "tenant" for term in predicates(where))
    )

    @given(filters)
    def law(where: Filter) -> None:
        async def main() -> None:
            store = Scripted([])
            with pytest.raises(
                SchemaViolationError, match="'tenant' is not the caller's"
            ) as raised:
                await ask_as("ours", asked(filtered_method, where), Tenanted(store))
            assert (raised.value.target, raised.value.field) == ("docs", "tenant")
            assert store.calls == []

        virtual(main())

    law()


@pytest.mark.parametrize("where", [None, AllOf(()), OWN, {"tenant": "ours"}], ids=str)
async def test_a_call_outside_a_scope_is_refused(asked: Any, method: str, where: Any) -> None:
    """Every method, `fields` too, whatever the filter: nothing is sent."""
    store = Scripted([])
    with pytest.raises(SchemaViolationError, match="tenant_scope"):
        await asked(method, where).on(Tenanted(store))
    assert store.calls == []


@given(order=st.permutations(list(NEUTRAL)))
def test_no_order_answers_outside_a_scope(virtual: Any, asked: Any, order: list[str]) -> None:
    """Not from a cache either that knows the answers for a tenant."""

    async def main() -> None:
        store = Scripted([])
        stack = stacked(store, order, NEUTRAL)
        call = asked("bm25")
        await ask_as("ours", call, stack)
        with pytest.raises(SchemaViolationError):
            await call.on(stack)
        assert len(store.calls) == 1

    virtual(main())


@pytest.mark.parametrize(
    ("where", "sent"),
    [
        (None, OWN),
        (field("year") == 1, AllOf([OWN, field("year") == 1])),
        (
            (field("year") == 1) | (field("year") == 2),
            AllOf([OWN, AnyOf([field("year") == 1, field("year") == 2])]),
        ),
        (~(field("year") == 1), AllOf([OWN, Not(field("year") == 1)])),
    ],
    ids=str,
)
async def test_the_predicate_stands_beside_the_callers_filter(
    asked: Any, filtered_method: str, where: Filter | None, sent: Filter
) -> None:
    """The whole filter of the caller is ANDed, and every other argument is as it was."""
    store = Scripted([])
    await ask_as("ours", asked(filtered_method, where), Tenanted(store))
    assert store.calls == [asked(filtered_method, sent)]


async def test_the_field_may_have_another_name(asked: Any) -> None:
    """The predicate is on that field, and `tenant` is a field like any other."""
    store = Scripted([])
    await ask_as("ours", asked("fetch", OWN), Tenanted(store, "org"))
    assert store.calls == [asked("fetch", (field("org") == "ours") & OWN)]
    with pytest.raises(SchemaViolationError, match="'org' is not the caller's"):
        await ask_as("ours", asked("fetch", field("org") == "ours"), Tenanted(store, "org"))


def deep(levels: int) -> Filter:
    where: Filter = field("year") == 1
    while where.depth < levels:
        where = ~where
    return where


async def test_a_filter_too_deep_to_be_anded_is_refused(asked: Any, filtered_method: str) -> None:
    """A filter of the full depth leaves no level for the tenant's, and the error says who adds it."""
    store = Scripted([])
    with pytest.raises(InvalidQueryError) as raised:
        await ask_as("ours", asked(filtered_method, deep(MAX_DEPTH)), Tenanted(store))
    assert str(raised.value) == (
        "Tenanted ANDs a predicate to the filter, which then nests more than 100 deep;"
        " keep to 99: AllOf and AnyOf take any number of filters"
    )
    assert raised.value.target == "docs"
    assert store.calls == []


@pytest.mark.parametrize(
    "where", [deep(MAX_DEPTH - 1), AllOf([deep(MAX_DEPTH - 1), deep(2)])], ids=["99", "an AllOf"]
)
async def test_a_filter_as_deep_as_can_be_anded_is_sent(
    asked: Any, filtered_method: str, where: Filter
) -> None:
    """A filter with a level to spare is ANDed to, and so is an AllOf, which takes one more filter."""
    store = Scripted([])
    await ask_as("ours", asked(filtered_method, where), Tenanted(store))
    assert store.calls == [asked(filtered_method, OWN & where)]


async def test_what_is_no_filter_is_refused_as_such(asked: Any, filtered_method: str) -> None:
    """A dict in the place of the filter is never sent without the tenant's predicate."""
    store = Scripted([])
    with pytest.raises(InvalidQueryError, match="where must be a filter, not dict"):
        await ask_as("ours", asked(filtered_method, {"year": 1}), Tenanted(store))
    assert store.calls == []


def test_scopes_nest() -> None:
    """The innermost scope counts, and the one around it again after it, also after an error."""
    assert current_tenant() is None
    with tenant_scope("a"):
        with contextlib.suppress(ZeroDivisionError), tenant_scope("b"):
            assert current_tenant() == "b"
            raise ZeroDivisionError
        assert current_tenant() == "a"
    assert current_tenant() is None


async def test_tasks_have_the_tenant_they_began_with() -> None:
    """A task keeps the tenant of the scope it was made in, also after the scope has ended."""

    async def later() -> str | None:
        await asyncio.sleep(0)
        return current_tenant()

    tasks = []
    for tenant in TENANTS:
        with tenant_scope(tenant):
            tasks.append(asyncio.create_task(later()))
    assert await asyncio.gather(*tasks, later()) == [*TENANTS, None]


@pytest.mark.parametrize("tenant", ["", None, 7, b"ours", "a\0", "\ud800"], ids=repr)
def test_a_tenant_is_portable_text(tenant: Any) -> None:
    """What no store keeps alike, or is empty, is refused where the scope begins."""
    with pytest.raises(InvalidQueryError, match="the tenant"), tenant_scope(tenant):
        pytest.fail("the scope began")
    assert current_tenant() is None
