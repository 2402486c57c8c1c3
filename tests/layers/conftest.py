"""What the tests of the layers share: worlds to search, calls right and wrong, a virtual clock."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any

import attrs
import looptime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.calls import Bm25, Call, Fetch, Fields, Hybrid, NearVector
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
    StoreUnavailable,
    Unconfigured,
    field,
)
from soev_retrieval.memory import MemoryStore
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.faults import Scripted

METHODS = ("hybrid", "near_vector", "bm25", "fetch", "fields")
SPEC = FieldSpec(
    [
        Field("body", "text", searchable=True),
        Field("kind", "text"),
        Field("year", "int"),
        Field("tags", "text", many=True),
    ],
    dimension=2,
)
VALUES: dict[str, list[Any]] = {
    "body": ["cat", "cats and dogs", "a dog, the wing", "the", ""],
    "kind": ["a", "A", "ab", " a", "é"],
    "year": [-1, 0, 1, 2, 10],
    "tags": [["a"], ["a", "b"], ["b", "b"], ["A"]],
}
QUERIES = ["cat", "dog wing", "cats", "the", "nothing like it"]
VECTORS = [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (-1.0, 0.5), (3.0, 3.0)]
BAD: dict[str, list[Any]] = {
    "target": ["nowhere", None],
    "query": ["", " \n", "a\0b", None, b"cat"],
    "vector": [None, (), (1.0,), (0.0, 0.0), (math.nan, 1.0), ((1.0, 2.0),), "ab", {1.0: 2.0}, 5],
    "limit": [0, -1, True, 1.5, "3", None],
    "where": [{"year": 2020}, "year == 2020", [], field("nope") == 1, field("year").prefix("1")],
    "alpha": [2, -0.5, True, "x"],
    "order_by": ["nope", "tags", 5],
}
Ask = Callable[[VectorStore], Awaitable[Any]]
Wrap = Callable[[VectorStore], VectorStore]


@attrs.frozen
class Outcome:
    """How a call ended: what it returned, results as a list, or the kind and text of its error."""

    value: Any = None
    error: type[BaseException] | None = None
    message: str = ""


def _terms() -> list[DeclaredFilter]:
    """Every predicate of the spec over the values that its chunks hold."""
    made = []
    for one in SPEC:
        values = VALUES[one.name] if not one.many else ["a", "b", "A"]
        for op in one.operators:
            if op in ("exists", "missing"):
                made.append(DeclaredFilter(one.name, op))
            elif op in ("in", "not_in", "contains_any", "contains_all"):
                made += [DeclaredFilter(one.name, op, values[:size]) for size in (0, 1, 2)]
            else:
                made += [DeclaredFilter(one.name, op, value) for value in values]
    return made


class Worlds:
    """Strategies for what is stored and what is asked: small pools, as layers know no values."""

    spec = SPEC

    @staticmethod
    def filters(terms: Iterable[Filter] = ()) -> st.SearchStrategy[Filter]:
        """Expressions over the spec, and over `terms`."""
        leaves: list[Filter] = [*terms, *_terms(), NOTHING, AllOf(()), AnyOf(())]

        def wider(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
            several = st.lists(inner, max_size=3)
            return st.builds(Not, inner) | st.builds(AllOf, several) | st.builds(AnyOf, several)

        return st.recursive(st.sampled_from(leaves), wider, max_leaves=4)

    @staticmethod
    def records(*, max_size: int = 9) -> st.SearchStrategy[list[Record]]:
        """Chunks of the spec, any field missing, ids in any order."""
        values = {name: st.sampled_from(values) for name, values in VALUES.items()}
        return st.lists(
            st.builds(
                Record,
                st.sampled_from("abcdefghijklmno"),
                st.fixed_dictionaries({}, optional=values),
                st.none() | st.sampled_from(VECTORS),
            ),
            max_size=max_size,
            unique_by=lambda record: record.id,
        )

    @classmethod
    def calls(cls, where: st.SearchStrategy[Filter] | None = None) -> st.SearchStrategy[Call[Any]]:
        """Calls that every store takes."""
        filters = st.none() | (cls.filters() if where is None else where)
        target, limit = st.just("docs"), st.integers(1, 15)
        query, vector = st.sampled_from(QUERIES), st.sampled_from(VECTORS)
        alpha, order = st.sampled_from([None, 0.0, 0.25, 1.0]), st.sampled_from([None, "year"])
        return st.one_of(
            st.builds(Hybrid, target, query, vector, limit, filters, alpha),
            st.builds(NearVector, target, vector, limit, filters),
            st.builds(Bm25, target, query, limit, filters),
            st.builds(Fetch, target, filters, limit, order, st.booleans()),
            st.builds(Fields, target),
        )

    @classmethod
    def wrong_calls(cls) -> st.SearchStrategy[Call[Any]]:
        """Calls with one argument that no store takes."""

        def broken(call: Any) -> st.SearchStrategy[Any]:
            names = [name for name in BAD if hasattr(call, name)]
            pairs = [(name, value) for name in names for value in BAD[name]]
            return st.sampled_from(pairs).map(lambda pair: attrs.evolve(call, **dict([pair])))

        return cls.calls().flatmap(broken)

    @staticmethod
    async def store(records: Iterable[Record], spec: FieldSpec = SPEC) -> MemoryStore:
        """A store whose one target, `docs`, holds `records`."""
        store = MemoryStore()
        await store.create("docs", spec)
        await store.upsert("docs", records)
        return store


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, Sequence) else value


async def _outcome(call: Call[Any], store: VectorStore) -> Outcome:
    try:
        return Outcome(_plain(await call.on(store)))
    except Exception as error:
        return Outcome(None, type(error), str(error))


def _virtual(main: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=looptime.new_event_loop) as runner:
        unseen: list[dict[str, Any]] = []
        runner.get_loop().set_exception_handler(lambda _, context: unseen.append(context))
        result = runner.run(asyncio.wait_for(main, 3600.0))  # what hangs fails, an hour later
    assert not unseen, "the loop was told of an error that nobody looked at"
    return result


def _invisible(wrap: Wrap) -> None:
    @given(
        Worlds.records(),
        st.lists(Worlds.calls() | Worlds.wrong_calls(), min_size=1, max_size=4),
        st.booleans(),
    )
    def answers_are_the_stores(
        records: list[Record], calls: list[Call[Any]], at_once: bool
    ) -> None:
        async def main() -> None:
            store = await Worlds.store(records)
            layer = wrap(store)
            expected = [await _outcome(call, store) for call in calls] * 2
            if at_once:
                seen = await asyncio.gather(*(_outcome(call, layer) for call in calls * 2))
            else:
                seen = [await _outcome(call, layer) for call in calls * 2]
            assert list(seen) == expected

        _virtual(main())

    def errors_are_the_stores() -> None:
        async def main() -> None:
            for kind in (InvalidQueryError, Unconfigured, StoreUnavailable, ZeroDivisionError):
                error = kind("on purpose")
                for call in (Bm25("docs", "cat", 3, None), Fields("docs")):
                    with pytest.raises(kind) as raised:
                        await call.on(wrap(Scripted(error)))
                    assert raised.value is error

        _virtual(main())

    answers_are_the_stores()
    errors_are_the_stores()


def _asked(method: str, where: Filter | None = None, query: str = "cat", limit: int = 7) -> Any:
    match method:
        case "hybrid":
            return Hybrid("docs", query, (0.5, 1.0), limit, where, 0.25)
        case "near_vector":
            return NearVector("docs", (0.5, 1.0), limit, where)
        case "bm25":
            return Bm25("docs", query, limit, where)
        case "fetch":
            return Fetch("docs", where, limit, None, False)
        case _:
            return Fields("docs")


@pytest.fixture(scope="session")
def worlds() -> type[Worlds]:
    """Strategies for what is stored and what is asked, and a store of it."""
    return Worlds


@pytest.fixture(scope="session")
def virtual() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Runs a coroutine on a loop whose clock jumps, and fails where an error went unseen."""
    return _virtual


@pytest.fixture(scope="session")
def outcome() -> Callable[[Call[Any], VectorStore], Awaitable[Outcome]]:
    """Performs a call and tells how it ended, as a value to compare."""
    return _outcome


@pytest.fixture(scope="session")
def invisible() -> Callable[[Wrap], None]:
    """Fails where a layer answers other than the store in it, right calls or wrong ones."""
    return _invisible


@pytest.fixture(scope="session")
def asked() -> Callable[..., Any]:
    """One call of a method."""
    return _asked


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> str:
    """Each of the five methods."""
    return str(request.param)


@pytest.fixture(params=METHODS[:4])
def filtered_method(request: pytest.FixtureRequest) -> str:
    """Each of the four methods that take a filter."""
    return str(request.param)
