"""What Qdrant cannot say about a collection by itself."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from soev_retrieval.domain import (
    Field,
    FieldSpec,
    Filter,
    InvalidQueryError,
    check_count,
    check_filter,
)
from soev_retrieval_qdrant._analysis import Analysis
from soev_retrieval_qdrant._paths import Path

INDEXES = {
    "keyword": "text",
    "integer": "int",
    "float": "float",
    "bool": "bool",
    "datetime": "datetime",
    "text": "text",
    "uuid": "text",
}
"""The payload indexes that we know, and the type of a field that each is for."""

_WRONG = '<>:"/\\|?*\0\x1f'


def collection_name(name: object, what: str) -> str:
    """`name`, where it can name a collection.

    Raises:
        InvalidQueryError: It is no text, empty, longer than 255 characters, or holds a character
            that Qdrant does not take.
    """
    if not isinstance(name, str) or not name:
        raise InvalidQueryError(f"{what} must be text that is not empty, not {name!r}")
    if len(name) > 255 or name in {".", ".."} or any(each in _WRONG for each in name):
        raise InvalidQueryError(
            f"{what}, {name!r}, is no name for a collection of Qdrant: it must be shorter than 256"
            f" characters, and hold none of {' '.join(_WRONG[:9])} and no control characters"
        )
    return name


def _name(of: object, what: "attrs.Attribute[str]", value: str) -> None:
    collection_name(value, "the name of a Collection")


def _fields(fields: Iterable[Field]) -> tuple[Field, ...]:
    if not isinstance(fields, Iterable):
        raise InvalidQueryError("the fields of a Collection must be Fields")
    fields = tuple(fields)
    for field in fields:
        if not isinstance(field, Field):
            raise InvalidQueryError("the fields of a Collection must be Fields")
        if "under" in field.operators:
            raise InvalidQueryError(
                f"field {field.name!r} cannot serve 'under'; use a PreFiltered layer",
                field=field.name,
            )
    FieldSpec(fields)  # refuses a name twice
    return fields


def _paths(keys: Mapping[str, str]) -> Mapping[str, Path]:
    return MappingProxyType({name: Path.parse(key) for name, key in keys.items()})


def _id(key: str | None) -> Path | None:
    if key is None:
        return None
    if (path := Path.parse(key)).many:
        raise InvalidQueryError(f"the id of a chunk is one value, and {key!r} goes through a list")
    return path


def _indexes(indexes: Mapping[str, str]) -> Mapping[str, str]:
    for name, kind in indexes.items():
        if kind not in INDEXES:
            raise InvalidQueryError(
                f"there is no payload index {kind!r} (of {name!r}); use {', '.join(INDEXES)}"
            )
    return MappingProxyType(dict(indexes))


def _vector(of: object, what: "attrs.Attribute[Any]", value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise InvalidQueryError(f"{what.name} must be the name of a vector, not {value!r}")


def _shard_key(of: object, what: "attrs.Attribute[Any]", value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise InvalidQueryError(f"a shard key is text or an int, not {value!r}")


def _candidates(of: object, what: "attrs.Attribute[Any]", value: Any) -> None:
    if value is not None:
        check_count(value, what.name)


@attrs.frozen
class Collection:
    """A collection that is already there, and of it what Qdrant does not tell.

    Payload keys are written as Qdrant writes them: `meta.year`, `pages[].text`, `"a.b"`. A value
    of another type than its field's is left out of what is returned, and is none for filters; only
    a list in a field that is not declared as one is seen there, each element of it, and a number
    with a fraction in a field of ints by `exists` and ranges. Where a server has a uuid index, which
    compares UUIDs in whichever way they are written, they are returned and asked in the usual one.

    Args:
        name: The name of the collection, or an alias of it.
        fields: Its fields. Those marked searchable are the ones whose text is in the sparse vector,
            or in the full-text index. Keys with a payload index that are not among them are
            fields too, each one value, named as their key is.
        keys: The payload key of each field by the field's name, where it is another one.
        id: The payload key of the chunk's id, or None where the id of the point is the chunk's.
        vector: The name of the dense vector, `""` for the unnamed one; None for the only one.
        sparse: The name of the sparse vector of keywords, made by Qdrant's own BM25
            (`Document(model="qdrant/bm25")`); None for the only one that has the modifier IDF.
        analysis: How the text was made into the terms of that vector.
        scored: The searchable field whose full-text index has scoring (Qdrant 1.20 and later), to
            be asked in place of a sparse vector.
        where: Which points are the target, as a filter of the fields; None for all. The word
            statistics of `bm25` are those of these points, but not with `scored`. So a tenant of a
            collection can be a target.
        shard_key: The shard key that holds the points, where the collection is sharded by key.
        exact: Whether to look at every vector, and leave the index unused.
        hnsw_ef: How many candidates the index keeps while it searches; None for the server's own.
        indexes: The kind of payload index that each field has on the server, by the field's name.
            A server says so itself; local mode keeps no indexes, and would order where a server
            refuses to.

    Raises:
        InvalidQueryError: A name, a key or a setting is none of the above.
    """

    name: str = attrs.field(validator=_name)
    fields: tuple[Field, ...] = attrs.field(default=(), converter=_fields)
    keys: Mapping[str, Path] = attrs.field(factory=dict, converter=_paths)
    id: Path | None = attrs.field(default=None, converter=_id)
    vector: str | None = attrs.field(default=None, validator=_vector)
    sparse: str | None = attrs.field(default=None, validator=_vector)
    analysis: Analysis = attrs.field(factory=Analysis)
    scored: str | None = None
    where: Filter | None = None
    shard_key: str | int | None = attrs.field(default=None, validator=_shard_key)
    exact: bool = False
    hnsw_ef: int | None = attrs.field(default=None, validator=_candidates)
    indexes: Mapping[str, str] = attrs.field(factory=dict, converter=_indexes)

    def __attrs_post_init__(self) -> None:
        names = {field.name for field in self.fields}
        for setting, given in (("keys", self.keys), ("indexes", self.indexes)):
            if unknown := sorted(set(given) - names):
                raise InvalidQueryError(
                    f"{setting} names {unknown[0]!r}, which is no field of the Collection",
                    field=unknown[0],
                )
        for name in names:
            self.path(name)  # refuses what cannot be addressed
        searchable = [field.name for field in self.fields if field.searchable]
        if self.scored is not None and self.scored not in searchable:
            raise InvalidQueryError(
                f"scored names {self.scored!r}, which is no searchable field of the Collection",
                field=self.scored,
            )
        if self.where is not None:
            check_filter(self.where, "the where of a Collection")

    def path(self, name: str) -> Path:
        """Where a field is in the payload."""
        return self.keys[name] if name in self.keys else Path.of(name)

    def __str__(self) -> str:
        return self.name
