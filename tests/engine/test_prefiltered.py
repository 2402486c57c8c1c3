"""PreFiltered: every predicate is replaced, the expression around it is kept and folded."""

import asyncio
import math
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import pytest

from soev_retrieval.calls import Hybrid, NearVector
from soev_retrieval.domain import (
    NOTHING,
    AllOf,
    AnyOf,
    Chunk,
    DeclaredFilter,
    FieldSpec,
    Filter,
    Hit,
    InvalidQueryError,
    Not,
    Nothing,
    StoreUnavailable,
    Unconfigured,
    field,
)
from soev_retrieval.engine import PreFiltered
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.faults import Delay, Scripted

Asked = Callable[..., tuple[Any, Callable[[VectorStore], Any]]]

OLD, NEW, OTHER = field("old") == 1, field("new").in_([1, 2]), field("other") == "x"
FOUND = [Hit("found", 1.0)]


class Table:
    """A Rewrite that looks predicates up, leaves the others as they are, and records its calls."""

    def __init__(self, rewrites: Mapping[DeclaredFilter, Any]) -> None:
        self.rewrites = rewrites
        self.asked: list[tuple[str, DeclaredFilter]] = []

    async def __call__(self, target: str, term: DeclaredFilter, /) -> Any:
        self.asked.append((target, term))
        return self.rewrites.get(term, term)


async def reached(where: Filter | None, rewrites: Mapping[DeclaredFilter, Any]) -> list[Any]:
    """The filters that reach the inner store: one, or none."""
    inner: Any = Scripted([])
    await PreFiltered(inner, Table(rewrites)).fetch("t", where=where, limit=1)
    return [call.where for call in inner.calls]


async def test_every_method_rewrites_its_filter(asked: Asked, filtered_method: str) -> None:
    """The three searches and fetch reach the inner store rewritten, every other argument as it was."""
    vector = [0.5, 1.0]
    _, ask = asked(filtered_method, OLD & OTHER, vector)
    expected, _ = asked(filtered_method, NEW & OTHER, vector)
    inner, rewrite = Scripted(FOUND), Table({OLD: NEW})
    assert await ask(PreFiltered(inner, rewrite)) is FOUND
    assert inner.calls == [expected]
    assert getattr(inner.calls[0], "vector", vector) is vector
    assert rewrite.asked == [("t", OLD), ("t", OTHER)]


async def test_without_a_filter_nothing_is_rewritten(asked: Asked, method: str) -> None:
    """A call without a filter passes as it is, and `rewrite` is not called; so does `fields`."""
    call, ask = asked(method, None)
    answer: Any = FieldSpec([]) if method == "fields" else [Chunk("a")]
    inner, rewrite = Scripted(answer), Table({})
    assert await ask(PreFiltered(inner, rewrite)) is answer
    assert inner.calls == [call]
    assert rewrite.asked == []


async def test_a_filter_of_nothing_calls_nobody(asked: Asked, filtered_method: str) -> None:
    """When the rewritten filter matches nothing the answer is empty, and the inner store not called."""
    _, ask = asked(filtered_method, OLD & OTHER)
    inner = Scripted(FOUND)
    assert list(await ask(PreFiltered(inner, Table({OLD: NOTHING})))) == []
    assert inner.calls == []


WRONG: dict[str, list[Any]] = {
    "limit": [0, -1, True, 1.5, "3", None],
    "query": ["", " \n", "a\0b", None, b"cat"],
    "alpha": [2, -0.5, True, "x", math.nan],
    "vector": [(), (math.nan, 1.0), (math.inf,), (1e39,), ((1.0, 2.0),), "ab", 5],
}
TAKES = {
    "hybrid": ["query", "vector", "limit", "alpha"],
    "near_vector": ["vector", "limit"],
    "bm25": ["query", "limit"],
    "fetch": ["limit"],
}


@pytest.mark.parametrize(
    ("taken_by", "name", "value"),
    [(method, name, value) for method in TAKES for name in TAKES[method] for value in WRONG[name]],
)
async def test_a_filter_of_nothing_makes_no_wrong_call_right(
    asked: Asked, taken_by: str, name: str, value: Any
) -> None:
    """What no store takes is refused by name also where no store is asked."""
    call, _ = asked(taken_by, OLD & OTHER)
    inner = Scripted(FOUND)
    with pytest.raises(InvalidQueryError, match=name):
        await attrs.evolve(call, **{name: value}).on(PreFiltered(inner, Table({OLD: NOTHING})))
    assert inner.calls == []


async def test_a_filter_of_nothing_needs_a_vector_only_to_be_near() -> None:
    """Without a vector `near_vector` is refused where no store is asked, and `hybrid` is not."""
    store = PreFiltered(Scripted(FOUND), Table({OLD: NOTHING}))
    assert await Hybrid("t", "what", None, 7, OLD, None).on(store) == []
    with pytest.raises(InvalidQueryError, match="the query vector must be a sequence"):
        await NearVector("t", None, 7, OLD).on(store)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (OLD, NEW),
        (OLD & OTHER, NEW & OTHER),
        (OTHER & OLD, OTHER & NEW),
        (OLD | OTHER, NEW | OTHER),
        (~OLD, ~NEW),
        (OTHER & ~(OTHER | ~(OLD & OTHER)), OTHER & ~(OTHER | ~(NEW & OTHER))),
        (AnyOf([AllOf([OLD, OTHER]), AllOf([OTHER, Not(OLD)])]), (NEW & OTHER) | (OTHER & ~NEW)),
    ],
    ids=str,
)
async def test_a_predicate_is_rewritten_wherever_it_stands(where: Filter, expected: Filter) -> None:
    """In every place of an expression a predicate is replaced, and the expression around it kept."""
    assert await reached(where, {OLD: NEW}) == [expected]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (OLD, []),
        (OLD & OTHER, []),
        (OLD | OTHER, [OTHER]),
        (OTHER & (OLD | OTHER), [OTHER & OTHER]),
        (OTHER & ~OLD, [OTHER]),
        (~~OLD, []),
        (~(OLD & OTHER) & OTHER, [OTHER]),
        (~(OLD | OTHER), [~OTHER]),
        (~(~OLD & OTHER), [~OTHER]),
        (AnyOf([OLD, OLD & OTHER]), []),
    ],
    ids=str,
)
async def test_nothing_folds(where: Filter, expected: list[Filter]) -> None:
    """NOTHING drops out of an AnyOf, makes its AllOf NOTHING, and its Not match everything."""
    assert await reached(where, {OLD: NOTHING}) == expected


async def test_a_filter_that_no_rule_changes_goes_on_as_it_is() -> None:
    """What folding would take away reaches the inner store, which may have to refuse it."""
    where = AnyOf([AllOf([]), field("undeclared") == "a"])
    assert await reached(where, {}) == [where]


@pytest.mark.parametrize("nothing", [AnyOf([]), field("a").in_([]), ~AllOf([]), NOTHING & OTHER])
async def test_a_replacement_that_comes_to_nothing_is_nothing(nothing: Filter) -> None:
    """A replacement folds by what it means, not by how it is written."""
    assert await reached(OLD, {OLD: nothing}) == []
    assert await reached(OLD | OTHER, {OLD: nothing}) == [OTHER]


async def test_a_second_nothing_is_nothing() -> None:
    """`Nothing()` is equal to NOTHING, so it folds like it."""
    assert await reached(OLD, {OLD: Nothing()}) == []


@pytest.mark.parametrize("where", [~OLD, ~(OLD & OTHER), ~~~OLD], ids=str)
async def test_a_filter_of_everything_reaches_the_store(where: Filter) -> None:
    """A Not of NOTHING matches everything: the inner store is called, and matches every chunk."""
    assert await reached(where, {OLD: NOTHING}) == [AllOf([])]


@pytest.mark.parametrize("where", [NOTHING, AnyOf([]), AllOf([NOTHING, OTHER])], ids=str)
async def test_what_the_caller_wrote_folds_too(where: Filter) -> None:
    """A filter that matches nothing as the caller wrote it does not reach the inner store either."""
    assert await reached(where, {}) == []


async def test_a_replacement_may_be_any_expression() -> None:
    """A predicate may become a whole expression, in whatever place it stands."""
    wide = (NEW & ~OTHER) | (field("c") == 3)
    assert await reached(~OLD & OTHER, {OLD: wide}) == [~wide & OTHER]


async def test_a_replacement_is_not_rewritten_again() -> None:
    """What `rewrite` returned is final: predicates may be swapped."""
    inner: Any = Scripted([])
    rewrite = Table({OLD: OTHER, OTHER: OLD})
    await PreFiltered(inner, rewrite).fetch("t", where=OLD & ~OTHER, limit=1)
    assert inner.calls[0].where == OTHER & ~OLD
    assert rewrite.asked == [("t", OLD), ("t", OTHER)]


async def test_a_predicate_that_stands_twice_is_asked_once() -> None:
    """Equal predicates of one filter are one, and each place gets its replacement."""
    inner: Any = Scripted([])
    rewrite = Table({OLD: NEW})
    again = field("old") == 1
    await PreFiltered(inner, rewrite).fetch("t", where=OLD & ~(again | OTHER), limit=1)
    assert rewrite.asked == [("t", OLD), ("t", OTHER)]
    assert inner.calls[0].where == NEW & ~(NEW | OTHER)


@pytest.mark.parametrize("others", [[1.0], [True], ["1"], [1.0, True, "1"]], ids=repr)
async def test_predicates_that_differ_are_asked_each(others: list[Any]) -> None:
    """Predicates on 1, 1.0, True and "1" are different ones, as Python's equality would not have it."""
    terms = [field("old") == value for value in [1, *others]]
    inner: Any = Scripted([])
    rewrite = Table({})
    await PreFiltered(inner, rewrite).fetch("t", where=AnyOf(terms), limit=1)
    assert [(type(term.value), term.value) for _, term in rewrite.asked] == [
        (type(term.value), term.value) for term in terms
    ]
    assert str(inner.calls[0].where) == str(AnyOf(terms))


async def test_each_call_asks_again() -> None:
    """No call sees what `rewrite` said to another: a rule that changes is seen by the next call."""
    rewrites: dict[DeclaredFilter, Filter] = {OLD: NEW}
    inner: Any = Scripted([])
    rewrite = Table(rewrites)
    store = PreFiltered(inner, rewrite)
    await store.fetch("t", where=OLD, limit=1)
    rewrites[OLD] = OTHER
    await store.fetch("u", where=OLD, limit=1)
    assert [(call.target, call.where) for call in inner.calls] == [("t", NEW), ("u", OTHER)]
    assert rewrite.asked == [("t", OLD), ("u", OLD)]


async def test_the_callers_filter_is_not_changed() -> None:
    """The filter that was given is the same after the call as before."""
    where = OLD & (OTHER | ~OLD)
    before = str(where)
    await reached(where, {OLD: NOTHING})
    assert str(where) == before


@pytest.mark.parametrize("where", ["old == 1", {"old": 1}, True, 0, []], ids=repr)
async def test_what_is_no_filter_is_refused(where: Any) -> None:
    """Something else in the place of the filter is the caller's mistake, and nobody is asked."""
    inner, rewrite = Scripted(FOUND), Table({})
    with pytest.raises(InvalidQueryError, match="where must be a filter"):
        await PreFiltered(inner, rewrite).fetch("t", where=where, limit=1)
    assert (inner.calls, rewrite.asked) == ([], [])


@pytest.mark.parametrize("returned", [None, True, "old == 1", [OLD], field("old")], ids=repr)
@pytest.mark.parametrize("where", [OLD, OLD & OTHER, ~OLD | OTHER], ids=str)
async def test_a_rewrite_that_returns_no_filter_is_refused(where: Filter, returned: Any) -> None:
    """A rule that forgot its return widens nothing: the error names the predicate, and nobody searches."""
    inner = Scripted(FOUND)
    with pytest.raises(InvalidQueryError, match="what rewrite returns for field 'old' eq"):
        await PreFiltered(inner, Table({OLD: returned})).fetch("t", where=where, limit=1)
    assert inner.calls == []


@pytest.mark.parametrize("kind", [StoreUnavailable, InvalidQueryError, Unconfigured, OSError])
@pytest.mark.parametrize("where", [OLD, OLD & OTHER, OTHER | ~OLD], ids=str)
async def test_a_rewrite_that_raises_is_raised_as_itself(
    where: Filter, kind: type[Exception]
) -> None:
    """The error of `rewrite` is raised as the very same object, and the inner store is not called."""
    error, inner = kind("no catalog"), Scripted(FOUND)

    async def rewrite(target: str, term: DeclaredFilter, /) -> Filter:
        if term == OLD:
            raise error
        return term

    with pytest.raises(kind) as raised:
        await PreFiltered(inner, rewrite).fetch("t", where=where, limit=1)
    assert raised.value is error
    assert inner.calls == []


@pytest.mark.parametrize("error", [StoreUnavailable("x"), Unconfigured("x"), KeyError("x")])
async def test_the_error_of_the_store_is_raised_as_itself(error: Exception) -> None:
    """What the inner store raised is raised as the very same object."""
    with pytest.raises(type(error)) as raised:
        await PreFiltered(Scripted(error), Table({})).fetch("t", where=OLD, limit=1)
    assert raised.value is error


class Timing:
    """A Rewrite that takes, for each field, so many seconds, and then answers or fails."""

    def __init__(self, **seconds: tuple[float, Exception | None]) -> None:
        self.seconds = seconds
        self.running = 0

    async def __call__(self, target: str, term: DeclaredFilter, /) -> Filter:
        wait, error = self.seconds[term.field]
        self.running += 1
        try:
            await asyncio.sleep(wait)
        finally:
            self.running -= 1
        if error is not None:
            raise error
        return term


@pytest.mark.looptime
async def test_predicates_are_rewritten_at_once(observed: Callable[..., Any]) -> None:
    """The rewriting of one filter takes as long as its slowest predicate, not as long as all."""
    where = (field("a") == 1) & ((field("b") == 1) | ~(field("c") == 1))
    inner = Scripted(Delay(10, FOUND))
    store = PreFiltered(inner, Timing(a=(2, None), b=(5, None), c=(3, None)))
    outcome = await observed(lambda: store.fetch("t", where=where, limit=1))
    assert (outcome.value, outcome.at) == (FOUND, 15)


@pytest.mark.looptime
async def test_the_first_rewriting_error_cancels_the_others(observed: Callable[..., Any]) -> None:
    """The first error ends the rewriting of the other predicates, and the call."""
    first, later = OSError("first"), OSError("later")
    where = AllOf([field(name) == 1 for name in "abc"])
    rewrite, inner = Timing(a=(9, None), b=(4, later), c=(3, first)), Scripted(FOUND)
    store = PreFiltered(inner, rewrite)
    outcome = await observed(lambda: store.fetch("t", where=where, limit=1))
    assert outcome.error is first
    assert (outcome.at, outcome.left, rewrite.running) == (3, frozenset(), 0)
    assert inner.calls == []


@pytest.mark.looptime
@pytest.mark.parametrize("names", ["a", "abc"])
async def test_a_cancel_ends_the_rewriting(observed: Callable[..., Any], names: str) -> None:
    """A call that is cancelled while it rewrites leaves nothing running and searches nothing."""
    where = AllOf([field(name) == 1 for name in names])
    rewrite, inner = Timing(a=(9, None), b=(5, None), c=(9, None)), Scripted(FOUND)
    store = PreFiltered(inner, rewrite)
    outcome = await observed(lambda: store.fetch("t", where=where, limit=1), cancel_at=3)
    assert isinstance(outcome.error, asyncio.CancelledError)
    assert (outcome.at, outcome.left, rewrite.running) == (3, frozenset(), 0)
    assert inner.calls == []
