"""Objects and filters of values that a server treats oddly, drawn at random."""

import random
from typing import Any

from tests.adapters.weaviate._standin_client import joined, leaf, prop

TEXTS = [
    *("", " ", "a", " a", "a ", "\ta\n", "A", "b", "a b", "b a", "ab", "a*c", "a?c", "abc", "the"),
    *("The cat", "cat the", "é", "É", "e", "ß", "日本", "a\nb", "\u00a0a", "\x85a", "\x1fa", "!!!"),
    *("a_b", "user_id", "a.b", "hello world", "Hello, World!", "\U0001f600", "0", "10", "9"),
    *("<b>", '"q"', "a\\b", "a&b", "\x08", "\x7f", "S"),
]
INTS = [0, 1, -1, 2, 10, 2**31, -(2**31), 2**53 - 1, -(2**53) + 1, 2**53 + 1, 2**60]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1e-320, 1e21, -1e300, 1e308, 2.0**53, 3.0]
DATES = [
    *("1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z", "2020-02-29T12:00:00+02:00"),
    *("2020-02-29T10:00:00Z", "2020-02-29T10:00:00.000000001Z", "1600-01-01T00:00:00Z"),
    *("9999-12-31T23:59:59Z", "2262-04-11T23:47:16Z", "2262-04-12T00:00:00Z"),
    *("0001-01-01T00:00:00Z", "2024-06-30T23:59:59-05:30"),
]
UUIDS = [f"{each}0000000-0000-4000-8000-00000000000{each}" for each in "0123f"]
VALUES: dict[str, list[Any]] = {
    "text": TEXTS,
    "int": INTS,
    "number": FLOATS,
    "date": DATES,
    "boolean": [True, False],
    "uuid": UUIDS,
}
_PLAIN: dict[str, Any] = {"indexSearchable": False}
PROPERTIES = [
    prop("f", tokenization="field", **_PLAIN),
    prop("w"),
    prop("lc", tokenization="lowercase"),
    prop("ws", tokenization="whitespace"),
    prop("tri", tokenization="trigram"),
    prop("so", tokenization="field", indexFilterable=False),
    prop("no", tokenization="field", indexFilterable=False, **_PLAIN),
    prop("n", "int"),
    prop("x", "number"),
    prop("d", "date"),
    prop("b", "boolean"),
    prop("u", "uuid"),
    prop("r", "int", indexFilterable=False, indexRangeFilters=True),
    prop("rr", "number", indexRangeFilters=True),
    prop("rd", "date", indexRangeFilters=True),
    prop("ts", "text[]", tokenization="field", **_PLAIN),
    prop("tw", "text[]"),
    prop("ns", "int[]"),
    prop("xs", "number[]"),
    prop("bs", "boolean[]"),
    prop("ds", "date[]"),
    prop("us", "uuid[]"),
]
"""One of each type, and of each index."""

KINDS = {each["name"]: each["dataType"][0] for each in PROPERTIES}
"""Their types by name."""


def random_object(of: random.Random) -> dict[str, Any]:
    """Some of the properties, with odd values."""
    result = {}
    for name, kind in KINDS.items():
        values = VALUES[kind.removesuffix("[]")]
        if kind.endswith("[]"):
            result[name] = of.choices(values, k=of.randrange(4))
        else:
            result[name] = of.choice(values)
    return {name: value for name, value in result.items() if of.random() < 0.7}


def _random_leaf(of: random.Random) -> Any:
    name = of.choice([*KINDS, "f", "w", "ts"])
    values = VALUES[KINDS[name].removesuffix("[]")]
    comparing = ["EQUAL", "NOT_EQUAL", "GREATER_THAN", "GREATER_THAN_EQUAL", "LESS_THAN"]
    comparing += ["LESS_THAN_EQUAL"]
    kind = of.choice(["compared"] * 6 + ["contains"] * 3 + ["null", "length", "like"])
    if kind == "null":
        return leaf("IS_NULL", name, of.random() < 0.5)
    if kind == "length":
        return leaf(of.choice(comparing), f"len({name})", of.randrange(6))
    if kind == "contains":
        operator = of.choice(["CONTAINS_ANY", "CONTAINS_ALL", "CONTAINS_NONE"])
        return leaf(operator, name, of.choices(values, k=of.randrange(1, 4)))
    if kind == "like" and values is TEXTS:
        text = of.choice(["*", "a*", "*a", "?", "a?c", "*b*", "the*", "", "h*o w*d", "a*\n*"])
        return leaf("LIKE", name, text)
    return leaf(of.choice(comparing), name, of.choice(values))


def random_formula(of: random.Random, depth: int) -> Any:
    """A filter of odd values, of no more than so many levels."""
    if depth == 0 or of.random() < 0.35:
        return _random_leaf(of)
    operator = of.choice(["AND", "OR", "NOT"])
    count = 1 if operator == "NOT" else of.randrange(1, 4)
    return joined(operator, *(random_formula(of, depth - 1) for _ in range(count)))
