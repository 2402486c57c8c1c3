"""Filters as they arrive: read, given the types of their properties, and refused."""

import math
from typing import Any

import attrs
from weaviate.proto.v1 import base_pb2

from tests.adapters.weaviate._standin_answers import RefusedError
from tests.adapters.weaviate._standin_go import as_int64, number
from tests.adapters.weaviate._standin_values import missing

_PREFIX = "OPERATOR_"
_INTERNAL = ("_id", "id", "_creationTimeUnix", "_lastUpdateTimeUnix")
_NESTED = (
    "filtering on nested properties is a preview feature, disabled by default; set "
    "WEAVIATE_PREVIEW_NESTED_FILTERING=true to enable"
)
_NUMBERS = {
    "Equal": 1,
    "NotEqual": 2,
    "GreaterThan": 3,
    "GreaterThanEqual": 4,
    "LessThan": 5,
    "LessThanEqual": 6,
    "And": 7,
    "Or": 8,
    "WithinGeoRange": 9,
    "Like": 10,
    "IsNull": 11,
    "ContainsAny": 12,
    "ContainsAll": 13,
    "ContainsNone": 14,
    "Not": 15,
}
"""By what the server calls an operator: its number, in its own count."""

_COMPARING = tuple(_NUMBERS)[:6]


class GeoRange:
    """The value of a filter that asks for a distance from a place."""


@attrs.frozen
class Clause:
    """A filter that could be read.

    Args:
        operator: What the server calls it.
        name: The property, or "" for one of `clauses`.
        kind: The type that the server takes the value for.
        value: What is asked.
        clauses: What And, Or and Not are of.
    """

    operator: str
    name: str = ""
    kind: str = ""
    value: Any = None
    clauses: tuple["Clause", ...] = ()


def length_name(name: str) -> str | None:
    """The property whose length a filter asks for; None is that it asks for no length."""
    return name[4:-1] if name.startswith("len(") and name.endswith(")") else None


def root_of(name: str) -> str:
    """The property that a path begins with."""
    return name.partition(".")[0]


def read(message: Any, properties: dict[str, Any], of: str, version: tuple[int, ...]) -> Clause:
    """A filter of a collection's properties, or `RefusedError`."""
    clause = _read(message, properties, of, version)
    if errors := _errors(clause, properties, of):
        raise RefusedError(", ".join(errors))
    return clause


def _read(message: Any, properties: dict[str, Any], of: str, version: tuple[int, ...]) -> Clause:
    said = base_pb2.Filters.Operator.Name(message.operator).removeprefix(_PREFIX)
    operator = "".join(each.capitalize() for each in said.split("_"))
    if operator in ("And", "Or") or (operator == "Not" and version >= (1, 33)):
        return Clause(
            operator,
            clauses=tuple(_read(each, properties, of, version) for each in message.filters),
        )
    if not message.HasField("target") and len(message.on) % 2 != 1:
        raise RefusedError(
            "paths needs to have a uneven number of components: property, class, property, ...., "
            f"got [{' '.join(message.on)}]"
        )
    if operator not in _NUMBERS or (operator in ("ContainsNone", "Not") and version < (1, 33)):
        told = f"{_PREFIX}{said}" if operator not in _NUMBERS else message.operator
        raise RefusedError(f"unknown filter operator {told}")
    name = message.target.property if message.HasField("target") else message.on[0]
    kind = _kind(operator, name, properties, of)
    value = _value(message)
    if kind in ("int", "number"):
        value = _numeric(kind, value, contains=operator.startswith("Contains"))
    return Clause(operator, name, kind, value)


def _kind(operator: str, name: str, properties: dict[str, Any], of: str) -> str:
    if name == "_id":
        return "text"
    if name in _INTERNAL[2:]:
        return "date"
    if operator == "IsNull":
        return "boolean"
    if length_name(name) is not None:
        return "int"
    if root_of(name) not in properties:
        raise missing(name, of)
    kind = properties[root_of(name)]["dataType"][0].removesuffix("[]")
    return "text" if kind == "uuid" else str(kind)


def _value(message: Any) -> Any:
    field = message.WhichOneof("test_value")
    if field is None:
        raise RefusedError("unknown value type <nil>")
    value = getattr(message, field)
    if field == "value_geo":
        return GeoRange()
    return list(value.values) if field.endswith("_array") else value


def _numeric(kind: str, value: Any, *, contains: bool) -> Any:
    """The value, converted as the server does to be kind to whoever asks."""
    if isinstance(value, str):
        try:
            value = float(value) if value.strip() == value and "_" not in value else float("!")
        except ValueError as error:
            what = "an integer" if kind == "int" else "a number"
            raise RefusedError(
                f"expected {what} value, but could not parse string '{value}' as "
                f'{"int" if kind == "int" else "float"}: strconv.ParseFloat: parsing "{value}": '
                "invalid syntax"
            ) from error
    if isinstance(value, list):
        if not contains or not value:
            return value
        if kind == "number" and type(value[0]) is int:
            return [float(each) for each in value]
        if kind == "int" and isinstance(value[0], float):
            return [_whole(each) for each in value]
        return value
    if kind == "number" and type(value) is int:
        return float(value)
    return _whole(value) if kind == "int" and isinstance(value, float) else value


def _whole(value: float) -> int:
    why = None
    if not math.isfinite(value):
        why = "a non-finite number"
    elif not -(2**63) <= value < 2**63:
        why = "a value out of range"
    elif value != math.trunc(value):
        why = "a floating point number"
    if why is not None:
        raise RefusedError(f"filtering for integer, but received {why} {number(value)}")
    return as_int64(value)


def _errors(clause: Clause, properties: dict[str, Any], of: str) -> list[str]:
    """What the server's validation finds, where its types leave anything to find."""
    if clause.operator in ("And", "Or", "Not"):
        return [
            f"child operand at position {at}: {', '.join(errors)}"
            for at, child in enumerate(clause.clauses)
            if (errors := _errors(child, properties, of))
        ]
    if clause.name in _INTERNAL:
        return []
    length = length_name(clause.name)
    name = root_of(clause.name if length is None else length)
    if name not in properties:
        return [missing(name, of).text]
    kind = properties[name]["dataType"][0]
    if kind.startswith("object"):
        return [_NESTED]
    if length is not None and clause.operator != "IsNull":
        if clause.operator not in _COMPARING:
            return [
                "Filtering for property length supports operators (not) equal and greater/less "
                f"than (equal), got {_NUMBERS[clause.operator]} instead"
            ]
        if clause.value < 0:
            return [f"Can only filter for positive property length got {clause.value} instead"]
    allowed = clause.operator in _COMPARING or clause.operator.startswith("Contains")
    if kind.startswith("uuid") and clause.operator != "IsNull" and not allowed:
        return [f'operator "{clause.operator}" cannot be used on uuid/uuid[] props']
    return []
