"""A filter as the tree of index rows that the server makes of it, or why it makes none."""

from typing import Any

import attrs

from tests.adapters.weaviate._standin_answers import RefusedError
from tests.adapters.weaviate._standin_filters import Clause, GeoRange, length_name, root_of
from tests.adapters.weaviate._standin_go import (
    float_key,
    int_key,
    parsed_time,
    parsed_uuid,
    type_name,
    uuid_error,
)
from tests.adapters.weaviate._standin_rows import LENGTH, NULL
from tests.adapters.weaviate._standin_tokens import STOP_WORDS, tokens

_NO_TOKENS = (
    "invalid search term, only stopwords provided. Stopwords can be configured in "
    "class.invertedIndexConfig.stopwords"
)


class NotIndexedError(RefusedError):
    """The one error that the server tells without saying where it came from."""


class _NoTokensError(RefusedError):
    pass


@attrs.frozen
class Leaf:
    """The rows of a bucket by an operator and a key."""

    bucket: str
    operator: str
    key: bytes


@attrs.frozen
class Branch:
    """And, Or or Not of others."""

    operator: str
    children: list["Leaf | Branch"]


def stop_words(config: dict[str, Any]) -> frozenset[str]:
    """The words that a query of a collection is asked without."""
    words = config["invertedIndexConfig"]["stopwords"]
    return (STOP_WORDS[words["preset"]] | set(words["additions"] or [])) - set(
        words["removals"] or []
    )


def built(clause: Clause, config: dict[str, Any]) -> Leaf | Branch:
    """The tree of a filter."""
    if clause.operator in ("And", "Or", "Not"):
        return Branch(clause.operator, _children(clause.clauses, clause.operator, config))
    if clause.operator.startswith("Contains"):
        return _contains(clause, config)
    if clause.name in ("_id", "id"):
        return Leaf("_id", clause.operator, _text(clause.value).lower().encode())
    if clause.name in ("_creationTimeUnix", "_lastUpdateTimeUnix"):
        time = _time(clause.value)
        return Leaf(clause.name, clause.operator, str(time // 10**6).encode())
    length = length_name(clause.name)
    name = root_of(clause.name if length is None else length)
    if clause.operator == "IsNull":
        return Leaf(NULL + name, "Equal", bytes([_of_type(clause.value, bool)]))
    if length is not None:
        return Leaf(LENGTH + name, clause.operator, int_key(clause.value))
    prop = next(each for each in config["properties"] if each["name"] == name)
    return _of_property(clause, prop, config)


def _of_property(clause: Clause, prop: dict[str, Any], config: dict[str, Any]) -> Leaf | Branch:
    kind, name = prop["dataType"][0].removesuffix("[]"), prop["name"]
    if kind == "text":
        terms = _terms(clause, prop, config)
        _check_indexed(prop)
        leaves: list[Leaf | Branch] = [Leaf(name, clause.operator, term.encode()) for term in terms]
        if not leaves:
            raise _NoTokensError(_NO_TOKENS)
        return leaves[0] if len(leaves) == 1 else Branch("And", leaves)
    if kind == "uuid":
        uuid = parsed_uuid(clause.value)
        if uuid is None:
            raise RefusedError(f"parse uuid filter value: {uuid_error(clause.value)}")
        key = bytes.fromhex(uuid.replace("-", ""))
    elif kind == "int":
        key = int_key(_of_type(clause.value, int))
    elif kind == "number":
        key = float_key(_of_type(clause.value, float))
    elif kind == "boolean":
        key = bytes([_of_type(clause.value, bool)])
    elif kind == "date":
        key = int_key(_time(clause.value))
    else:
        raise RefusedError(f'data type "{kind}" not supported in query')
    _check_indexed(prop)
    return Leaf(name, clause.operator, key)


def _terms(clause: Clause, prop: dict[str, Any], config: dict[str, Any]) -> list[str]:
    text, tokenization = _text(clause.value), prop["tokenization"]
    if clause.operator == "Like":
        return tokens(tokenization, text, wild=True)
    terms = tokens(tokenization, text)
    if tokenization == "word":
        stops = stop_words(config)
        return [each for each in terms if each not in stops]
    return terms


def _children(
    clauses: tuple[Clause, ...], operator: str, config: dict[str, Any]
) -> list[Leaf | Branch]:
    children = []
    for at, each in enumerate(clauses):
        try:
            children.append(built(each, config))
        except NotIndexedError:
            raise
        except RefusedError as error:
            if isinstance(error, _NoTokensError) and operator == "ContainsAny":
                continue
            raise type(error)(f"nested query: nested clause at pos {at}: {error.text}") from error
    if not children and operator == "ContainsAny":
        raise _NoTokensError(_NO_TOKENS)
    return children


def _contains(clause: Clause, config: dict[str, Any]) -> Leaf | Branch:
    wanted = {"int": int, "number": float, "boolean": bool}.get(clause.kind, str)
    values = clause.value
    if not isinstance(values, list) or (values and type(values[0]) is not wanted):
        raise RefusedError(
            f"value type should be {type_name([wanted()])} but is {_type_of(clause.value)}"
        )
    equals = tuple(Clause("Equal", clause.name, clause.kind, each) for each in values)
    children = _children(equals, clause.operator, config)
    if clause.operator == "ContainsNone":
        return Branch("Not", [Branch("Or", children)])
    return Branch("And" if clause.operator == "ContainsAll" else "Or", children)


def _check_indexed(prop: dict[str, Any]) -> None:
    if not any(prop[f"index{each}"] for each in ("Filterable", "Searchable", "RangeFilters")):
        raise NotIndexedError(
            f"Filtering by property '{prop['name']}' requires inverted index. Is `indexFilterable` "
            f"option of property '{prop['name']}' enabled? Set it to `true` or leave empty"
        )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise RefusedError(f"expected value to be string, got '{_type_of(value)}'")
    return value


def _time(value: Any) -> int:
    if not isinstance(value, str):
        raise RefusedError(
            "expected value to be time.Time (or parseable string), got " + _type_of(value)
        )
    time = parsed_time(value)
    if time is None:
        raise RefusedError(
            f'trying parse time as RFC3339 string: parsing time "{value}" as '
            f'"2006-01-02T15:04:05Z07:00": cannot parse "{value}" as "2006"'
        )
    return time[0]


def _of_type(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise RefusedError(f"expected value to be {type_name(kind())}, got {_type_of(value)}")
    return value


def _type_of(value: Any) -> str:
    return "filters.GeoRange" if isinstance(value, GeoRange) else type_name(value)
