"""Formulas about what a collection holds, and the points that Qdrant and `matches` find by them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from soev_retrieval.domain import (
    MAX_INT,
    TYPES,
    Chunk,
    Field,
    FieldSpec,
    Filter,
    matches,
    predicates,
)
from soev_retrieval_qdrant._floats import survives
from tests.adapters.formulas import formulas as expressions
from tests.adapters.qdrant.existing import There, point

_UUIDS = ("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A12")
_TEXTS = (
    *("a", "A", "", " ", "a b", 'q"u', "back\\slash", "'", "é", "e\u0301", "😀", "1", "true"),
    *("null", "*", "a%", "[]", "2000-01-01T00:00:00Z", *_UUIDS),
)
_INTS = (0, 1, -1, 2, 10, 2**31, MAX_INT, MAX_INT - 1, -MAX_INT)
_FLOATS = (0.0, -0.0, 1.0, 1.5, -2.5, 0.1, 1e22, 1e-7, 123456.789, 3)
_TIMES = {
    "2000-01-01T00:00:00Z": datetime(2000, 1, 1, tzinfo=UTC),
    "2000-01-01T02:00:00.000001+02:00": datetime(2000, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
    "2000-01-01 00:00:00": datetime(2000, 1, 1, tzinfo=UTC),
    "2000-01-02": datetime(2000, 1, 2, tzinfo=UTC),
    "2000-01-01T00:00:00.123456789Z": datetime(2000, 1, 1, 0, 0, 0, 123456, tzinfo=UTC),
    "1969-12-31T23:59:59.9999995Z": datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    "0001-01-01T00:00:00Z": datetime(1, 1, 1, tzinfo=UTC),
    "9999-12-31T23:59:59.999999Z": datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
}
POOLS: Mapping[str, Sequence[tuple[Any, Any]]] = {
    "text": [(each, each) for each in _TEXTS],
    "int": [(each, each) for each in _INTS],
    "float": [(each, float(each)) for each in _FLOATS],
    "bool": [(True, True), (False, False)],
    "datetime": list(_TIMES.items()),
}
"""What may stand in a payload, and what it is."""

_OTHERS: Mapping[str, Sequence[Any]] = {
    "text": (7, 1.5, True, {"a": "a"}),
    "int": ("1", True, {}),
    "float": ("1.5", False, {"x": 1.5}),
    "bool": (0, 1, "true"),
    "datetime": (0, 1.5, "now", "2000-13-01", True),
}
"""What is of another type, and so nothing."""

FIELDS = [
    Field(f"{type} {'many' if many else 'one'}", type, many=many)
    for type in TYPES
    for many in (False, True)
] + [Field("pages", "int", many=True)]
KEYS = {
    "text one": '"a.b"',
    "text many": "\"[0] 'x' {😀}\"",
    "int one": 'deep."k.e y".n',
    "float many": "deep.floats",
    "pages": "pages[].n",
}
INDEXES = {"text": "keyword", "int": "integer", "float": "float", "bool": "bool"}


def key(field: Field) -> str:
    """Where a field is, as Qdrant takes it."""
    return KEYS.get(field.name, f'"{field.name}"')


def payloads(count: int, seed: int) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Payloads, and the properties that they are."""
    random = Random(seed)
    return [_payload(random) for _ in range(count)]


def _payload(random: Random) -> tuple[dict[str, Any], dict[str, Any]]:
    held: dict[str, Any] = {}
    for field in FIELDS:
        held[field.name] = (_several if field.many else _single)(random, field.type)
    deep = {"k.e y": {"n": held["int one"][0]}, "floats": held["float many"][0]}
    elements, _ = held["pages"]
    payload = {
        "a.b": held["text one"][0],
        "[0] 'x' {😀}": held["text many"][0],
        "deep": deep if random.random() < 0.9 else None,
        "pages": [{"n": one} for one in elements] if isinstance(elements, list) else elements,
        # Where an unquoted key would find them.
        "a": {"b": "a"},
    }
    payload |= {name: one for name, (one, _) in held.items() if name not in KEYS}
    properties = {name: value for name, (_, value) in held.items() if value is not None}
    if payload["deep"] is None:
        properties = {n: v for n, v in properties.items() if n not in {"int one", "float many"}}
    if not isinstance(elements, list):
        properties.pop("pages", None)
    return {name: one for name, one in payload.items() if one != "missing"}, properties


def _single(random: Random, type: str) -> tuple[Any, Any]:
    chance = random.random()
    if chance < 0.25:
        return random.choice([None, [], random.choice(_OTHERS[type]), [None]]), None
    return random.choice(POOLS[type])


def _several(random: Random, type: str) -> tuple[Any, Any]:
    chance = random.random()
    if chance < 0.2:
        return random.choice([None, [], [None], random.choice(_OTHERS[type])]), None
    if chance < 0.3:
        stored, value = random.choice(POOLS[type])
        return stored, (value,)
    chosen = [random.choice(POOLS[type]) for _ in range(random.randint(1, 3))]
    others = [random.choice([None, random.choice(_OTHERS[type])])] if chance < 0.5 else []
    return [*others, *(stored for stored, _ in chosen)], tuple(value for _, value in chosen)


def corpus(count: int = 120, seed: int = 5) -> tuple[list[Any], list[Chunk]]:
    """Points of such payloads, and the chunks that they are."""
    made = payloads(count, seed)
    stored = [point(id, payload, (float(id), 1.0)) for id, (payload, _) in enumerate(made)]
    return stored, [Chunk(str(id), properties) for id, (_, properties) in enumerate(made)]


def formulas(
    spec: FieldSpec, chunks: Sequence[Chunk], *, any_float: bool = False
) -> SearchStrategy[Filter]:
    """As every adapter's.

    Args:
        spec: The fields.
        chunks: The chunks.
        any_float: Whether floats may be such as decimal text does not carry.
    """
    if any_float:
        return expressions(spec, chunks)
    floats = st.builds(lambda n, e: n / 10**e, st.integers(-(10**9), 10**9), st.integers(0, 6))
    return expressions(spec, chunks, floats=floats, is_float=survives)


def is_beyond_rest(where: Filter) -> bool:
    """Whether a filter bounds ints where decimal text does not carry them."""
    return any(
        term.op in {"gt", "gte", "lt", "lte"}
        and type(term.value) in {int, float}
        and not survives(term.value)  # type: ignore[arg-type]
        for term in predicates(where)
    )


async def expect_same(there: There, chunks: Sequence[Chunk], where: Filter) -> None:
    """The store finds by `where` the chunks that match it."""
    found = await there.ids(where)
    assert found == sorted(c.id for c in chunks if matches(where, c.properties)), where
