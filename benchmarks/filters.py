"""What a filter costs for each of its terms."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from benchmarks.measure import Aim, Contender, Report, Row, race
from soev_retrieval.domain import (
    AllOf,
    AnyOf,
    Field,
    FieldSpec,
    Filter,
    Not,
    check,
    field,
    from_json,
    matches,
    parse,
    simplify,
    to_json,
)

_SPEC = FieldSpec(
    [
        Field("year", "int"),
        Field("status", "text"),
        Field("tags", "text", many=True),
        Field("seen", "datetime"),
        Field("path", "text"),
    ]
)
_PROPERTIES = {
    "year": 2020,
    "status": "final",
    "tags": ("wing", "flutter"),
    "seen": datetime(2024, 1, 31, tzinfo=UTC),
    "path": "reports/wings",
}
_BLOCK = 5  # terms
_SIMPLIFY = Aim(5.0)  # half a second for 100,000


def expression(terms: int) -> Filter:
    """A filter of that many terms, a multiple of 5, that matches after every term was looked at."""
    return AllOf([_block(number) for number in range(terms // _BLOCK)])


def _block(number: int) -> Filter:
    return AllOf(
        [
            AnyOf(
                [
                    field("year") == number - 1_000_000,
                    field("status").in_(["draft", "final", f"of {number}"]),
                ]
            ),
            Not(field("tags").contains(f"tag {number}")),
            field("seen") >= datetime(2000, 1, 1, tzinfo=UTC),
            field("path").prefix("reports/"),
        ]
    )


async def measured(
    *, rounds: int = 31, few: int = 1_000, many_rounds: int = 5, many: int = 100_000
) -> Report:
    """Time what is done with a filter, for a long one and a very long one.

    Args:
        rounds: How many numbers to take of each for the long one.
        few: How many terms the long one has.
        many_rounds: How many numbers to take of each for the very long one.
        many: How many terms the very long one has.
    """
    rows = [
        *await _rows(few, rounds=rounds),
        *await _rows(many, rounds=many_rounds),
    ]
    return Report(
        "A filter's cost per term",
        rows,
        "figure: µs for each term, of the processor's time; the aim of simplify is 100,000 terms"
        " in well under a second",
    )


async def _rows(terms: int, *, rounds: int) -> list[Row]:
    works = _works(expression(terms))
    contenders = {name: _contender(work) for name, work in works.items()}
    times = await race(contenders, rounds=rounds, clock=time.thread_time)
    return [
        Row(
            f"{name}, {terms:,} terms",
            taken.median / terms * 1e6,
            "µs",
            _SIMPLIFY if name == "simplify" else None,
            taken,
        )
        for name, taken in times.items()
    ]


def _works(filter: Filter) -> dict[str, Callable[[], object]]:
    text, form = str(filter), to_json(filter)
    assert matches(filter, _PROPERTIES)
    return {
        "matches": lambda: matches(filter, _PROPERTIES),
        "simplify": lambda: simplify(filter),
        "check": lambda: check(filter, _SPEC),
        "str": lambda: str(filter),
        "parse": lambda: parse(text),
        "to_json": lambda: to_json(filter),
        "from_json": lambda: from_json(form),
    }


def _contender(work: Callable[[], object]) -> Contender:
    async def call() -> object:
        return work()

    return call
