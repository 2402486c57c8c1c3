"""A small embedder that runs here and downloads nothing. Needs the extra `wordllama`."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import wordllama
from numpy.typing import NDArray

from soev_retrieval.domain import InvalidQueryError

DIMENSION = 256
"""The length of its vectors."""


class WordLlamaEmbedder:
    """An Embed over the model that the package wordllama carries: 256 numbers, for cosine.

    It averages the vectors of a text's tokens: under a millisecond for a question, so it runs in the event
    loop.
    """

    dimension = DIMENSION

    def __init__(self) -> None:
        # The loader looks for the tokenizer below the cache folder only, and it is in the package.
        home = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(cache_dir=home, disable_download=True)

    async def __call__(self, query: str) -> Sequence[float]:
        """The vector of one text.

        Raises:
            InvalidQueryError: The text has no token, so it has no vector.
        """
        vector = self.embed([query])[0]
        if vector is None:
            raise InvalidQueryError("the query has no token to embed")
        return vector

    def embed(self, texts: Sequence[str]) -> list[list[float] | None]:
        """The vector of each text, or None for one without a token, such as the empty text."""
        if not texts:
            return []
        # Each batch is padded to its longest text, so texts of one length belong together.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors: NDArray[np.float32] = np.empty((len(texts), DIMENSION), np.float32)
        vectors[order] = self._model.embed([texts[place] for place in order])
        with np.errstate(invalid="ignore", divide="ignore"):
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return [row.tolist() if np.isfinite(row).all() else None for row in vectors]
