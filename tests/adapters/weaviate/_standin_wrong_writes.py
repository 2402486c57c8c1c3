"""Classes, tenants and objects that a server refuses, and its words for them."""

from typing import Any

from tests.adapters.weaviate._standin_client import prop
from tests.adapters.weaviate._standin_wrong import Call

_TWO = {"vectorizer": "none", "vectorConfig": {"a": {"vectorizer": {"none": {}}}}}


def _rest(method: str, path: str, body: Any = None) -> Call:
    return lambda place, of: place.ask(method, path.replace("{}", of), body)


def _class(*properties: Any, **more: Any) -> Call:
    return lambda place, of: place.ask(
        "POST", "/schema", {"class": f"{of}Wrong", "properties": list(properties), **more}
    )


SCHEMAS: dict[str, tuple[Call, str]] = {
    "class that is there": (
        lambda place, of: place.ask("POST", "/schema", {"class": of[:1].lower() + of[1:]}),
        "already exists",
    ),
    "name with a dash": (_rest("POST", "/schema", {"class": "A-b"}), "'A-b' is not a valid class"),
    "no name": (_rest("POST", "/schema", {"class": ""}), "'' is not a valid class name"),
    "reserved name": (_class(prop("id")), "'id' is a reserved property name"),
    "reserved end": (_class(prop("a_searchable")), "suffix '_searchable' is reserved for internal"),
    "property with a dash": (_class(prop("a-b")), "'a-b' is not a valid property name. Property"),
    "twice": (
        _class(prop("a"), prop("A")),
        'conflict for property "a": already in use or provided',
    ),
    "unknown type": (_class(prop("a", "foo")), "unknown primitive data type 'foo'"),
    "reference": (_class(prop("a", "Foo")), "bad request: reference property to nonexistent class"),
    "unknown tokenization": (
        _class(prop("a", tokenization="foo")),
        "tokenization in body should be",
    ),
    "tokenized int": (
        _class(prop("a", "int", tokenization="word")),
        "tokenization is not allowed for data type 'int'",
    ),
    "searchable int": (
        _class(prop("a", "int", indexSearchable=True)),
        "`indexSearchable` is allowed only for text/text[] data types",
    ),
    "ranges of text": (
        _class(prop("a", indexRangeFilters=True)),
        "`indexRangeFilters` is allowed only for number/int/date data types",
    ),
    "unknown stop words": (
        _class(invertedIndexConfig={"stopwords": {"preset": "de"}}),
        "stopwordPreset 'de' does not exist",
    ),
    "unknown vectorizer": (
        _class(vectorizer="text2vec-foo"),
        'vectorizer: no module with name "text2vec-foo" present',
    ),
    "vector with a space": (
        _class(vectorConfig={"a b": {"vectorizer": {"none": {}}}}),
        'class.VectorConfig target vector name "a b" is not valid',
    ),
    "unknown index": (
        _class(vectorConfig={"a": {"vectorizer": {"none": {}}, "vectorIndexType": "foo"}}),
        'target vector "a": unrecognized or unsupported vectorIndexType "foo"',
    ),
    "named and not": (_class(**_TWO), "class level vector index and named vectors is forbidden"),
    "shards and tenants": (
        _class(shardingConfig={"desiredCount": 3}, multiTenancyConfig={"enabled": True}),
        "cannot have both shardingConfig and multiTenancyConfig",
    ),
    "add what is there": (_rest("POST", "/schema/{}/properties", prop("w")), "already in use or"),
    "add to nothing": (_rest("POST", "/schema/Nowhere/properties", prop("a")), "not found"),
    "get nothing": (_rest("GET", "/schema/Nowhere"), ""),
    "shards of nothing": (_rest("GET", "/schema/Nowhere/shards"), "for a non-existing index"),
    "nodes of nothing": (
        _rest("GET", "/nodes/Nowhere?output=verbose"),
        'class "Nowhere" not found',
    ),
    "tenants of nothing": (_rest("GET", "/schema/Nowhere/tenants"), "class not found"),
    "tenant of one without": (
        _rest("POST", "/schema/{}/tenants", [{"name": "t"}]),
        "updating schema: TYPE_ADD_TENANT: multi-tenancy is not enabled for class",
    ),
    "no path": (_rest("GET", "/nowhere"), "path /v1/nowhere was not found"),
    "no method": (_rest("PATCH", "/schema/{}", {}), "method PATCH is not allowed"),
}
"""By what is wrong with a request over REST: the call, and what it is told."""

OBJECTS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown property": ({"zz": 1}, "no such prop with name 'zz' found in class"),
    "word for int": ({"n": "a"}, "invalid integer property 'n' on class"),
    "part of an int": ({"n": 1.5}, "requires an integer, the given value is '1.5'"),
    "large int": ({"n": 1e300}, "requires an integer, the given value is '1e+300'"),
    "bool for int": ({"n": True}, "requires an integer, the given value is 'true'"),
    "int for text": ({"w": 1}, "invalid text property 'w' on class"),
    "list for text": ({"w": ["a"]}, "not a string, but []interface {}"),
    "word for number": ({"x": "a"}, "requires a float, the given value is 'a'"),
    "int for bool": ({"b": 1}, "not a bool, but float64"),
    "no date": ({"d": "2020-01-01"}, "requires a string with a RFC3339 formatted date, but the"),
    "no uuid": ({"u": "a"}, "requires a string of UUID format, but the given value is 'a'"),
    "no base64": ({"blob": "a b"}, "not a valid blob base64 string"),
    "text for object": ({"o": "a"}, "object must be a map, but got: string"),
    "unknown part": ({"o": {"z": 1}}, "unknown property 'o.z'"),
}
"""By what is wrong with an object: its properties, and what its error tells."""
