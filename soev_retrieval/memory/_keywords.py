"""BM25 over the searchable text of one index."""

from collections.abc import Iterable, Sequence

import bm25s
import numpy as np
from numpy.typing import NDArray

from soev_retrieval.analysis import Analysis


class _Numbers(dict[str, int | None]):
    """The number of the term of each word, None for a stop word. Each word is stemmed once."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.terms: dict[str, int] = {}

    def __missing__(self, word: str) -> int | None:
        term = self._analysis.term(word)
        number = None if term is None else self.terms.setdefault(term, len(self.terms))
        self[word] = number
        return number


class Keywords:
    """The terms of every row, and their scores.

    The terms are kept up to date row by row; the scores depend on every row (how rare a term is,
    how long a text is on average), so they are made anew at the first search after a write.
    """

    def __init__(self, analysis: Analysis, k1: float, b: float) -> None:
        self._analysis = analysis
        self._k1, self._b = k1, b
        self._numbers = _Numbers(analysis)
        self._rows: list[list[int]] = []
        self._scores: bm25s.BM25 | None = None

    def put(self, row: int, texts: Iterable[str]) -> None:
        """Write the terms of a row, the next one or one that is there."""
        words = [word for text in texts for word in self._analysis.words(text)]
        numbers = map(self._numbers.__getitem__, words)
        self._rows[row : row + 1] = [[number for number in numbers if number is not None]]
        self._scores = None

    def move_last(self, row: int) -> None:
        """Take the last row away and write it into `row`, unless it is that row."""
        last = self._rows.pop()
        if row < len(self._rows):
            self._rows[row] = last
        self._scores = None

    def scores(self, query: str) -> NDArray[np.float64]:
        """The BM25 score of every row for `query`; 0 where no word of it is there."""
        # In the order of the terms, so that neither the order of the words nor that of loading
        # decides the last bit.
        vocabulary = self._numbers.terms
        terms = sorted(set(self._analysis.terms(query)) & vocabulary.keys())
        known = [vocabulary[term] for term in terms]
        if not known or not any(self._rows):
            return np.zeros(len(self._rows))
        if self._scores is None:
            self._scores = self._made()
        scores: NDArray[np.float64] = self._scores.get_scores_from_ids(known)
        return scores

    def _made(self) -> bm25s.BM25:
        made = bm25s.BM25(k1=self._k1, b=self._b, method="lucene", dtype="float64")
        corpus: tuple[Sequence[Sequence[int]], dict[str, int]] = (self._rows, self._numbers.terms)
        made.index(corpus, create_empty_token=False, show_progress=False)
        return made
