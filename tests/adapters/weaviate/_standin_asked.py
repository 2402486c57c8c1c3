"""What a search asks for: its vectors, keywords and properties read, and refused."""

from typing import Any, NoReturn

import numpy as np
from weaviate.proto.v1 import base_search_pb2

from tests.adapters.weaviate._standin_answers import RefusedError
from tests.adapters.weaviate._standin_cluster import Collection
from tests.adapters.weaviate._standin_go import parsed_uuid, uuid_error
from tests.adapters.weaviate._standin_index import Vector
from tests.adapters.weaviate._standin_keywords import Keywords
from tests.adapters.weaviate._standin_values import missing
from tests.adapters.weaviate._standin_vectors import Near, embedded, floats, vectorizer_of


def hybrid_near(message: Any, targets: list[str]) -> Near | None:
    """The vector that a hybrid search brings; None is that it has to be made."""
    vector = _one_vector(message, "hybrid")
    if message.HasField("near_vector"):
        if vector is not None:
            raise RefusedError("cannot combine nearVector and vector in hybrid search")
        return near_vector(message.near_vector, targets)
    return None if vector is None else Near(dict.fromkeys(targets, vector))


def embedded_near(query: str, collection: Collection, targets: list[str]) -> Near:
    """A vector for each target, of a text."""
    for name in targets:
        if vectorizer_of(collection.vectors[name]) == "none":
            raise RefusedError(
                f"VectorFromInput was called without vectorizer on class {collection.name} for "
                f"input {query}"
            )
    return Near(dict.fromkeys(targets, embedded(query)))


def near_text(message: Any, collection: Collection, targets: list[str]) -> Near:
    """A search by text, where something makes vectors of it."""
    for name in targets:
        if vectorizer_of(collection.vectors[name]) == "none":
            raise RefusedError(
                "explorer: get class: vectorize params: could not vectorize input for collection "
                f"{collection.name} with search-type nearText. Make sure a vectorizer module is "
                "configured for this collection"
            )
    vector = embedded(" ".join(message.query))
    return Near(dict.fromkeys(targets, vector), _bound(message, "near_text"))


def near_vector(message: Any, targets: list[str]) -> Near:
    """A search by the vectors that it brings."""
    vector = _one_vector(message, "near_vector")
    if vector is not None:
        return Near(dict.fromkeys(targets, vector), _bound(message, "near_vector"))
    each = {name: floats(content) for name, content in message.vector_per_target.items()}
    each |= {part.name: floats(part.vector_bytes) for part in message.vector_for_targets}
    if not each:
        raise RefusedError("near_vector: vector is required")
    return Near(each, _bound(message, "near_vector"))


def _bound(message: Any, what: str) -> float | None:
    if message.HasField("distance") and message.HasField("certainty"):
        raise RefusedError(f"{what}: cannot provide distance and certainty")
    if message.HasField("certainty"):
        return 2 * (1 - float(message.certainty))
    return float(message.distance) if message.HasField("distance") else None


def _one_vector(message: Any, what: str) -> Vector | None:
    if len(message.vectors) > 1:
        raise RefusedError(f"{what}: only 1 vector supported, found {len(message.vectors)} vectors")
    if message.vectors:
        return floats(message.vectors[0].vector_bytes)
    if message.vector_bytes:
        return floats(message.vector_bytes)
    return np.array(message.vector, np.float32) if message.vector else None


def keywords_of(message: Any, operator: Any) -> Keywords:
    """A search by words."""
    name = base_search_pb2.SearchOperatorOptions.Operator.Name(operator.operator)
    return Keywords(message.query, list(message.properties), name, operator.minimum_or_tokens_match)


def targets_of(message: Any, collection: Collection) -> list[str]:
    """The vectors that a search is of; "" is the one that has no name."""
    kinds = ("hybrid_search", "near_text", "near_vector")
    kind = next((each for each in kinds if message.HasField(each)), None)
    if kind is None:
        return [""]
    part = getattr(message, kind)
    given = list(part.targets.target_vectors if part.HasField("targets") else part.target_vectors)
    named = collection.config.get("vectorConfig") or {}
    if not given:
        if len(named) > 1:
            _no_target(
                f"class {collection.name} has multiple vectors, but no target vectors were provided"
            )
        return list(named) or [""]
    for name in given:
        if name not in named:
            _no_target(
                f"class {collection.name} does not have named vector {name} configured. Available "
                f"named vectors [{' '.join(named)}]"
            )
    return given


def _no_target(text: str) -> NoReturn:
    raise RefusedError(f"extract target vectors: {text}")


def names_of(message: Any, collection: Collection) -> list[str]:
    """The properties to give back."""
    asked, held = message.properties, collection.properties
    if not message.HasField("properties") or asked.return_all_nonref_properties:
        return [name for name, each in held.items() if each["dataType"][0] != "blob"]
    result = []
    for each in [*asked.non_ref_properties, *(o.prop_name for o in asked.object_properties)]:
        name = each[:1].lower() + each[1:]
        if name not in held:
            raise RefusedError(
                f"extract properties request: get property by name {name} for class "
                f"{message.collection}: {missing(name, collection.name).text}"
            )
        result.append(name)
    return result


def check_cursor(message: Any, *, searches: bool) -> None:
    """What comes after an object comes by UUID, and in no other way."""
    why = "cursor api: invalid 'after' parameter: "
    params = ["offset"] if message.offset else []
    params += ["where"] if message.HasField("filters") else []
    params += ["sort"] if message.sort_by else []
    if searches:
        params = ["other params"]
    if params:
        raise RefusedError(f"{why}{','.join(params)} cannot be set with after and limit parameters")
    if parsed_uuid(message.after) is None:
        raise RefusedError(
            f"{why}after parameter '{message.after}' is not a valid uuid: "
            f"{uuid_error(message.after)}"
        )
