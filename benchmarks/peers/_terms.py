"""Keywords as sparse vectors, for stores that take any function which makes them.

What their documents name for it, fastembed, downloads its model; Qdrant's own BM25 needs none.
"""

from functools import cache

import qdrant_edge


@cache
def _encoder() -> qdrant_edge.Bm25:
    return qdrant_edge.Bm25(qdrant_edge.Bm25Config(language="english"))


def of_text(text: str) -> tuple[list[int], list[float]]:
    """The terms of a text to load, and their weights."""
    vector = _encoder().embed_document(text)
    return list(vector.indices), list(vector.values)


def of_query(text: str) -> tuple[list[int], list[float]]:
    """The terms of a question."""
    vector = _encoder().embed_query(text)
    return list(vector.indices), list(vector.values)
