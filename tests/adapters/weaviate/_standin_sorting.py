"""Orders by properties, with the server's comparisons and its ways to lose objects."""

from collections.abc import Callable, Collection
from typing import Any

import attrs

from tests.adapters.weaviate._standin_answers import RefusedError
from tests.adapters.weaviate._standin_go import escaped, parsed_time
from tests.adapters.weaviate._standin_index import Shard, Stored
from tests.adapters.weaviate._standin_tokens import folded, lower
from tests.adapters.weaviate._standin_values import missing

Key = tuple[str, bool]
"""A property and whether it ascends."""

_INTERNAL = ("_id", "id", "_creationTimeUnix", "_lastUpdateTimeUnix")


def keys_of(message: Any, properties: dict[str, Any], of: str) -> list[Key]:
    """What to sort by, or `RefusedError`."""
    errors = []
    for at, each in enumerate(message.sort_by):
        if why := _wrong(list(each.path), properties, of):
            errors.append(f"sort parameter at position {at}: {why}")
    if errors:
        raise RefusedError(f"invalid 'sort' parameter: {', '.join(errors)}")
    return [(each.path[0], each.ascending) for each in message.sort_by]


def _wrong(path: list[str], properties: dict[str, Any], of: str) -> str | None:
    if not path:
        return "path parameter cannot be empty"
    if len(path) > 1:
        return "sorting by reference not supported, path must have exactly one argument"
    name = path[0]
    if name in _INTERNAL:
        return None
    if name not in properties:
        return missing(name, of).text
    if properties[name]["dataType"][0].startswith("uuid"):
        return (
            f'prop "{name}" is of type uuid/uuid[]: sorting by uuid is currently not supported - '
            "if you believe it should be, please open a feature request on "
            "github.com/weaviate/weaviate"
        )
    return None


def in_order(
    found: list[Stored],
    keys: list[Key],
    config: dict[str, Any],
    shard: Shard | None,
    seen: Collection[str] | None = None,
) -> list[Stored]:
    """The objects sorted; a lone int, number or date that is filterable loses those without it.

    The server loses them where its planner takes the index to be cheaper: always, on a large
    collection. Here it is always, so that no test is too small for it.

    Args:
        found: The objects.
        keys: What to sort by.
        config: The schema of the collection.
        shard: The shard that sorts its own, or None where those of several are merged.
        seen: The properties that are seen there: those that are asked for; None for all.
    """
    properties = {each["name"]: each for each in config["properties"] or []}
    name, ascending = keys[0]
    prop = properties.get(name)
    alone = len(keys) == 1 and prop is not None and prop["indexFilterable"]
    if shard is not None and alone and prop and prop["dataType"][0] in ("int", "number", "date"):
        wanted = {each.doc for each in found}
        rows = shard.bucket(name)
        walk = list(rows.ordered())
        docs = [
            doc
            for key in (walk if ascending else reversed(walk))
            for doc in sorted(rows.rows[key])
            if doc in wanted
        ]
        return [shard.docs[doc] for doc in docs]
    ordered = list(found)
    for name, ascending in reversed(keys):
        if seen is not None and name not in {*seen, *_INTERNAL}:
            continue  # it is missing in all of them
        key = _key(name, properties, stored=shard is not None)
        ordered.sort(key=key, reverse=not ascending)
    return ordered


@attrs.frozen(eq=False)
class _Text:
    """A text as the server compares it: equal but for case, or by its bytes in lower case."""

    folded: str
    lower: bytes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Text) and self.folded == other.folded

    def __hash__(self) -> int:
        return hash(self.folded)

    def __lt__(self, other: "_Text") -> bool:
        return self.lower < other.lower


def _key(name: str, properties: dict[str, Any], *, stored: bool) -> Callable[[Stored], Any]:
    """What to compare; `stored` is texts in the JSON that they are stored as, escapes and all."""
    if name in ("_id", "id"):
        return lambda each: each.uuid
    if name == "_creationTimeUnix":
        return lambda each: each.created
    if name == "_lastUpdateTimeUnix":
        return lambda each: each.updated
    kind = properties[name]["dataType"][0].removesuffix("[]")

    def one(value: Any) -> Any:
        if kind in ("text", "blob"):
            text = escaped(value) if stored else value
            return _Text(folded(text), lower(text).encode())
        if kind == "date":
            time = parsed_time(value)
            assert time is not None
            return time[0]
        return 0 if kind == "object" else value

    def key(each: Stored) -> Any:
        value = each.properties.get(name)
        # An empty list is one that is not there.
        if value is None or value == []:
            return (False, None)
        if isinstance(value, list):
            return (True, [one(part) for part in value])
        return (True, [*value.values()] if kind == "geoCoordinates" else one(value))

    return key
