"""What a table's configuration and its catalog say of one column, settled between them."""

from soev_retrieval.domain import Unconfigured
from soev_retrieval_pgvector._catalog import Catalog, Column
from soev_retrieval_pgvector._table import Table


def unsettled(table: Table, what: str) -> Unconfigured:
    """What the configuration and the catalog leave open."""
    return Unconfigured(f"table {table}: {what}", store="PgvectorStore")


def column_of(table: Table, catalog: Catalog, name: str, role: str) -> Column:
    """The column of that name, which this role may read."""
    if (column := catalog.columns.get(name)) is None:
        there = ", ".join(catalog.columns)
        raise unsettled(table, f"there is no column {name!r} for the {role}; there is {there}")
    if not column.readable:
        raise unsettled(table, f"this role may not read column {name!r}; GRANT SELECT on it")
    return column


def typed_column(table: Table, catalog: Catalog, name: str, role: str, types: set[str]) -> Column:
    """The column of that name, which is of one of these types."""
    column = column_of(table, catalog, name, role)
    if column.type not in types or column.many:
        wanted = " or ".join(sorted(types))
        raise unsettled(table, f"column {name!r} for the {role} is {column.declared}, not {wanted}")
    return column


def only(table: Table, catalog: Catalog, types: set[str], setting: str) -> Column | None:
    """The one column of such a type, or None where there is none."""
    found = [
        each
        for each in catalog.columns.values()
        if each.type in types and not each.many and each.readable
    ]
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise unsettled(table, f"several columns could be the {setting}: {names}; give {setting}=…")
    return found[0] if found else None
