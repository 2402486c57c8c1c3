"""AncestorScope, Renamed and Lookup."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soev_retrieval.domain import (
    AllOf,
    AnyOf,
    Filter,
    InvalidQueryError,
    Not,
    Properties,
    Scalar,
    StoreUnavailable,
    ancestors,
    field,
    matches,
)
from soev_retrieval.engine import AncestorScope, Lookup, PreFiltered, Renamed, Rewrite
from soev_retrieval.testing.faults import Scripted

OTHER = field("n") == 1


async def reached(where: Filter, rewrite: Rewrite) -> list[Any]:
    """The filters that reach the inner store: one, or none."""
    inner: Any = Scripted([])
    await PreFiltered(inner, rewrite).fetch("t", where=where, limit=1)
    return [call.where for call in inner.calls]


def in_folder(path: str) -> Properties:
    return Properties({"folder": path, "ancestors": ancestors(path)})


@pytest.mark.parametrize("folder", ["a/b", "/a/b", "a//b/"])
async def test_a_folder_is_among_the_ancestors(folder: str) -> None:
    """`under` becomes: the list of ancestors holds the folder, its slashes normalised."""
    where = field("folder").under(folder)
    assert await reached(where, AncestorScope()) == [field("ancestors").contains("a/b")]


async def test_ancestors_may_have_other_names() -> None:
    """The caller's field and the list field are settings."""
    scope = AncestorScope(folder="path", ancestors="up")
    where = field("path").under("a")
    assert await reached(where, scope) == [field("up").contains("a")]


@pytest.mark.parametrize(
    "where", [field("other").under("a"), field("folder") == "a", OTHER], ids=str
)
async def test_ancestors_leave_other_predicates_alone(where: Filter) -> None:
    """Other fields and other operators pass as they are."""
    assert await reached(where, AncestorScope()) == [where]


@pytest.mark.parametrize("path", ["", "/", "a", "a/b"])
@pytest.mark.parametrize("root", ["", "/", "//"])
async def test_the_root_covers_every_folder(path: str, root: str) -> None:
    """The root covers itself and all below: a chunk that lies in the root itself too."""
    where = field("folder").under(root)
    assert matches(where, in_folder(path))
    assert any(matches(one, in_folder(path)) for one in await reached(where, AncestorScope()))


SEGMENTS = st.sampled_from(["a", "b", "ab", "a b", "%", "_", "*", "..", ".", "\\", "é", "A"])
PATHS = st.lists(SEGMENTS | st.just(""), max_size=4).map("/".join)
FOLDERS = PATHS.filter(ancestors)  # the root has its own test


@settings(max_examples=2 * settings().max_examples)
@given(PATHS, st.lists(FOLDERS, min_size=3, max_size=3))
def test_the_ancestors_mean_under(
    virtual: Callable[..., Any], path: str, folders: list[str]
) -> None:
    """For any folder, the ancestors mean what `under` means on a chunk that carries both."""
    one, two, three = (field("folder").under(folder) for folder in folders)
    where = AnyOf([AllOf([one, Not(two)]), AllOf([Not(one), three]), AllOf([two, three])])
    found = virtual(reached(where, AncestorScope()))
    for chunk in (in_folder(path), Properties()):
        assert any(matches(one, chunk) for one in found) == matches(where, chunk)


async def test_a_field_is_renamed_everywhere() -> None:
    """Each predicate on a renamed field keeps its operator and value; other fields keep their name."""
    where = (field("year") >= 2020) & ~(field("tags").contains_any(["a"]) | OTHER)
    names = {"year": "published", "tags": "labels"}
    assert await reached(where, Renamed(names)) == [
        (field("published") >= 2020) & ~(field("labels").contains_any(["a"]) | OTHER)
    ]


async def test_names_may_be_swapped() -> None:
    """A renamed field is not renamed again."""
    where = (field("a") == 1) & (field("b") == 2)
    assert await reached(where, Renamed({"a": "b", "b": "a"})) == [
        (field("b") == 1) & (field("a") == 2)
    ]


@pytest.mark.parametrize("op", ["exists", "missing"])
async def test_a_predicate_without_a_value_is_renamed(op: str) -> None:
    """`exists` and `missing` are renamed like the others."""
    where, renamed = (getattr(field(name), op)() for name in ("a", "b"))
    assert await reached(where, Renamed({"a": "b"})) == [renamed]


class Keys:
    """A `find` that answers from a table and records its calls."""

    def __init__(self, table: dict[Any, list[int]]) -> None:
        self.table = table
        self.asked: list[list[Scalar]] = []

    async def __call__(self, values: Sequence[Scalar], /) -> Collection[int]:
        self.asked.append(list(values))
        return [key for value in values for key in self.table.get(value, [])]


NAMES: dict[Any, list[int]] = {"Glauert": [23, 17], "Prandtl": [5], "Both": [5, 17]}
AUTHOR, KEY = field("author"), field("author_id")


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (AUTHOR == "Glauert", [KEY.in_([17, 23])]),
        (AUTHOR != "Glauert", [KEY.not_in([17, 23])]),
        (AUTHOR.in_(["Prandtl", "Both"]), [KEY.in_([5, 17])]),
        (AUTHOR.not_in(["Prandtl", "Glauert"]), [KEY.not_in([5, 17, 23])]),
        (AUTHOR == "Nobody", []),
        ((AUTHOR == "Nobody") | OTHER, [OTHER]),
        (AUTHOR != "Nobody", [AllOf([])]),
        (~(AUTHOR == "Nobody") & OTHER, [OTHER]),
        (AUTHOR.in_([]), []),
        (AUTHOR.not_in([]) & OTHER, [OTHER]),
        (OTHER, [OTHER]),
    ],
    ids=str,
)
async def test_a_value_is_looked_up(where: Filter, expected: list[Filter]) -> None:
    """A value becomes the keys it stands for; one without a key matches nothing, and `ne` everything."""
    assert await reached(where, Lookup("author", "author_id", Keys(NAMES))) == expected


async def test_the_values_of_one_predicate_are_looked_up_together() -> None:
    """`find` is asked once for all values of a predicate, and not for none or another field."""
    find = Keys(NAMES)
    where = AUTHOR.in_(["Prandtl", "Both"]) & AUTHOR.not_in([]) & OTHER
    await reached(where, Lookup("author", "author_id", find))
    assert find.asked == [["Prandtl", "Both"]]


async def test_a_lookup_means_what_the_names_mean() -> None:
    """On chunks that carry both, the keys match exactly where the name did, missing ones included."""
    table = {"Glauert": [17], "Prandtl": [5], "Alias": [17]}
    chunks = [
        Properties({"author": name, "author_id": keys[0]}) for name, keys in table.items()
    ] + [Properties()]
    for where in (AUTHOR == "Prandtl", AUTHOR != "Prandtl", ~(AUTHOR != "Prandtl")):
        [found] = await reached(where, Lookup("author", "author_id", Keys(table)))
        assert [matches(found, one) for one in chunks] == [matches(where, one) for one in chunks]


@pytest.mark.parametrize(
    "where", [AUTHOR > "G", AUTHOR.prefix("G"), AUTHOR.exists(), AUTHOR.contains("G")], ids=str
)
async def test_an_operator_that_cannot_be_looked_up_is_refused(where: Filter) -> None:
    """A name has no order among keys: the error names the field and what it serves."""
    find = Keys(NAMES)
    with pytest.raises(InvalidQueryError, match="'author' is looked up and serves eq, ne, in") as e:
        await reached(where, Lookup("author", "author_id", find))
    assert (e.value.field, e.value.target, find.asked) == ("author", "t", [])


async def test_the_error_of_the_lookup_is_raised_as_itself() -> None:
    """A `find` that gives no answer has not found nothing: its error is the call's."""
    error = StoreUnavailable("no table of authors")

    async def find(values: Sequence[Scalar]) -> Collection[Scalar]:
        raise error

    with pytest.raises(StoreUnavailable) as raised:
        await reached(AUTHOR != "Glauert", Lookup("author", "author_id", find))
    assert raised.value is error


@pytest.mark.parametrize("returned", [None, "17"], ids=repr)
@pytest.mark.parametrize("where", [AUTHOR == "Glauert", AUTHOR != "Glauert"], ids=str)
async def test_a_lookup_that_returns_no_keys_is_refused(where: Filter, returned: Any) -> None:
    """A `find` that forgot its return, or its list, is a mistake, not a name without a key."""

    async def find(values: Sequence[Scalar]) -> Any:
        return returned

    with pytest.raises(InvalidQueryError):
        await reached(where, Lookup("author", "author_id", find))


@pytest.mark.parametrize(
    "rewrite",
    [AncestorScope(), Renamed({}), Lookup("a", "b", Keys({}))],
    ids=lambda rewrite: type(rewrite).__name__,
)
def test_they_are_rewrites(rewrite: object) -> None:
    """Each keeps to the protocol."""
    assert isinstance(rewrite, Rewrite)
