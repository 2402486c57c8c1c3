"""Points as chunks and hits."""

from typing import Any

from qdrant_client import models

from soev_retrieval.domain import (
    Chunk,
    Hit,
    InvalidQueryError,
    Properties,
    Unconfigured,
    portable,
)
from soev_retrieval_qdrant._layout import Layout

_STORE = "QdrantStore"

Point = models.Record | models.ScoredPoint


def chunk(point: Point, layout: Layout) -> Chunk:
    """A point as a chunk."""
    return Chunk(chunk_id(point, layout), _properties(point, layout))


def hit(point: Point, score: float, layout: Layout) -> Hit:
    """A point as a hit with that score."""
    return Hit(chunk_id(point, layout), score, _properties(point, layout))


def chunk_id(point: Point, layout: Layout) -> str:
    """The id of the chunk that a point is.

    Raises:
        Unconfigured: The payload does not have one where the configuration says.
    """
    if layout.id is None:
        return str(point.id)
    found = layout.id.read(point.payload or {})
    if type(found) is str and found:
        return found
    if isinstance(found, bool) or not isinstance(found, str | int) or found == "":
        raise Unconfigured(
            f"collection {layout.name!r} has a point {point.id!r} without a chunk id at {layout.id}",
            store=_STORE,
        )
    return str(found)


def _properties(point: Point, layout: Layout) -> Properties:
    """The fields that a point has.

    Raises:
        Unconfigured: One of them holds what no chunk can.
    """
    payload = point.payload or {}
    found: dict[str, Any] = {}
    try:
        for name, what, read in layout.readers:
            if (value := read(payload)) is None:
                continue
            if type(value) is tuple:
                found[name] = tuple(portable(one, what) for one in value)
            else:
                found[name] = portable(value, what)
    except InvalidQueryError as error:
        raise Unconfigured(
            f"point {point.id!r} cannot be returned: {error}", store=_STORE
        ) from error
    return Properties(found)
