"""What the database cannot say about a table by itself."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import attrs

from soev_retrieval.domain import (
    DISTANCES,
    Field,
    FieldSpec,
    Filter,
    InvalidQueryError,
    check_filter,
    portable_name,
)


def _name(of: object, what: attrs.Attribute, value: object) -> None:  # type: ignore[type-arg]
    """A name that PostgreSQL keeps as it is: it cuts longer ones off in silence."""
    if value is not None or what.default is not None:
        identifier(value, f"the {what.name} of a Table")


def identifier(name: object, what: str) -> str:
    """`name`, where it can name something in PostgreSQL.

    Raises:
        InvalidQueryError: It is no text, empty, holds NUL, or is longer than 63 bytes, which
            PostgreSQL would cut off in silence.
    """
    text = portable_name(name, what)
    if len(text.encode()) > 63:
        raise InvalidQueryError(
            f"{what}, {text!r}, is longer than the 63 bytes of a PostgreSQL name"
        )
    return text


def _mapping(columns: Mapping[str, str] | None) -> Mapping[str, str] | None:
    return None if columns is None else MappingProxyType(dict(columns))


def _names(names: Iterable[str] | None) -> tuple[str, ...] | None:
    if isinstance(names, str):
        raise InvalidQueryError("searchable must be several names; for one, give [name]")
    return None if names is None else tuple(names)


def _fields(fields: Iterable[Field]) -> tuple[Field, ...]:
    fields = tuple(fields)
    if not all(isinstance(each, Field) for each in fields):
        raise InvalidQueryError("payload_fields must be Fields")
    return fields


@attrs.frozen
class Table:
    """A table or view that is already there, and of it what PostgreSQL's catalog does not tell.

    What is left None is read from the catalog: the id is the primary key, the vectors are the one
    column of type `vector` or `halfvec`, their dimension its declaration, their distance that of
    the index on it, the terms the one `tsvector` column, its language and its searchable fields
    what it is generated from. Where the catalog leaves a choice, the error says which one.

    Args:
        name: The name of the table, view, materialised view or partitioned table.
        schema: Its schema.
        id: The column of the chunk's id, of any type; it must be unique and not null.
        fields: The column of each field by the field's name. None for every column that has a
            type of the algebra, under its own name.
        payload: A `jsonb` column that holds fields as the keys of one object.
        payload_fields: The fields of the payload. A value of another type than its field's is
            missing; a datetime is text in ISO 8601, of UTC where it names no offset.
        vector: The column of the vectors.
        dimension: How long they are, where the column does not declare it.
        distance: `cosine`, `dot`, `euclidean` or `manhattan`: how to compare where no index says so.
        exact: Whether to look at every vector, and leave the index unused.
        terms: The column of type `tsvector`.
        language: Its text search configuration, such as `english`.
        searchable: The fields whose text is in it.
        lengths: The column of type `integer` that holds how many words `terms` was made of.
        where: Which rows of the table are the target, as a filter of its fields; None for all. The
            word statistics of `bm25` are those of these rows.
        compute_lengths: Where there is no such column: whether to count the words of every row at
            every search, exactly and slowly.

    Raises:
        InvalidQueryError: A name is longer than 63 bytes, or a setting none of the above.
    """

    name: str = attrs.field(validator=_name)
    schema: str = attrs.field(default="public", validator=_name)
    id: str | None = attrs.field(default=None, validator=_name)
    fields: Mapping[str, str] | None = attrs.field(default=None, converter=_mapping)
    payload: str | None = attrs.field(default=None, validator=_name)
    payload_fields: tuple[Field, ...] = attrs.field(default=(), converter=_fields)
    vector: str | None = attrs.field(default=None, validator=_name)
    dimension: int | None = None
    distance: str | None = None
    exact: bool = False
    terms: str | None = attrs.field(default=None, validator=_name)
    language: str | None = None
    searchable: Iterable[str] | None = attrs.field(default=None, converter=_names)
    lengths: str | None = attrs.field(default=None, validator=_name)
    compute_lengths: bool = False
    where: Filter | None = None

    def __attrs_post_init__(self) -> None:
        if self.distance is not None and self.distance not in DISTANCES:
            raise InvalidQueryError(
                f"there is no distance {self.distance!r}; use {', '.join(DISTANCES)}"
            )
        for name, column in (self.fields or {}).items():
            portable_name(name, "the name of a field")
            identifier(column, f"the column of field {name!r}")
        if self.language is not None:
            portable_name(self.language, "the language of a Table")
        if self.payload_fields and self.payload is None:
            raise InvalidQueryError("payload_fields need a payload: the name of a jsonb column")
        if self.where is not None:
            check_filter(self.where, "the where of a Table")
        FieldSpec(self.payload_fields, self.dimension)  # refuses a name twice, and no dimension
        for field in self.payload_fields:
            if "under" in field.operators:
                raise InvalidQueryError(
                    f"payload field {field.name!r} cannot serve 'under'; use a PreFiltered layer",
                    field=field.name,
                )

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"
