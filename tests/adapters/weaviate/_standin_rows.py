"""The rows that an object has in a shard's index, and which of them a replacement leaves behind."""

from collections import Counter
from typing import Any

from tests.adapters.weaviate._standin_go import int_key
from tests.adapters.weaviate._standin_values import indexed, key_of, length_of, terms_of

NULL, LENGTH = "null of ", "length of "
"""What the names of the buckets begin with that hold no values."""

NO_LENGTH = ("int", "number", "boolean", "date")
"""The types of properties that have none."""

Row = tuple[str, bytes]
"""A bucket and a key of it."""


def value_rows(
    properties: dict[str, Any], own: dict[str, str], config: dict[str, Any]
) -> dict[str, Counter[bytes]]:
    """The keys of an object's values by bucket; `own` are those that every object has."""
    result = {name: Counter([value.encode()]) for name, value in own.items()}
    for prop in config["properties"] or []:
        value = properties.get(prop["name"])
        if value is not None and indexed(prop):
            result[prop["name"]] = terms_of(prop, value)
    return result


def state_rows(
    properties: dict[str, Any],
    config: dict[str, Any],
    replaced: tuple[dict[str, Any], set[Row]] | None = None,
) -> set[Row]:
    """The rows of its nulls and lengths.

    Args:
        properties: Of the object.
        config: The class.
        replaced: The properties and the rows of the object that it replaces in its place, as it
            does with the same vectors. The server only touches the rows of what seems to have
            changed: a text that has the same tokens keeps the length of the one before.
    """
    before, rows = replaced or ({}, set())
    rows = set(rows)
    for prop in config["properties"] or []:
        if not indexed(prop):
            continue
        old, new = before.get(prop["name"]), properties.get(prop["name"])
        if replaced is None:
            rows |= _state(prop, new, config)
            continue
        was = None if old is None else _items(prop, old)
        now = None if new is None else _items(prop, new)
        if was == now:
            continue
        if was or (was is not None and now is not None) or (was is None and now is not None):
            rows -= _state(prop, old, config)
        if now or now is None or (was is not None and now is not None):
            rows |= _state(prop, new, config)
    return rows


def _state(prop: dict[str, Any], value: Any, config: dict[str, Any]) -> set[Row]:
    """The rows of a null and a length; of no value, only where nulls are indexed."""
    inverted, name = config["invertedIndexConfig"], prop["name"]
    null, length = inverted.get("indexNullState"), inverted.get("indexPropertyLength")
    rows: set[Row] = set()
    if value is None:
        if null:
            rows.add((NULL + name, b"\1"))
        if null and length and prop["dataType"][0] not in NO_LENGTH:
            rows.add((LENGTH + name, int_key(0)))
        return rows
    size = length_of(prop, value)
    if length and size >= 0:
        rows.add((LENGTH + name, int_key(size)))
    if null:
        rows.add((NULL + name, b"\1" if size == 0 else b"\0"))
    return rows


def _items(prop: dict[str, Any], value: Any) -> Any:
    """What is compared to see whether a value has changed; of equal elements the last counts."""
    kind = prop["dataType"][0]
    if kind.startswith("text"):
        return dict(terms_of(prop, value))
    values = value if isinstance(value, list) else [value]
    keys = [key_of(kind.removesuffix("[]"), each) for each in values]
    return list(dict.fromkeys(reversed(keys)))
