"""Where everything is in a collection that was there before: its schema and its configuration say."""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
from weaviate.classes.config import (
    ConsistencyLevel,
    DataType,
    StopwordsPreset,
    Tokenization,
    VectorDistances,
)

from soev_retrieval.domain import Field, FieldSpec, Unconfigured
from soev_retrieval_weaviate._collection import Collection, collection_name
from soev_retrieval_weaviate._layout import ROUGH, Keywords, Layout, Vectors, without_not
from soev_retrieval_weaviate._sources import Dates, Plain, Source
from soev_retrieval_weaviate._strings import STOP_WORDS, Cut, Text, Uuids, Words
from soev_retrieval_weaviate._versions import NOT, drops_stop_words, ranks_exactly

_STORE = "WeaviateStore"

_ROUGHLY = ("eq", "in", "contains", "contains_any", "contains_all", "exists", "missing")
"""What text serves that may have white space at its edges: what is found is looked at again."""

_TYPES: Mapping[DataType, tuple[str, bool]] = {
    DataType.TEXT: ("text", False),
    DataType.TEXT_ARRAY: ("text", True),
    DataType.INT: ("int", False),
    DataType.INT_ARRAY: ("int", True),
    DataType.NUMBER: ("float", False),
    DataType.NUMBER_ARRAY: ("float", True),
    DataType.BOOL: ("bool", False),
    DataType.BOOL_ARRAY: ("bool", True),
    DataType.DATE: ("datetime", False),
    DataType.DATE_ARRAY: ("datetime", True),
    DataType.UUID: ("text", False),
    DataType.UUID_ARRAY: ("text", True),
}
_DISTANCES = {
    VectorDistances.COSINE: "cosine",
    VectorDistances.DOT: "dot",
    VectorDistances.L2_SQUARED: "euclidean",
    VectorDistances.MANHATTAN: "manhattan",
}


def laid_out(
    of: Collection,
    config: Any,
    *,
    dimension: int | None,
    version: tuple[int, ...],
    shards: int,
) -> Layout:
    """Where everything is in a collection that is already there.

    Args:
        of: What its configuration says.
        config: What the server says of it.
        dimension: The length of its vectors, or None where nobody knows.
        version: The server's version.
        shards: As in `Layout`.

    Raises:
        Unconfigured: The collection is not as its configuration says, or leaves a choice.
    """
    properties = {each.name: each for each in config.properties}
    for name in [*of.trimmed, *of.recheck, *(of.searchable or ()), *([of.id] if of.id else [])]:
        if name not in properties:
            near = ", ".join(properties) or "none"
            raise unsettled(of, f"it has no property {name!r}; it has {near}")
    for name in of.trimmed:
        if _TYPES.get(properties[name].data_type, ("", False))[0] != "text" or (
            properties[name].tokenization is not Tokenization.FIELD
        ):
            raise unsettled(of, f"trimmed names {name!r}, which is no text of tokenization field")
    has_not = version >= NOT
    keywords = _keywords(of, properties, version)
    searched = () if isinstance(keywords, str) else keywords.properties
    sources: dict[str, Source] = {}
    fields: list[Field] = []
    refused, unserved = _references(config), {}
    for each in config.properties:
        if each.name == of.id:
            _check_id(of, each)
        if each.data_type not in _TYPES:
            refused[each.name] = (
                f"property {each.name!r} is {each.data_type.value}, which no field can be"
            )
            continue
        source, operators, sortable, why = _served(of, each, config.inverted_index_config, version)
        type, many = _TYPES[each.data_type]
        field = Field(each.name, type, many=many, searchable=each.name in searched)
        if why:
            unserved[each.name] = why
        narrowed = attrs.evolve(
            field,
            operators=[op for op in field.operators if op in operators],
            sortable=sortable and field.sortable,
        )
        if not has_not and each.name not in of.recheck:
            narrowed = without_not(narrowed, has_not=False)
        sources[each.name] = source
        fields.append(narrowed)
    vectors = _vectors(of, config, dimension)
    dense = vectors if isinstance(vectors, Vectors) else None
    spec = FieldSpec(
        fields,
        None if dense is None else dense.dimension,
        "cosine" if dense is None else dense.distance,
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


def _served(
    of: Collection, property: Any, indexes: Any, version: tuple[int, ...]
) -> tuple[Source, Iterable[str], bool, str | None]:
    """Where a property is, the operators that it serves, whether it orders, and why not more."""
    type, many = _TYPES[property.data_type]
    field = Field(property.name, type, many=many)
    has_nulls = bool(indexes.index_null_state)
    ranges = bool(getattr(property, "index_range_filters", False))
    words = bool(getattr(property, "index_searchable", False))
    if property.name in of.recheck:
        if type != "text" or property.data_type in {DataType.UUID, DataType.UUID_ARRAY}:
            raise unsettled(of, f"recheck names {property.name!r}, which is no text")
        return Words(field, property.name, _cut(property, indexes)), field.operators, False, None
    if not (property.index_filterable or ranges or words):
        why = "the property has no index; give it one with indexFilterable"
        return _unasked(field, property, has_nulls), (), False, why
    if property.data_type in {DataType.UUID, DataType.UUID_ARRAY}:
        operators = [op for op in field.operators if op != "prefix"]
        return Uuids(field, property.name, has_nulls), operators, False, None
    if type == "datetime":
        return Dates(field, property.name, has_nulls), field.operators, True, None
    if type != "text":
        return Plain(field, property.name, has_nulls), field.operators, True, None
    if rough := _why_rough(property):
        return Words(field, property.name), (), False, rough
    return _served_text(of, field, indexes, version)


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


def _served_text(
    of: Collection, field: Field, indexes: Any, version: tuple[int, ...]
) -> tuple[Source, Iterable[str], bool, str | None]:
    """The same, of text of the tokenization `field`."""
    is_trimmed = field.name in of.trimmed
    dropped = _stop_words(indexes) if drops_stop_words(version) else frozenset()
    source = Text(field, field.name, bool(indexes.index_null_state), is_trimmed, dropped)
    if is_trimmed:
        return source, field.operators, False, None
    return source, _ROUGHLY, False, ROUGH


def _is_rough(source: Source) -> bool:
    return isinstance(source, Text) and not source.is_trimmed


def _unasked(field: Field, property: Any, has_nulls: bool) -> Source:
    if property.data_type in {DataType.UUID, DataType.UUID_ARRAY}:
        return Uuids(field, property.name, has_nulls)
    return Plain(field, property.name, has_nulls)


def _keywords(
    of: Collection, properties: Mapping[str, Any], version: tuple[int, ...]
) -> Keywords | str:
    able = [name for name, each in properties.items() if getattr(each, "index_searchable", False)]
    if of.searchable is None:
        found = Keywords(tuple(able), is_exact=ranks_exactly(version))
        return found if able else "no property has an index of words"
    for name in of.searchable:
        if name not in able:
            known = ", ".join(able) or "none"
            raise unsettled(of, f"property {name!r} has no index of words; those with one: {known}")
    found = Keywords(of.searchable, is_exact=ranks_exactly(version))
    return found if of.searchable else "the configuration names no property"


def _vectors(of: Collection, config: Any, dimension: int | None) -> Vectors | str:
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
    return Vectors(name, dimension, distance, embeds=_embeds(vectorizer))


def _embeds(vectorizer: Any) -> bool:
    text = str(getattr(vectorizer, "value", vectorizer) or "none")
    return text not in {"none", "None"} and not text.startswith("ref2vec")
