"""Calls as values: they compare, hash, and keep the query to themselves."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

from soev_retrieval.calls import Bm25, Call, Fetch, Fields, Hybrid, NearVector
from soev_retrieval.domain import DeclaredFilter, Filter, field

WHERE = field("year") >= 2020


def hybrid(**changes: Any) -> Hybrid:
    arguments: dict[str, Any] = {
        "target": "t",
        "query": "q",
        "vector": [0.5, 1.0],
        "limit": 3,
        "where": WHERE,
        "alpha": 0.5,
    }
    return Hybrid(**(arguments | changes))


def one_of_each() -> list[Call[Any]]:
    return [
        hybrid(),
        NearVector("t", [0.5, 1.0], 3, WHERE),
        Bm25("t", "q", 3, WHERE),
        Fetch("t", WHERE, 3, "year", True),
        Fields("t"),
    ]


def test_equal_calls_are_one_key() -> None:
    """A call that is made twice with the same arguments is equal to itself, and hashes alike."""
    for one, two in zip(one_of_each(), one_of_each(), strict=True):
        assert one is not two
        assert one == two
        assert len({one, two}) == 1


def test_a_call_names_its_method() -> None:
    """The operation of a call is the name of the method that it is a call of."""
    operations = [call.operation for call in one_of_each()]
    assert operations == ["hybrid", "near_vector", "bm25", "fetch", "fields"]


def test_the_operation_is_no_argument() -> None:
    """The operation is neither in the fields of a call nor in its repr."""
    assert attrs.astuple(Fields("t")) == ("t",)
    assert repr(Fields("t")) == "Fields(target='t')"
    call: Any
    for call in one_of_each():
        assert "operation" not in attrs.asdict(call, recurse=False)


def test_calls_of_different_methods_differ() -> None:
    """However alike their arguments, two methods are two calls."""
    assert len(set(one_of_each())) == 5
    alike: list[object] = [Bm25("t", "q", 3, None), hybrid(vector=None, where=None, alpha=None)]
    assert alike[0] != alike[1]


@pytest.mark.parametrize(
    "change",
    [
        {"target": "u"},
        {"query": "Q"},
        {"vector": [1.0, 0.5]},
        {"vector": [0.5]},
        {"vector": None},
        {"limit": 4},
        {"where": None},
        {"where": field("year") > 2020},
        {"alpha": None},
        {"alpha": 0.25},
    ],
    ids=str,
)
def test_every_argument_counts(change: dict[str, Any]) -> None:
    """A call with one other argument is another call."""
    assert hybrid(**change) != hybrid()
    assert len({hybrid(**change), hybrid()}) == 2


@pytest.mark.parametrize(
    "changed", [Fetch("t", WHERE, 3, None, True), Fetch("t", WHERE, 3, "year", False)], ids=str
)
def test_the_order_of_a_fetch_counts(changed: Fetch) -> None:
    """Another order is another call."""
    assert changed != Fetch("t", WHERE, 3, "year", True)


@pytest.mark.parametrize(
    "vector",
    [(0.5, 1.0), np.array([0.5, 1.0]), np.array([0.5, 1.0], dtype=np.float32)],
    ids=["tuple", "float64", "float32"],
)
@pytest.mark.parametrize(
    "make", [lambda v: hybrid(vector=v), lambda v: NearVector("t", v, 3, None)]
)
def test_a_vector_compares_by_its_numbers(make: Callable[[Any], Call[Any]], vector: Any) -> None:
    """Lists, tuples and arrays of the same numbers make the same call."""
    assert make(vector) == make([0.5, 1.0])
    assert make([0.5, 1.0]) == make(vector)
    assert len({make(vector), make([0.5, 1.0])}) == 1
    assert make(vector) != make([0.5, 2.0])


@pytest.mark.parametrize("make", [
    lambda where: hybrid(where=where),
    lambda where: NearVector("t", [1.0], 3, where),
    lambda where: Bm25("t", "q", 3, where),
    lambda where: Fetch("t", where, 3, None, False),
], ids=["hybrid", "near_vector", "bm25", "fetch"])  # fmt: skip
def test_filters_on_1_and_true_are_two_calls(make: Callable[[Filter], Call[Any]]) -> None:
    """`eq 1` and `eq True` mean different chunks, so they are different calls, alone or nested."""
    terms = [DeclaredFilter("flag", "eq", value) for value in (1, True, "1")]
    for wheres in (terms, [~term & WHERE for term in terms]):
        assert len({make(where) for where in wheres}) == 3


def test_a_call_is_frozen() -> None:
    """A value that is a key does not change."""
    call: Any
    for call in one_of_each():
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            call.target = "u"


def test_another_filter_is_another_call() -> None:
    """`filtered` changes the filter and nothing else, the vector being the very same object."""
    for call in one_of_each()[:4]:
        assert isinstance(call, Hybrid | NearVector | Bm25 | Fetch)
        other = call.filtered(None)
        assert other == attrs.evolve(call, where=None)
        assert type(other) is type(call)
        assert call.where is WHERE
        assert getattr(other, "vector", None) is getattr(call, "vector", None)


def test_the_repr_holds_no_query_and_no_vector() -> None:
    """A log of calls tells target, limit and filter, and not what was asked."""
    secret: Any = np.array([0.123456, 7.0])
    for call in (
        hybrid(query="secret", vector=secret),
        NearVector("t", secret, 3, WHERE),
        Bm25("t", "secret", 3, WHERE),
    ):
        assert "secret" not in repr(call)
        assert "0.123" not in repr(call)
        assert "target='t'" in repr(call)
        assert "limit=3" in repr(call)
