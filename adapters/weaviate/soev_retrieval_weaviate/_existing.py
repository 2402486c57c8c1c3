"""Where everything is in a collection that was there before: its schema and its configuration say."""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
from weaviate.classes.config import (
    ConsistencyLevel,
    DataType,
    StopwordsPreset,
    Tokenization,
)

from soev_retrieval.domain import Field, FieldSpec, Unconfigured
from soev_retrieval_weaviate._collection import Collection, collection_name
from soev_retrieval_weaviate._creation import DATA_TYPES, DISTANCES
from soev_retrieval_weaviate._layout import ROUGH, Keywords, Layout, Vectors, without_not
from soev_retrieval_weaviate._sources import Dates, Plain, Source
from soev_retrieval_weaviate._strings import STOP_WORDS, Cut, Text, Uuids, Words
from soev_retrieval_weaviate._versions import NOT, drops_stop_words, ranks_exactly

_STORE = "WeaviateStore"

_ROUGHLY = ("eq", "in", "contains", "contains_any", "contains_all", "exists", "missing")
"""What text serves that may have white space at its edges: what is found is looked at again."""

_UUIDS = {DataType.UUID, DataType.UUID_ARRAY}
_TYPES: Mapping[DataType, tuple[str, bool]] = {
    **{kind: type for type, kind in DATA_TYPES.items()},
    DataType.UUID: ("text", False),
    DataType.UUID_ARRAY: ("text", True),
}
_DISTANCES = {metric: distance for distance, metric in DISTANCES.items()}


def laid_out(of: Collection, config: Any, *, version: tuple[int, ...], shards: int) -> Layout:
    """Where everything is in a collection that is already there. How long its vectors are is open.

    Args:
        of: What its configuration says.
        config: What the server says of it.
        version: The server's version.
        shards: As in `Layout`.

    Raises:
        Unconfigured: The collection is not as its configuration says, or leaves a choice.
    """
    properties = {each.name: each for each in config.properties}
    _check_named(of, properties)
    has_not = version >= NOT
    keywords = _keywords(of, properties, version)
    searched = () if isinstance(keywords, str) else keywords.properties
    sources: dict[str, Source] = {}
    fields: list[Field] = []
    refused, unserved = _references(config), {}
    for name, each in properties.items():
        if each.data_type not in _TYPES:
            refused[name] = f"property {name!r} is {each.data_type.value}, which no field can be"
            continue
        served = _served(of, each, config.inverted_index_config, version)
        if served.why:
            unserved[name] = served.why
        field = attrs.evolve(served.field, searchable=name in searched)
        sources[name] = served.source
        fields.append(field if has_not or name in of.recheck else without_not(field))
    vectors = _vectors(of, config)
    dense = vectors if isinstance(vectors, Vectors) else None
    spec = FieldSpec(
        fields,
        distance="cosine" if dense is None else dense.distance,
        embeds=dense is not None and dense.embeds,
    )
    return Layout(
        collection_name(of.name, "the name of a Collection"),
        spec,
        sources,
        vectors,
        keywords,
        id=of.id,
        tenant=of.tenant,
        consistency=None if of.consistency is None else ConsistencyLevel[of.consistency],
        refused=refused,
        unserved=unserved,
        recheck=frozenset(of.recheck),
        rough=frozenset(name for name, each in sources.items() if _is_rough(each)),
        has_not=has_not,
        shards=shards,
    )


@attrs.frozen
class _Served:
    """What a property is.

    Args:
        source: Where it is.
        field: What it serves.
        why: Why not more.
    """

    source: Source
    field: Field
    why: str | None = None


def _check_named(of: Collection, properties: Mapping[str, Any]) -> None:
    """Refuse what the configuration names and the collection has not, or as something else."""
    for name in [*of.trimmed, *of.recheck, *(of.searchable or ()), *([of.id] if of.id else [])]:
        if name not in properties:
            near = ", ".join(properties) or "none"
            raise unsettled(of, f"it has no property {name!r}; it has {near}")
    for name in of.trimmed:
        is_text = _TYPES.get(properties[name].data_type, ("", False))[0] == "text"
        if not is_text or properties[name].tokenization is not Tokenization.FIELD:
            raise unsettled(of, f"trimmed names {name!r}, which is no text of tokenization field")
    if of.id is not None:
        _check_id(of, properties[of.id])


def unsettled(of: Collection, why: str) -> Unconfigured:
    """The collection is not as its configuration says."""
    return Unconfigured(f"collection {str(of)!r}: {why}", store=_STORE)


def _references(config: Any) -> dict[str, str]:
    return {
        each.name: f"property {each.name!r} is a reference, which no field can be"
        for each in config.references or ()
    }


def _check_id(of: Collection, property: Any) -> None:
    if _TYPES.get(property.data_type) != ("text", False):
        raise unsettled(of, f"the ids in {of.id!r} are no text")
    is_exact = (
        property.data_type is DataType.UUID
        or property.tokenization is Tokenization.FIELD
        or not (property.index_filterable or property.index_searchable)
    )
    if not is_exact:
        raise unsettled(of, f"the ids in {of.id!r} are cut into words; use the tokenization field")


def _served(of: Collection, property: Any, indexes: Any, version: tuple[int, ...]) -> _Served:
    """What a property is, by its type and its indexes."""
    type, many = _TYPES[property.data_type]
    field, name = Field(property.name, type, many=many), property.name
    has_nulls = bool(indexes.index_null_state)
    is_uuid, is_text = property.data_type in _UUIDS, type == "text"
    if name in of.recheck:
        if not is_text or is_uuid:
            raise unsettled(of, f"recheck names {name!r}, which is no text")
        return _Served(Words(field, name, _cut(property, indexes)), _unsorted(field))
    ranges = bool(getattr(property, "index_range_filters", False))
    words = bool(getattr(property, "index_searchable", False))
    if not (property.index_filterable or ranges or words):
        why = "the property has no index; give it one with indexFilterable"
        source = Uuids(field, name, has_nulls) if is_uuid else Plain(field, name, has_nulls)
        return _Served(source, _unsorted(field, ()), why)
    if is_uuid:
        operators = [op for op in field.operators if op != "prefix"]
        return _Served(Uuids(field, name, has_nulls), _unsorted(field, operators))
    if type == "datetime":
        return _Served(Dates(field, name, has_nulls), field)
    if not is_text:
        return _Served(Plain(field, name, has_nulls), field)
    if rough := _why_rough(property):
        return _Served(Words(field, name), _unsorted(field, ()), rough)
    dropped = _stop_words(indexes) if drops_stop_words(version) else frozenset()
    if name in of.trimmed:
        return _Served(Text(field, name, has_nulls, True, dropped), _unsorted(field))
    operators = [op for op in field.operators if op in _ROUGHLY]
    return _Served(Text(field, name, has_nulls, False, dropped), _unsorted(field, operators), ROUGH)


def _unsorted(field: Field, operators: Iterable[str] | None = None) -> Field:
    """The field, which the server does not order by, with these operators or all of its own."""
    served = field.operators if operators is None else operators
    return attrs.evolve(field, operators=served, sortable=False)


def _why_rough(property: Any) -> str | None:
    """Why equality in a text property is not that of the text, but for white space at its edges."""
    if property.tokenization is not Tokenization.FIELD:
        cut = property.tokenization.value if property.tokenization else "word"
        return (
            f"its text is cut by the tokenization {cut!r}; make the property with 'field', or name"
            " it in the recheck of its Collection"
        )
    if property.text_analyzer is not None and property.text_analyzer.ascii_fold:
        return (
            "its text is compared without accents (asciiFold); make the property without, or name"
            " it in the recheck of its Collection"
        )
    return None


def _cut(property: Any, indexes: Any) -> Cut | None:
    """How a text property is cut, or None where the server cannot be asked, or nobody knows."""
    has_index = property.index_filterable or property.index_searchable
    tokenization = (property.tokenization or Tokenization.WORD).value
    if not has_index or (tokenization == "word" and property.text_analyzer is not None):
        return None  # it may have stop words of its own, and accents may hide some
    return Cut(tokenization, STOP_WORDS | _stop_words(indexes))


def _stop_words(indexes: Any) -> frozenset[str]:
    words = indexes.stopwords
    preset = STOP_WORDS if words.preset is StopwordsPreset.EN else frozenset()
    return preset.union(words.additions or ())  # a server may not heed the removals


def _is_rough(source: Source) -> bool:
    return isinstance(source, Text) and not source.is_trimmed


def _keywords(
    of: Collection, properties: Mapping[str, Any], version: tuple[int, ...]
) -> Keywords | str:
    able = [name for name, each in properties.items() if getattr(each, "index_searchable", False)]
    for name in of.searchable or ():
        if name not in able:
            known = ", ".join(able) or "none"
            raise unsettled(of, f"property {name!r} has no index of words; those with one: {known}")
    if of.searchable is None and not able:
        return "no property has an index of words"
    searched = tuple(able) if of.searchable is None else of.searchable
    if not searched:
        return "the configuration names no property"
    return Keywords(searched, is_exact=ranks_exactly(version))


def _vectors(of: Collection, config: Any) -> Vectors | str:
    if config.vector_config:
        name = of.vector
        if name is None:
            if len(config.vector_config) > 1:
                return (
                    f"there are the vectors {', '.join(config.vector_config)}; name one in the"
                    " Collection"
                )
            [name] = config.vector_config
        if name not in config.vector_config:
            raise unsettled(
                of, f"it has no vector {name!r}; it has {', '.join(config.vector_config)}"
            )
        named = config.vector_config[name]
        index, vectorizer = named.vector_index_config, named.vectorizer.vectorizer
    else:
        if of.vector is not None:
            raise unsettled(of, f"it has no vector {of.vector!r}: its vector has no name")
        name, index, vectorizer = None, config.vector_index_config, config.vectorizer
    if getattr(index, "multi_vector", None) is not None:
        return "its vectors are several to an object, which this store does not search"
    if getattr(index, "skip", False):
        return "its vectors have no index (skip), so nothing searches them"
    distance = _DISTANCES.get(getattr(index, "distance_metric", None))  # type: ignore[arg-type]
    if distance is None:
        return "its vectors compare by a distance that this store does not know"
    return Vectors(name, None, distance, embeds=_embeds(vectorizer))


def _embeds(vectorizer: Any) -> bool:
    text = str(getattr(vectorizer, "value", vectorizer) or "none")
    return text not in {"none", "None"} and not text.startswith("ref2vec")
