"""Cached: the same answer as without it, for fewer calls, and never another tenant's."""

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from soev_retrieval.calls import Bm25, Call, Fetch, Fields, Hybrid, NearVector
from soev_retrieval.domain import (
    FieldSpec,
    Hit,
    InvalidQueryError,
    StoreUnavailable,
    field,
)
from soev_retrieval.engine import Cached, tenant_scope
from soev_retrieval.testing.faults import Delay, Scripted


class Clock:
    """Tells the time that it is set to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def counting() -> Scripted:
    """A store that numbers its answers."""
    numbers = iter(range(1000))
    return Scripted(lambda call: [next(numbers)])


def test_without_writes_it_is_invisible(invisible: Callable[..., None]) -> None:
    """Over a store that nobody writes to, however small it is and however soon it forgets."""
    invisible(lambda store: Cached(store, 100))
    invisible(lambda store: Cached(store, 1, 5.0))


happenings = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), st.integers(1, 4)) | st.sampled_from([1, 4, 9])
)


# An answer that was old and asked for anew is the last used.
@example([("a", 1), ("a", 2), 9, ("a", 1), ("a", 3), ("a", 1)], 2, 5)
@given(happenings, st.integers(1, 4), st.sampled_from([None, 5]))
def test_it_keeps_the_answers_used_last(
    virtual: Any, happenings: list[Any], size: int, seconds: int | None
) -> None:
    """Each call is answered from the answer a plain list of the last used ones holds, or asked."""

    async def main() -> None:
        clock, store = Clock(), counting()
        layer = Cached(store, size, seconds, clock)
        kept: list[tuple[Any, float, Any]] = []
        for happening in happenings:
            if isinstance(happening, int):
                clock.now += happening
                continue
            tenant, limit = happening
            with tenant_scope(tenant):
                answer = await Bm25("docs", "cat", limit, None).on(layer)
            there = [each for each in kept if each[0] == happening]
            if there and (seconds is None or clock.now < there[0][1] + seconds):
                expected = there[0]
            else:
                expected = (happening, clock.now, (len(store.calls) - 1,))
                assert expected[2][0] not in {number for *_, (number,) in kept}, "it was not asked"
            assert answer == expected[2]
            kept = [*(each for each in kept if each[0] != happening), expected][-size:]

    virtual(main())


DIFFERENT: list[Call[Any]] = [
    Bm25("docs", "cat", 3, None),
    Bm25("docs", "cat", 3, field("year") == 1),
    Bm25("docs", "cat", 3, field("year") == 1.0),
    Bm25("docs", "cat", 3, field("year") == True),  # noqa: E712
    Bm25("docs", "cat", 4, None),
    Bm25("docs", "cats", 3, None),
    Bm25("other", "cat", 3, None),
    Fetch("docs", None, 3, None, False),
    Fetch("docs", None, 3, "year", False),
    Fetch("docs", None, 3, "year", True),
    Hybrid("docs", "cat", None, 3, None, None),
    Hybrid("docs", "cat", None, 3, None, 0.0),
    Hybrid("docs", "cat", (1.0, 0.0), 3, None, None),
    NearVector("docs", (1.0, 0.0), 3, None),
    NearVector("docs", (1.0, 0.5), 3, None),
]


async def test_calls_that_differ_do_not_share() -> None:
    """A call is the same in every argument or it is another: method, filter and types too."""
    store = counting()
    layer = Cached(store, 100)
    answers = [await call.on(layer) for call in [*DIFFERENT, *DIFFERENT]]
    assert answers == [(number,) for number in range(len(DIFFERENT))] * 2


@pytest.mark.parametrize("tenants", [("a", "b"), (None, "a"), ("a", None)])
@pytest.mark.looptime
async def test_tenants_do_not_share(asked: Any, method: str, tenants: tuple[Any, Any]) -> None:
    """Not an answer, and not a flight either: who has none is not who has one."""
    store = Scripted(Delay(1, "first"), Delay(1, "second"))
    layer = Cached(store, 100)

    async def ask(tenant: str | None) -> Any:
        if tenant is None:
            return await asked(method).on(layer)
        with tenant_scope(tenant):
            return await asked(method).on(layer)

    for _ in range(2):
        answers = await asyncio.gather(*map(ask, tenants))
        assert ["".join(each) for each in answers] == ["first", "second"]
    assert len(store.calls) == 2


@pytest.mark.parametrize(
    "error",
    [StoreUnavailable("down"), InvalidQueryError("no"), ZeroDivisionError()],
    ids=lambda error: type(error).__name__,
)
async def test_errors_are_not_kept(asked: Any, method: str, error: Exception) -> None:
    """The next call asks again."""
    layer = Cached(Scripted(error, "answer"), 100)
    with pytest.raises(type(error)) as raised:
        await asked(method).on(layer)
    assert raised.value is error
    assert "".join(await asked(method).on(layer)) == "answer"


async def test_what_one_caller_gets_no_other_can_change(asked: Any) -> None:
    """Results are tuples of frozen hits, whatever the store returns."""
    hits = [Hit("a", 1.0, {"tags": ["x"]})]
    layer = Cached(Scripted(hits), 100)
    first = await asked("bm25").on(layer)
    hits.clear()
    assert isinstance(first, tuple)
    with pytest.raises(TypeError):
        first[0].properties["tags"] = ("y",)
    assert await asked("bm25").on(layer) == (Hit("a", 1.0, {"tags": ["x"]}),)


async def test_a_field_spec_is_handed_out_as_it_is() -> None:
    """An empty one too: it is an answer."""
    spec = FieldSpec([])
    store = Scripted(spec)
    layer = Cached(store, 1)
    assert [await Fields("docs").on(layer) for _ in range(2)] == [spec, spec]
    assert len(store.calls) == 1


async def test_no_result_is_an_answer_too(asked: Any) -> None:
    """The store is not asked again whether nothing matches."""
    store = Scripted([])
    layer = Cached(store, 1)
    assert [await asked("bm25").on(layer) for _ in range(2)] == [(), ()]
    assert len(store.calls) == 1


@pytest.mark.parametrize("vector", [[1.0, 0.0], np.array([1.0, 0.0])], ids=["list", "array"])
async def test_a_vector_that_is_changed_later_is_another(vector: Any) -> None:
    """What was asked is kept as it was, though the caller uses its buffer again."""
    store = counting()
    layer: Any = Cached(store, 2)
    for numbers, expected in [((1.0, 0.0), 0), ((0.0, 1.0), 1), ((1.0, 0.0), 0), ((2.0, 2.0), 2)]:
        vector[:] = numbers
        assert await layer.near_vector("docs", vector=vector, limit=1) == (expected,)
    assert [call.vector for call in store.calls] == [(1.0, 0.0), (0.0, 1.0), (2.0, 2.0)]  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [0, -1, True, 1.0, None])
def test_size_is_an_int_of_at_least_one(size: Any) -> None:
    """Anything else is refused when the layer is made."""
    with pytest.raises(ValueError, match="size must be an int of at least 1"):
        Cached(Scripted([]), size)


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), float("inf"), "1", True])
def test_seconds_is_none_or_above_zero(seconds: Any) -> None:
    """Anything else is refused when the layer is made."""
    with pytest.raises(ValueError, match="seconds must be a finite number above 0"):
        Cached(Scripted([]), 1, seconds)


async def test_the_repr_holds_no_answer(asked: Any) -> None:
    """It prints the settings, neither queries nor results."""
    store = Scripted([Hit("secret", 1.0)])
    layer = Cached(store, 9, 60.0)
    await asked("bm25").on(layer)
    assert repr(layer) == f"Cached(size=9, seconds=60.0) > {store!r}"
