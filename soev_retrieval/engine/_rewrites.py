"""Ready rewrites for PreFiltered."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import attrs

from soev_retrieval.domain import (
    NOTHING,
    DeclaredFilter,
    Filter,
    InvalidQueryError,
    Scalar,
    Target,
    lies_under,
    normal_path,
)


@runtime_checkable
class Catalog(Protocol):
    """What knows which documents lie in which folder: a database of the application."""

    async def documents(self, target: Target, folder: str, /) -> Collection[str]:
        """The ids of the documents in `folder` and in every folder below it.

        Args:
            target: The target that the call named.
            folder: The path without leading, trailing and double slashes; the root is `""`.
                Nothing in it is a pattern.

        Returns:
            The ids, in any order; none for a folder that it does not know.
        """
        ...


@attrs.frozen(eq=False)
class MappingCatalog:
    """A Catalog over a mapping from each document's id to the path of its folder.

    The mapping is read at each call, so a change is seen by the next one. It is read whole: for
    more documents than a dict should hold, put a database behind `Catalog`.

    Args:
        folders: `{"doc-7": "handbook/travel", …}`. Slashes at the ends and double ones are
            nothing.
    """

    folders: Mapping[str, str] = attrs.field(repr=False)

    async def documents(self, target: Target, folder: str, /) -> Collection[str]:
        """The ids of the documents in `folder` and below it, the same for every target."""
        return [id for id, path in self.folders.items() if lies_under(path, folder)]


@attrs.frozen
class FolderScope:
    """A Rewrite of `under` into the ids of the documents that a catalog has in that folder.

    `folder under "a/b"` covers `a/b` and `a/b/c`, never `a/bc`. A folder that the catalog does not
    know is NOTHING. The catalog is asked at each call, once for each folder in its filter.

    Args:
        catalog: What knows the documents of a folder.
        folder: The field that the caller's `under` names. Other fields are left as they are.
        document: The text field that holds a chunk's document id.
    """

    catalog: Catalog
    folder: str = "folder"
    document: str = "document_id"

    async def __call__(self, target: Target, term: DeclaredFilter, /) -> Filter:
        """The documents under the folder, or `term` itself where it is another predicate."""
        if term.op != "under" or term.field != self.folder:
            return term
        ids = await self.catalog.documents(target, normal_path(str(term.value)))
        found = _several(ids, f"the catalog returned {{}} for folder {term.value!r}; it must")
        return DeclaredFilter(self.document, "in", found) if found else NOTHING


@attrs.frozen
class AncestorScope:
    """A Rewrite of `under` for chunks that carry their folder and every folder above it.

    The list is what `soev_retrieval.domain.ancestors` makes of a path, so `folder under "a/b"` is
    the same as that list containing `a/b`. The root is asked of the folder field itself.

    Args:
        folder: The field that the caller's `under` names. Other fields are left as they are.
        ancestors: The list field that holds the folders.
    """

    folder: str = "folder"
    ancestors: str = "ancestors"

    async def __call__(self, target: Target, term: DeclaredFilter, /) -> Filter:
        """The folder among the ancestors, or `term` itself where it is another predicate."""
        if term.op != "under" or term.field != self.folder:
            return term
        path = normal_path(str(term.value))
        if not path:  # what lies in the root itself has no ancestors
            return DeclaredFilter(self.folder, "exists")
        return DeclaredFilter(self.ancestors, "contains", path)


@attrs.frozen
class Renamed:
    """A Rewrite of field names: what callers call a field into what the index calls it.

    Results come back under the index's names, and `order_by` is not renamed.

    Args:
        names: `{"year": "published_year", …}`. A field that is not in it keeps its name.
    """

    names: Mapping[str, str]

    async def __call__(self, target: Target, term: DeclaredFilter, /) -> Filter:
        """`term` on the field's name in the index."""
        name = self.names.get(term.field, term.field)
        return term if name == term.field else DeclaredFilter(name, term.op, term.value)


@attrs.frozen
class Lookup:
    """A Rewrite that looks a caller's value up into the keys it stands for: a name into ids.

    `author == "Glauert"` becomes `author_id in [17, 23]`, or NOTHING where there is no such key.
    `ne`, `in` and `not_in` likewise; `not_in` is exactly not `in`. Other operators on the field
    are refused: a name has no order among keys.

    Args:
        field: The field that callers name.
        key: The field of the index.
        find: An async function from the values of one predicate to their keys, all together;
            none where there is none.
    """

    field: str
    key: str
    find: Callable[[Sequence[Scalar]], Awaitable[Collection[Scalar]]] = attrs.field(repr=False)

    async def __call__(self, target: Target, term: DeclaredFilter, /) -> Filter:
        """`term` on the keys, or itself where it is about another field."""
        if term.field != self.field:
            return term
        if term.op not in ("eq", "ne", "in", "not_in"):
            raise InvalidQueryError(
                f"field {self.field!r} is looked up and serves eq, ne, in, not_in, not {term.op!r}",
                target=target,
                field=self.field,
            )
        values: Any = term.value if isinstance(term.value, tuple) else (term.value,)
        found = await self.find(values) if values else ()
        keys = _several(found, f"find returned {{}} for field {self.field!r}; it must")
        return DeclaredFilter(self.key, "in" if term.op in ("eq", "in") else "not_in", keys)


def _several(values: Any, told: str) -> tuple[Any, ...]:
    """The distinct values of a collection, in their order.

    Raises:
        InvalidQueryError: It is none: a None or a text for a list would be taken for no values.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Collection):
        raise InvalidQueryError(f"{told.format(type(values).__name__)} return a collection")
    return tuple(sorted(set(values)))
