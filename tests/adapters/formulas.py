"""Formulas about what a store holds, for `matches` to tell what it should find by them."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from math import inf, isfinite, nextafter
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from soev_retrieval.domain import (
    MAX_INT,
    AllOf,
    AnyOf,
    Chunk,
    DeclaredFilter,
    Field,
    FieldSpec,
    Filter,
    Not,
)
from soev_retrieval.testing import strategies


def examples(count: int) -> settings:
    """So many examples, ten times as many where new ones are looked for.

    The store of a test serves all of its examples: it is only asked.
    """
    return settings(
        max_examples=count * max(1, settings().max_examples // 100),
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


_SEVERAL = ("in", "not_in", "contains_any", "contains_all")


def formulas(
    spec: FieldSpec,
    chunks: Sequence[Chunk],
    *,
    floats: SearchStrategy[float] | None = None,
    is_float: Callable[[float], bool] = isfinite,
) -> SearchStrategy[Filter]:
    """Any expression over the fields of `spec`, about the values that are there and about others.

    Args:
        spec: The fields.
        chunks: The chunks.
        floats: The floats that may be asked for; None for any.
        is_float: Whether one that is there, or beside one, may be.
    """
    terms = st.sampled_from([(field, op) for field in spec for op in field.operators])
    near = {field.name: tuple(_near(chunks, field)) for field in spec}
    values = {field.name: strategies.scalars(type=field.type) for field in spec}
    for field in spec:
        if field.type == "float":
            near[field.name] = tuple(filter(is_float, near[field.name]))
            values[field.name] = values[field.name] if floats is None else floats
    return st.recursive(
        terms.flatmap(lambda pair: _term(*pair, near[pair[0].name], values[pair[0].name])),
        lambda inner: (
            inner.map(Not)
            | st.lists(inner, min_size=1, max_size=3).map(AllOf)
            | st.lists(inner, min_size=1, max_size=3).map(AnyOf)
        ),
        max_leaves=6,
    )


def _term(
    field: Field, op: str, near: tuple[Any, ...], value: Any
) -> SearchStrategy[DeclaredFilter]:
    if op in {"exists", "missing"}:
        return st.just(DeclaredFilter(field.name, op))
    if near:
        value = st.sampled_from(near) | st.sampled_from(near) | value
    if op == "prefix":
        value = st.tuples(value, st.integers(0, 4)).map(lambda pair: pair[0][: pair[1]])
    if op in _SEVERAL:
        value = st.lists(value, max_size=4) | st.lists(value, min_size=17, max_size=20)
    return st.builds(DeclaredFilter, st.just(field.name), st.just(op), value)


def _near(chunks: Sequence[Chunk], field: Field) -> Iterator[Any]:
    """What the chunks hold in a field, and the values beside it."""
    held = [each.properties[field.name] for each in chunks if field.name in each.properties]
    each = (one for value in held for one in (value if isinstance(value, tuple) else [value]))
    for one in dict.fromkeys(each):  # a set would have another order in every process
        yield one
        match one:
            case bool():
                pass
            case int() if abs(one) < MAX_INT:
                yield from (one - 1, one + 1)
            case float():
                yield from filter(isfinite, (nextafter(one, -inf), nextafter(one, inf)))
                if one.is_integer() and abs(one) < MAX_INT:
                    yield int(one)
            case datetime() if 1 < one.year < 9999:
                yield from (one - timedelta(microseconds=1), one + timedelta(microseconds=1))
            case str():
                yield from (one + " ", one.swapcase(), one.strip())
