"""Laws of filters: the same set of chunks, in every method."""

from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from soev_retrieval.domain import (
    NOTHING,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Filter,
    Not,
    matches,
)
from soev_retrieval.store import VectorStore
from soev_retrieval.testing import strategies
from soev_retrieval.testing.laws._asking import (
    allowed,
    ask_all,
    filters_of,
    has_filters,
    limits_of,
    predicates_of,
    vectors_of,
    words_of,
)
from soev_retrieval.testing.laws._law import Held, Refused, expect, expect_ids, law


async def _expect_same(store: VectorStore, held: Held, one: Filter, other: Filter) -> None:
    """Break the law unless two filters find the same chunks."""
    found, expected = [
        await allowed(store.fetch(held.target, where=where, limit=held.limit), held, where)
        for where in (one, other)
    ]
    ids = {chunk.id for chunk in expected}
    expect_ids(held, found, ids, f"where    {one}", f"is other than where {other}")


@law(applies=has_filters, where=filters_of)
async def filters_are_exact(store: VectorStore, held: Held, *, where: Filter) -> None:
    """A fetch brings exactly the chunks that match its filter."""
    found = await allowed(store.fetch(held.target, where=where, limit=held.limit), held, where)
    expect_ids(held, found, held.matching(where), f"where    {where}")


@law(applies=has_filters, where=predicates_of)
async def predicates_are_exact(store: VectorStore, held: Held, *, where: DeclaredFilter) -> None:
    """A fetch by one predicate and one by its Not part the chunks exactly in two."""
    for one in (where, Not(where)):
        found = await allowed(store.fetch(held.target, where=one, limit=held.limit), held, one)
        expect_ids(held, found, held.matching(one), f"where    {one}")


def _scalars_in(held: Held, name: str) -> list[Any]:
    """The values of a field in the order of their text, whole floats as ints too."""
    values = [each.properties.get(name, ()) for each in held.by_id.values()]
    scalars = {one for value in values for one in (value if isinstance(value, tuple) else [value])}
    ints = {int(one) for one in scalars if isinstance(one, float) and one.is_integer()}
    return sorted(scalars, key=repr) + sorted(ints)


def _known_values(held: Held) -> Iterator[DeclaredFilter]:
    """Every operator that is served, on every value that a chunk has."""
    for field in held.spec:
        for op in field.operators:
            if op in ("exists", "missing"):
                yield DeclaredFilter(field.name, op)
                continue
            several = op in ("in", "not_in", "contains_any", "contains_all")
            for value in _scalars_in(held, field.name):
                yield DeclaredFilter(field.name, op, [value] if several else value)


@law(applies=has_filters)
async def values_are_told_apart(store: VectorStore, held: Held) -> None:
    """Every operator on every value that a chunk has finds the chunks that it should."""
    for where in _known_values(held):
        try:
            found = await allowed(
                store.fetch(held.target, where=where, limit=held.limit), held, where
            )
        except Refused:
            continue
        expect_ids(held, found, held.matching(where), f"where    {where}")


def _pairs(held: Held) -> SearchStrategy[list[Filter]]:
    return st.lists(strategies.filters(held.spec, max_leaves=3), min_size=1, max_size=3)


@law(applies=has_filters, filters=_pairs)
async def de_morgan(store: VectorStore, held: Held, *, filters: Sequence[Filter]) -> None:
    """Not any of some is all of their Nots, and not all of some is any of their Nots."""
    nots = [Not(one) for one in filters]
    pairs: list[tuple[Filter, Filter]] = [
        (Not(AnyOf(filters)), AllOf(nots)),
        (Not(AllOf(filters)), AnyOf(nots)),
    ]
    for left, right in pairs:
        await _expect_same(store, held, left, right)


def _values(held: Held) -> SearchStrategy[tuple[str, Any]]:
    served = [field for field in held.spec if field.operators]
    return st.sampled_from(served).flatmap(
        lambda field: st.tuples(
            st.just(field.name), st.lists(strategies.scalars(type=field.type), max_size=3)
        )
    )


@law(applies=has_filters, values=_values)
async def operators_agree(store: VectorStore, held: Held, *, values: tuple[str, list[Any]]) -> None:
    """`ne` is Not(eq), `in` any eq, `not_in` Not(in), `contains_any` any and `contains_all` all."""
    name, several = values
    served = held.spec[name].operators
    eqs = [DeclaredFilter(name, "eq", one) for one in several]
    contains = [DeclaredFilter(name, "contains", one) for one in several]
    pairs: list[tuple[DeclaredFilter, Filter, str]] = [
        (DeclaredFilter(name, "in", several), AnyOf(eqs), "eq"),
        (DeclaredFilter(name, "not_in", several), Not(AnyOf(eqs)), "eq"),
        (DeclaredFilter(name, "contains_any", several), AnyOf(contains), "contains"),
        (DeclaredFilter(name, "contains_all", several), AllOf(contains), "contains"),
        *((DeclaredFilter(name, "ne", each.value), Not(each), "eq") for each in eqs),
    ]
    for short, spelled_out, needs in pairs:
        if short.op in served and needs in served:
            await _expect_same(store, held, short, spelled_out)


@law(where=lambda held: st.none(), vector=vectors_of, query=words_of)
async def nothing_finds_nothing(
    store: VectorStore, held: Held, *, where: None, vector: Sequence[float], query: str
) -> None:
    """NOTHING finds no chunk in any method, and everything is no filter at all."""
    answers = await ask_all(
        store, held, where=NOTHING, limit=held.limit, vector=vector, query=query
    )
    for method, results in answers.items():
        expect_ids(held, results, set(), f"{method} of {query!r} with the filter NOTHING")
    plain = await ask_all(store, held, where=None, limit=held.limit, vector=vector, query=query)
    every = await ask_all(
        store, held, where=AllOf(()), limit=held.limit, vector=vector, query=query
    )
    for method, results in every.items():
        ids = {result.id for result in plain[method]}
        expect_ids(held, results, ids, f"{method} of {query!r} with the filter all()")


@law(applies=has_filters, where=filters_of, vector=vectors_of, query=words_of)
async def searches_keep_the_filter(
    store: VectorStore, held: Held, *, where: Filter, vector: Sequence[float], query: str
) -> None:
    """Every search finds what it finds without a filter, less the chunks that do not match."""
    under = await ask_all(store, held, where=where, limit=held.limit, vector=vector, query=query)
    plain = await ask_all(store, held, where=None, limit=held.limit, vector=vector, query=query)
    matching = held.matching(where)
    for method, results in under.items():
        ids = {result.id for result in plain[method]} & matching
        expect_ids(held, results, ids, f"{method} of {query!r} where {where}")


@law(
    applies=has_filters,
    where=filters_of,
    limit=limits_of,
    vector=vectors_of,
    query=words_of,
)
async def filters_come_before_limits(
    store: VectorStore,
    held: Held,
    *,
    where: Filter,
    limit: int,
    vector: Sequence[float],
    query: str,
) -> None:
    """A search brings `limit` chunks where as many match, however many others are nearer."""
    whole = await ask_all(store, held, where=where, limit=held.limit, vector=vector, query=query)
    cut = await ask_all(store, held, where=where, limit=limit, vector=vector, query=query)
    for method, results in cut.items():
        expect(
            len(results),
            min(limit, len(whole[method])),
            f"{method} of {query!r} with limit {limit}, {len(whole[method])} without, where {where}",
        )
        expect_ids(
            held,
            results,
            {result.id for result in results} & {result.id for result in whole[method]},
            f"{method} of {query!r} with limit {limit} where {where}",
        )


def _known_tenants(held: Held) -> list[str]:
    served = "tenant" in held.spec and "eq" in held.spec["tenant"].operators
    if not served or held.spec["tenant"].type != "text":
        return []
    tenants = {each.properties.get("tenant") for each in held.records}
    return sorted(tenant for tenant in tenants if isinstance(tenant, str))


def _has_tenants(held: Held) -> bool:
    return bool(_known_tenants(held))


def _tenants(held: Held) -> SearchStrategy[str]:
    return st.sampled_from(_known_tenants(held))


@law(applies=_has_tenants, tenant=_tenants, limit=limits_of, vector=vectors_of, query=words_of)
async def twins_of_another_tenant_stay_away(
    store: VectorStore,
    held: Held,
    *,
    tenant: str,
    limit: int,
    vector: Sequence[float],
    query: str,
) -> None:
    """A search for one tenant brings none of the identical chunks of another."""
    where = DeclaredFilter("tenant", "eq", tenant)
    answers = await ask_all(store, held, where=where, limit=limit, vector=vector, query=query)
    for method, results in answers.items():
        for result in results:
            record = held.by_id.get(result.id)
            own = record is not None and matches(where, record.properties)
            expect(own, True, f"{method} of {query!r} for {tenant!r} brought {result.id!r}")
