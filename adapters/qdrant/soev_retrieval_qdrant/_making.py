"""Collections that this store makes, and what stands in their points.

A point's payload holds the fields as other programs read them, and beside them, under `_soev`, the
id of the chunk, the number of the write that brought it, and each float as whole numbers, which
survive where decimal text does not.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import attrs
from qdrant_client import models

from soev_retrieval.domain import (
    Field,
    FieldSpec,
    InvalidQueryError,
    Record,
    check_count,
    check_number,
)
from soev_retrieval_qdrant._analysis import Analysis, Weights
from soev_retrieval_qdrant._exact import Exact
from soev_retrieval_qdrant._paths import Path
from soev_retrieval_qdrant._plain import Plain
from soev_retrieval_qdrant._server import Server
from soev_retrieval_qdrant._sources import Source

OWN = "_soev"
"""The payload key of what is ours."""

VECTOR = "vector"
TERMS = "bm25"
ID = Path.of(OWN, "id")
WRITE = Path.of(OWN, "write")

_MARK = "soev_retrieval"
_NAMESPACE = uuid5(NAMESPACE_OID, "soev-retrieval")
DISTANCES = {
    "cosine": models.Distance.COSINE,
    "dot": models.Distance.DOT,
    "euclidean": models.Distance.EUCLID,
    "manhattan": models.Distance.MANHATTAN,
}


@attrs.frozen
class Making:
    """How `create` makes a collection.

    Args:
        language: The language of stop words and stemming, such as `english`; None for words as
            they are.
        ascii_folding: Whether `café` and `cafe` are one word.
        k1: How soon BM25 has seen enough of one word.
        b: How much BM25 counts the length of a text, 0 to 1.
        tenant: The text field that tells tenants apart, so that the server keeps the points of one
            together; None where none does.
        indexes: Whether fields get payload indexes. Without them every filter looks at every
            point, and nothing can be ordered by.
        m: How many neighbours a vector has in the HNSW index.
        ef_construct: How many candidates are kept while it is built.
        on_disk: Whether vectors stay on disk.
        shards: How many shards a collection has. Each counts for itself how rare a word is.
        replicas: How many copies of each there are.

    Raises:
        InvalidQueryError: A setting is not one of the above.
    """

    language: str | None = "english"
    ascii_folding: bool = False
    k1: float = 1.2
    b: float = 0.75
    tenant: str | None = None
    indexes: bool = True
    m: int = 16
    ef_construct: int = 100
    on_disk: bool = False
    shards: int = 1
    replicas: int = 1

    def __attrs_post_init__(self) -> None:
        Analysis(self.language, self.ascii_folding)
        check_number(self.k1, "k1")
        check_number(self.b, "b", most=1)
        for name in ("m", "ef_construct", "shards", "replicas"):
            check_count(getattr(self, name), name)


@attrs.frozen
class Made:
    """A collection that `create` made, as its metadata says.

    Args:
        spec: What it was created with.
        making: How.
        texts: How many texts it was loaded with, when that was last written down.
        terms: How many terms they were made into.
        weighed: How many texts and terms there were when the vectors were weighed.
    """

    spec: FieldSpec
    making: Making
    texts: int = 0
    terms: int = 0
    weighed: tuple[int, int] = (0, 0)

    @cached_property
    def analysis(self) -> Analysis:
        """How its text is made into terms."""
        return Analysis(self.making.language, self.making.ascii_folding)

    @cached_property
    def weights(self) -> Weights:
        """How they are weighed."""
        texts, terms = self.weighed
        return Weights(self.making.k1, self.making.b, terms / texts if terms else 1.0)

    @cached_property
    def searchable(self) -> list[str]:
        """The fields whose text is searched."""
        return [field.name for field in self.spec if field.searchable]

    def metadata(self) -> dict[str, Any]:
        """What stands in the collection's metadata: whole numbers and text survive, floats need not."""
        return {
            _MARK: {
                "fields": [
                    {**attrs.asdict(field), "operators": list(field.operators)}
                    for field in self.spec
                ],
                "dimension": self.spec.dimension,
                "distance": self.spec.distance,
                "making": {
                    **attrs.asdict(self.making),
                    "k1": repr(self.making.k1),
                    "b": repr(self.making.b),
                },
                "texts": self.texts,
                "terms": self.terms,
                "weighed": list(self.weighed),
            }
        }


def made_of(metadata: Mapping[str, Any] | None) -> Made | None:
    """What a collection's metadata says of it, or None where `create` did not make it."""
    try:
        said = (metadata or {})[_MARK]
        spec = FieldSpec(
            [Field(**each) for each in said["fields"]], said["dimension"], said["distance"]
        )
        making = said["making"]
        return Made(
            spec,
            Making(**{**making, "k1": float(making["k1"]), "b": float(making["b"])}),
            said["texts"],
            said["terms"],
            tuple(said["weighed"]),
        )
    except (ValueError, KeyError, TypeError):
        return None


def sources_of(spec: FieldSpec, server: Server | None = None) -> dict[str, Source]:
    """Where the fields are in what is made, and how `server` is asked for them.

    Raises:
        InvalidQueryError: A field cannot stand in a payload.
    """
    return {field.name: _source(field, server or Server()) for field in spec}


def _source(field: Field, server: Server) -> Source:
    if field.name == OWN:
        raise InvalidQueryError(
            f"field {OWN!r} cannot be: the key is what this store keeps its own under; name it"
            " otherwise",
            field=OWN,
        )
    if "under" in field.operators:
        raise InvalidQueryError(
            f"field {field.name!r} cannot serve 'under'; use a PreFiltered layer", field=field.name
        )
    path = Path.of(field.name)
    if field.type == "float":
        return Exact(field, Path.of(OWN, "floats", field.name), server)
    return Plain(field, path, server)


def check_making(made: Made) -> None:
    """Refuse a spec that cannot be made so.

    Raises:
        InvalidQueryError: A field cannot stand in a payload, or the tenant is none of one text.
    """
    sources_of(made.spec)
    tenant = made.making.tenant
    if tenant is not None and not any(
        (field.name, field.type, field.many) == (tenant, "text", False) for field in made.spec
    ):
        raise InvalidQueryError(
            f"the spec declares no text field {tenant!r}, which the store's making names as the"
            " tenant",
            field=tenant,
        )


def creation(made: Made) -> dict[str, Any]:
    """What `create_collection` takes."""
    spec, making = made.spec, made.making
    vectors: dict[str, Any] = {}
    if spec.dimension is not None:
        vectors[VECTOR] = models.VectorParams(
            size=spec.dimension,
            distance=DISTANCES[spec.distance],
            hnsw_config=models.HnswConfigDiff(m=making.m, ef_construct=making.ef_construct),
            on_disk=making.on_disk,
        )
    terms = {TERMS: models.SparseVectorParams(modifier=models.Modifier.IDF)}
    return {
        "vectors_config": vectors,
        "sparse_vectors_config": terms if made.searchable else None,
        "shard_number": making.shards,
        "replication_factor": making.replicas,
        "metadata": made.metadata(),
    }


def indexes_of(made: Made) -> Iterator[tuple[Path, models.PayloadSchemaType | Any]]:
    """The payload indexes: one for each field that can be asked for a value."""
    if not made.making.indexes:
        return
    for name, source in sources_of(made.spec).items():
        field = made.spec[name]
        if isinstance(source, Exact):
            yield source.place, _integers(lookup=True, range=False)
            if not field.many:
                yield source.high, _integers(lookup=True, range=True)
                yield source.low, _integers(lookup=False, range=True)
        elif name == made.making.tenant:
            kind = models.KeywordIndexType.KEYWORD
            yield Path.of(name), models.KeywordIndexParams(type=kind, is_tenant=True)
        elif not field.searchable:  # a keyword index would keep every text a second time
            yield Path.of(name), _KINDS[field.type]


_KINDS = {
    "text": models.PayloadSchemaType.KEYWORD,
    "int": models.PayloadSchemaType.INTEGER,
    "bool": models.PayloadSchemaType.BOOL,
    "datetime": models.PayloadSchemaType.DATETIME,
}


def _integers(*, lookup: bool, range: bool) -> models.IntegerIndexParams:
    return models.IntegerIndexParams(
        type=models.IntegerIndexType.INTEGER, lookup=lookup, range=range
    )


def point_id(id: str) -> str:
    """The id of the point of a chunk: a UUID, the same for the same chunk in every process."""
    return str(uuid5(_NAMESPACE, id))


def payload_of(record: Record, sources: Mapping[str, Source], write: int) -> dict[str, Any]:
    """What stands in the payload of a record's point, written with others of one number."""
    floats, payload = {}, {}
    for name, value in record.properties.items():
        source = sources[name]
        if isinstance(source, Exact):
            floats[name] = source.written(value)
        payload[name] = (
            [_written(one) for one in value] if isinstance(value, tuple) else _written(value)
        )
    return {
        **payload,
        OWN: {"id": record.id, "write": write, **({"floats": floats} if floats else {})},
    }


def _written(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds").replace("+00:00", "Z")
    return value


def text_of(properties: Mapping[str, Any], searchable: list[str]) -> str:
    """All that is searched of a chunk, as one text."""
    parts = []
    for name in searchable:
        value = properties.get(name)
        parts += [value] if isinstance(value, str) else list(value or ())
    return "\n".join(parts)
