"""PreFiltered against the plain recursive substitution."""

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, assert_never

from hypothesis import given, settings
from hypothesis import strategies as st

from soev_retrieval.domain import (
    NOTHING,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Filter,
    Hit,
    Not,
    Nothing,
    Properties,
    matches,
    predicates,
    simplify,
)
from soev_retrieval.engine import PreFiltered
from soev_retrieval.testing.faults import Scripted

FOUND = [Hit("found", 1.0)]
VALUES = (None, 1, 2)
CHUNKS = [Properties(zip("abc", values, strict=True)) for values in product(VALUES, repeat=3)]
"""Every chunk there is: what is true of all of them is true."""

TERMS = [
    DeclaredFilter(name, op, value)
    for name in "abc"
    for op, value in [
        *[("eq", 1), ("ne", 1), ("gte", 2), ("exists", None), ("missing", None)],
        *[("in", [1, 2]), ("in", []), ("not_in", []), ("not_in", [2])],
    ]
]


def wider(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(inner, max_size=3)
    return st.builds(Not, inner) | st.builds(AllOf, several) | st.builds(AnyOf, several)


EXPRESSIONS = st.recursive(st.sampled_from([*TERMS, NOTHING]), wider, max_leaves=8)
REPLACEMENTS = st.sampled_from([None, NOTHING]) | st.recursive(
    st.sampled_from(TERMS), wider, max_leaves=3
)


def substituted(where: Filter, rewrites: Mapping[DeclaredFilter, Filter]) -> Filter:
    """The plain reading: the same expression with each predicate replaced."""
    match where:
        case DeclaredFilter():
            return rewrites[where]
        case AllOf(filters):
            return AllOf([substituted(one, rewrites) for one in filters])
        case AnyOf(filters):
            return AnyOf([substituted(one, rewrites) for one in filters])
        case Not(inner):
            return Not(substituted(inner, rewrites))
        case Nothing():
            return NOTHING
        case _:
            assert_never(where)


def matching(where: Filter) -> list[bool]:
    return [matches(where, chunk) for chunk in CHUNKS]


@settings(max_examples=3 * settings().max_examples)
@given(EXPRESSIONS, st.lists(REPLACEMENTS, min_size=8, max_size=8))
def test_the_filter_that_arrives_means_the_substitution(
    virtual: Callable[..., Any], where: Filter, replacements: list[Filter | None]
) -> None:
    """For any filter and any rewriting of its predicates, the inner store is asked what was meant."""
    terms = list(dict.fromkeys(predicates(where)))
    rewrites = {
        term: term if by is None else by for term, by in zip(terms, replacements, strict=False)
    }
    inner: Any = Scripted(FOUND)
    asked: list[DeclaredFilter] = []

    async def rewrite(target: str, term: DeclaredFilter, /) -> Filter:
        asked.append(term)
        return rewrites[term]

    answer = virtual(PreFiltered(inner, rewrite).bm25("t", query="q", limit=1, where=where))
    plain = substituted(where, rewrites)
    assert asked == terms
    assert bool(inner.calls) == (simplify(plain) != NOTHING)
    if inner.calls:
        assert answer is FOUND
        assert matching(inner.calls[0].where) == matching(plain)
    else:
        assert list(answer) == []
        assert not any(matching(plain))
