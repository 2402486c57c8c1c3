"""Two tenants who hold the same, and the stacks of layers between them and their chunks."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

import attrs

from soev_retrieval.domain import (
    Field,
    FieldSpec,
    Hit,
    Properties,
    Record,
    Scalar,
    StoreUnavailable,
    Unconfigured,
)
from soev_retrieval.engine import (
    Cached,
    CircuitBreaker,
    Deduplicated,
    FolderScope,
    Limited,
    Lookup,
    MappingCatalog,
    PostFiltered,
    PreFiltered,
    Rechecked,
    Renamed,
    Replenished,
    Retrying,
    ScoreFloor,
    Timed,
)
from soev_retrieval.rag import Branch, IndexQuery, SearchIndex
from soev_retrieval.store import VectorStore
from soev_retrieval.testing import corpus
from soev_retrieval.testing.faults import Scripted

Layers: TypeAlias = Callable[[VectorStore], VectorStore]

COLLECTIONS = ("handbook", "archive")
_WRITERS = {"Glauert": (0, 3), "Prandtl": (1,), "Betz": (2,)}
_FOLDERS = ("", "handbook", "handbook/travel", "handbook/travels", "rules/travel")
_DOCUMENTS = {f"doc-{number}": folder for number, folder in enumerate(_FOLDERS)}

SPEC = FieldSpec(
    [
        *corpus.spec(),
        Field("collection", "text"),
        Field("document", "text"),
        Field("writer", "int"),
    ],
    8,
)
_UNORDERED = ("eq", "ne", "in", "not_in", "exists", "missing", "prefix")  # Qdrant's text
OWN = FieldSpec(
    [
        attrs.evolve(field, operators=_UNORDERED)
        if (field.type, field.many) == ("text", False)
        else field
        for field in SPEC
        if field.name != "tenant"
    ]
)
"""What a caller may ask for, on every store."""

SEEN = FieldSpec(
    [
        *OWN,
        Field("year", "int"),
        Field("author", "text", operators=("eq", "ne", "in", "not_in")),
        Field("folder", "text", operators=("under",)),
    ]
)
"""What a caller may ask for whose filters are rewritten."""


def _placed(number: int, record: Record) -> Record:
    place = {
        "collection": COLLECTIONS[number % 5 == 0],
        "document": f"doc-{number % len(_FOLDERS)}",
        "writer": number % 6,
    }
    if number % 6 > 3:
        del place["writer"]
    return Record(record.id, {**record.properties, **place}, record.vector)


RECORDS = [
    _placed(number // len(corpus.TENANTS), record)
    for number, record in enumerate(corpus.records(corpus.spec()))
]
"""Each chunk of one tenant has a twin of the other's, in the same document and collection."""


def seen(record: Record) -> Properties:
    """A chunk's properties, and what they are called by those whose filters are rewritten."""
    held: dict[str, Any] = dict(record.properties)
    held["folder"] = _DOCUMENTS[held["document"]]
    if "number" in held:
        held["year"] = held["number"]
    if "writer" in held:
        [held["author"]] = [name for name, keys in _WRITERS.items() if held["writer"] in keys]
    return Properties(held)


@attrs.frozen
class Stack:
    """Layers of an index.

    Args:
        around: Those around the tenant's predicate.
        inside: Those between it and the store.
        rewrites: Whether a caller may ask for `SEEN`.
    """

    around: Layers = lambda store: store
    inside: Layers = lambda store: store
    rewrites: bool = False


async def _keys(names: Sequence[Scalar]) -> Collection[Scalar]:
    return [key for name in names for key in _WRITERS.get(str(name), ())]


def _rewritten(store: VectorStore) -> VectorStore:
    by_folder = PreFiltered(store, FolderScope(MappingCatalog(_DOCUMENTS), document="document"))
    by_author = PreFiltered(by_folder, Lookup("author", "writer", _keys))
    return PreFiltered(by_author, Renamed({"year": "number"}))


def _everything(store: VectorStore) -> VectorStore:
    kept = Replenished(Rechecked(Limited(store, 1)), Deduplicated(), 100)
    return CircuitBreaker(
        Timed(_rewritten(PostFiltered(kept, ScoreFloor(float("-inf")))), 60), 1, 9
    )


def _stumbling(store: VectorStore) -> VectorStore:
    return Scripted(StoreUnavailable("gone"), lambda call: call.on(store))


STACKS = {
    "none": Stack(),
    "rewritten": Stack(_rewritten, rewrites=True),
    "kept": Stack(lambda store: PostFiltered(store, Deduplicated())),
    "retried": Stack(lambda store: Retrying(_stumbling(store), attempts=2, backoff=0)),
    "retried inside": Stack(
        inside=lambda store: Retrying(_stumbling(store), attempts=2, backoff=0)
    ),
    "rechecked": Stack(Rechecked, inside=Rechecked),
    "timed": Stack(lambda store: Timed(store, 60), inside=lambda store: Timed(store, 60)),
    "cached": Stack(lambda store: Cached(store, 9)),
    "cached inside": Stack(inside=lambda store: Cached(store, 9)),
    "everything": Stack(
        _everything, inside=lambda store: Cached(Timed(store, 60), 9), rewrites=True
    ),
}


FATES = ("answers", "answers", "fails", "fails late", "is not set up", "hangs")
"""What may become of a branch; most of them answer."""


@attrs.frozen
class Fated:
    """A SearchIndex over another, of which one of FATES becomes."""

    inner: SearchIndex
    fate: str

    @property
    def name(self) -> str:
        """As the other's."""
        return self.inner.name

    def supports(self, branch: Branch) -> bool:
        """As the other."""
        return self.inner.supports(branch)

    async def search(self, query: IndexQuery) -> Sequence[Hit]:
        """Answer, or do not."""
        if self.fate == "fails":
            raise StoreUnavailable("gone")
        if self.fate == "hangs":
            await asyncio.Event().wait()
        if self.fate == "is not set up":
            raise Unconfigured("no key")
        hits = await self.inner.search(query)
        if self.fate == "fails late":
            raise StoreUnavailable("gone in the end")
        return hits
