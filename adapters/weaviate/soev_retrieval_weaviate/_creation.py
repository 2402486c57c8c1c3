"""How a collection of our own is created: its properties, their indexes, its vectors."""

from typing import Any

from weaviate.classes.config import (
    Configure,
    DataType,
    Property,
    StopwordsPreset,
    Tokenization,
    VectorDistances,
)

from soev_retrieval_weaviate._making import ID, ID_KEY, STEMS, VECTOR, Made
from soev_retrieval_weaviate._sources import Keyed, Source

_MOST_CANDIDATES = 500  # the server's own

DATA_TYPES = {
    ("text", False): DataType.TEXT,
    ("text", True): DataType.TEXT_ARRAY,
    ("int", False): DataType.INT,
    ("int", True): DataType.INT_ARRAY,
    ("float", False): DataType.NUMBER,
    ("float", True): DataType.NUMBER_ARRAY,
    ("bool", False): DataType.BOOL,
    ("bool", True): DataType.BOOL_ARRAY,
    ("datetime", False): DataType.DATE,
    ("datetime", True): DataType.DATE_ARRAY,
}
DISTANCES = {
    "cosine": VectorDistances.COSINE,
    "dot": VectorDistances.DOT,
    "euclidean": VectorDistances.L2_SQUARED,
    "manhattan": VectorDistances.MANHATTAN,
}


def creation(made: Made) -> dict[str, Any]:
    """What `collections.create` takes beside the name."""
    spec, making = made.spec, made.making
    properties = [
        _kept(ID),
        _asked(ID_KEY),
        *(each for source in made.sources.values() for each in _properties(source)),
    ]
    if made.searchable:
        properties.append(
            Property(
                name=STEMS,
                data_type=DataType.TEXT,
                tokenization=Tokenization.WHITESPACE,
                index_filterable=False,
                index_searchable=True,
            )
        )
    given: dict[str, Any] = {
        "description": made.description,
        "properties": properties,
        "inverted_index_config": Configure.inverted_index(
            bm25_k1=making.k1,
            bm25_b=making.b,
            index_null_state=True,
            stopwords_preset=StopwordsPreset.NONE,
        ),
        "multi_tenancy_config": Configure.multi_tenancy(enabled=made.target is None),
        "replication_config": Configure.replication(factor=making.replicas),
    }
    if making.shards is not None and made.target is not None:
        given["sharding_config"] = Configure.sharding(desired_count=making.shards)
    if spec.dimension is not None:
        index = Configure.VectorIndex.hnsw(
            distance_metric=DISTANCES[spec.distance],
            ef_construction=making.ef_construction,
            max_connections=making.max_connections,
            dynamic_ef_min=making.ef,
            dynamic_ef_max=max(making.ef, _MOST_CANDIDATES),
            quantizer=Configure.VectorIndex.Quantizer.none(),
        )
        given["vector_config"] = Configure.Vectors.self_provided(
            name=VECTOR, vector_index_config=index
        )
    return given


def _properties(source: Source) -> list[Property]:
    field = source.field
    asked = bool(field.operators) or field.sortable
    if isinstance(source, Keyed):
        kept = _kept(source.read_from, DATA_TYPES[field.type, field.many])
        return [kept, _asked(source.key, many=field.many)] if asked else [kept]
    ranges = asked and not field.many and field.type in {"int", "float"}
    return [
        Property(
            name=source.read_from,
            data_type=DATA_TYPES[field.type, field.many],
            index_filterable=asked,
            index_range_filters=ranges or None,
        )
    ]


def _kept(name: str, data_type: DataType = DataType.TEXT) -> Property:
    """A property that is read, and never asked."""
    is_text = data_type in {DataType.TEXT, DataType.TEXT_ARRAY}
    return Property(
        name=name,
        data_type=data_type,
        index_filterable=False,
        index_searchable=False if is_text else None,
    )


def _asked(name: str, *, many: bool = False) -> Property:
    """A property of keys."""
    return Property(
        name=name,
        data_type=DataType.TEXT_ARRAY if many else DataType.TEXT,
        tokenization=Tokenization.FIELD,
        index_filterable=True,
        index_searchable=False,
    )
