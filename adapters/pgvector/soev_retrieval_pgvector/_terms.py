"""The searchable text of a table that is already there: what it is made of, or what to create."""

import re

import attrs

from soev_retrieval_pgvector._catalog import Catalog, Column
from soev_retrieval_pgvector._settled import only, typed_column
from soev_retrieval_pgvector._sql import WORDS_FUNCTION, qualified, quoted, words_function
from soev_retrieval_pgvector._table import Table

_CONFIGURATION = re.compile(r"to_tsvector\('((?:[^']|'')+)'::regconfig")
_NAME = r'(?:\w+|"(?:[^"]|"")+")'
_COUNTED = re.compile(rf"(?:{_NAME}\.)?{WORDS_FUNCTION}\((.*)\)", re.DOTALL)
"""The function of `_ddl`. Another one, such as length(), may count something else."""


@attrs.frozen
class Terms:
    """The searchable text of a table.

    Args:
        column: The `tsvector`.
        language: Its text search configuration.
        length: The expression of how many words a row has.
    """

    column: str
    language: str
    length: str


def terms_of(table: Table, catalog: Catalog) -> Terms | str:
    """Where the searchable text is, or why there is none.

    Raises:
        Unconfigured: A column of the configuration is not there, or there are several.
    """
    if table.terms is not None:
        column = typed_column(table, catalog, table.terms, "terms", {"tsvector"})
    elif (found := only(table, catalog, {"tsvector"}, "terms")) is not None:
        column = found
    else:
        return f"it has no column of type tsvector that this role may read; create one:\n{_ddl(table, 'terms')}"
    language = table.language or _language(column)
    if language is None:
        return (
            f"it is not known which text search configuration column {column.name!r} is made with;"
            " give Table(…, language='english'), or whichever it is"
        )
    length = _length(table, catalog, column)
    if length is None and not table.compute_lengths:
        return (
            "it has no column that holds how many words a row has, which BM25 weighs by; create"
            f" one:\n{_ddl(table, 'lengths', column)}\nor name the one that is there, Table(…,"
            " lengths=…), or give compute_lengths=True, which counts them at every search"
        )
    return Terms(column.name, language, length or _counted(column.name))


def _language(column: Column) -> str | None:
    found = {each.replace("''", "'") for each in _CONFIGURATION.findall(column.generated or "")}
    return found.pop() if len(found) == 1 else None


def _length(table: Table, catalog: Catalog, terms: Column) -> str | None:
    if table.lengths is not None:
        types = {"int2", "int4", "int8"}
        return f"t.{quoted(typed_column(table, catalog, table.lengths, 'lengths', types).name)}"
    for each in catalog.columns.values():
        made = _COUNTED.fullmatch(each.generated or "")
        if made and made[1] in {terms.generated, terms.name, quoted(terms.name)}:
            return f"t.{quoted(each.name)}"
    return None


def _counted(terms: str) -> str:
    words = f"SELECT sum(cardinality(positions)) FROM unnest(t.{quoted(terms)})"
    return f"coalesce(({words}), 0)"


def _ddl(table: Table, part: str, terms: Column | None = None) -> str:
    name = qualified(table.schema, table.name)
    text = "to_tsvector('english', <your text>)"
    if terms is not None:
        text = terms.generated or quoted(terms.name)
    if part == "terms":
        return (
            f"ALTER TABLE {name} ADD COLUMN terms tsvector GENERATED ALWAYS AS ({text}) STORED;\n"
            f"CREATE INDEX ON {name} USING gin (terms);"
        )
    return (
        f"{words_function(table.schema)};\n"
        f"ALTER TABLE {name} ADD COLUMN terms_length int"
        f" GENERATED ALWAYS AS ({quoted(table.schema)}.{WORDS_FUNCTION}({text})) STORED;\n"
        f"CREATE INDEX ON {name} (terms_length);"
    )


def searchable_of(table: Table, catalog: Catalog, terms: Terms) -> tuple[str, ...]:
    """The fields whose text is in the terms, by their own names."""
    if table.searchable is not None:
        return tuple(table.searchable)
    names = {column: name for name, column in (table.fields or {}).items()}
    return tuple(names.get(each, each) for each in catalog.columns[terms.column].sources)
