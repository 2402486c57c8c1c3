"""Rechecked: what does not match the filter does not get past it."""

import logging
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given

from soev_retrieval.calls import Call, Fields, Layer
from soev_retrieval.domain import NOTHING, Filter, Hit, Record, StoreUnavailable, field, matches
from soev_retrieval.engine import Rechecked
from soev_retrieval.testing.faults import Scripted

HITS = [Hit("a", 3.0, {"year": 1}), Hit("b", 2.0, {"year": 2}), Hit("c", 1.0)]


@attrs.frozen(repr=False, eq=False)
class Ignoring(Layer):
    """A store that ignores filters."""

    async def send(self, call: Any) -> Any:
        return await (call if isinstance(call, Fields) else call.filtered(None)).on(self.inner)


def never(target: str, dropped: int) -> None:
    raise AssertionError(f"{dropped} results of {target} did not match")


def test_a_store_that_filters_is_left_alone(invisible: Any) -> None:
    """Around a store that applies the filter it changes nothing and reports nothing."""
    invisible(lambda store: Rechecked(store, never))


def test_what_does_not_match_is_dropped(worlds: Any, virtual: Any) -> None:
    """Around a store that ignores filters, exactly what matches is left, in its order."""

    @given(worlds.records(), worlds.calls())
    def law(records: Sequence[Record], call: Call[Any]) -> None:
        async def main() -> None:
            store, reports = Ignoring(await worlds.store(records)), []
            layer = Rechecked(store, lambda *report: reports.append(report))
            came, left = await call.on(store), await call.on(layer)
            where: Filter | None = getattr(call, "where", None)
            if where is None:
                assert left == came
                return
            assert list(left) == [each for each in came if matches(where, each.properties)]
            dropped = len(came) - len(left)
            assert reports == ([("docs", dropped)] if dropped else [])

        virtual(main())

    law()


@pytest.mark.parametrize(
    ("where", "left", "dropped"),
    [
        (field("year") == 1, ["a"], 2),
        (field("year") != 1, ["b", "c"], 1),
        (field("year").missing(), ["c"], 2),
        (NOTHING, [], 3),
    ],
    ids=str,
)
async def test_the_number_dropped_is_reported(
    asked: Any, where: Filter, left: list[str], dropped: int
) -> None:
    """Once for each answer, with the target."""
    reports: list[tuple[str, int]] = []
    layer = Rechecked(Scripted(HITS), lambda *report: reports.append(report))
    assert [hit.id for hit in await asked("bm25", where).on(layer)] == left
    assert reports == [("docs", dropped)]


async def test_the_warning_tells_no_secrets(asked: Any, caplog: pytest.LogCaptureFixture) -> None:
    """The default logs how many and of which target, and neither filter values nor the query."""
    await asked("bm25", field("year") == 41234, query="salaries").on(Rechecked(Scripted(HITS)))
    [record] = caplog.records
    assert (record.levelno, record.name.split(".")[0]) == (logging.WARNING, "soev_retrieval")
    assert "dropped 3 results of target 'docs'" in record.getMessage()
    assert "41234" not in str(vars(record))
    assert "salaries" not in str(vars(record))


async def test_nothing_dropped_is_nothing_logged(
    asked: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A store that keeps to its contract makes no noise."""
    await asked("bm25", field("year").missing()).on(Rechecked(Scripted(HITS[2:])))
    assert caplog.records == []


async def test_an_error_of_the_store_is_its_own(asked: Any) -> None:
    """Nothing is reported of an answer that did not come."""
    error = StoreUnavailable("down")
    with pytest.raises(StoreUnavailable) as raised:
        await asked("bm25", field("year") == 1).on(Rechecked(Scripted(error), never))
    assert raised.value is error
