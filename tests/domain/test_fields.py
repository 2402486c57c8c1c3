"""What a target declares, and what is checked against it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.domain import (
    OPERATORS,
    TYPES,
    AllOf,
    DeclaredFilter,
    Field,
    FieldSpec,
    Filter,
    InvalidQueryError,
    Not,
    Record,
    Unconfigured,
    check,
    check_order,
    check_record,
    check_vector,
    field,
    predicates,
)
from soev_retrieval.testing import strategies

SPEC = FieldSpec(
    [
        Field("title", "text", searchable=True),
        Field("year", "int"),
        Field("price", "float"),
        Field("draft", "bool"),
        Field("at", "datetime"),
        Field("tags", "text", many=True),
        Field("folder", "text", operators=["eq", "under"]),
    ],
    dimension=2,
)


def test_defaults_are_what_the_algebra_defines() -> None:
    """Scalars but bool sort and are ordered, text has prefixes, lists contain, nothing is under."""
    scalar = {"eq", "ne", "in", "not_in", "exists", "missing"}
    ordered = scalar | {"gt", "gte", "lt", "lte"}
    assert set(Field("f", "int").operators) == ordered
    assert set(Field("f", "text").operators) == ordered | {"prefix"}
    assert set(Field("f", "bool").operators) == scalar
    assert set(Field("f", "int", many=True).operators) == {
        "contains", "contains_any", "contains_all", "exists", "missing",
    }  # fmt: skip
    assert [type for type in TYPES if Field("f", type).sortable] == [
        "text",
        "int",
        "float",
        "datetime",
    ]
    assert not any(Field("f", type, many=True).sortable for type in TYPES)
    assert not Field("f", "text").searchable


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Field("", "text"), "empty"),
        (lambda: Field("f", "string"), "the types are text"),
        (lambda: Field("f", "int", searchable=True), "only text is searchable"),
        (lambda: Field("f", "bool", sortable=True), "no order"),
        (lambda: Field("f", "text", many=True, sortable=True), "no order"),
        (lambda: Field("f", "int", operators=["prefix"]), "cannot serve 'prefix'"),
        (lambda: Field("f", "int", operators=["under"]), "cannot serve 'under'"),
        (lambda: Field("f", "text", operators=["like"]), "no operator 'like'"),
        (lambda: FieldSpec([Field("f", "int"), Field("f", "text")]), "'f' is declared twice"),
        (lambda: FieldSpec([], dimension=0), "dimension"),
        (lambda: FieldSpec([], dimension=True), "dimension"),
        (lambda: FieldSpec([], distance="hamming"), "use cosine, dot, euclidean, manhattan"),
    ],
)
def test_a_declaration_that_cannot_be(make: Any, says: str) -> None:
    """What a field or a target cannot be is refused when it is declared."""
    with pytest.raises(InvalidQueryError, match=says):
        make()


def test_a_spec_is_a_collection_of_its_fields() -> None:
    """It iterates in order, knows names, and gives fields by name."""
    assert [each.name for each in SPEC][:2] == ["title", "year"]
    assert "year" in SPEC
    assert "yaer" not in SPEC
    assert SPEC["year"].type == "int"
    assert len(SPEC) == 7
    with pytest.raises(KeyError):
        SPEC["yaer"]
    assert Field("f", "text", operators=["in", "eq"]).operators == ("eq", "in")


@pytest.mark.parametrize(
    ("where", "says"),
    [
        (field("yaer") == 1, "did you mean 'year'"),
        (field("x") == 1, "declares title, year"),
        (field("draft") > "a", "'draft' \\(bool\\) does not serve 'gt'"),
        (field("tags") == "a", "list of text\\) does not serve 'eq'; it serves contains"),
        (field("year").contains(1), "does not serve 'contains'"),
        (field("title").under("a"), "does not serve 'under'"),
        (field("folder").prefix("a"), "it serves eq, under"),
        (field("year") == "2020", "is str, give int"),
        (field("year") == 2020.0, "is float, give int"),
        (field("year") == True, "is bool, give int"),  # noqa: E712
        (field("title") == 1, "is int, give text"),
        (field("draft") == 1, "is int, give bool"),
        (field("at") == "2024-01-31", "is str, give datetime"),
        (field("price").in_([True]), "is bool, give float"),
        (field("tags").contains_any([1]), "is int, give text"),
    ],
)
def test_what_a_spec_does_not_serve(where: Filter, says: str) -> None:
    """An unknown field, an operator not served, a value of another type: refused wherever it sits."""
    for nested in (where, Not(where), AllOf([field("year") == 1, Not(AllOf([where]))])):
        with pytest.raises(InvalidQueryError, match=says) as caught:
            check(nested, SPEC)
        assert caught.value.field is not None


def test_ints_are_values_of_float_fields() -> None:
    """An int asks a float field, in lists beside floats too."""
    check(field("price") >= 1, SPEC)
    check(field("price").in_([1, 2.5]), SPEC)


@given(st.data())
def test_what_a_spec_serves_passes(data: st.DataObject) -> None:
    """Every filter drawn from a spec passes its check."""
    spec = data.draw(strategies.specs())
    where = data.draw(strategies.filters(spec))
    check(where, spec)
    assert all(term.op in OPERATORS for term in predicates(where))


def test_order() -> None:
    """Only declared, sortable fields are ordered by."""
    check_order(None, SPEC)
    check_order("year", SPEC)
    with pytest.raises(InvalidQueryError, match="sortable are title, year, price, at, folder"):
        check_order("draft", SPEC)
    with pytest.raises(InvalidQueryError, match="did you mean 'year'"):
        check_order("yaer", SPEC)


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (Record("", {}), "empty"),
        (Record(3, {}), "must be text"),  # type: ignore[arg-type]
        (Record("r1", {"yaer": 1}), "'r1'.*did you mean 'year'"),
        (Record("r1", {"year": "1"}), "'r1'.*'year'.*give int"),
        (Record("r1", {"year": 1.0}), "'r1'.*'year'.*give int"),
        (Record("r1", {"year": 2**60}), "'r1'.*'year'.*beyond"),
        (Record("r1", {"year": [1]}), "'r1'.*'year'.*holds a list"),
        (Record("r1", {"tags": "a"}), "'r1'.*'tags'.*holds one value"),
        (Record("r1", {"tags": ["a", 1]}), "'r1'.*'tags'.*give text"),
        (Record("r1", {"price": float("nan")}), "'r1'.*'price'.*finite"),
        (Record("r1", {"title": "a\0"}), "'r1'.*'title'.*NUL"),
        (Record("r1", {"title": "\ud800"}), "'r1'.*'title'.*surrogate"),
        (Record("r1", {"at": datetime(2024, 1, 31)}), "'r1'.*'at'.*offset"),
        (Record("r1", {"title": {"a": 1}}), "'r1'.*'title'.*dict"),
        (Record("r1", {}, [1.0]), "'r1'.*has 1 numbers"),
        (Record("r1", {}, [0.0, 0.0]), "'r1'.*all zeros"),
        (Record("r1", {}, [1.0, float("nan")]), "'r1'.*NaN"),
        ({"id": "r1"}, "Records, not dict"),
    ],
)
def test_a_record_that_does_not_keep_to_it(record: Any, says: str) -> None:
    """A record that does not fit is refused by its name, its field and what would do."""
    with pytest.raises(InvalidQueryError, match=says):
        check_record(record, SPEC)


def test_numbers_of_float_fields_become_floats() -> None:
    """A float field holds floats on every store, also where an int was loaded."""
    kept = check_record(Record("a", {"price": 3}), SPEC).properties["price"]
    assert type(kept) is float


def test_vectors_without_a_dimension() -> None:
    """A target without vectors is Unconfigured for them, not the caller's mistake."""
    with pytest.raises(Unconfigured, match="no dimension"):
        check_vector([1.0], None)


def test_zeros_have_no_direction_but_a_place() -> None:
    """A vector of zeros is refused under cosine only."""
    with pytest.raises(InvalidQueryError, match="direction"):
        check_vector([0.0, -0.0], 2, "cosine")
    assert list(check_vector([0.0, 0.0], 2, "dot")) == [0.0, 0.0]
    assert list(check_vector([0.0, 0.0], 2, "euclidean")) == [0.0, 0.0]


@given(st.data())
def test_records_drawn_from_a_spec_pass(data: st.DataObject) -> None:
    """Every record drawn from a spec passes, and comes back equal."""
    spec = data.draw(strategies.specs())
    for record in data.draw(strategies.corpora(spec)):
        assert check_record(record, spec) == record


def test_filters_of_datetimes() -> None:
    """A datetime asks a datetime field."""
    check(DeclaredFilter("at", "in", [datetime(2024, 1, 31, tzinfo=UTC)]), SPEC)
