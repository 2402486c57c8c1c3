"""Classes and properties as the server takes, completes and refuses them."""

import re
from collections.abc import Collection, Sequence
from typing import Any

from tests.adapters.weaviate._standin_answers import RefusedError
from tests.adapters.weaviate._standin_defaults import VECTOR_INDEXES, filled, index_of

Property = dict[str, Any]

_TEXTS = ("text", "text[]")
_RANGED = ("int", "number", "date")
_SCALARS = ("text", "int", "number", "date", "boolean", "uuid")
_TYPES = {
    *_SCALARS,
    *(f"{each}[]" for each in _SCALARS),
    *("blob", "geoCoordinates", "phoneNumber", "object", "object[]"),
}
_TOKENIZATIONS = (
    "word",
    "lowercase",
    "whitespace",
    "field",
    "trigram",
    "gse",
    "kagome_kr",
    "kagome_ja",
    "gse_ch",
)
_DISTANCES = ("cosine", "dot", "l2-squared", "manhattan", "hamming")
_SUFFIXES = ("_searchable", "_rangeable", "_temp", "__meta_count", "_propertyLength", "_nullState")
_GRAPHQL = "“/[_A-Za-z][_0-9A-Za-z]{{0,{}}}/”"


def class_name(name: str) -> str:
    """A class's name as the server spells it."""
    return name[:1].upper() + name[1:]


def completed(body: dict[str, Any], shards: int, modules: Collection[str]) -> dict[str, Any]:
    """A new class as the server keeps it."""
    name = body["class"] = class_name(body.get("class") or "")
    if len(name) > 255:
        raise RefusedError(
            f"'{name}' is not a valid class name. Name should not be longer than 255 characters"
        )
    if not re.fullmatch("[A-Z][_0-9A-Za-z]*", name):
        raise RefusedError(f"'{name}' is not a valid class name")
    tenancy = (body.get("multiTenancyConfig") or {}).get("enabled")
    if tenancy and body.get("shardingConfig"):
        raise RefusedError("cannot have both shardingConfig and multiTenancyConfig")
    result = filled(body, shards)
    properties: list[Property] = []
    for each in body.get("properties") or []:
        properties.append(completed_property(each, properties, name))
    result["properties"] = None if body.get("properties") is None else properties
    _check_inverted(result["invertedIndexConfig"])
    result |= _vectors(body, modules)
    return result


def completed_property(body: Property, others: Sequence[Property], of: str) -> Property:
    """A new property as the server keeps it; `others` are those that are there."""
    given = body.get("name") or ""
    name = given[:1].lower() + given[1:]
    _check_name(name)
    if any(each["name"].lower() == name.lower() for each in others):
        raise RefusedError(
            f'class "{of}": conflict for property "{name}": already in use or provided '
            "multiple times"
        )
    kind = _type_of(name, body.get("dataType") or [])
    result = {"name": name, "dataType": [kind]}
    for extra in ("description", "moduleConfig", "textAnalyzer"):
        if body.get(extra):
            result[extra] = body[extra]
    indexed = body.get("indexInverted")
    result["indexFilterable"] = _flag(body, "indexFilterable", indexed is not False)
    result["indexSearchable"] = _flag(
        body, "indexSearchable", kind in _TEXTS and indexed is not False
    )
    result["indexRangeFilters"] = _flag(body, "indexRangeFilters", default=False)
    if result["indexSearchable"] and kind not in _TEXTS:
        raise RefusedError(
            "`indexSearchable` is allowed only for text/text[] data types. For other data types "
            "set false or leave empty"
        )
    if result["indexRangeFilters"] and kind not in _RANGED:
        raise RefusedError(
            "`indexRangeFilters` is allowed only for number/int/date data types. For other data "
            "types set false or leave empty"
        )
    tokenization = body.get("tokenization") or ""
    if kind in _TEXTS:
        _check_tokenization(tokenization)
        result["tokenization"] = tokenization or "word"
    elif tokenization:
        raise RefusedError(f"tokenization is not allowed for data type '{kind}'")
    if kind.startswith("object"):
        result["nestedProperties"] = _nested(name, body.get("nestedProperties") or [])
    return result


def check_tokenizations(body: dict[str, Any]) -> None:
    """What the server checks before anything else, with another form of error."""
    properties = body.get("properties") or []
    if not isinstance(properties, list):
        raise RefusedError("parsing objectClass body failed: properties are no list", 400)
    for at, each in enumerate(properties):
        if each.get("tokenization") and each["tokenization"] not in _TOKENIZATIONS:
            raise RefusedError(
                f"properties.{at}.tokenization in body should be one of "
                f"[{' '.join(_TOKENIZATIONS)}]"
            )


def changed(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """A class after an update of what may be updated."""
    if class_name(new.get("class") or "") != old["class"]:
        raise RefusedError(
            f'class name is immutable: attempted change from "{old["class"]}" to '
            f'"{class_name(new.get("class") or "")}"'
        )
    for name in ("indexNullState", "indexPropertyLength", "indexTimestamps"):
        before, after = (
            str(bool((each.get("invertedIndexConfig") or {}).get(name))).lower()
            for each in (old, new)
        )
        if before != after:
            raise RefusedError(
                f'"{name}" setting is immutable. Value changed from "{before}" to "{after}"'
            )
    if [_undescribed(each) for each in old["properties"] or []] != [
        _undescribed(each) for each in new.get("properties") or []
    ]:
        raise RefusedError(
            "updating schema: TYPE_UPDATE_CLASS: bad request :parse class update: property fields "
            "other than description cannot be updated through updating the class. Use the add "
            'property feature (e.g. "POST /v1/schema/{className}/properties") to add additional '
            "properties"
        )
    kept = ("shardingConfig", "vectorConfig", "vectorIndexConfig", "vectorIndexType", "vectorizer")
    return {**new, **{name: old[name] for name in kept if name in old}}


def _undescribed(each: Property) -> Property:
    return {name: value for name, value in each.items() if name != "description"}


def _flag(body: Property, name: str, default: bool) -> bool:
    value = body.get(name)
    return default if value is None else bool(value)


def _check_name(name: str) -> None:
    if len(name) > 231:
        raise RefusedError(
            f"'{name}' is not a valid property name. Name should not be longer than 231 characters"
        )
    if not re.fullmatch("[_A-Za-z][_0-9A-Za-z]*", name):
        raise RefusedError(
            f"'{name}' is not a valid property name. Property names in Weaviate are restricted to "
            f"valid GraphQL names, which must be {_GRAPHQL.format(230)}"
        )
    if name in ("id", "_id", "_additional"):
        raise RefusedError(f"'{name}' is a reserved property name")
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            raise RefusedError(
                f"'{name}' is not a valid property name: suffix '{suffix}' is reserved for "
                "internal indices"
            )


def _type_of(name: str, types: list[str]) -> str:
    if not types:
        raise RefusedError(
            f"property '{name}': invalid dataType: []: dataType must have at least one element"
        )
    if types[0] in _TYPES:
        return types[0]
    if types[0][:1].isupper():
        raise RefusedError("bad request: reference property to nonexistent class")
    raise RefusedError(
        f"property '{name}': invalid dataType: [{types[0]}]: unknown primitive data type "
        f"'{types[0]}'"
    )


def _check_tokenization(tokenization: str) -> None:
    name = {"gse": "GSE", "gse_ch": "GSE", "kagome_kr": "Korean", "kagome_ja": "Japanese"}
    if tokenization in name:
        raise RefusedError(
            f"the {name[tokenization]} tokenizer is not enabled; set "
            f"'ENABLE_TOKENIZER_{tokenization.upper()}' to 'true' to enable"
        )


def _nested(of: str, given: list[Property]) -> list[Property]:
    if not given:
        raise RefusedError(
            f"property '{of}': At least one nested property is required for data type "
            "object/object[]"
        )
    result: list[Property] = []
    for each in given:
        result.append(completed_property(each, result, of))
    return result


def _check_inverted(config: dict[str, Any]) -> None:
    if config["bm25"].get("k1", 0) < 0:
        raise RefusedError("BM25.k1 must be >= 0")
    if not 0 <= config["bm25"].get("b", 0) <= 1:
        raise RefusedError("BM25.b must be <= 0 and <= 1")
    words = config["stopwords"]
    if words["preset"] not in ("en", "none"):
        raise RefusedError(f"stopwordPreset '{words['preset']}' does not exist")
    for both in set(words["additions"] or []) & set(words["removals"] or []):
        raise RefusedError(f"found '{both}' in both stopwords.additions and stopwords.removals")


def _vectors(body: dict[str, Any], modules: Collection[str]) -> dict[str, Any]:
    named = body.get("vectorConfig") or {}
    if not named:
        vectorizer = body.get("vectorizer") or "none"
        _check_vectorizer(vectorizer, modules)
        return {**_index(body), "vectorizer": vectorizer}
    if any(body.get(each) for each in ("vectorizer", "vectorIndexType", "vectorIndexConfig")):
        raise RefusedError(
            "creating a class with both a class level vector index and named vectors is forbidden"
        )
    result = {}
    for name, config in named.items():
        if not re.fullmatch("[_A-Za-z][_0-9A-Za-z]{0,229}", name):
            raise RefusedError(
                f'class.VectorConfig target vector name "{name}" is not valid, in Weaviate target '
                "vector names are restricted to valid GraphQL names, which must be "
                f"{_GRAPHQL.format(229)}."
            )
        vectorizer = config.get("vectorizer") or {"none": {}}
        where = f'target vector "{name}": '
        _check_vectorizer(next(iter(vectorizer)), modules, where)
        result[name] = {**_index(config, where), "vectorizer": vectorizer}
    return {"vectorConfig": result}


def _index(config: dict[str, Any], where: str = "") -> dict[str, Any]:
    kind = config.get("vectorIndexType") or "hnsw"
    if kind == "dynamic":
        raise RefusedError(
            f"{where}the dynamic index can only be created when async indexing is enabled"
        )
    if kind not in VECTOR_INDEXES:
        raise RefusedError(f'{where}unrecognized or unsupported vectorIndexType "{kind}"')
    result = index_of(kind, config.get("vectorIndexConfig"))
    distance = result["vectorIndexConfig"]["distance"]
    if distance not in _DISTANCES:
        raise RefusedError(f'unrecognized distance metric "{distance}"')
    return result


def _check_vectorizer(name: str, modules: Collection[str], where: str = "") -> None:
    if name != "none" and name not in modules:
        raise RefusedError(f'{where}vectorizer: no module with name "{name}" present')
