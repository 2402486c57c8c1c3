"""Filters as values: what they hold, what they refuse, how they are built."""

import copy
import inspect
import pickle
import sys
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from enum import Enum, StrEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from soev_retrieval.domain import (
    MAX_DEPTH,
    MAX_INT,
    NOTHING,
    OPERATORS,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Field,
    FieldSpec,
    Filter,
    InvalidQueryError,
    Not,
    check,
    field,
    from_json,
    matches,
    parse,
    simplify,
    to_json,
)
from soev_retrieval.testing import strategies

NAIVE = datetime(2024, 1, 31)


class Status(StrEnum):
    DRAFT = "draft"


class OldStatus(str, Enum):  # noqa: UP042  (its str() is not its value)
    DRAFT = "draft"


@pytest.mark.parametrize(
    ("op", "value", "says"),
    [
        ("like", "a", "the operators are eq"),
        ("eq", None, "use the operator 'missing'"),
        ("eq", ["a"], "use 'in'"),
        ("eq", float("nan"), "finite"),
        ("eq", float("inf"), "finite"),
        ("gt", -float("inf"), "finite"),
        ("eq", NAIVE, "offset"),
        ("eq", 2**60, "use text"),
        ("eq", -(2**53), "use text"),
        ("eq", "a\0", "NUL"),
        ("eq", "\ud800", "surrogate"),
        ("eq", "é\0", "NUL"),
        ("eq", b"a", "bytes"),
        ("eq", {"a": 1}, "dict"),
        ("eq", object(), "object"),
        ("eq", datetime.max.replace(tzinfo=timezone(-timedelta(hours=1))), "year 1 to 9999"),
        ("in", "abc", "must be a list"),
        ("in", 3, "must be a list"),
        ("in", [1, "a"], "mixes"),
        ("in", [1, True], "mixes"),
        ("in", [1, None], "NoneType"),
        ("in", [float("nan")], "finite"),
        ("contains_any", [["a"]], "list"),
        ("exists", True, "takes no value"),
        ("missing", [], "takes no value"),
        ("prefix", 1, "must be text"),
        ("under", 1, "must be text"),
        ("gt", True, "no order"),
    ],
)
def test_what_a_predicate_refuses(op: str, value: Any, says: str) -> None:
    """A wrong operator or value is refused at once, and the error names the field and the mend."""
    with pytest.raises(InvalidQueryError, match=says) as caught:
        DeclaredFilter("status", op, value)
    assert "'status'" in str(caught.value)
    assert caught.value.field == "status"


@pytest.mark.parametrize("name", ["", "a\0", "\ud800", None, 3])
def test_what_a_field_name_refuses(name: Any) -> None:
    """A field's name is text, not empty, that every store can carry."""
    with pytest.raises(InvalidQueryError):
        DeclaredFilter(name, "exists")


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.int64(3), 3),
        (np.float64(0.5), 0.5),
        (np.str_("a"), "a"),
        (Status.DRAFT, "draft"),
        (OldStatus.DRAFT, "draft"),
        (True, True),
    ],
)
def test_subclasses_become_plain(value: Any, plain: Any) -> None:
    """Enums of text and numbers of numpy are kept as the plain value they are."""
    kept = DeclaredFilter("a", "eq", value).value
    assert type(kept) is type(plain)
    assert kept == plain


def test_datetimes_are_kept_in_utc() -> None:
    """A datetime is kept as its instant in UTC."""
    given_at = datetime(2024, 1, 31, 1, tzinfo=timezone(timedelta(hours=2)))
    kept = DeclaredFilter("at", "eq", given_at).value
    assert isinstance(kept, datetime)
    assert kept.isoformat() == "2024-01-30T23:00:00+00:00"


def test_sequences_are_kept_as_tuples() -> None:
    """Any sequence, set or generator of values is kept as a tuple; a set in sorted order."""
    assert DeclaredFilter("a", "in", ["x", "y"]).value == ("x", "y")
    assert DeclaredFilter("a", "in", {"y", "x"}).value == ("x", "y")
    assert DeclaredFilter("a", "in", (n for n in (1, 2))).value == (1, 2)
    assert DeclaredFilter("a", "in", np.array([1, 2])).value == (1, 2)
    assert AllOf(one for one in [NOTHING]).filters == (NOTHING,)


def test_true_is_not_one() -> None:
    """Filters on True, 1 and 1.0 are three values, so that no cache takes one for another."""
    true, one, one_float = (DeclaredFilter("a", "eq", value) for value in (True, 1, 1.0))
    assert len({true, one, one_float}) == 3
    assert DeclaredFilter("a", "in", [True]) != DeclaredFilter("a", "in", [1])


@given(strategies.any_filters())
def test_filters_are_values(where: Filter) -> None:
    """A filter equals its copies, pickled ones too, and hashes alike."""
    copied = pickle.loads(pickle.dumps(where))
    assert copied == where == copy.deepcopy(where)
    assert hash(copied) == hash(where)


def test_nothing_is_one_value() -> None:
    """A pickled or copied NOTHING is NOTHING itself."""
    assert pickle.loads(pickle.dumps(NOTHING)) is NOTHING
    assert copy.deepcopy(NOTHING) is NOTHING


@pytest.mark.parametrize("combine", [AllOf, AnyOf])
@pytest.mark.parametrize("wrong", [["a"], [None], [True], "ab", [NOTHING, 1]])
def test_filters_are_made_of_filters(combine: Callable[[Any], Filter], wrong: Any) -> None:
    """What is no filter is refused where it is put, not where it is evaluated."""
    with pytest.raises(InvalidQueryError, match="made of filters"):
        combine(wrong)
    with pytest.raises(InvalidQueryError, match="made of filters"):
        Not(wrong)


def test_one_filter_is_no_list() -> None:
    """AllOf(a) is refused with the way to write it."""
    with pytest.raises(InvalidQueryError, match=r"AllOf\(\[a, b\]\)"):
        AllOf(NOTHING)  # type: ignore[arg-type]


def test_a_filter_has_no_truth() -> None:
    """`and`, `or`, `not` and chained comparisons would drop a filter, so they raise."""
    with pytest.raises(TypeError, match=r"& \| ~"):
        (field("a") == 1) and (field("b") == 2)
    with pytest.raises(TypeError, match=r"& \| ~"):
        1 < field("a") < 3  # noqa: B015
    with pytest.raises(TypeError):
        bool(NOTHING)


def test_the_builder_writes_every_operator() -> None:
    """Each method of `field` makes its operator."""
    it = field("f")
    made = [
        it == 1, it != 1, it > 1, it >= 1, it < 1, it <= 1, it.in_([1]), it.not_in([1]),
        it.contains(1), it.contains_any([1]), it.contains_all([1]), it.exists(), it.missing(),
        it.prefix("1"), it.under("1"),
    ]  # fmt: skip
    assert tuple(one.op for one in made) == OPERATORS
    assert {one.field for one in made} == {"f"}


def test_and_and_or_flatten() -> None:
    """A chain of `&` or `|` is one AllOf or AnyOf, however long."""
    a, b, c = field("a") == 1, field("b") == 2, field("c") == 3
    assert a & b & c == AllOf([a, b, c])
    assert a | b | c == AnyOf([a, b, c])
    assert a | b & c == AnyOf([a, AllOf([b, c])])
    where: Filter = a
    for _ in range(2_000):
        where &= b
    assert where.depth == 2


def _not(inner: Filter) -> Filter:
    return Not(inner)


def _all_of(inner: Filter) -> Filter:
    return AllOf([inner])


def _alternating(inner: Filter) -> Filter:
    return (inner | (field("a") == 1)) & (field("b") == 2)


@pytest.mark.parametrize("wrap", [_not, _all_of, _alternating])
def test_too_deep_is_refused(wrap: Callable[[Filter], Filter]) -> None:
    """A filter 10,000 deep is refused with an error that says what to do."""
    built: list[Filter] = [field("a") == 1]

    def build() -> None:
        for _ in range(10_000):
            built.append(wrap(built[-1]))

    with pytest.raises(InvalidQueryError, match="flatten"):
        build()
    assert built[-1].depth >= MAX_DEPTH - 1


@pytest.mark.parametrize("opening", ["(", "not (", "all(", "any(a == 1 or (", "not "])
def test_too_deep_text_is_refused(opening: str) -> None:
    """Text that nests 10,000 deep is refused, also where the parentheses say nothing."""
    closing = ")" * opening.count("(")
    with pytest.raises(InvalidQueryError, match="deep"):
        parse(opening * 10_000 + "a == 1" + closing * 10_000)


@pytest.mark.parametrize("key", ["not", "all", "any"])
def test_too_deep_json_is_refused(key: str) -> None:
    """A JSON form that nests 10,000 deep is refused."""
    form: Any = {"field": "a", "op": "exists"}
    for _ in range(10_000):
        form = {key: form if key == "not" else [form]}
    with pytest.raises(InvalidQueryError, match="deep"):
        from_json(form)


def test_the_ends_of_the_ints_are_values() -> None:
    """±(2**53 - 1) is portable."""
    assert DeclaredFilter("n", "in", [-MAX_INT, MAX_INT]).value == (-MAX_INT, MAX_INT)


def test_the_deepest_filter_needs_little_of_the_stack() -> None:
    """Whatever is done with a filter as deep as filters may be leaves half of Python's stack."""
    where: Filter = field("a") == 1
    for level in range(MAX_DEPTH - 1):
        where = Not(where) if level % 2 else AllOf([where, NOTHING])
    spec = FieldSpec([Field("a", "int")])
    uses: list[Callable[[], object]] = [
        lambda: matches(where, {"a": 1}),
        lambda: simplify(where),
        lambda: check(where, spec),
        lambda: parse(str(where)),
        lambda: from_json(to_json(where)),
        lambda: hash(pickle.loads(pickle.dumps(where))),
        lambda: where == copy.deepcopy(where),
        lambda: repr(where),
    ]
    before = sys.getrecursionlimit()
    for use in uses:
        sys.setrecursionlimit(len(inspect.stack(0)) + 620)
        try:
            use()
        finally:
            sys.setrecursionlimit(before)
