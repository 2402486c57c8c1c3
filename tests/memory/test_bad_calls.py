"""A wrong call is refused by every method it can be made of, and the error says what would do."""

import math
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from soev_retrieval.domain import (
    DeclaredFilter,
    Field,
    FieldSpec,
    InvalidQueryError,
    Not,
    Record,
    Unconfigured,
    field,
)
from soev_retrieval.memory import MemoryStore

Fill = Callable[..., Awaitable[MemoryStore]]

SPEC = FieldSpec(
    [
        Field("body", "text", searchable=True, operators=["eq"]),
        Field("path", "text", sortable=False),
        Field("year", "int"),
        Field("price", "float"),
        Field("at", "datetime"),
        Field("draft", "bool"),
        Field("tags", "text", many=True),
    ],
    3,
)
RECORD = Record("a", {"body": "cat", "year": 1, "tags": ["x"]}, [1, 0, 0])

GOOD: dict[str, dict[str, Any]] = {
    "hybrid": {"query": "cat", "vector": [1, 0, 0], "limit": 1},
    "near_vector": {"vector": [1, 0, 0], "limit": 1},
    "bm25": {"query": "cat", "limit": 1},
    "fetch": {"limit": 1},
}
"""Of each method that takes a limit, a call that is right."""


@pytest.fixture(params=[[RECORD], []], ids=["filled", "empty"])
async def store(request: pytest.FixtureRequest, filled: Fill) -> MemoryStore:
    """A store whose target holds a chunk, or none: what is wrong is wrong in both."""
    return await filled(SPEC, request.param)


async def _call(store: MemoryStore, method: str, target: Any = "docs", **changed: Any) -> Any:
    return await getattr(store, method)(target, **{**GOOD[method], **changed})


@pytest.mark.parametrize("method", GOOD)
async def test_what_is_right_is_served(filled: Fill, method: str) -> None:
    """The calls that the others are made of find the chunk."""
    [found] = await _call(await filled(SPEC, [RECORD]), method)
    assert found.id == "a"


@pytest.mark.parametrize("method", GOOD)
@pytest.mark.parametrize("limit", [0, -1, 2.5, 1.0, True, False, "3", None, math.nan, [1]])
async def test_limits(store: MemoryStore, method: str, limit: Any) -> None:
    """A limit is a whole number of at least 1."""
    with pytest.raises(InvalidQueryError, match="limit must be an int of at least 1, not "):
        await _call(store, method, limit=limit)


@pytest.mark.parametrize("method", ["hybrid", "bm25"])
@pytest.mark.parametrize(
    ("query", "says"),
    [
        *((blank, "is blank; give at least one word") for blank in ("", " ", "\t\n", "\u3000")),
        (None, "must be text, not NoneType"),
        (b"cat", "must be text, not bytes"),
        (["cat"], "must be text, not list"),
        ("cat\0secret", "NUL.*take it out"),
        ("secret\ud800", "surrogate; take it out"),
    ],
)
async def test_queries(store: MemoryStore, method: str, query: Any, says: str) -> None:
    """A query is text with at least one word, and the error does not repeat it."""
    with pytest.raises(InvalidQueryError, match=f"the query .*{says}") as caught:
        await _call(store, method, query=query)
    assert "secret" not in str(caught.value)


_VECTORS: list[tuple[Any, str]] = [
    ([1, 0], "has 2 numbers, the target's have 3"),
    ([1, 0, 0, 0], "has 4 numbers, the target's have 3"),
    ([], "is empty"),
    (np.zeros(0), "is empty"),
    ([1, 0, math.nan], "NaN, an infinity or a number beyond float32"),
    ([1, 0, math.inf], "NaN, an infinity or a number beyond float32"),
    ([1, 0, -math.inf], "NaN, an infinity or a number beyond float32"),
    ([1, 0, 1e39], "NaN, an infinity or a number beyond float32"),
    ([1, 0, 10**400], "plain numbers"),
    ([1, 0, "0"], "plain numbers"),
    ([1, 0, None], "plain numbers"),
    ([1, 0, 1j], "plain numbers"),
    ([[1, 0, 0]], "plain numbers"),
    (np.array([[1, 0, 0]]), "plain numbers"),
    ("100", "must be a sequence of floats, not str"),
    (b"100", "must be a sequence of floats, not bytes"),
    ({0: 1, 1: 0, 2: 0}, "must be a sequence of floats, not dict"),
    ({1, 2, 3}, "must be a sequence of floats, not set"),
    (3.0, "must be a sequence of floats, not float"),
    (np.float32(3), "must be a sequence of floats, not float32"),
    ([0, 0, 0], "all zeros, which has no direction"),
    ([0.0, -0.0, 1e-50], "all zeros, which has no direction"),
]


@pytest.mark.parametrize("method", ["near_vector", "hybrid"])
@pytest.mark.parametrize(("vector", "says"), _VECTORS, ids=[str(one) for one, _ in _VECTORS])
async def test_vectors(store: MemoryStore, method: str, vector: Any, says: str) -> None:
    """A query vector is as many finite numbers as the target's vectors have, of some direction."""
    with pytest.raises(InvalidQueryError, match=f"the query vector .*{says}"):
        await _call(store, method, vector=vector)


async def test_near_vector_needs_a_vector(store: MemoryStore) -> None:
    """None is no vector for near_vector."""
    with pytest.raises(InvalidQueryError, match="must be a sequence of floats, not None"):
        await _call(store, "near_vector", vector=None)


@pytest.mark.parametrize("vector", [[1, 0, math.nan], [], "100", [[1, 0, 0]]])
async def test_a_vector_is_checked_where_it_does_not_weigh(store: MemoryStore, vector: Any) -> None:
    """With alpha 0 a vector that is none is refused all the same."""
    with pytest.raises(InvalidQueryError, match="the query vector"):
        await _call(store, "hybrid", vector=vector, alpha=0)


@pytest.mark.parametrize("alpha", [1.2, -0.1, math.nan, math.inf, True, False, "x", "0.5", [0.5]])
async def test_alphas(store: MemoryStore, alpha: Any) -> None:
    """An alpha is a number from 0 to 1."""
    with pytest.raises(
        InvalidQueryError, match=r"a number from 0 \(keywords only\) to 1 \(vectors only\)"
    ):
        await _call(store, "hybrid", alpha=alpha)


@pytest.mark.parametrize("target", ["doc", "", "DOCS", None, 5, ["docs"]])
@pytest.mark.parametrize("method", [*GOOD, "fields", "upsert", "delete"])
async def test_unknown_targets(store: MemoryStore, method: str, target: Any) -> None:
    """A target that is not there is refused by every method, and the error names those there are."""
    await store.create("more", SPEC)
    given_: list[Any] = [] if method in GOOD or method == "fields" else [["a"]]
    with pytest.raises(InvalidQueryError, match=r"there is docs, more$") as caught:
        await getattr(store, method)(target, *given_, **GOOD.get(method, {}))
    assert repr(target) in str(caught.value)
    assert caught.value.target == target


async def test_a_store_without_targets() -> None:
    """A store without a target says so."""
    with pytest.raises(InvalidQueryError, match="there is no target 'docs'; there is none yet"):
        await MemoryStore().fields("docs")


@pytest.mark.parametrize("method", GOOD)
@pytest.mark.parametrize(
    ("where", "name", "says"),
    [
        (field("yaer") == 1, "yaer", "no field 'yaer'; did you mean 'year'. It declares body, pa"),
        (Not(field("zzz").exists()), "zzz", "no field 'zzz'; it declares body, path, year"),
        ((field("year") == 1) | (field("Year") == 1), "Year", "did you mean 'year'"),
        (
            field("path").under("a"),
            "path",
            "'path' .text. does not serve 'under'; it serves eq, ne",
        ),
        (field("body") > "a", "body", "'body' .text. does not serve 'gt'; it serves eq$"),
        (field("draft") > 1, "draft", "'draft' .bool. does not serve 'gt'; it serves eq, ne"),
        (field("tags") == "x", "tags", "'tags' .list of text. does not serve 'eq'; it serves cont"),
        (field("year").contains(1), "year", "'year' .int. does not serve 'contains'"),
        (field("year").prefix("1"), "year", "'year' .int. does not serve 'prefix'"),
        (field("year") == "1", "year", "'year' .int. eq: the value is str, give int"),
        (field("year") == 1.0, "year", "'year' .int. eq: the value is float, give int"),
        (field("year") == True, "year", "'year' .int. eq: the value is bool, give int"),  # noqa: E712
        (field("year").in_([1, 2.5]), "year", "'year' .int. in: the value is float, give int"),
        (field("draft") == 1, "draft", "'draft' .bool. eq: the value is int, give bool"),
        (field("price") > "1", "price", "'price' .float. gt: the value is str, give float"),
        (field("path") == 1, "path", "'path' .text. eq: the value is int, give text"),
        (field("at") < "2024", "at", "'at' .datetime. lt: the value is str, give datetime"),
        (field("tags").contains_any([1]), "tags", "the value is int, give text"),
    ],
    ids=str,
)
async def test_filters(store: MemoryStore, method: str, where: Any, name: str, says: str) -> None:
    """A filter that the target does not serve is refused, with the field, and what would do."""
    with pytest.raises(InvalidQueryError, match=says) as caught:
        await _call(store, method, where=where)
    assert caught.value.field == name


@pytest.mark.parametrize("method", GOOD)
@pytest.mark.parametrize("where", ["year > 1", True, {"year": 1}, [], ("year", "eq", 1), field])
async def test_what_is_no_filter(store: MemoryStore, method: str, where: Any) -> None:
    """What is no filter is refused, also what is empty or false."""
    with pytest.raises(InvalidQueryError, match="where must be a filter, not "):
        await _call(store, method, where=where)


async def test_a_filter_that_folds_away_is_checked(store: MemoryStore) -> None:
    """A wrong predicate is refused where the rest of the filter makes it matter nothing."""
    never = DeclaredFilter("year", "in", [])
    for where in (never & (field("zzz") == 1), ~never | (field("zzz") == 1)):
        with pytest.raises(InvalidQueryError, match="'zzz'"):
            await store.fetch("docs", where=where, limit=1)


@pytest.mark.parametrize("where", [field("price") == 1, field("price").in_([1, 2.5])])
async def test_an_int_is_a_value_for_a_float(filled: Fill, where: DeclaredFilter) -> None:
    """A float field takes an int in a filter, and compares it by value."""
    store = await filled(SPEC, [Record("a", {"price": 1.0}), Record("b", {"price": 2.0})])
    assert [chunk.id for chunk in await store.fetch("docs", where=where, limit=9)] == ["a"]


@pytest.mark.parametrize(
    ("order_by", "says"),
    [
        ("yaer", "no field 'yaer'; did you mean 'year'"),
        ("zzz", "no field 'zzz'; it declares body"),
        ("", "no field ''"),
        ("tags", "'tags' .list of text. is not sortable; sortable are body, year, price, at"),
        ("draft", "'draft' .bool. is not sortable; sortable are"),
        ("path", "'path' .text. is not sortable; sortable are"),
        (5, "no field 5"),
        (["year"], "no field .'year'."),
    ],
)
@pytest.mark.parametrize("descending", [False, True])
async def test_orders(store: MemoryStore, order_by: Any, says: str, descending: bool) -> None:
    """An order is refused unless it is a declared and sortable field, and the error names those."""
    with pytest.raises(InvalidQueryError, match=says):
        await store.fetch("docs", limit=1, order_by=order_by, descending=descending)


@pytest.mark.parametrize("method", GOOD)
async def test_numbers_of_numpy(filled: Fill, method: str) -> None:
    """A limit, an alpha and a vector may be numbers and arrays of numpy."""
    store = await filled(SPEC, [RECORD, Record("b", {"body": "cat"}, [0, 1, 0])])
    expected = await _call(store, method, limit=2)
    for kind in (np.int64, np.uint8, np.int32):
        assert await _call(store, method, limit=kind(2)) == expected
    for dtype in (np.float32, np.float64, np.float16, np.int64):
        vector = {"vector": np.array([1, 0, 0], dtype)} if "vector" in GOOD[method] else {}
        assert await _call(store, method, limit=2, **vector) == expected
    if method == "hybrid":
        assert await _call(store, method, limit=2, alpha=np.float64(0.5)) == expected


async def test_a_tuple_is_a_vector(filled: Fill) -> None:
    """Any sequence of numbers is a vector."""
    store = await filled(SPEC, [RECORD])
    for vector in ((1, 0, 0), range(1, 4), [True, False, False]):
        assert len(await store.near_vector("docs", vector=vector, limit=1)) == 1


async def test_searches_that_a_target_does_not_serve(filled: Fill) -> None:
    """A target without vectors or searchable text is Unconfigured for them, and says what lacks."""
    for records in ([], [Record("a", {"year": 1})]):
        store = await filled(FieldSpec([Field("year", "int"), Field("body", "text")]), records)
        with pytest.raises(Unconfigured, match="the target declares no dimension"):
            await store.near_vector("docs", vector=[1], limit=1)
        with pytest.raises(Unconfigured, match="declare one: Field"):
            await store.bm25("docs", query="cat", limit=1)


@pytest.mark.parametrize(
    ("setting", "value", "says"),
    [
        ("alpha", None, "give a number from 0 to 1"),
        *(("alpha", value, "alpha must be a number") for value in (1.2, -0.1, math.nan, "x", True)),
        *(("depth", value, "from 1") for value in (0, 2.5, True, None)),
        *(
            ("language", value, "use dutch, english, .*or None")
            for value in ("klingon", "", 5, ["english"])
        ),
        *(
            ("k1", value, "k1 must be a finite number from 0")
            for value in (-1, math.nan, math.inf, "x", None)
        ),
        *(
            ("b", value, "b must be a finite number from 0 to 1")
            for value in (-0.1, 1.1, math.nan, "x", None)
        ),
    ],
)
def test_settings(setting: str, value: Any, says: str) -> None:
    """A store is not made with a setting that makes no sense."""
    with pytest.raises(InvalidQueryError, match=says):
        MemoryStore(**{setting: value})
