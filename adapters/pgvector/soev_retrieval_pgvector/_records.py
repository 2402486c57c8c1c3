"""Rows as chunks and hits."""

from collections.abc import Sequence
from typing import Any

from soev_retrieval.domain import (
    Chunk,
    Hit,
    InvalidQueryError,
    Properties,
    Unconfigured,
    portable,
)
from soev_retrieval_pgvector._columns import ColumnSource
from soev_retrieval_pgvector._layout import Layout
from soev_retrieval_pgvector._payload import loaded
from soev_retrieval_pgvector._sql import quoted

Row = tuple[Any, ...]

_STORE = "PgvectorStore"


def selected(layout: Layout) -> list[str]:
    """What to select for the properties of a chunk, in the order that `chunk` reads it."""
    columns = [each.selected() for each in _column_sources(layout)]
    return [*columns, *([] if layout.payload is None else [f"t.{quoted(layout.payload)}::text"])]


def chunk(row: Row, layout: Layout) -> Chunk:
    """A row of the id and what `selected` says."""
    return Chunk(_id(row[0], layout), _properties(row[0], row[1:], layout))


def hit(row: Row, layout: Layout) -> Hit:
    """A row of the id, the score and what `selected` says."""
    return Hit(_id(row[0], layout), row[1], _properties(row[0], row[2:], layout))


def _id(id: str | None, layout: Layout) -> str:
    """The id, which a view need not have."""
    if not id:
        what = "NULL" if id is None else "empty"
        raise Unconfigured(f"table {layout.table} has a row whose id is {what}", store=_STORE)
    return id


def _properties(id: str, values: Sequence[Any], layout: Layout) -> Properties:
    try:
        payload = {} if layout.payload is None else loaded(values[-1])
        columns, found = iter(values), {}
        for name, source in layout.sources.items():
            held = next(columns) if isinstance(source, ColumnSource) else payload
            found[name] = _portable(source.read(held), name)
    except InvalidQueryError as error:
        raise Unconfigured(f"chunk {id!r} cannot be returned: {error}", store=_STORE) from error
    return Properties(found)


def _column_sources(layout: Layout) -> list[ColumnSource]:
    return [each for each in layout.sources.values() if isinstance(each, ColumnSource)]


def _portable(value: Any, name: str) -> Any:
    what = f"field {name!r}"
    if isinstance(value, list):
        return tuple(portable(one, what) for one in value)
    return None if value is None else portable(value, what)
