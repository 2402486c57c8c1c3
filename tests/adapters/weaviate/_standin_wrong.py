"""Calls that a server refuses, and the words that it refuses them in."""

from collections.abc import Awaitable, Callable
from typing import Any

from weaviate.proto.v1 import base_search_pb2, search_get_pb2

from tests.adapters.weaviate._standin_client import (
    Filters,
    bm25,
    by,
    hybrid,
    joined,
    leaf,
    near,
    packed,
    prop,
    uuid_of,
)

PROPERTIES = [
    prop("w"),
    prop("f", tokenization="field", indexSearchable=False),
    prop("n", "int"),
    prop("x", "number"),
    prop("d", "date"),
    prop("b", "boolean"),
    prop("u", "uuid"),
    prop("no", indexFilterable=False, indexSearchable=False),
    prop("blob", "blob"),
    prop("r", "int", indexFilterable=False, indexRangeFilters=True),
    prop("o", "object", nestedProperties=[prop("a")]),
]
"""Of the collection that all of them but those of tenants and vectors ask."""

Call = Callable[..., Awaitable[Any]]


def _where(operator: str, name: str, value: Any) -> Call:
    return lambda place, of: place.search(of, leaf(operator, name, value))


def _search(where: Any = None, **more: Any) -> Call:
    return lambda place, of: place.search(of, where, **more)


_PAGE = "query maximum results exceeded: the total limit calculated from"
_STOPS = "invalid search term, only stopwords provided"
_FIRST = leaf("EQUAL", "n", 1)

FILTERS: dict[str, tuple[Call, str]] = {
    "unknown property": (_where("EQUAL", "zz", 1), "no such prop with name 'zz' found in class"),
    "property with a capital": (_where("EQUAL", "W", "a"), "no such prop with name 'W'"),
    "unknown null": (_where("IS_NULL", "zz", True), "no such prop with name 'zz'"),
    "unknown length": (_where("EQUAL", "len(zz)", 1), "no such prop with name 'zz'"),
    "id without underscore": (_where("EQUAL", "id", "a"), "no such prop with name 'id'"),
    "no value": (_where("EQUAL", "w", None), "unknown value type <nil>"),
    "no property": (
        _search(Filters(operator=Filters.OPERATOR_EQUAL, value_text="a")),
        "paths needs to have a uneven number of components",
    ),
    "no operator": (_where("UNSPECIFIED", "w", "a"), "unknown filter operator OPERATOR_UNSPECI"),
    "int for text": (_where("EQUAL", "w", 1), "expected value to be string, got 'int'"),
    "bool for int": (_where("EQUAL", "n", True), "expected value to be int, got bool"),
    "word for int": (_where("EQUAL", "n", "a"), "could not parse string 'a' as int"),
    "part of an int": (_where("EQUAL", "n", 1.5), "received a floating point number 1.5"),
    "infinite int": (_where("EQUAL", "n", float("inf")), "received a non-finite number +Inf"),
    "large int": (_where("EQUAL", "n", 1e30), "received a value out of range 1e+30"),
    "bool for number": (_where("EQUAL", "x", True), "expected value to be float64, got bool"),
    "word for number": (_where("EQUAL", "x", "a"), "could not parse string 'a' as float"),
    "text for bool": (_where("EQUAL", "b", "a"), "expected value to be bool, got string"),
    "no date": (
        _where("EQUAL", "d", "today"),
        'trying parse time as RFC3339 string: parsing time "',
    ),
    "int for date": (
        _where("EQUAL", "d", 1),
        "expected value to be time.Time (or parseable string",
    ),
    "no uuid": (_where("EQUAL", "u", "a"), "parse uuid filter value: invalid UUID length: 1"),
    "like of a uuid": (_where("LIKE", "u", "a"), 'operator "Like" cannot be used on uuid'),
    "like of an int": (
        _where("LIKE", "n", 1),
        "parse like value: compile regex from 'like' string",
    ),
    "like of a range": (_where("LIKE", "r", 1), "bucket for prop r not found - is it indexed?"),
    "empty text": (_where("EQUAL", "w", ""), _STOPS),
    "stop word": (_where("EQUAL", "w", "The"), _STOPS),
    "stop word in a not": (_search(joined("NOT", leaf("EQUAL", "w", "the"))), _STOPS),
    "stop words in any": (_where("CONTAINS_ANY", "w", ["the", "a"]), _STOPS),
    "stop word in all": (_where("CONTAINS_ALL", "w", ["the", "cat"]), _STOPS),
    "no values": (_where("CONTAINS_ANY", "w", []), _STOPS),
    "all of no values": (_where("CONTAINS_ALL", "w", []), 'no children for operator "And"'),
    "none of no values": (_where("CONTAINS_NONE", "w", []), 'no children for operator "Or"'),
    "any of one": (_where("CONTAINS_ANY", "w", "a"), "value type should be []string but is string"),
    "any int of text": (_where("CONTAINS_ANY", "w", [1]), "should be []string but is []int"),
    "equal to a list": (_where("EQUAL", "w", ["a"]), "expected value to be string, got '[]string'"),
    "null without its index": (_where("IS_NULL", "w", True), "Nullstate must be indexed to be"),
    "null by an int": (_where("IS_NULL", "w", 1), "expected value to be bool, got int"),
    "length without its index": (_where("EQUAL", "len(w)", 1), "Property length must be indexed"),
    "negative length": (_where("EQUAL", "len(w)", -1), "Can only filter for positive property"),
    "like of a length": (_where("LIKE", "len(w)", 1), "Filtering for property length supports"),
    "time without its index": (
        _where("LESS_THAN", "_creationTimeUnix", "2020-01-01T00:00:00Z"),
        "Timestamps must be indexed to be filterable!",
    ),
    "without an index": (
        _where("EQUAL", "no", "a"),
        "Filtering by property 'no' requires inverted",
    ),
    "blob": (_where("EQUAL", "blob", "a"), 'data type "blob" not supported in query'),
    "object": (_where("EQUAL", "o", "a"), "filtering on nested properties is a preview feature"),
    "object's property": (_where("EQUAL", "o.a", "a"), "filtering on nested properties is a"),
    "and of nothing": (_search(joined("AND")), 'no children for operator "And"'),
    "not of nothing": (_search(joined("NOT")), 'no children for operator "Not"'),
    "not of two": (_search(joined("NOT", _FIRST, _FIRST)), 'too many children for operator "Not"'),
}
"""By what is wrong with a filter: the call, with the collection's name, and what it is told."""

SEARCHES: dict[str, tuple[Call, str]] = {
    "unknown collection": (
        lambda place, of: place.search(f"{of}Nowhere"),
        "could not find class",
    ),
    "tenant of one without": (_search(tenant="t"), "has multi-tenancy disabled, but request was"),
    "limit": (_search(limit=10_001), _PAGE),
    "offset": (_search(limit=10, offset=9_991), _PAGE),
    "limit of keywords": (_search(**bm25("a"), limit=10_001), _PAGE),
    "limit of neighbours": (_search(**near([1, 0]), limit=10_001), _PAGE),
    "limit of both": (_search(**hybrid("a", [1, 0], 0.5), limit=10_001), _PAGE),
    "unknown order": (
        _search(**by("zz")),
        "invalid 'sort' parameter: sort parameter at position 0",
    ),
    "order by a uuid": (_search(**by("u")), 'prop "u" is of type uuid/uuid[]: sorting by uuid is'),
    "two wrong orders": (_search(**by("zz", "u")), "available, sort parameter at position 1: prop"),
    "order of keywords": (
        _search(**by("n"), **bm25("a")),
        "sorting cannot be combined with search",
    ),
    "after a filter": (
        _search(_FIRST, after=uuid_of(1)),
        "cursor api: invalid 'after' parameter: where cannot be set with after and limit",
    ),
    "after with more": (
        _search(_FIRST, after=uuid_of(1), offset=1, **by("n")),
        "offset,where,sort cannot be set with after and limit parameters",
    ),
    "after of keywords": (_search(after=uuid_of(1), **bm25("a")), "other params cannot be set"),
    "after no uuid": (_search(after="a"), "after parameter 'a' is not a valid uuid: invalid UUID"),
    "no keywords": (_search(**bm25("")), "keyword search (bm25) must have query set"),
    "keywords of an int": (
        _search(**bm25("a", "n")),
        "Searching by property 'n' requires inverted",
    ),
    "keywords of nothing": (_search(**bm25("a", "zz")), "Searching by property 'zz' requires"),
    "keywords unindexed": (
        _search(**bm25("a", "f")),
        "Searching by property 'f' requires inverted",
    ),
    "keywords of both": (_search(**hybrid("a", [1, 0], 0.5, "f")), "Searching by property 'f'"),
    "two searches": (
        _search(**bm25("a"), **near([1, 0])),
        "conflict: both near<Media> and keyword",
    ),
    "no vector": (_search(near_vector=base_search_pb2.NearVector()), "vector is required"),
    "longer vector": (
        _search(**near([1, 0, 0])),
        "vector search: 3 vs 2: vector lengths don't match",
    ),
    "longer vector of both": (
        _search(**hybrid("a", [1], 0.5)),
        "1 vs 2: vector lengths don't match",
    ),
    "unknown vector": (
        _search(**near([1, 0], target_vectors=["a"])),
        "does not have named vector a configured. Available named vectors []",
    ),
    "distance and certainty": (
        _search(**near([1, 0], distance=0.5, certainty=0.5)),
        "near_vector: cannot provide distance and certainty",
    ),
    "text without a vectorizer": (
        _search(near_text=base_search_pb2.NearTextSearch(query=["a"])),
        "could not vectorize input for collection",
    ),
    "both without a vectorizer": (
        _search(**hybrid("a", None, 0.5)),
        "VectorFromInput was called without vectorizer on class",
    ),
    "two vectors of both": (
        _search(
            **hybrid(
                "a",
                [1, 0],
                0.5,
                near_vector=base_search_pb2.NearVector(vector_bytes=packed([1, 0])),
            )
        ),
        "cannot combine nearVector and vector in hybrid search",
    ),
    "unknown answer": (
        _search(properties=search_get_pb2.PropertiesRequest(non_ref_properties=["zz"])),
        "extract properties request: get property by name zz for class",
    ),
    "delete everything": (
        lambda place, of: place.delete(of, None),
        "batch delete params: no filters in batch delete request",
    ),
    "delete by a stop word": (
        lambda place, of: place.delete(of, leaf("EQUAL", "w", "the")),
        "batch delete: cannot find objects: find matching doc ids in shard",
    ),
    "delete in nothing": (
        lambda place, of: place.delete(f"{of}Nowhere", _FIRST),
        "batch delete params: could not find class",
    ),
    "count in nothing": (
        lambda place, of: place.count(f"{of}Nowhere"),
        "parse params: could not find class",
    ),
    "tenants of one without": (
        lambda place, of: place.tenants(of),
        "get tenants: failed to execute query: could not get tenants: could not get tenants: multi",
    ),
}
"""By what is wrong with a search: the call, and what it is told."""
