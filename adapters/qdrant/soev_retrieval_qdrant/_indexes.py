"""The payload indexes of a collection: what each is good for, and the one that is missing."""

import attrs
from qdrant_client import models

from soev_retrieval.domain import Field, InvalidQueryError
from soev_retrieval_qdrant._collection import Collection
from soev_retrieval_qdrant._paths import Path
from soev_retrieval_qdrant._server import Server

_RANGES = {"integer", "float", "datetime"}
_MISFITS = {
    "text": {"integer", "float", "datetime"},  # each loses text that reads as a UUID
    "int": {"datetime"},
    "float": {"integer", "datetime"},
    "bool": set[str](),
    "datetime": {"integer", "float"},
}
"""The payload indexes under which a server answers otherwise than without, by a field's type."""


@attrs.frozen
class Index:
    """A payload index.

    Args:
        kind: What it is of, such as `keyword`.
        has_range: Whether the server can order by it.
    """

    kind: str
    has_range: bool


def indexes_there(of: Collection, info: models.CollectionInfo, server: Server) -> dict[Path, Index]:
    """The payload index at each key. Local mode keeps none; what the configuration says."""
    if server.is_local:
        return {
            of.path(name): Index(kind, has_range=kind in _RANGES)
            for name, kind in of.indexes.items()
        }
    found = {}
    for key, index in (info.payload_schema or {}).items():
        try:
            path = Path.parse(key)
        except InvalidQueryError:  # one element of a list, which no field can be
            continue
        kind = str(index.data_type.value)
        without = getattr(index.params, "range", None) is False
        found[path] = Index(kind, has_range=kind in _RANGES and not without)
    return found


def misfit(field: Field, path: Path, index: Index | None, of: Collection) -> str | None:
    """Why a field cannot be asked under the index that it has; None where it can."""
    if index is None or index.kind not in _MISFITS[field.type]:
        return None
    return (
        f"field {field.name!r} ({field}) has a payload index of {index.kind} at {path}, under"
        f" which the server misses values of it; make it one of {_fitting(field)}:"
        f" {_making(field, path, of)}"
    )


def no_order(
    field: Field, path: Path, index: Index | None, of: Collection, server: Server
) -> str | None:
    """Why nothing can be ordered by a field; None where it can, or where no index would help."""
    if not field.sortable or field.type == "text" or (index is not None and index.has_range):
        return None
    return (
        f"field {field.name!r}: there is no {_fitting(field)} payload index with ranges at {path},"
        f" which Qdrant orders by; {to_make(field, path, of, server)}"
    )


def to_make(field: Field, path: Path, of: Collection, server: Server) -> str:
    """What to do about an index that is missing."""
    kind, made = _fitting(field), _making(field, path, of)
    if not server.is_local:
        return f"make one: {made}"
    return (
        f"local mode keeps none and is told of it, lest it promise what a server refuses: say"
        f" Collection(indexes={{{field.name!r}: {kind!r}}}) where the server has one, or make one"
        f" there: {made}"
    )


def _fitting(field: Field) -> str:
    return {"text": "keyword", "int": "integer"}.get(field.type, field.type)


def _making(field: Field, path: Path, of: Collection) -> str:
    """The call that makes the index that a field should have."""
    return f"create_payload_index({of.name!r}, {path.quoted!r}, {_fitting(field)!r})"
