"""What a collection of others holds, and the chunks that it is."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any
from uuid import UUID

from weaviate.classes.config import Configure, DataType, Property, Tokenization
from weaviate.classes.data import DataObject

from soev_retrieval.domain import (
    MAX_INT,
    AllOf,
    AnyOf,
    Chunk,
    DeclaredFilter,
    Filter,
    InvalidQueryError,
    Not,
    matches,
    predicates,
    simplify,
)
from tests.adapters.weaviate.existing import There, exact, number_id

_TEXTS = (
    *("a", "A", "", "a b", "alpha", "alphabet", "Alpha", 'q"u', "back\\slash", "'", "é", "e\u0301"),
    *(
        "😀",
        "日本",
        "1",
        "true",
        "null",
        "*",
        "a*c",
        "a?",
        "a%",
        "a\nb",
        "the",
        "!!!",
        "\ud7ff",
        "\ue000",
    ),
)
EDGED = (" a", "a ", " ", "\ta", "a\n", "\u00a0a", "a\u2003", "\u0085", "\u200ba")
"""Texts with white space at an edge; the last one's is none to Weaviate."""

_TIMES = (
    datetime(1677, 9, 22, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(2000, 1, 1, tzinfo=UTC),
    datetime(2000, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
    datetime(2000, 1, 1, 0, 0, 0, 2, tzinfo=UTC),
    datetime(2262, 4, 11, tzinfo=UTC),
)
_UUIDS = tuple(str(UUID(int=each * 2**120 + 7)) for each in (0, 1, 2, 200))
POOLS: Mapping[str, Sequence[Any]] = {
    "text": _TEXTS,
    "edged": (*_TEXTS, *EDGED),
    "int": (0, 1, -1, 2, 10, 2**31, MAX_INT, MAX_INT - 1, -MAX_INT),
    "float": (0.0, -0.0, 1.0, 1.5, -2.5, 0.1, 0.1 + 0.2, 1e22, 1e-7, 5e-324, 1.7e308),
    "bool": (True, False),
    "date": _TIMES,
    "uuid": _UUIDS,
}
"""What may stand in a property, by its name's first word."""

_TYPES = {
    "text": (DataType.TEXT, DataType.TEXT_ARRAY),
    "edged": (DataType.TEXT, DataType.TEXT_ARRAY),
    "int": (DataType.INT, DataType.INT_ARRAY),
    "float": (DataType.NUMBER, DataType.NUMBER_ARRAY),
    "bool": (DataType.BOOL, DataType.BOOL_ARRAY),
    "date": (DataType.DATE, DataType.DATE_ARRAY),
    "uuid": (DataType.UUID, DataType.UUID_ARRAY),
}


def properties(*, ranges: bool, filterable: bool = True) -> list[Property]:
    """A property of each type, single and several.

    Args:
        ranges: Whether what has an order has an index of ranges.
        filterable: Whether it has the usual one too.
    """
    made: list[Property] = []
    for name, (one, many) in _TYPES.items():
        if name in {"text", "edged"}:
            made += [exact(f"{name}_one", one), exact(f"{name}_many", many)]
            continue
        able = ranges and name in {"int", "float", "date"}
        made.append(
            Property(
                name=f"{name}_one",
                data_type=one,
                index_range_filters=True if able else None,
                index_filterable=False if able and not filterable else None,
            )
        )
        made.append(Property(name=f"{name}_many", data_type=many))
    return made


def indexed(*, nulls: bool) -> dict[str, Any]:
    """How a collection is made with an index of what is null, or without."""
    return {"inverted_index_config": Configure.inverted_index(index_null_state=nulls)}


def corpus(count: int = 150, seed: int = 7) -> tuple[list[DataObject[Any, Any]], list[Chunk]]:
    """Objects, and the chunks that they are."""
    random = Random(seed)
    stored, chunks = [], []
    for number in range(count):
        held: dict[str, Any] = {}
        for name, pool in POOLS.items():
            if random.random() < 0.75:
                held[f"{name}_one"] = random.choice(pool)
            if random.random() < 0.75:
                held[f"{name}_many"] = random.choices(pool, k=random.randint(0, 3))
        stored.append(
            DataObject(properties=dict(held), uuid=number_id(number), vector=[1.0, number])
        )
        chunks.append(
            Chunk(number_id(number), {name: one for name, one in held.items() if one != []})
        )
    return stored, chunks


async def expect_same(there: There, chunks: Sequence[Chunk], where: Filter) -> None:
    """The store finds by `where` the chunks that match it."""
    found = await there.ids(where)
    assert found == sorted(c.id for c in chunks if matches(where, c.properties)), where


async def expect_same_or_refused(
    there: There,
    chunks: Sequence[Chunk],
    where: Filter,
    *,
    roughly: Collection[str] = (),
    rough: Collection[str] = (),
) -> None:
    """The same, and refused for its reason where there is one, and only there.

    Args:
        there: The store.
        chunks: The chunks.
        where: The filter.
        roughly: The fields that are looked at again: what is beside them may not be asked for.
        rough: Those that serve equality alone, and that not negated.
    """
    terms = list(predicates(simplify(where)))
    reasons = [why for term in terms if (why := _reason(term))]
    if set(_unequal(simplify(where), negated=False)) & set(rough):
        reasons.append("cannot be asked for what it is not")
    try:
        found = await there.ids(where)
    except InvalidQueryError as error:
        told, cause = str(error), error.__cause__
    else:
        assert found == sorted(c.id for c in chunks if matches(where, c.properties)), where
        aside = {*roughly, *rough}
        assert not reasons or any(term.field in aside for term in terms), where
        return
    assert any(why in told for why in reasons), (where, told)
    assert cause is None, where


def _unequal(where: Filter, *, negated: bool) -> Iterator[str]:
    """The fields that a formula says not to equal something."""
    match where:
        case Not(inner):
            yield from _unequal(inner, negated=not negated)
        case AllOf(filters) | AnyOf(filters):
            for one in filters:
                yield from _unequal(one, negated=negated)
        case DeclaredFilter(op=op) if op not in {"exists", "missing"} and negated:
            yield where.field
        case _:
            pass


def _reason(term: DeclaredFilter) -> str | None:
    """Why a predicate cannot be asked exactly of a collection of others, if it cannot."""
    values: tuple[Any, ...] = term.value if isinstance(term.value, tuple) else (term.value,)
    kind = term.field.split("_")[0]
    if kind == "date" and any(not _FIRST <= each < _LAST for each in values if each is not None):
        return "Weaviate compares dates from 1677-09-21 to 2262-04-11"
    if kind == "uuid" and term.op in {"gt", "gte", "lt", "lte"} and not _is_uuid(term.value):
        return "it holds UUIDs"
    return None


_FIRST = datetime(1677, 9, 21, 0, 12, 44, tzinfo=UTC)
_LAST = datetime(2262, 4, 11, 23, 47, 16, tzinfo=UTC)


def _is_uuid(value: Any) -> bool:
    try:
        return bool(str(UUID(value)) == value)
    except ValueError:
        return False


CUT = (Tokenization.WORD, Tokenization.LOWERCASE, Tokenization.WHITESPACE, Tokenization.TRIGRAM)
_CUT_TEXTS = (
    *("a wing", "A Wing", "wing, a", "wing", "the wing", "wing wing", "wing-tip", "wing_tip"),
    *("the", "The", "THE the", "it is", "\u0130t", "zebra", "a zebra", "x", "ab", "abc", "abcd"),
    *("a-b-c", "a b c", "!!!", "-", "", " ", "a wing ", "\ta", "caf\u00e9", "cafe", "cafe\u0301"),
    *(
        "\u65e5\u672c",
        "\u65e5\u672c\u8a9e",
        "\U0001f600",
        "\u2460",
        "\u00bd",
        "\u00df",
        "ss",
        "a*c",
        "abc*",
        "1.5",
    ),
)


def cut_properties() -> list[Property]:
    """Text of every tokenization, single and several, and an int."""
    made = [Property(name="n", data_type=DataType.INT)]
    for tokenization in (*CUT, Tokenization.FIELD):
        for type in (DataType.TEXT, DataType.TEXT_ARRAY):
            name = f"{tokenization.value}_{'many' if type is DataType.TEXT_ARRAY else 'one'}"
            made.append(Property(name=name, data_type=type, tokenization=tokenization))
    return made


def cut_corpus(count: int = 120, seed: int = 11) -> tuple[list[DataObject[Any, Any]], list[Chunk]]:
    """Objects of such properties, and the chunks that they are."""
    random = Random(seed)
    stored, chunks = [], []
    for number in range(count):
        held: dict[str, Any] = {"n": number % 5}
        for each in cut_properties()[1:]:
            if random.random() < 0.75:
                several = random.choices(_CUT_TEXTS, k=random.randint(0, 3))
                held[each.name] = (
                    several if each.name.endswith("many") else random.choice(_CUT_TEXTS)
                )
        stored.append(DataObject(properties=held, uuid=number_id(number), vector=[1.0, number]))
        chunks.append(Chunk(number_id(number), {name: v for name, v in held.items() if v != []}))
    return stored, chunks
