"""The index that a store is tested on: a spec with every type, and chunks that tell stores apart."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from itertools import cycle
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
_VALUES: dict[str, Sequence[Any]] = {
    "text": _LABELS,
    "int": _NUMBERS,
    "float": _PRICES,
    "bool": (True, False),
    "datetime": _TIMES,
}


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
        spec: What they keep to. Each of its fields is filled by its type.
        size: How many.
    """
    random = Random(7)  # noqa: S311  (the same chunks for everybody)
    made: list[Record] = []
    for number in range(size // 2):
        properties = _properties(number, spec)
        vector = _vector(number, spec.dimension, random)
        made.extend(
            Record(f"{tenant}-{number}", Properties({**properties, **_of(tenant, spec)}), vector)
            for tenant in TENANTS
        )
    return made


def _names_tenants(field: Field) -> bool:
    return (field.name, field.type, field.many) == ("tenant", "text", False)


def _of(tenant: str, spec: FieldSpec) -> dict[str, str]:
    return {field.name: tenant for field in spec if _names_tenants(field)}


def _properties(number: int, spec: FieldSpec) -> dict[str, Any]:
    made: dict[str, Any] = {}
    alike = Counter[tuple[str, bool, bool]]()
    fields = [field for field in spec if not _names_tenants(field)]
    # Each field is missing from some chunks, and hardly two from the same ones.
    for place, field in zip(cycle(range(5, 15)), fields, strict=False):
        kind = (field.type, field.many, field.searchable)
        if (number + 1) % place:
            made[field.name] = _value(field, number + 3 * alike[kind])
        alike[kind] += 1
    return made


def _value(field: Field, number: int) -> Any:
    if field.searchable:
        words = _words(number)
        return words if field.many else " ".join(words)
    values = _VALUES[field.type]
    return _some(values, number) if field.many else values[number % len(values)]


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
