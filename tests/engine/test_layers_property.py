"""Layers with a neutral rule around MemoryStore, against MemoryStore itself."""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.calls import Bm25, Call, Fetch, Fields, Hybrid, Layer, NearVector
from soev_retrieval.domain import (
    NOTHING,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Field,
    FieldSpec,
    Filter,
    InvalidQueryError,
    Not,
    Record,
    RetrievalError,
    Target,
    field,
    simplify,
)
from soev_retrieval.engine import (
    AncestorScope,
    Blocklist,
    Deduplicated,
    FolderScope,
    Lookup,
    MappingCatalog,
    PostFiltered,
    PreFiltered,
    Renamed,
    Retrying,
    ScoreFloor,
)
from soev_retrieval.memory import MemoryStore
from soev_retrieval.store import VectorStore

FIELDS = (
    Field("text", "text", searchable=True),
    Field("kind", "text"),
    Field("year", "int"),
    Field("tags", "text", many=True),
)
SPECS = (FieldSpec(FIELDS, dimension=2), FieldSpec(FIELDS), FieldSpec(FIELDS[1:], dimension=2))


async def as_it_is(target: Target, term: DeclaredFilter, /) -> Filter:
    return term


async def all_of_it(target: Target, term: DeclaredFilter, /) -> Filter:
    return AllOf([AllOf([]), term])


async def everything(target: Target, results: Sequence[Any], /) -> Sequence[Any]:
    return results


async def nothing_found(values: Sequence[Any], /) -> Sequence[Any]:
    return []


LAYERS: list[Callable[[VectorStore], Layer]] = [
    Layer,
    lambda inner: Retrying(inner, attempts=3),
    lambda inner: PreFiltered(inner, as_it_is),
    lambda inner: PreFiltered(inner, all_of_it),
    lambda inner: PreFiltered(inner, Renamed({"elsewhere": "year"})),
    lambda inner: PreFiltered(inner, Lookup("elsewhere", "year", nothing_found)),
    lambda inner: PreFiltered(inner, FolderScope(MappingCatalog({}))),
    lambda inner: PreFiltered(inner, AncestorScope()),
    lambda inner: PostFiltered(inner, everything),
    lambda inner: PostFiltered(inner, Blocklist(frozenset())),
    lambda inner: PostFiltered(inner, ScoreFloor(float("-inf"))),
    lambda inner: PostFiltered(inner, Deduplicated()),
]


@attrs.frozen
class Case:
    spec: FieldSpec
    records: list[Record]
    calls: list[Call[Any]]
    layers: list[Callable[[VectorStore], Layer]]


TEXTS = st.lists(st.sampled_from(["cat", "dog", "wing", "flow"]), max_size=4).map(" ".join)
VECTORS = [[1.0, 0.0], [0.0, 1.0], [-3.0, 4.0]]
TERMS = [
    *(field("kind") == "a", field("kind") != "b", field("kind").prefix("a")),
    *(field("year") >= 2000, field("year").in_([1990, 2010]), field("year").in_([])),
    *(field("tags").contains("x"), field("tags").contains_all([]), field("tags").missing()),
]


def wider(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(inner, max_size=3)
    return st.builds(Not, inner) | st.builds(AllOf, several) | st.builds(AnyOf, several)


FILTERS = st.none() | st.recursive(st.sampled_from([*TERMS, NOTHING]), wider, max_leaves=5)


def records(spec: FieldSpec) -> st.SearchStrategy[list[Record]]:
    values: dict[str, st.SearchStrategy[Any]] = {
        "text": TEXTS,
        "kind": st.sampled_from(["a", "b", "ab"]),
        "year": st.sampled_from([1990, 2000, 2010]),
        "tags": st.lists(st.sampled_from("xyz"), max_size=2),
    }
    properties = st.fixed_dictionaries(
        {}, optional={field.name: values[field.name] for field in spec}
    )
    vector = st.none() | st.sampled_from(VECTORS) if spec.dimension else st.none()
    record = st.builds(Record, st.sampled_from("abcdefghi"), properties, vector)
    return st.lists(record, min_size=2, max_size=8, unique_by=lambda record: record.id)


def calls() -> st.SearchStrategy[Call[Any]]:
    """Calls of every method, some of them wrong."""
    target = st.sampled_from(["t"] * 9 + ["elsewhere"])
    limit = st.sampled_from([1, 2, 3, 100] * 3 + [0])
    query = st.sampled_from(["cat wing", "dog", "flow dog cat", "bird", "the", " "])
    vector = st.sampled_from(VECTORS * 3 + [[1.0], [0.0, 0.0]])
    alpha = st.sampled_from([None, 0, 0.5, 1] * 3 + [2])
    order = st.sampled_from([None, "year", "kind"] * 3 + ["tags", "elsewhere"])
    return st.one_of(
        st.builds(Hybrid, target, query, vector, limit, FILTERS, alpha),
        st.builds(Hybrid, target, query, st.none(), limit, FILTERS, alpha),
        st.builds(NearVector, target, vector, limit, FILTERS),
        st.builds(Bm25, target, query, limit, FILTERS),
        st.builds(Fetch, target, FILTERS, limit, order, st.booleans()),
        st.builds(Fields, target),
    )


def cases(spec: FieldSpec) -> st.SearchStrategy[Case]:
    return st.builds(
        Case,
        st.just(spec),
        records(spec),
        st.lists(calls(), min_size=1, max_size=6),
        st.lists(st.sampled_from(LAYERS), min_size=1, max_size=5),
    )


CASES = [cases(spec) for spec in SPECS]


async def ask(store: VectorStore, call: Call[Any]) -> Any:
    """What a caller sees: the answer, or the kind of error and its words."""
    try:
        return await through_the_method(store, call)
    except RetrievalError as error:
        return type(error), str(error)


async def through_the_method(store: VectorStore, call: Call[Any]) -> Any:
    value: Any = call
    arguments = attrs.asdict(value, recurse=False)
    method = {Hybrid: "hybrid", NearVector: "near_vector", Bm25: "bm25", Fetch: "fetch"}
    ask = getattr(store, method.get(type(call), "fields"))
    return await ask(arguments.pop("target"), **arguments)


def comes_to_nothing(call: Call[Any], stack: Sequence[Callable[[VectorStore], Layer]]) -> bool:
    """Whether PreFiltered answers in the store's stead, as it must where nothing can match."""
    where = getattr(call, "where", None)
    rewritten = any(isinstance(layer(MemoryStore()), PreFiltered) for layer in stack)
    return rewritten and where is not None and simplify(where) == NOTHING


def wrong_everywhere(call: Call[Any]) -> bool:
    """Whether no store takes the call, whatever it holds."""
    blank, low = getattr(call, "query", "") == " ", getattr(call, "limit", 1) < 1
    return blank or low or getattr(call, "alpha", None) == 2


async def compare(case: Case) -> None:
    store = MemoryStore()
    await store.create("t", case.spec)
    await store.upsert("t", case.records)
    stack: VectorStore = store
    for layer in case.layers:
        stack = layer(stack)
    for call in case.calls:
        if not comes_to_nothing(call, case.layers):
            assert await ask(stack, call) == await ask(store, call)
        elif wrong_everywhere(call):
            with pytest.raises(InvalidQueryError):
                await through_the_method(stack, call)
        else:
            assert await ask(stack, call) == []


@given(st.sampled_from([0, 0, 0, 1, 2]).flatmap(CASES.__getitem__))
def test_neutral_layers_are_invisible(virtual: Callable[..., Any], case: Case) -> None:
    """For any corpus, calls and stack, in any order: the same answers, and the same errors."""
    virtual(compare(case))
