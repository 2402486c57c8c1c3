"""Replenished: deeper until enough is kept, never mixed, never twice."""

from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.calls import Call, Fields, Hybrid
from soev_retrieval.domain import Chunk, FieldSpec, Hit, InvalidQueryError, Record
from soev_retrieval.engine import Blocklist, Deduplicated, Recording, Replenished
from soev_retrieval.testing.faults import Scripted

RANKING = [Hit(f"{rank:02}", 100.0 - rank, {"kind": "ab"[rank % 2]}) for rank in range(40)]


def deep(call: Any) -> list[Hit]:
    """A store of forty hits."""
    return RANKING[: call.limit]


async def everything(target: str, results: Sequence[Any]) -> Sequence[Any]:
    return results


def test_a_rule_that_keeps_everything_is_invisible(invisible: Any) -> None:
    """The store is asked once, and its answer passed on."""
    invisible(lambda store: Replenished(store, everything, 100))


def test_it_is_the_deepest_answer_kept_and_cut(worlds: Any, virtual: Any) -> None:
    """Where depth does not change the order, as on the oracle, it is the rule over all of it."""

    @given(
        worlds.records(max_size=15),
        worlds.calls().filter(lambda call: not isinstance(call, Fields)),
        st.sampled_from(
            [Blocklist(set("abcdefgh")), Blocklist({"b", "a"}, "tags"), Deduplicated("kind")]
        ),
        st.integers(1, 15),
    )
    def law(records: Sequence[Record], call: Any, keep: Any, deepest: int) -> None:
        async def main() -> None:
            store = await worlds.store(records)
            whole = await limited(call, max(call.limit, deepest)).on(store)
            expected = list(await keep("docs", whole))[: call.limit]
            assert list(await call.on(Replenished(store, keep, deepest))) == expected

        virtual(main())

    law()


def limited(call: Any, limit: int) -> Any:
    return attrs.evolve(call, limit=limit)


@pytest.mark.parametrize(
    ("limit", "blocked", "deepest", "asked_for", "kept"),
    [
        (5, 0, 40, [5], range(5)),
        (5, 1, 40, [5, 10], range(1, 6)),
        (5, 12, 40, [5, 10, 20], range(12, 17)),
        (5, 18, 40, [5, 10, 20, 40], range(18, 23)),
        (5, 12, 12, [5, 10, 12], []),
        (5, 12, 14, [5, 10, 14], [12, 13]),
        (5, 12, 1, [5], []),
        (30, 12, 20, [30], range(12, 30)),
        (30, 12, 1000, [30, 60], range(12, 40)),
        (50, 12, 1000, [50], range(12, 40)),
        (1, 39, 1000, [1, 2, 4, 8, 16, 32, 64], [39]),
    ],
)
async def test_it_doubles_up_to_the_deepest(
    asked: Any,
    filtered_method: str,
    limit: int,
    blocked: int,
    deepest: int,
    asked_for: list[int],
    kept: Sequence[int],
) -> None:
    """It stops at enough, at the deepest, or where the store returned fewer than asked."""
    store = Scripted(deep)
    layer = Replenished(store, Blocklist({hit.id for hit in RANKING[:blocked]}), deepest)
    call = asked(filtered_method, limit=limit)
    assert list(await call.on(layer)) == [RANKING[rank] for rank in kept]
    assert store.calls == [limited(call, depth) for depth in asked_for]


async def test_the_last_answer_counts_as_a_whole(asked: Any) -> None:
    """A deeper search that ranks otherwise is not mixed with the one before."""
    shallow, deeper = RANKING[:2], [RANKING[5], RANKING[1], RANKING[0], RANKING[7]]
    layer = Replenished(Scripted(shallow, deeper), Blocklist({"00"}), 4)
    assert list(await asked("bm25", limit=2).on(layer)) == [RANKING[5], RANKING[1]]


async def test_hybrid_beyond_its_pool_keeps_the_last_answer(worlds: Any) -> None:
    """Past a hundred hits a deeper hybrid search scales otherwise, and the last one counts."""
    records = [
        Record(f"{number:03}", {"body": "cat " * (1 + number % 7)}, (1.0, number / 100))
        for number in range(250)
    ]
    store, recorded = await worlds.store(records), list[tuple[Call[Any], Any]]()
    keep = Blocklist({f"{number:03}" for number in range(0, 250, 2)})
    call = Hybrid("docs", "cat", (1.0, 1.3), 90, None, 0.5)
    answer = await call.on(Replenished(Recording(store, recorded), keep, 250))
    assert [each.limit for each, _ in recorded] == [90, 180]  # type: ignore[attr-defined]
    assert list(answer) == list(await keep("docs", recorded[-1][1]))[:90]


@pytest.mark.parametrize(
    "results", [RANKING[:3], [Chunk("00"), Chunk("01"), Chunk("02")]], ids=["hits", "chunks"]
)
async def test_no_chunk_comes_twice(asked: Any, results: list[Any]) -> None:
    """Neither where the store repeats one nor where the rule does, and a repeated one counts once."""

    async def twice(target: str, results: Sequence[Any]) -> Sequence[Any]:
        return [*results, *results]

    first, second, third = results
    store = Scripted([first, first, second], [first, second, first, third, second, third])
    assert list(await asked("fetch", limit=3).on(Replenished(store, twice, 6))) == results


async def test_of_a_chunk_that_comes_twice_the_first_counts(asked: Any) -> None:
    """With the score that it has there: the order of the answer is not disturbed."""
    hits = [Hit("a", 3.0), Hit("b", 2.0), Hit("a", 1.0)]
    store = Replenished(Scripted(hits), Deduplicated("body"), 3)
    assert list(await asked("bm25", limit=3).on(store)) == hits[:2]


async def test_fields_passes_through() -> None:
    """The rule is not asked about a field spec."""
    spec = FieldSpec([], dimension=3)
    assert await Fields("docs").on(Replenished(Scripted(spec), Blocklist(set()), 9)) is spec


@pytest.mark.parametrize(
    "returned", [None, "a1", b"", iter([]), {}], ids=lambda one: type(one).__name__
)
async def test_a_rule_without_results_is_refused(asked: Any, returned: Any) -> None:
    """As in PostFiltered: None is not an empty answer, and text is no sequence of results."""

    async def nothing(target: str, results: Sequence[Any]) -> Any:
        return returned

    with pytest.raises(InvalidQueryError, match=f"not {type(returned).__name__}"):
        await asked("bm25").on(Replenished(Scripted([]), nothing, 9))


@pytest.mark.parametrize("limit", [0, True, "3", None])
async def test_a_wrong_limit_is_refused_before_anything_is_sent(asked: Any, limit: Any) -> None:
    """It is not doubled."""
    store = Scripted([])
    with pytest.raises(InvalidQueryError, match="limit must be"):
        await asked("bm25", limit=limit).on(Replenished(store, everything, 9))
    assert store.calls == []


@pytest.mark.parametrize("deepest", [0, True, 1.5, None])
def test_deepest_is_an_int_of_at_least_one(deepest: Any) -> None:
    """Anything else is refused when the layer is made."""
    with pytest.raises(ValueError, match="deepest must be an int of at least 1"):
        Replenished(Scripted([]), everything, deepest)
