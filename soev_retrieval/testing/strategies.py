"""Hypothesis strategies for specs, corpora, filters, vectors and queries.

Values come from a small pool of awkward ones besides the whole range, and corpora and filters draw
from the same, so that filters match something and miss something.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from soev_retrieval.domain import (
    DISTANCES,
    MAX_INT,
    NOTHING,
    OPERATORS,
    TYPES,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Field,
    FieldSpec,
    Filter,
    Not,
    Properties,
    Record,
    Scalar,
)

_TEXTS = (
    *("a", "b", "A", "ab", "a b", " a", "a ", "", "a/b", "a/b/c", "a/bc", "/a//b/", "10", "9"),
    *("%", "_", "a%", "a_c", "*", "a*c", "?", "\\", "'", '"', "null", "true", "the", "a\nb", "\t"),
    *("é", "e\u0301", "ß", "İ", "日本", "😀", "\u00a0", "\u2003", "\x01", "\x7f", "\uffff"),
)
_INTS = (0, 1, 2, -1, 9, 10, 2**24 + 1, 2**31, MAX_INT, MAX_INT - 1, -MAX_INT)
_FLOATS = (0.0, -0.0, 1.0, 2.0, -1.5, 0.1, 0.1 + 0.2, 2.0**24 + 1, 2.0**53, 1e300, 5e-324)
_TIMES = (
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(1999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(2000, 1, 1, tzinfo=UTC),
    datetime(2000, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),
    datetime(2000, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
    datetime(2000, 1, 1, 23, tzinfo=timezone(timedelta(hours=-5))),
)
_WORDS = ("cat", "cats", "dog", "wing", "the", "of", "naïve", "C3PO", "10", "dog,cat", "x")


@lru_cache
def texts() -> SearchStrategy[str]:
    """Any portable text, awkward ones first: no NUL, no lone surrogate."""
    anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
    return st.sampled_from(_TEXTS) | anything


@lru_cache
def names() -> SearchStrategy[str]:
    """Names for fields and targets: portable text that is not empty."""
    return texts().filter(bool)


@lru_cache
def datetimes(
    *,
    min_value: datetime = datetime(1, 1, 2),
    max_value: datetime = datetime(9999, 12, 30),
) -> SearchStrategy[datetime]:
    """Aware datetimes with offsets of whole minutes.

    Args:
        min_value: The earliest, naive.
        max_value: The latest, naive.
    """
    minutes = st.integers(-23 * 60, 23 * 60)
    zones = minutes.map(lambda each: timezone(timedelta(minutes=each)))
    usual = [one for one in _TIMES if min_value <= one.replace(tzinfo=None) <= max_value]
    anything = st.datetimes(min_value=min_value, max_value=max_value, timezones=zones)
    return (st.sampled_from(usual) | anything) if usual else anything


@lru_cache
def scalars(*, type: str) -> SearchStrategy[Scalar]:
    """Values of one field type.

    Args:
        type: One of `soev_retrieval.domain.TYPES`.
    """
    of_type: dict[str, SearchStrategy[Any]] = {
        "text": texts(),
        "int": st.sampled_from(_INTS) | st.integers(-MAX_INT, MAX_INT),
        "float": st.sampled_from(_FLOATS) | st.floats(allow_nan=False, allow_infinity=False),
        "bool": st.booleans(),
        "datetime": datetimes(),
    }
    return of_type[type]


def fields(*, name: SearchStrategy[str] | None = None) -> SearchStrategy[Field]:
    """Any field with its default operators.

    Args:
        name: Its name.
    """

    def searchable(field: Field) -> SearchStrategy[Field]:
        if field.type != "text":
            return st.just(field)
        return st.builds(
            Field, st.just(field.name), st.just("text"), st.just(field.many), st.booleans()
        )

    name = names() if name is None else name
    return st.builds(Field, name, st.sampled_from(TYPES), st.booleans()).flatmap(searchable)


def specs(
    *, min_fields: int = 1, max_fields: int = 6, max_dimension: int = 8
) -> SearchStrategy[FieldSpec]:
    """Specs of any fields, with vectors or without.

    Args:
        min_fields: The least number of fields.
        max_fields: The greatest number of fields.
        max_dimension: The greatest dimension of its vectors.
    """
    unique = st.lists(
        fields(), min_size=min_fields, max_size=max_fields, unique_by=lambda field: field.name
    )
    dimension = st.none() | st.integers(1, max_dimension)
    return st.builds(FieldSpec, unique, dimension, st.sampled_from(DISTANCES))


@lru_cache
def properties(spec: FieldSpec) -> SearchStrategy[Properties]:
    """Properties of one chunk, any of them missing.

    Args:
        spec: The spec they keep to.
    """
    values = {
        field.name: st.lists(scalars(type=field.type), min_size=1, max_size=3)
        if field.many
        else scalars(type=field.type)
        for field in spec
    }
    return st.fixed_dictionaries({}, optional=values).map(Properties)


@lru_cache
def vectors(
    *, dimension: int, min_value: float = -10.0, max_value: float = 10.0
) -> SearchStrategy[list[float]]:
    """Vectors of one length that are not all zeros, each number exact in float32.

    Args:
        dimension: Their length.
        min_value: The least number.
        max_value: The greatest number.
    """
    numbers = st.integers(-3, 3).map(float) | st.floats(min_value, max_value, width=32)
    return st.lists(numbers, min_size=dimension, max_size=dimension).filter(any)


@lru_cache
def corpora(
    spec: FieldSpec, *, min_size: int = 0, max_size: int = 12
) -> SearchStrategy[list[Record]]:
    """Records with distinct ids.

    Args:
        spec: The spec they keep to.
        min_size: The least number of records.
        max_size: The greatest number of records.
    """
    vector = st.none() if spec.dimension is None else st.none() | vectors(dimension=spec.dimension)
    record = st.builds(Record, names(), properties(spec), vector)
    return st.lists(
        record, min_size=min_size, max_size=max_size, unique_by=lambda record: record.id
    )


@lru_cache
def predicates(spec: FieldSpec) -> SearchStrategy[DeclaredFilter]:
    """One predicate that `spec` serves.

    Args:
        spec: The spec it keeps to. It must declare an operator.
    """
    served = [(field, op) for field in spec for op in field.operators]
    return st.sampled_from(served).flatmap(lambda pair: _predicate(pair[0], pair[1]))


@lru_cache
def _predicate(field: Field, op: str) -> SearchStrategy[DeclaredFilter]:
    value: SearchStrategy[Any] = scalars(type=field.type)
    if field.type == "float":
        value |= scalars(type="int")  # 1 asks for 1.0
    if op in ("exists", "missing"):
        value = st.none()
    elif op in ("in", "not_in", "contains_any", "contains_all"):
        value = st.lists(value, max_size=4)
    return st.builds(DeclaredFilter, st.just(field.name), st.just(op), value)


@lru_cache
def filters(
    spec: FieldSpec, *, max_leaves: int = 8, constants: bool = True
) -> SearchStrategy[Filter]:
    """Any expression that `spec` serves.

    Args:
        spec: The spec it keeps to. It must declare an operator.
        max_leaves: The greatest number of predicates.
        constants: Whether NOTHING and the empty AllOf and AnyOf stand in it too.
    """
    return _expressions(predicates(spec), max_leaves=max_leaves, constants=constants)


@lru_cache
def any_filters(*, max_leaves: int = 8) -> SearchStrategy[Filter]:
    """Any expression at all, over any field, with any value that an operator takes.

    Args:
        max_leaves: The greatest number of predicates.
    """
    field = st.builds(Field, names(), st.sampled_from(TYPES))
    term = st.tuples(field, st.sampled_from(OPERATORS)).flatmap(
        lambda pair: _predicate(_for_operator(pair[0], pair[1]), pair[1])
    )
    return _expressions(term, max_leaves=max_leaves, constants=True)


def _for_operator(field: Field, op: str) -> Field:
    if op in ("prefix", "under"):
        return Field(field.name, "text")
    if op in ("gt", "gte", "lt", "lte") and field.type == "bool":
        return Field(field.name, "int")
    return field


def _expressions(
    terms: SearchStrategy[DeclaredFilter], *, max_leaves: int, constants: bool
) -> SearchStrategy[Filter]:
    fixed: Sequence[Filter] = [NOTHING, AllOf(()), AnyOf(())] if constants else []
    leaves: SearchStrategy[Filter] = terms
    if fixed:
        # One leaf in eight; `one_of` takes a branch that stands twice once.
        leaves = st.integers(0, 7).flatmap(lambda n: terms if n else st.sampled_from(fixed))

    def wider(inner: SearchStrategy[Filter]) -> SearchStrategy[Filter]:
        several = st.lists(inner, min_size=0 if constants else 1, max_size=4)
        return st.builds(Not, inner) | st.builds(AllOf, several) | st.builds(AnyOf, several)

    return st.recursive(leaves, wider, max_leaves=max_leaves)


def queries(*, words: Sequence[str] = _WORDS) -> SearchStrategy[str]:
    """Query texts: words of a small vocabulary, and any other text that is not blank.

    Args:
        words: The vocabulary.
    """
    usual = st.lists(st.sampled_from(words), min_size=1, max_size=5).map(" ".join)
    return usual | texts().filter(lambda text: bool(text.strip()))
