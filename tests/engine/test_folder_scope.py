"""FolderScope: a folder becomes the documents that a catalog has in it and below it."""

from collections.abc import Callable, Collection
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soev_retrieval.domain import (
    NOTHING,
    AllOf,
    AnyOf,
    Filter,
    InvalidQueryError,
    Not,
    Properties,
    StoreUnavailable,
    field,
    matches,
    predicates,
)
from soev_retrieval.engine import Catalog, FolderScope, MappingCatalog, PreFiltered
from soev_retrieval.testing.faults import Scripted

TREE = {
    "in a": "a",
    "in a/b": "a/b",
    "in a/b/c": "a/b/c",
    "in a/bc": "a/bc",
    "in b": "b",
    "in the root": "",
}
AB, UNKNOWN, OTHER = field("folder").under("a/b"), field("folder").under("?"), field("n") == 1


class Listed:
    """A Catalog that answers from a table and records its calls."""

    def __init__(self, table: dict[str, Any]) -> None:
        self.table = table
        self.asked: list[tuple[str, str]] = []

    async def documents(self, target: str, folder: str, /) -> Any:
        self.asked.append((target, folder))
        return self.table.get(folder, [])


def covered(*ids: str) -> Filter:
    return field("document_id").in_(sorted(ids))


async def reached(where: Filter, scope: FolderScope) -> list[Any]:
    """The filters that reach the inner store: one, or none."""
    inner: Any = Scripted([])
    await PreFiltered(inner, scope).fetch("t", where=where, limit=1)
    return [call.where for call in inner.calls]


async def documents(folder: str, folders: dict[str, str]) -> Collection[str]:
    scope = FolderScope(MappingCatalog(folders))
    where = await scope("t", field("folder").under(folder))
    return set() if where is NOTHING else set(next(predicates(where)).members)


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("a/b", {"in a/b", "in a/b/c"}),
        ("a", {"in a", "in a/b", "in a/b/c", "in a/bc"}),
        ("a/b/c", {"in a/b/c"}),
        ("a/b/c/d", set()),
        ("c", set()),
        ("A/B", set()),
        ("", set(TREE)),
    ],
)
async def test_a_folder_covers_itself_and_all_below(folder: str, expected: set[str]) -> None:
    """`a/b` covers a/b and a/b/c and never a/bc; the root covers every document."""
    assert await documents(folder, TREE) == expected


@pytest.mark.parametrize("folder", ["a/b", "/a/b", "a/b/", "//a///b//", "/a//b"])
@pytest.mark.parametrize("path", ["a/b", "/a/b", "a/b/", "//a///b//"])
async def test_slashes_are_normalised(folder: str, path: str) -> None:
    """Leading, trailing and double slashes are nothing, in the filter and in the catalog."""
    assert await documents(folder, {"x": path, "y": path + "/c", "z": path.rstrip("/") + "c"}) == {
        "x",
        "y",
    }


@pytest.mark.parametrize("folder", ["/", "//", "", "///"])
async def test_slashes_alone_are_the_root(folder: str) -> None:
    """The root is the folder without a name, however many slashes it is written with."""
    assert await documents(folder, TREE) == set(TREE)


@pytest.mark.parametrize("odd", ["%", "_", "*", "?", "\\", "..", ".", "[ab]", "^", "'", " ", "~"])
async def test_no_character_is_a_pattern(odd: str) -> None:
    """Wildcards, escapes and dots are ordinary: such a folder covers the one of that very name."""
    tree = {**TREE, "odd": f"a/{odd}", "below": f"a/{odd}/b", "x": f"a/{odd}x", "y": f"a/x{odd}"}
    assert await documents(f"a/{odd}", tree) == {"odd", "below"}
    assert await documents(f"a/{odd}", TREE) == set()


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (UNKNOWN, []),
        (UNKNOWN & OTHER, []),
        (UNKNOWN | OTHER, [OTHER]),
        (AB | UNKNOWN, [covered("in a/b", "in a/b/c")]),
        (~UNKNOWN & OTHER, [OTHER]),
        (~UNKNOWN, [AllOf([])]),
        (~(AB | UNKNOWN), [~covered("in a/b", "in a/b/c")]),
        (~~UNKNOWN, []),
    ],
    ids=str,
)
async def test_an_unknown_folder_is_nothing(where: Filter, expected: list[Filter]) -> None:
    """A folder that the catalog does not know holds no document, in every place of a filter."""
    assert await reached(where, FolderScope(MappingCatalog(TREE))) == expected


async def test_the_catalog_is_asked_for_the_normal_path() -> None:
    """A catalog gets the target, and the path without the slashes that are nothing."""
    catalog = Listed({"a/b": ["1"]})
    await reached(field("folder").under("//a///b/"), FolderScope(catalog))
    assert catalog.asked == [("t", "a/b")]


async def test_a_folder_that_stands_often_is_asked_for_once() -> None:
    """One call asks once per folder, however often the folder stands in its filter."""
    catalog = Listed({"a/b": ["2", "1"], "c": ["3"]})
    c = field("folder").under("c")
    where = (AB & OTHER) | ~(AB | c) | (c & ~AB)
    assert await reached(where, FolderScope(catalog)) == [
        (covered("1", "2") & OTHER)
        | ~(covered("1", "2") | covered("3"))
        | (covered("3") & ~covered("1", "2"))
    ]
    assert sorted(catalog.asked) == [("t", "a/b"), ("t", "c")]


async def test_a_folder_that_is_written_in_two_ways_is_asked_for_once() -> None:
    """One call asks once per folder, also where its slashes differ."""
    catalog = Listed({"a/b": ["1"]})
    await reached(AB | field("folder").under("/a//b/") | OTHER, FolderScope(catalog))
    assert catalog.asked == [("t", "a/b")]


async def test_each_call_asks_again() -> None:
    """A mapping that changes between calls is seen by the next one."""
    tree = dict(TREE)
    inner: Any = Scripted([])
    store = PreFiltered(inner, FolderScope(MappingCatalog(tree)))
    await store.fetch("t", where=AB, limit=1)
    tree["in a/b"] = "elsewhere"
    tree["new"] = "a/b/new"
    await store.fetch("t", where=AB, limit=1)
    tree.clear()
    await store.fetch("t", where=AB, limit=1)
    assert [call.where for call in inner.calls] == [
        covered("in a/b", "in a/b/c"),
        covered("in a/b/c", "new"),
    ]


async def test_a_hundred_thousand_documents_reach_the_store() -> None:
    """A folder of 100,000 documents becomes all of their ids, each once."""
    tree = {f"doc-{n}": f"big/{n % 100}" for n in range(100_000)} | {"other": "small"}
    [where] = await reached(field("folder").under("big"), FolderScope(MappingCatalog(tree)))
    assert (where.field, where.op, len(where.value)) == ("document_id", "in", 100_000)
    assert set(where.value) == set(tree) - {"other"}


@pytest.mark.parametrize("ids", [["b", "a", "b"], {"a", "b"}, ("b", "a"), {"a": 1, "b": 2}.keys()])
async def test_ids_come_in_any_collection(ids: Collection[str]) -> None:
    """Ids in any order, twice or not, make the same filter."""
    assert await reached(AB, FolderScope(Listed({"a/b": ids}))) == [covered("a", "b")]


@pytest.mark.parametrize("where", [AB, ~AB, AB | OTHER], ids=str)
@pytest.mark.parametrize("returned", [None, "doc-1", 3], ids=repr)
async def test_a_catalog_that_returns_no_ids_is_refused(where: Filter, returned: Any) -> None:
    """A catalog that forgot its return, or its list, is a mistake, not an unknown folder."""
    with pytest.raises(InvalidQueryError):
        await reached(where, FolderScope(Listed({"a/b": returned})))


async def test_the_error_of_the_catalog_is_raised_as_itself() -> None:
    """A catalog that gives no answer is no unknown folder: its error is the call's."""
    error = StoreUnavailable("no catalog")

    class Down:
        async def documents(self, target: str, folder: str, /) -> Collection[str]:
            raise error

    with pytest.raises(StoreUnavailable) as raised:
        await reached(~AB, FolderScope(Down()))
    assert raised.value is error


@pytest.mark.parametrize(
    "where",
    [field("other").under("a/b"), field("folder") == "a/b", field("folder").prefix("a/b"), OTHER],
    ids=str,
)
async def test_other_predicates_are_left_alone(where: Filter) -> None:
    """Other fields and other operators pass as they are, and the catalog is not asked."""
    catalog = Listed({})
    assert await reached(where, FolderScope(catalog)) == [where]
    assert catalog.asked == []


async def test_the_fields_may_have_other_names() -> None:
    """The caller's field and the field of the document's id are settings."""
    scope = FolderScope(Listed({"a": ["1"]}), folder="path", document="doc")
    assert await reached(field("path").under("a"), scope) == [field("doc").in_(["1"])]


def test_a_mapping_is_a_catalog() -> None:
    """MappingCatalog keeps to the protocol that an application implements."""
    assert isinstance(MappingCatalog({}), Catalog)


SEGMENTS = st.sampled_from(["a", "b", "ab", "a b", "%", "_", "*", "..", ".", "\\", "é", "A"])
PATHS = st.lists(SEGMENTS | st.just(""), max_size=4).map("/".join)


@settings(max_examples=2 * settings().max_examples)
@given(st.lists(PATHS, max_size=6), st.lists(PATHS, min_size=3, max_size=3))
def test_the_rewritten_filter_means_under(
    virtual: Callable[..., Any], paths: list[str], folders: list[str]
) -> None:
    """For any tree, the ids mean what `under` means on a chunk that carries its folder."""
    tree = {f"doc-{n}": path for n, path in enumerate(paths)}
    one, two, three = (field("folder").under(folder) for folder in folders)
    where = AnyOf([AllOf([one, Not(two)]), AllOf([Not(one), three]), AllOf([two, three])])
    found = virtual(reached(where, FolderScope(MappingCatalog(tree))))
    for id, path in tree.items():
        chunk = Properties({"folder": path, "document_id": id})
        assert any(matches(one, chunk) for one in found) == matches(where, chunk)
