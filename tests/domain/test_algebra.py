"""The laws of the algebra, decided by `matches`."""

import sys
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.domain import (
    EVERYTHING,
    NOTHING,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Field,
    FieldSpec,
    Filter,
    Not,
    Properties,
    field,
    matches,
    predicates,
    simplify,
)
from soev_retrieval.testing import strategies

SPEC = FieldSpec(
    [
        Field("text", "text", operators=[*Field("text", "text").operators, "under"]),
        Field("int", "int"),
        Field("float", "float"),
        Field("bool", "bool"),
        Field("datetime", "datetime"),
        *(
            Field(f"{name}s", name, many=True)
            for name in ("text", "int", "float", "bool", "datetime")
        ),
    ]
)
FILTERS = strategies.filters(SPEC)
CHUNKS = strategies.properties(SPEC)
SCALARS = st.sampled_from(["text", "int", "float", "bool", "datetime"]).flatmap(
    lambda name: st.tuples(st.just(name), strategies.scalars(type=name))
)


@given(st.lists(FILTERS, max_size=4), CHUNKS)
def test_de_morgan(filters: list[Filter], chunk: Properties) -> None:
    """Not any is all not, and not all is any not."""
    nots = [Not(one) for one in filters]
    assert matches(Not(AnyOf(filters)), chunk) == matches(AllOf(nots), chunk)
    assert matches(Not(AllOf(filters)), chunk) == matches(AnyOf(nots), chunk)


@given(FILTERS, CHUNKS)
def test_double_negation(where: Filter, chunk: Properties) -> None:
    """Not not is nothing done, and Not is the exact complement, missing fields and all."""
    assert matches(Not(Not(where)), chunk) == matches(where, chunk)
    assert matches(Not(where), chunk) != matches(where, chunk)


@given(FILTERS, FILTERS, CHUNKS)
def test_operators_build_what_they_say(one: Filter, two: Filter, chunk: Properties) -> None:
    """`&`, `|` and `~` are and, or and not."""
    assert matches(one & two, chunk) == (matches(one, chunk) and matches(two, chunk))
    assert matches(one | two, chunk) == (matches(one, chunk) or matches(two, chunk))
    assert matches(~one, chunk) == (not matches(one, chunk))


@given(FILTERS, CHUNKS)
def test_simplify_keeps_the_meaning(where: Filter, chunk: Properties) -> None:
    """A simplified filter matches the same chunks, and simplifying again changes nothing."""
    simple = simplify(where)
    assert matches(simple, chunk) == matches(where, chunk)
    assert simplify(simple) == simple


@given(FILTERS)
def test_simplify_leaves_no_constants(where: Filter) -> None:
    """A simplified filter is NOTHING, everything, or holds neither."""
    simple = simplify(where)
    if simple in (NOTHING, EVERYTHING):
        return
    waiting = [simple]
    while waiting:
        one = waiting.pop()
        assert one not in (NOTHING, EVERYTHING)
        if isinstance(one, AllOf | AnyOf):
            assert len(one.filters) > 1
            assert not any(isinstance(inner, type(one)) for inner in one.filters)
            waiting.extend(one.filters)
        elif isinstance(one, Not):
            assert not isinstance(one.filter, Not)
            waiting.append(one.filter)
        elif isinstance(one, DeclaredFilter):
            assert one.value != ()


@given(SCALARS, CHUNKS)
def test_complements(pair: tuple[str, Any], chunk: Properties) -> None:
    """`ne` is exactly Not(eq), `not_in` Not(in), `missing` Not(exists)."""
    name, value = pair
    for op, complement, operand in [
        ("eq", "ne", value),
        ("in", "not_in", [value]),
        ("exists", "missing", None),
    ]:
        plain = DeclaredFilter(name, op, operand)
        assert matches(DeclaredFilter(name, complement, operand), chunk) != matches(plain, chunk)


@given(
    SCALARS.flatmap(
        lambda pair: st.tuples(
            st.just(pair[0]), st.lists(strategies.scalars(type=pair[0]), max_size=4)
        )
    ),
    CHUNKS,
)
def test_lists_of_values_are_ors_and_ands(pair: tuple[str, list[Any]], chunk: Properties) -> None:
    """`in` is any eq, `contains_any` any contains, `contains_all` all contains: of none too."""
    name, values = pair
    many = f"{name}s"
    meanings: list[tuple[str, type[AllOf] | type[AnyOf], str, str]] = [
        ("in", AnyOf, "eq", name),
        ("contains_any", AnyOf, "contains", many),
        ("contains_all", AllOf, "contains", many),
    ]
    for op, combine, one, on in meanings:
        spelled_out: Filter = combine([DeclaredFilter(on, one, value) for value in values])
        assert matches(DeclaredFilter(on, op, values), chunk) == matches(spelled_out, chunk)


@given(SCALARS, CHUNKS)
def test_order_is_total_where_the_field_is(pair: tuple[str, Any], chunk: Properties) -> None:
    """Where the field is there exactly one of lt, eq and gt holds; where it is missing none."""
    name, value = pair
    if name == "bool":
        return
    holds = [matches(DeclaredFilter(name, op, value), chunk) for op in ("lt", "eq", "gt")]
    assert sum(holds) == (name in chunk)
    assert matches(DeclaredFilter(name, "lte", value), chunk) == (holds[0] or holds[1])
    assert matches(DeclaredFilter(name, "gte", value), chunk) == (holds[1] or holds[2])


@pytest.mark.parametrize(
    ("where", "chunk", "holds"),
    [
        (field("n") == 1, {"n": 1.0}, True),
        (field("n") == 1, {"n": True}, False),
        (field("b") == True, {"b": 1}, False),  # noqa: E712
        (field("n").in_([1, 2]), {"n": True}, False),
        (field("ns").contains(1), {"ns": [True]}, False),
        (field("ns").contains_any([1.0]), {"ns": [1]}, True),
        (field("n") > 0, {"n": True}, False),
        (field("t") < "b", {"t": "a"}, True),
        (field("t") < "a", {"t": "B"}, True),
        (field("t") < "10", {"t": "9"}, False),
        (field("t") == "a", {"t": "A"}, False),
        (field("t") == "a", {"t": "a "}, False),
        (field("t") == "é", {"t": "e\u0301"}, False),
        (field("t") == "a b", {"t": "b a"}, False),
        (field("t") == "1", {"t": 1}, False),
        (field("t").prefix("a%"), {"t": "ab"}, False),
        (field("t").prefix("a_"), {"t": "a_c"}, True),
        (field("t").prefix(""), {"t": ""}, True),
        (field("t").prefix(""), {}, False),
        (field("n") != 1, {}, True),
        (field("n").not_in([1]), {}, True),
        (field("n").not_in([]), {"n": 1}, True),
        (field("n").in_([]), {"n": 1}, False),
        (field("ns").contains_all([]), {}, True),
        (field("ns").contains_any([]), {"ns": [1]}, False),
        (field("ts").contains("a"), {"ts": ["ab"]}, False),
        (field("ts").contains("a"), {"ts": "a"}, False),
        (field("n").exists(), {"n": None}, False),
        (field("n").missing(), {"n": []}, True),
        (field("n").missing(), {"n": [None]}, True),
        (field("n").exists(), {"n": 0}, True),
        (field("t").exists(), {"t": ""}, True),
        (field("p").under("a/b"), {"p": "a/b"}, True),
        (field("p").under("a/b"), {"p": "a/b/c"}, True),
        (field("p").under("a/b"), {"p": "a/bc"}, False),
        (field("p").under("/a//b/"), {"p": "a/b/c/"}, True),
        (field("p").under("a/%"), {"p": "a/b"}, False),
        (field("p").under(""), {"p": "x"}, True),
        (field("p").under("a"), {}, False),
        (field("p").under("a"), {"p": ["x", "a/b"]}, True),
        (AllOf(()), {}, True),
        (AnyOf(()), {"n": 1}, False),
        (NOTHING, {"n": 1}, False),
    ],
)
def test_examples(where: Filter, chunk: dict[str, Any], *, holds: bool) -> None:
    """The table of the design, and what other stores make of it."""
    assert matches(where, chunk) is holds


def test_datetimes_compare_by_instant() -> None:
    """The same instant under another offset is the same datetime."""
    noon = datetime(2024, 1, 31, 12, tzinfo=UTC)
    elsewhere = noon.astimezone(timezone(timedelta(hours=5)))
    assert matches(field("at") == noon, {"at": elsewhere})
    assert matches(field("at") == elsewhere, {"at": noon})
    assert not matches(field("at") == noon, {"at": noon + timedelta(microseconds=1)})


def test_datetimes_compare_in_the_hour_that_comes_twice() -> None:
    """In the hour that a clock is set back, where Python calls all other zones unequal."""
    berlin = datetime(2021, 10, 31, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    assert berlin != berlin.astimezone(UTC)  # PEP 495
    assert matches(field("at") == berlin, {"at": berlin.astimezone(UTC)})
    assert not matches(field("at") == berlin, {"at": berlin.replace(fold=1)})


def test_a_naive_datetime_equals_nothing() -> None:
    """A naive datetime in raw properties is there, and compares with no datetime."""
    chunk = {"at": datetime(2024, 1, 31)}
    assert matches(field("at").exists(), chunk)
    assert not matches(field("at") <= datetime(2024, 1, 31, tzinfo=UTC), chunk)
    assert not matches(field("at") == datetime(2024, 1, 31, tzinfo=UTC), chunk)


def test_predicates_come_from_left_to_right() -> None:
    """Every predicate comes once for each place it stands in, in reading order."""
    a, b, c = field("a") == 1, field("b") == 2, field("c") == 3
    assert list(predicates(AllOf([a, Not(AnyOf([b, a])), NOTHING, c]))) == [a, b, a, c]


def test_simplify_is_linear() -> None:
    """Ten times the terms are ten times the calls."""

    def calls(terms: int) -> int:
        where = AnyOf([AllOf([AnyOf([DeclaredFilter("n", "eq", n)])]) for n in range(terms)])
        counted = 0

        def count(_frame: object, event: str, _arg: object) -> None:
            nonlocal counted
            counted += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            simplify(where)
        finally:
            sys.setprofile(before)
        return counted

    assert 0 < calls(10_000) <= 10 * calls(1_000)


def test_simplify_folds_through_every_level() -> None:
    """Constants fold up through Not, AllOf and AnyOf."""
    a = field("a") == 1
    assert simplify(Not(NOTHING)) == EVERYTHING
    assert simplify(Not(AllOf(()))) is NOTHING
    assert simplify(AllOf([a, field("b").in_([])])) is NOTHING
    assert simplify(AnyOf([a, field("b").not_in([])])) == EVERYTHING
    assert simplify(AnyOf([a, NOTHING])) == a
    assert simplify(AllOf([a, Not(field("b").contains_any([]))])) == a
    assert simplify(AllOf([AllOf([a]), AllOf([a, AnyOf([a])])])) == AllOf([a, a, a])
