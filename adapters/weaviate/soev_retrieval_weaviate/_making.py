"""Collections that this store makes, and what stands in their objects.

The fields are properties that other programs can read. Beside them stand, under `soev_`, the chunk's
id, a key of each text and datetime, which is asked in its place, and the stems of all that is
searched, as one text.
"""

import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any
from uuid import UUID, uuid5

import attrs
from weaviate.classes.data import DataObject

from soev_retrieval.analysis import Analysis
from soev_retrieval.domain import (
    Field,
    FieldSpec,
    InvalidQueryError,
    Record,
    Target,
    check_count,
    check_number,
)
from soev_retrieval_weaviate._collection import Tenant, collection_name
from soev_retrieval_weaviate._keys import KEYS, text_key
from soev_retrieval_weaviate._sources import Keyed, Plain, Source

VECTOR = "default"
ID = "soev_id"
ID_KEY = "soev_id_key"
STEMS = "soev_stems"

_KEY = "soev_key_"
_FIELD = "soev_field_"
_MARK = "soev_retrieval"
_NAMESPACE = UUID("4f0b2c53-9f3b-5f0e-9a53-2f1ad1a7ad52")

# Names that stay as they are: what the server would change, take for its own or refuse gets another.
_PLAIN_NAME = re.compile(r"(?!soev_)[a-z_][_0-9A-Za-z]{0,200}", re.ASCII)
_RESERVED = {"_additional", "_id", "id", "vector"}
_ENDINGS = (
    "_searchable",
    "_rangeable",
    "_temp",
    "__meta_count",
    "_propertyLength",
    "_nullState",
)


@attrs.frozen
class Making:
    """How `create` makes a collection.

    Args:
        language: The language of stop words and stemming, such as `english`; None for words as
            they are.
        k1: How soon BM25 has seen enough of one word.
        b: How much BM25 counts the length of a text, 0 to 1.
        ef_construction: How many candidates the HNSW index keeps while it is built.
        max_connections: How many neighbours a vector has in it.
        ef: How many candidates a search in it keeps, at the least.
        shards: How many shards a collection has, None for one on each node. Each counts for itself
            how rare a word is.
        replicas: How many copies of each there are. Of more than one a search asks a quorum.

    Raises:
        InvalidQueryError: A setting is not one of the above.
    """

    language: str | None = "english"
    k1: float = 1.2
    b: float = 0.75
    ef_construction: int = 128
    max_connections: int = 32
    ef: int = 200
    shards: int | None = None
    replicas: int = 1

    def __attrs_post_init__(self) -> None:
        Analysis(self.language)
        check_number(self.k1, "k1")
        check_number(self.b, "b", most=1)
        for name in ("ef_construction", "max_connections", "ef", "replicas"):
            check_count(getattr(self, name), name)
        if self.shards is not None:
            check_count(self.shards, "shards")


@attrs.frozen
class Made:
    """A collection that `create` made, as its description says.

    Args:
        spec: What it was created with.
        making: How.
        target: The target that it is, or None where each tenant is one.
    """

    spec: FieldSpec
    making: Making
    target: Target | None

    @cached_property
    def analysis(self) -> Analysis:
        """How its text is made into stems."""
        return Analysis(self.making.language)

    @cached_property
    def searchable(self) -> list[str]:
        """The fields whose text is searched."""
        return [field.name for field in self.spec if field.searchable]

    @cached_property
    def sources(self) -> dict[str, Source]:
        """Where its fields are."""
        return {field.name: _source(field, at) for at, field in enumerate(self.spec)}

    @property
    def description(self) -> str:
        """What stands in the collection's description."""
        fields = [
            {**attrs.asdict(field), "operators": list(field.operators)} for field in self.spec
        ]
        said = {
            "target": self.target,
            "fields": fields,
            "dimension": self.spec.dimension,
            "distance": self.spec.distance,
            "making": attrs.asdict(self.making),
        }
        return json.dumps({_MARK: said}, ensure_ascii=False)


def made_of(description: str | None) -> Made | None:
    """What a collection's description says of it, or None where `create` did not make it."""
    try:
        said = json.loads(description or "")[_MARK]
        fields = [Field(**each) for each in said["fields"]]
        spec = FieldSpec(fields, said["dimension"], said["distance"])
        return Made(spec, Making(**said["making"]), said["target"])
    except (ValueError, KeyError, TypeError):
        return None


def check_making(spec: FieldSpec) -> None:
    """Refuse a spec that cannot be made.

    Raises:
        InvalidQueryError: A field declares what Weaviate cannot serve.
    """
    for field in spec:
        if "under" in field.operators:
            raise InvalidQueryError(
                f"field {field.name!r} cannot serve 'under'; use a PreFiltered layer",
                field=field.name,
            )


def _source(field: Field, at: int) -> Source:
    property = _property_of(field, at)
    if field.type in KEYS:
        return Keyed(field, property, _KEY + property)
    return Plain(field, property)


def _property_of(field: Field, at: int) -> str:
    name = field.name
    if _PLAIN_NAME.fullmatch(name) and name not in _RESERVED and not name.endswith(_ENDINGS):
        return name
    return f"{_FIELD}{at}"


def object_id(id: str) -> UUID:
    """The UUID of the object of a chunk, the same for the same chunk in every process."""
    return uuid5(_NAMESPACE, id)


def object_of(record: Record, made: Made) -> DataObject[Any, Any]:
    """What is written for a record."""
    properties: dict[str, Any] = {ID: record.id, ID_KEY: text_key(record.id)}
    for name, value in record.properties.items():
        source = made.sources[name]
        several = list(value) if isinstance(value, tuple) else None
        properties[source.read_from] = value if several is None else several
        if isinstance(source, Keyed):
            key = KEYS[source.field.type]
            properties[source.key] = key(value) if several is None else list(map(key, several))
    if made.searchable and (stems := made.analysis.terms(text_of(record.properties, made))):
        properties[STEMS] = " ".join(stems)
    vector: Any = record.vector
    if vector is None:
        return DataObject(properties=properties, uuid=object_id(record.id))
    numbers = vector.tolist() if hasattr(vector, "tolist") else [float(each) for each in vector]
    return DataObject(properties, uuid=object_id(record.id), vector={VECTOR: numbers})


def text_of(properties: Mapping[str, Any], made: Made) -> str:
    """All that is searched of a chunk, as one text."""
    parts: list[str] = []
    for name in made.searchable:
        value = properties.get(name)
        parts += [value] if isinstance(value, str) else list(value or ())
    return "\n".join(parts)


def place_of(target: Target, tenants: Mapping[Target, Tenant]) -> tuple[str, str | None]:
    """The collection and the tenant that `create` makes, or made, for a target.

    Raises:
        InvalidQueryError: No collection can have the target's name.
    """
    if (tenant := tenants.get(target)) is not None:
        return collection_name(tenant.collection, "the collection of a Tenant"), tenant.name
    return collection_name(target, "the name of a target"), None
