"""The few things that every statement is written with."""

import json
from collections.abc import Iterator
from datetime import datetime
from math import inf, isfinite, nextafter
from typing import Any

SIGNS = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
"""The operators that SQL has a sign for."""

WORDS_FUNCTION = "soev_retrieval_words"
"""The name of `words_function`."""

SQL_FUNCTION = "LANGUAGE sql IMMUTABLE PARALLEL SAFE AS"
"""How a function is declared that a generated column may call."""


class Parameters:
    """The values of a statement. Calling it with one gives what stands for it, `$1` for the first."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def __call__(self, value: Any) -> str:
        self.values.append(value)
        return f"${len(self.values)}"


def as_float(number: str) -> str:
    """A numeric as the nearest float, as Python reads it: the bare cast raises beyond them all."""
    return (
        f"CASE WHEN {number} = 0 OR abs({number}) BETWEEN 2.4703282292062328e-324"
        f" AND 1.7976931348623158e308 THEN {number}::float8"
        f" WHEN abs({number}) < 1 THEN 0 ELSE sign({number})::float8 * 'Infinity'::float8 END"
    )


def neighbours(op: str, value: float) -> Iterator[tuple[str, float]]:
    """Between which floats the numbers are whose nearest float compares so with `value`.

    An index on exact numbers can serve that, and what is near is then compared as floats.
    """
    below, above = nextafter(value, -inf), nextafter(value, inf)
    if op in {"eq", "gt", "gte"} and isfinite(below):
        yield ">=", below
    if op in {"eq", "lt", "lte"} and isfinite(above):
        yield "<=", above


def after(prefix: str) -> str | None:
    """The first text, in code point order, after all that start with `prefix`."""
    for end in range(len(prefix) - 1, -1, -1):
        code = ord(prefix[end]) + 1
        if code <= 0x10FFFF:
            return prefix[:end] + chr(0xE000 if 0xD800 <= code <= 0xDFFF else code)
    return None


def quoted(name: str) -> str:
    """A name as an identifier."""
    return '"' + name.replace('"', '""') + '"'


def qualified(schema: str, name: str) -> str:
    """A name in a schema as an identifier."""
    return f"{quoted(schema)}.{quoted(name)}"


def literal(text: str) -> str:
    """A text as a constant, whatever standard_conforming_strings says.

    For what an index must see in the statement: everything else is a parameter.
    """
    doubled = text.replace("\\", "\\\\").replace("'", "''")
    return f"E'{doubled}'"


def words_function(schema: str) -> str:
    """What counts the words of a tsvector: a generated column takes no subquery."""
    return (
        f"CREATE OR REPLACE FUNCTION {quoted(schema)}.{WORDS_FUNCTION}(tsvector)"
        f" RETURNS int {SQL_FUNCTION}"
        " $$SELECT coalesce(sum(cardinality(positions)), 0)::int FROM unnest($1)$$"
    )


def json_text(value: Any) -> str:
    """A portable value as JSON, datetimes as text of one width that sorts by instant."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_written)


def _written(value: datetime) -> str:
    return value.isoformat(timespec="microseconds")
