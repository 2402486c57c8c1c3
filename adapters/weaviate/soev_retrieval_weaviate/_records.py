"""Objects as chunks and hits."""

from typing import Any

from soev_retrieval.domain import (
    Chunk,
    Hit,
    InvalidQueryError,
    Properties,
    Unconfigured,
    portable,
)
from soev_retrieval_weaviate._layout import Layout
from soev_retrieval_weaviate._sources import values_read

_STORE = "WeaviateStore"


def chunk(object: Any, layout: Layout) -> Chunk:
    """An object as a chunk."""
    return Chunk(chunk_id(object, layout), _properties(object, layout))


def hit(object: Any, score: float, layout: Layout) -> Hit:
    """An object as a hit with that score."""
    return Hit(chunk_id(object, layout), score, _properties(object, layout))


def chunk_id(object: Any, layout: Layout) -> str:
    """The id of the chunk that an object is.

    Raises:
        Unconfigured: The object does not have one where the configuration says.
    """
    if layout.id is None:
        return str(object.uuid)
    found = object.properties.get(layout.id)
    if found is None or found == "":
        raise Unconfigured(
            f"collection {layout.name!r} has an object {object.uuid} without a chunk id in"
            f" {layout.id!r}",
            store=_STORE,
        )
    return str(found)


def _properties(object: Any, layout: Layout) -> Properties:
    """The fields that an object has.

    Raises:
        Unconfigured: One of them holds what no chunk can.
    """
    found = values_read(layout.sources, object.properties)
    try:
        for name, value in found.items():
            if type(value) is tuple:
                found[name] = tuple(portable(one, f"field {name!r}") for one in value)
            elif type(value) is not str or not value.isascii() or "\0" in value:
                found[name] = portable(value, f"field {name!r}")
    except InvalidQueryError as error:
        raise Unconfigured(
            f"object {object.uuid} cannot be returned: {error}", store=_STORE
        ) from error
    return Properties(found)
