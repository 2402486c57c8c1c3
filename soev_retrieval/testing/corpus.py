"""The index that a store is tested on: a spec with every type, and chunks that tell stores apart."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from itertools import count
from random import Random
from typing import Any

from soev_retrieval.domain import MAX_INT, Field, FieldSpec, Properties, Record

WORDS = (
    *("zebra", "quartz", "copper", "violin", "harbor", "lantern", "meadow", "pepper"),
    *("saddle", "thunder", "walnut", "blanket"),
)
"""Words that every analysis keeps as they are; the later ones are rarer in the corpus."""

TENANTS = ("north", "south")
"""Each chunk of one has a twin of the other: the same text, vector and fields under another id."""

_LABELS = (
    *("alpha", "Alpha", " alpha", "alpha ", "alpha beta", "beta alpha", "alph", "alphabet", ""),
    *(
        "a/b",
        "a/b/c",
        "a/bc",
        "a%",
        "a_c",
        "abc",
        "a*c",
        "a?c",
        "a\\c",
        "'",
        '"',
        "10",
        "9",
        "true",
    ),
    *("é", "e\u0301", "ß", "ss", "日本", "😀", "a\nb", "\u00a0", "the", "1", "null"),
)
_NUMBERS = (0, 1, 2, -1, 9, 10, 2**24, 2**24 + 1, 2**31, MAX_INT, MAX_INT - 1, -MAX_INT)
_PRICES = (0.0, 1.0, 2.0, -1.5, 0.1, 0.1 + 0.2, 0.3, 2.0**24, 2.0**24 + 1, 1e15 + 0.3, 1e-9)
_TIMES = (
    datetime(1999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(2000, 1, 1, tzinfo=UTC),
    datetime(2000, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
    datetime(2000, 1, 1, 0, 0, 0, 2000, tzinfo=UTC),
    datetime(2000, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))),
    datetime(2000, 1, 1, 23, tzinfo=timezone(timedelta(hours=-5))),
    datetime(2024, 2, 29, 12, tzinfo=UTC),
)


def spec(*, dimension: int = 8, distance: str = "cosine") -> FieldSpec:
    """A target with a field of every type, single and many, and searchable text.

    Args:
        dimension: The length of its vectors.
        distance: How they compare.
    """
    return FieldSpec(
        [
            Field("text", "text", searchable=True),
            Field("tenant", "text"),
            Field("label", "text"),
            Field("number", "int"),
            Field("price", "float"),
            Field("flag", "bool"),
            Field("time", "datetime"),
            Field("labels", "text", many=True),
            Field("numbers", "int", many=True),
            Field("prices", "float", many=True),
            Field("times", "datetime", many=True),
        ],
        dimension,
        distance,
    )


def records(spec: FieldSpec, *, size: int = 72) -> list[Record]:
    """The same chunks in every run, an even number of them: fields missing here and there.

    Args:
        spec: What they keep to. Fields of its that `spec()` does not have stay empty.
        size: How many.
    """
    random = Random(7)  # noqa: S311  (the same chunks for everybody)
    made: list[Record] = []
    for number in range(size // 2):
        properties = {name: value for name, value in _properties(number).items() if name in spec}
        vector = _vector(number, spec.dimension, random)
        made.extend(
            Record(f"{tenant}-{number}", Properties({**properties, **_of(tenant, spec)}), vector)
            for tenant in TENANTS
        )
    return made


def _of(tenant: str, spec: FieldSpec) -> dict[str, str]:
    return {"tenant": tenant} if "tenant" in spec else {}


def _properties(number: int) -> dict[str, Any]:
    values: dict[str, Any] = {
        "text": " ".join(_words(number)),
        "label": _LABELS[number % len(_LABELS)],
        "number": _NUMBERS[number % len(_NUMBERS)],
        "price": _PRICES[number % len(_PRICES)],
        "flag": number % 2 == 0,
        "time": _TIMES[number % len(_TIMES)],
        "labels": _some(_LABELS, number),
        "numbers": _some(_NUMBERS, number),
        "prices": _some(_PRICES, number),
        "times": _some(_TIMES, number),
    }
    # Each field is missing from some chunks, and no two from the same ones.
    return {
        name: value
        for place, (name, value) in zip(count(5), values.items(), strict=False)
        if (number + 1) % place
    }


def _words(number: int) -> list[str]:
    return [word for place, word in enumerate(WORDS) if number % (place + 2) == place % 3] or [
        WORDS[number % 4]
    ]


def _some(values: Sequence[Any], number: int) -> list[Any]:
    return [values[(number + step * step) % len(values)] for step in range(number % 4)]


def _vector(number: int, dimension: int | None, random: Random) -> list[float] | None:
    if dimension is None or number % 9 == 4:
        return None
    numbers = [float(random.randint(-3, 3)) for _ in range(dimension)]
    return numbers if any(numbers) else [1.0] * dimension
