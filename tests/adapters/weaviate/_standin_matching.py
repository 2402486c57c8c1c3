"""Which documents of a shard a filter holds for, with everything that is odd about it.

The server's own tree is gone through, row by row: a limit that reaches a lone leaf ends its walk
of the rows early, and an operator that is a complement is one of all documents.
"""

import re
from collections.abc import Iterator
from typing import Any

from tests.adapters.weaviate._standin_answers import RefusedError
from tests.adapters.weaviate._standin_filters import Clause
from tests.adapters.weaviate._standin_index import Bucket, Shard
from tests.adapters.weaviate._standin_rows import LENGTH, NO_LENGTH, NULL
from tests.adapters.weaviate._standin_tree import Branch, Leaf, built

_ORDERED = ("GreaterThan", "GreaterThanEqual", "LessThan", "LessThanEqual")


def matching(clause: Clause, shard: Shard, config: dict[str, Any], limit: int = 0) -> set[int]:
    """The documents; `limit` is that of a search which has it cut what it finds. 0 is none."""
    tree = built(clause, config)
    try:
        found, denied = _resolved(tree, shard, config, limit)
    except RefusedError as error:
        raise RefusedError(f"resolve doc ids for prop/value pair: {error.text}") from error
    return set(shard.docs) - found if denied else found


def _resolved(
    tree: Leaf | Branch, shard: Shard, config: dict[str, Any], limit: int
) -> tuple[set[int], bool]:
    """The documents, and whether it holds for all but those."""
    if isinstance(tree, Leaf):
        return _rows(tree, shard, config, limit)
    count = len(tree.children)
    if count == 0:
        raise RefusedError(f'no children for operator "{tree.operator}"')
    if tree.operator == "Not":
        if count > 1:
            raise RefusedError(f'too many children for operator "Not". Expected 1, given {count}')
        try:
            found, denied = _resolved(tree.children[0], shard, config, 0)
        except RefusedError as error:
            raise RefusedError(f"nested NOT query: {error.text}") from error
        return found, not denied
    if count == 1:
        return _resolved(tree.children[0], shard, config, limit)
    sets = []
    for at, child in enumerate(tree.children):
        try:
            found, denied = _resolved(child, shard, config, 0)
        except RefusedError as error:
            raise RefusedError(f"nested AND/OR query: nested child {at}: {error.text}") from error
        sets.append(set(shard.docs) - found if denied else found)
    joined = set.intersection(*sets) if tree.operator == "And" else set.union(*sets)
    return joined, False


def _rows(leaf: Leaf, shard: Shard, config: dict[str, Any], limit: int) -> tuple[set[int], bool]:
    ranged = _check_bucket(leaf, config)
    rows = shard.bucket(leaf.bucket)
    if leaf.operator in ("Equal", "NotEqual"):
        found, denied = set(rows.rows.get(leaf.key, ())), leaf.operator == "NotEqual"
        if denied and ranged:
            return set(rows.lengths) - found, False
        return found, denied
    found = set()
    for key in _walked(leaf, rows):
        found |= rows.rows[key].keys()
        if 0 < limit <= len(found) and not ranged:
            break
    return found, False


def _walked(leaf: Leaf, rows: Bucket) -> Iterator[bytes]:
    """The keys of an operator's rows in the order of the walk."""
    if leaf.operator == "Like":
        pattern = _like(leaf.key)
        yield from (
            each for each in rows.ordered() if pattern.search(each.decode(errors="replace"))
        )
    elif leaf.operator.startswith("Greater"):
        yield from (
            each
            for each in rows.ordered(leaf.key)
            if each != leaf.key or leaf.operator == "GreaterThanEqual"
        )
    else:
        for each in rows.ordered():
            if each > leaf.key or (each == leaf.key and leaf.operator == "LessThan"):
                return
            yield each


def _like(value: bytes) -> re.Pattern[str]:
    try:
        text = value.decode()
    except UnicodeDecodeError as error:
        raise RefusedError(
            "read row: parse like value: compile regex from 'like' string: error parsing regexp: "
            f"invalid UTF-8: `{value.decode(errors='replace')}$`"
        ) from error
    wild = {"?": ".", "*": ".*"}
    return re.compile(rf"\A{''.join(wild.get(each) or re.escape(each) for each in text)}\Z")


def _check_bucket(leaf: Leaf, config: dict[str, Any]) -> bool:
    """There is what the leaf asks; whether it is an index of ranges."""
    inverted, name = config["invertedIndexConfig"], config["class"]
    if leaf.bucket.startswith(LENGTH) and not inverted.get("indexPropertyLength"):
        raise RefusedError(
            "Property length must be indexed to be filterable! add `IndexPropertyLength: true` to "
            f"the invertedIndexConfig in {name}.  Geo-coordinates, phone numbers and data blobs are "
            "not supported by property length."
        )
    if leaf.bucket.startswith(NULL) and not inverted.get("indexNullState"):
        raise RefusedError(
            "Nullstate must be indexed to be filterable! Add `indexNullState: true` to the "
            "invertedIndexConfig"
        )
    if leaf.bucket in ("_creationTimeUnix", "_lastUpdateTimeUnix") and not inverted.get(
        "indexTimestamps"
    ):
        raise RefusedError(
            "Timestamps must be indexed to be filterable! Add `IndexTimestamps: true` to the "
            f"InvertedIndexConfig in {name}"
        )
    held = {each["name"]: each for each in config["properties"] or []}
    prop = held.get(leaf.bucket.removeprefix(LENGTH).removeprefix(NULL))
    if prop is None:
        return False
    flags = [prop[f"index{each}"] for each in ("Filterable", "Searchable", "RangeFilters")]
    lone = flags == [False, False, True] and leaf.bucket == prop["name"]
    no_length = leaf.bucket.startswith(LENGTH) and prop["dataType"][0] in NO_LENGTH
    if not any(flags) or no_length or (lone and leaf.operator == "Like"):
        raise RefusedError(f"bucket for prop {_bucket_name(leaf)} not found - is it indexed?")
    return lone or (flags[2] and leaf.bucket == prop["name"] and leaf.operator in _ORDERED)


def _bucket_name(leaf: Leaf) -> str:
    for start, suffix in ((LENGTH, "_propertyLength"), (NULL, "_nullState")):
        if leaf.bucket.startswith(start):
            return leaf.bucket.removeprefix(start) + suffix
    return leaf.bucket
