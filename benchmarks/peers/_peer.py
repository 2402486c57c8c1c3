"""What a store that is compared with does, and what all of them are told alike."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from benchmarks.corpus import Corpus
from tests.servers import Qdrant, Weaviate

Words: TypeAlias = Callable[[str, Sequence[float], int], Awaitable[list[str]]]
"""A search by a question, its vector and a limit. It gives ids, best first."""

M, EF_CONSTRUCTION = 16, 64
"""What HNSW is built with: pgvector's own, which PgvectorStore and the peers' documents have too."""

DEPTH = 100
"""Candidates of each leg of a hybrid search, as PgvectorStore has."""

_BATCH = 5_000


class Peer(Protocol):
    """A store that is compared with."""

    package: str
    """What must be there to import."""

    distribution: str
    """What to install for that."""

    async def fill(self, corpus: Corpus) -> None:
        """Make its table or collection, its rows and its indexes."""

    async def open(self) -> None:
        """Be ready to search."""

    async def near(self, query: Sequence[float], limit: int, part: int | None) -> list[str]:
        """The ids of the nearest, of one part or of all."""
        ...

    def words(self) -> Mapping[str, Words]:
        """Its searches that look at words, by name: those of keywords, those that are hybrid."""
        ...

    async def close(self) -> None:
        """Close its connections."""


class PgvectorPeer(Peer, Protocol):
    """A store over pgvector.

    Args:
        url: The database, which has a table `chunks`.
        dimension: How long its vectors are.
        ef_search: How many candidates the index is told to keep; None for the store's own way.
    """

    part: str
    """Its table, and in brackets what it filters by, as an index takes it."""

    def __init__(self, url: str, dimension: int, ef_search: int | None) -> None: ...


class QdrantPeer(Peer, Protocol):
    """A store over Qdrant.

    Args:
        server: The server.
        corpus: What it is filled with and asked for.
        over_grpc: Whether it asks over gRPC; as documented they ask over REST.
    """

    collection: str
    """The name of its collection."""

    part: str
    """The payload key of what it filters by."""

    def __init__(self, server: Qdrant, corpus: Corpus, *, over_grpc: bool) -> None: ...


class WeaviatePeer(Peer, Protocol):
    """A store over Weaviate.

    Args:
        server: The server.
        corpus: What it is filled with and asked for.
        tuned: Whether its collection has a schema of a careful user, and it is told to bring no
            more than is wanted, where it can be told.
    """

    collection: str
    """The name of its collection."""

    id: str
    """The property of a chunk's id."""

    text: str
    """The property of its text."""

    def __init__(self, server: Weaviate, corpus: Corpus, *, tuned: bool) -> None: ...


def with_driver(url: str, driver: str) -> str:
    """An address as SQLAlchemy takes it."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(scheme=f"postgresql+{driver}"))


def batches(corpus: Corpus) -> Iterator[range]:
    """The rows, some thousands at a time."""
    rows = len(corpus.texts)
    return (range(first, min(first + _BATCH, rows)) for first in range(0, rows, _BATCH))
