"""Every operator on every awkward value against every other: at each boundary what `matches` says."""

from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from itertools import pairwise, product
from typing import Any

import pytest

from soev_retrieval.domain import (
    MAX_INT,
    TYPES,
    DeclaredFilter,
    Field,
    FieldSpec,
    Record,
    matches,
    operators_of,
)
from soev_retrieval.memory import MemoryStore

Fill = Callable[..., Awaitable[MemoryStore]]

VALUES: dict[str, list[Any]] = {
    "text": [
        *(
            "",
            " ",
            "a",
            "a ",
            " a",
            "A",
            "ab",
            "ab c",
            "abz",
            "abzz",
            "ac",
            "b",
            "10",
            "9",
            "%",
            "a%",
        ),
        *(
            "a_",
            "a*",
            "?",
            "\\",
            "'",
            '"',
            "null",
            "a\nb",
            "\t",
            "\x01",
            "\x7f",
            "a\uffff",
            "\uffff",
        ),
        *(
            "é",
            "e\u0301",
            "ß",
            "日本",
            "😀",
            "a😀",
            "a/b",
            "a/b/c",
            "a/bc",
            "/a//b/",
            "/",
            "a/",
            "b/a",
        ),
    ],
    "int": [-MAX_INT, -10, -2, -1, 0, 1, 2, 9, 10, 2**24, 2**24 + 1, MAX_INT - 1, MAX_INT],
    "float": [
        *(-1e300, -2.0, -1.5, -5e-324, -0.0, 0.0, 5e-324, 0.1, 0.3, 0.1 + 0.2, 1.0, 2.0),
        *(2.0**24 + 1, 2.0**53 - 1, 2.0**53, 1e300),
    ],
    "bool": [False, True],
    "datetime": [
        datetime.fromisoformat(text)
        for text in (
            "0001-01-02T00:00:00+00:00",
            "1969-12-31T23:59:59.999999+00:00",
            "1970-01-01T00:00:00+00:00",
            "2000-01-01T00:00:00+00:00",
            "2000-01-01T02:00:00+02:00",  # the same instant
            "2000-01-01T00:00:00.000001+00:00",
            "2000-01-01T00:00:00+02:00",
            "2000-01-01T00:00:00-05:00",
            "9999-12-30T00:00:00+00:00",
        )
    ],
}
IN_FILTERS: dict[str, list[Any]] = {
    **VALUES,
    # Values that no chunk has, and ints for floats.
    "text": [*VALUES["text"], "aa", "abzzz", "zz", "a/b/", "//a"],
    "int": [*VALUES["int"], -5, 5],
    "float": [*VALUES["float"], 0, 1, 2, 3, -MAX_INT, MAX_INT, 0.25],
}


def _predicates(field: Field) -> Iterator[DeclaredFilter]:
    """Each operator of the field with each value, and with several where it takes several."""
    values = IN_FILTERS[field.type]
    for op in field.operators:
        if op in ("exists", "missing"):
            yield DeclaredFilter(field.name, op)
        elif op in ("in", "not_in", "contains_any", "contains_all"):
            several = [(), *([one] for one in values), *pairwise(values), values, values[::2]]
            yield from (DeclaredFilter(field.name, op, each) for each in several)
        else:
            yield from (DeclaredFilter(field.name, op, value) for value in values)


@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
@pytest.mark.parametrize("type", TYPES)
async def test_every_operator_on_every_value(filled: Fill, type: str, many: bool) -> None:
    """Whatever the value of a predicate, it finds the chunks that `matches` says, and no other."""
    operators = [*operators_of(type, many), *(["under"] if type == "text" else [])]
    field = Field("it", type, many, operators=operators)
    values: list[Any] = VALUES[type]
    if many:
        values = [*([value] for value in values), *map(list, product(values[::3], values[1::3]))]
    records = [Record(f"{n}", {"it": value}) for n, value in enumerate([*values, None])]
    store = await filled(FieldSpec([field]), records)
    for where in _predicates(field):
        found = {chunk.id for chunk in await store.fetch("docs", where=where, limit=len(records))}
        right = {record.id for record in records if matches(where, record.properties)}
        assert found == right, str(where)
