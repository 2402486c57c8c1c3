"""What an object may hold: each property checked, converted, and cut into index keys."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.adapters.weaviate._standin_answers import RefusedError
from tests.adapters.weaviate._standin_go import (
    as_int64,
    float_key,
    int_key,
    number,
    parsed_time,
    parsed_uuid,
    plain,
    type_name,
)
from tests.adapters.weaviate._standin_tokens import tokens

_NAMES = {"int": "integer", "boolean": "boolean", "geoCoordinates": "geoCoordinates"}
_BASE64 = re.compile(
    "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"
)


class _Wrong(Exception):
    """Why a value is not one of its property; the callers say of which."""


def missing(name: str, of: str) -> RefusedError:
    """That there is no such property."""
    return RefusedError(
        f"no such prop with name '{name}' found in class '{of}' in the schema. Check your schema "
        "files for which properties in this class are available"
    )


def checked(given: dict[str, Any], properties: dict[str, Any], of: str) -> dict[str, Any]:
    """The properties of an object as the server keeps them: floats for ints, nothing for null."""
    result = {}
    for key, value in given.items():
        if value is None:
            continue
        name = key[:1].lower() + key[1:]
        if name not in properties:
            raise missing(name, of)
        result[name] = _checked(value, properties[name], name, of)
    return result


def _checked(value: Any, prop: dict[str, Any], name: str, of: str) -> Any:
    kind = prop["dataType"][0]
    scalar = kind.removesuffix("[]")
    words = _NAMES.get(scalar, scalar)
    try:
        if scalar == "object":
            inner = {each["name"]: each for each in prop["nestedProperties"]}
            if kind == scalar:
                return _object(value, inner, name, of)
            return [_object(each, inner, name, of) for each in value]
        if kind == scalar:
            return _SCALARS[scalar](value)
        return _array(value, scalar, "integer" if scalar == "number" else words)
    except _Wrong as error:
        array = "" if kind == scalar else (" array" if scalar != "object" else "[]")
        raise RefusedError(
            f"invalid {words}{array} property '{name}' on class '{of}': {error}"
        ) from error


def _array(value: Any, scalar: str, words: str) -> list[Any]:
    if not isinstance(value, list):
        raise _Wrong(f"not {_article(words)} {words} array, but {_type(value)}")
    try:
        return [_SCALARS[scalar](each) for each in value]
    except _Wrong as error:
        raise _Wrong(f"invalid {words} array value: {_printed(value)}") from error


def _object(value: Any, inner: dict[str, Any], name: str, of: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Wrong(f"object must be a map, but got: {_type(value)}")
    for key in value:
        if key not in inner:
            raise _Wrong(f"unknown property '{name}.{key}'")
    return {
        key: _checked(each, inner[key], f"{name}.{key}", of)
        for key, each in value.items()
        if each is not None
    }


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Wrong(f"not a string, but {_type(value)}")
    return value


def _blob(value: Any) -> str:
    if not isinstance(value, str):
        raise _Wrong(f"not a blob base64 string, but {_type(value)}")
    if not _BASE64.fullmatch(value):
        raise _Wrong("not a valid blob base64 string")
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Wrong(f"not a bool, but {_type(value)}")
    return value


def _int(value: Any) -> float:
    whole = isinstance(value, int) or (isinstance(value, float) and value == as_int64(value))
    if isinstance(value, bool) or not whole:
        raise _Wrong(f"requires an integer, the given value is '{plain(value)}'")
    return float(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Wrong(f"requires a float, the given value is '{plain(value)}'")
    return float(value)


def _date(value: Any) -> str:
    time = parsed_time(value) if isinstance(value, str) else None
    if time is None:
        raise _Wrong(
            "requires a string with a RFC3339 formatted date, but the given value is "
            f"'{plain(value)}'"
        )
    return time[1]


def _uuid(value: Any) -> str:
    uuid = parsed_uuid(value) if isinstance(value, str) else None
    if uuid is None:
        raise _Wrong(f"requires a string of UUID format, but the given value is '{plain(value)}'")
    return uuid


def _geo(value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        raise _Wrong(f"geoCoordinates must be a map, but got: {_type(value)}")
    for each in ("longitude", "latitude"):
        if each not in value:
            raise _Wrong(f"geoCoordinates is missing required field '{each}'")
    return {each: float(value[each]) for each in ("longitude", "latitude")}


_SCALARS: dict[str, Callable[[Any], Any]] = {
    "text": _text,
    "blob": _blob,
    "boolean": _boolean,
    "int": _int,
    "number": _number,
    "date": _date,
    "uuid": _uuid,
    "geoCoordinates": _geo,
    "phoneNumber": dict,
}


def _type(value: Any) -> str:
    if isinstance(value, list):
        return "[]interface {}"
    return "float64" if type(value) is int else type_name(value)


def _article(word: str) -> str:
    return "an" if word[0] in "aeio" else "a"


def _printed(values: list[Any]) -> str:
    """A list by `%s`, which complains of what is no string."""

    def one(value: Any) -> str:
        if isinstance(value, bool):
            return f"%!s(bool={plain(value)})"
        if isinstance(value, int):
            return f"%!s(int64={value})"
        return f"%!s(float64={number(value)})" if isinstance(value, float) else str(value)

    return f"[{' '.join(map(one, values))}]"


def key_of(kind: str, value: Any) -> bytes:
    """The index key of one scalar that is no text."""
    if kind == "int":
        return int_key(as_int64(value))
    if kind == "number":
        return float_key(value)
    if kind == "date":
        time = parsed_time(value)
        assert time is not None
        return int_key(time[0])
    return bytes([value]) if kind == "boolean" else bytes.fromhex(value.replace("-", ""))


def terms_of(prop: dict[str, Any], value: Any) -> Counter[bytes]:
    """The index keys of a property, and how often each is there."""
    kind = prop["dataType"][0].removesuffix("[]")
    values = value if isinstance(value, list) else [value]
    if kind == "text":
        return Counter(
            token.encode() for each in values for token in tokens(prop["tokenization"], each)
        )
    return Counter(key_of(kind, each) for each in values)


def length_of(prop: dict[str, Any], value: Any) -> int:
    """What the server takes for its length; -1 is that it has none."""
    if isinstance(value, list):
        return len(value)
    return len(value) if prop["dataType"][0] == "text" else -1


def indexed(prop: dict[str, Any]) -> bool:
    """Whether it has any index at all."""
    flat = prop["dataType"][0] not in (
        "blob",
        "object",
        "object[]",
        "geoCoordinates",
        "phoneNumber",
    )
    return flat and any(
        prop[each] for each in ("indexFilterable", "indexSearchable", "indexRangeFilters")
    )
