"""Text as sparse vectors: Qdrant's own BM25, by the server, and in this process for local mode.

The terms are the same: `qdrant_edge` is the server's code. A term is a number, the hash of a word
that was folded to lower case, is no stop word, and was stemmed. In a document it weighs
`n (k1 + 1) / (n + k1 (1 - b + b length / average))`, in a query 1; the server multiplies with
how rare it is (the modifier IDF).
"""

from functools import lru_cache
from typing import Any

import attrs
import qdrant_edge
from qdrant_client import models

from soev_retrieval.domain import InvalidQueryError

MODEL = "qdrant/bm25"

# With b = 0 a term that stands n times weighs n (k + 1) / (n + k), so n can be told from it.
_COUNTING = 1000.0


def _known_language(of: object, what: object, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, str) or not _is_known(value):
        raise InvalidQueryError(
            f"there is no language {value!r}: give one of Snowball's whose stop words Qdrant"
            " knows, in small letters, such as 'english', or None to keep every word as it is"
        )


@lru_cache(maxsize=64)
def _is_known(language: str) -> bool:
    try:
        qdrant_edge.Bm25(qdrant_edge.Bm25Config(language=language))
    except ValueError:  # the server would leave out stop words and stemming, and say nothing
        return False
    return True


@attrs.frozen
class Analysis:
    """How text is made into terms.

    Args:
        language: The language of stop words and stemming, such as `english`; None for words as
            they are.
        ascii_folding: Whether `café` and `cafe` are one word.

    Raises:
        InvalidQueryError: Qdrant does not know the language.
    """

    language: str | None = attrs.field(default="english", validator=_known_language)
    ascii_folding: bool = False

    def asked(self, text: str, *, here: bool) -> models.Document | models.SparseVector:
        """A query, made into terms by the server or `here`."""
        if not here:
            return models.Document(text=text, model=MODEL, options=self._options())
        return _sparse(_encoder(self).embed_query(text))

    def loaded(self, text: str, weights: "Weights", *, here: bool) -> Any:
        """A text to load, made into terms and weighted by the server or `here`."""
        if not here:
            options = {**self._options(), **weights.options()}
            return models.Document(text=text, model=MODEL, options=options)
        return _sparse(_encoder(self, weights).embed_document(text))

    def length(self, text: str) -> int:
        """How many terms a text is made into, each as often as it stands there."""
        weighed = _encoder(self, Weights(_COUNTING, 0.0, 1.0)).embed_document(text).values
        return sum(round(each * _COUNTING / (_COUNTING + 1 - each)) for each in weighed)

    def _options(self) -> dict[str, Any]:
        words: dict[str, Any] = {"stemmer": {"type": "none"}, "stopwords": {"custom": []}}
        if self.language is not None:
            words = {"language": self.language}
        return {**words, **({"ascii_folding": True} if self.ascii_folding else {})}

    def settings(self) -> dict[str, Any]:
        """The same as `qdrant_edge` takes it."""
        words: dict[str, Any] = {
            "stemmer": qdrant_edge.DisabledStemmer(),
            "stopwords": qdrant_edge.StopwordsSet(),
        }
        if self.language is not None:
            words = {"language": self.language}
        return {**words, "ascii_folding": self.ascii_folding}


@attrs.frozen
class Weights:
    """What the weight of a term in a document depends on.

    Args:
        k1: How soon BM25 has seen enough of one word.
        b: How much BM25 counts the length of a text, 0 to 1.
        average: The average length of the texts, in terms.
    """

    k1: float
    b: float
    average: float

    def options(self) -> dict[str, float]:
        """As Qdrant takes them."""
        return {"k": self.k1, "b": self.b, "avg_len": self.average}


@lru_cache(maxsize=64)
def _encoder(analysis: Analysis, weights: Weights | None = None) -> qdrant_edge.Bm25:
    settings = analysis.settings()
    if weights is not None:
        settings |= weights.options()
    return qdrant_edge.Bm25(qdrant_edge.Bm25Config(**settings))


def _sparse(vector: Any) -> models.SparseVector:
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))
