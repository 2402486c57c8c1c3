"""Filters as text and as JSON."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.domain import (
    MAX_DEPTH,
    NOTHING,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Filter,
    InvalidQueryError,
    Not,
    field,
    from_json,
    parse,
    to_json,
)
from soev_retrieval.testing import strategies


@given(strategies.any_filters())
def test_text_round_trip(where: Filter) -> None:
    """Every filter's text parses back to the same value, type of number and all."""
    assert parse(str(where)) == where
    assert repr(parse(str(where))) == repr(where)


@given(strategies.any_filters())
def test_json_round_trip(where: Filter) -> None:
    """Every filter's JSON form survives json.dumps and reads back to the same value."""
    read = from_json(json.loads(json.dumps(to_json(where))))
    assert read == where
    assert repr(read) == repr(where)


@pytest.mark.parametrize(
    "value",
    [
        'say "hi"',
        "back\\slash \\n \\u0041",
        "line\nbreak\r\n\ttab",
        "\x01\x1f\x7f\x85\u2028\u2029",
        "😀 👩‍👩‍👧 e\u0301",
        "not (a == 1) or all()",
        "",
        -0.0,
        1e300,
        5e-324,
        0.1,
        1.0,
        1,
        True,
        2**53 - 1,
        datetime(2024, 1, 31, 12, 30, 0, 1, tzinfo=UTC),
        datetime(1, 1, 1, tzinfo=UTC),
    ],
)
def test_awkward_values_round_trip(value: str | float | datetime) -> None:
    """Quotes, control characters, emoji and the ends of the numbers survive both forms."""
    where = DeclaredFilter('it\'s a "field"\n', "eq", value)
    assert repr(parse(str(where))) == repr(where)
    assert repr(from_json(json.loads(json.dumps(to_json(where))))) == repr(where)


def test_long_lists_round_trip() -> None:
    """A list of 20,000 values survives both forms."""
    where = DeclaredFilter("id", "in", [f"document-{n}" for n in range(20_000)])
    assert parse(str(where)) == where
    assert from_json(json.loads(json.dumps(to_json(where)))) == where


def test_wide_filters_round_trip() -> None:
    """An AnyOf of 20,000 predicates survives both forms."""
    where = AnyOf([DeclaredFilter("n", "eq", n) for n in range(20_000)])
    assert parse(str(where)) == where
    assert from_json(to_json(where)) == where


def test_the_deepest_filter_round_trips() -> None:
    """A filter as deep as filters may be survives both forms."""
    where: Filter = DeclaredFilter("n", "eq", 1)
    for level in range(MAX_DEPTH - 1):
        where = Not(where) if level % 2 else AllOf([where])
    assert where.depth == MAX_DEPTH
    assert parse(str(where)) == where
    assert from_json(json.loads(json.dumps(to_json(where)))) == where


@pytest.mark.parametrize(
    ("where", "text"),
    [
        (
            (field("year") >= 2020) & ~field("status").in_(["draft", "void"]),
            'year >= 2020 and not (status in ["draft", "void"])',
        ),
        (
            (field("a") == 1) & ((field("b") == 2) | (field("c") == 3)),
            "a == 1 and (b == 2 or c == 3)",
        ),
        ((field("a") == True) | field("b").missing(), "a == true or b missing"),  # noqa: E712
        (field("tags").contains_any(["x"]), 'tags contains_any ["x"]'),
        (field("id").not_in(["x", "y"]), 'id not in ["x", "y"]'),
        (
            field("path").under("a/b") & field("name").prefix("x"),
            'path under "a/b" and name prefix "x"',
        ),
        (field("at") < datetime(2024, 1, 31, tzinfo=UTC), "at < 2024-01-31T00:00:00+00:00"),
        (field("and") != 1.5, '"and" != 1.5'),
        (AllOf(()), "all()"),
        (AnyOf([field("a") == 1]), "any(a == 1)"),
        (NOTHING, "nothing"),
    ],
)
def test_the_text_reads_like_a_sentence(where: Filter, text: str) -> None:
    """The text form is what a person would write."""
    assert str(where) == text
    assert parse(text) == where


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a==1 or b==2 and c==3", "a == 1 or (b == 2 and c == 3)"),
        ("not a == 1 and b == 2", "not (a == 1) and b == 2"),
        ("((a == 1))", "a == 1"),
        ('"a" == 1', "a == 1"),
        ("at >= 2024-01-31T00:00:00Z", "at >= 2024-01-31T00:00:00+00:00"),
        ('id not_in ["x",]', 'id not in ["x"]'),
        ("not not a == 1", "not (not (a == 1))"),
    ],
)
def test_what_people_write(text: str, same: str) -> None:
    """Spaces, parentheses, quotes and precedence are as one expects."""
    assert parse(text) == parse(same)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "a",
        "a ==",
        "a == 1 b == 2",
        "a = 1",
        "a == one",
        "a in 3",
        "a in [1 2]",
        "a in [1",
        "all",
        "all(",
        "any(a == 1",
        "a == 1)",
        "()",
        "not",
        "a == 1 and",
        "and a == 1",
        'a == "open',
        'a == "\\x"',
        "a == " + "9" * 5_000,
        "a == 2024-13-45T00:00:00Z",
        "a exists 3",
        "🙂 == 1",
    ],
)
def test_unreadable_text_is_refused(text: str) -> None:
    """Text that is no filter is refused with the place and what was expected there."""
    with pytest.raises(
        InvalidQueryError, match=r"cannot be read at character \d+|is no datetime|beyond"
    ):
        parse(text)


@given(
    st.text()
    | st.text('()[]",.=!<>ab1 \n\\')
    | st.lists(
        st.sampled_from(
            [
                "a",
                "==",
                "1",
                "(",
                ")",
                "all(",
                "any(",
                "not",
                "and",
                "or",
                ",",
                '"x"',
                "in",
                "[",
                "]",
                "nothing",
                "exists",
                "2024-01-01T00:00:00Z",
            ]
        )
    ).map(" ".join)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text raises anything but InvalidQueryError, and what is read round-trips."""
    try:
        where = parse(text)
    except InvalidQueryError:
        return
    assert parse(str(where)) == where


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["field", "op", "value", "all", "any", "not", "nothing", "datetime", "x"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(_JSON)
def test_any_json_is_read_or_refused(form: object) -> None:
    """No JSON value raises anything but InvalidQueryError, and what is read round-trips."""
    try:
        where = from_json(form)
    except InvalidQueryError:
        return
    assert from_json(to_json(where)) == where


@pytest.mark.parametrize(
    "form",
    [
        {"field": "a", "op": "eq", "value": 1, "or": []},
        {"field": "a", "operator": "eq", "value": 1},
        {"all": {"field": "a", "op": "exists"}},
        {"nothing": False},
        {"not": [{"field": "a", "op": "exists"}]},
        {"field": "a", "op": "in", "value": [["x"]]},
        {"field": "a", "op": "eq", "value": {"date": "2024-01-31"}},
        [],
        "a == 1",
        None,
    ],
)
def test_other_json_is_refused(form: object) -> None:
    """A key too many, a form that there is not: refused, never read as something near it."""
    with pytest.raises(InvalidQueryError):
        from_json(form)
