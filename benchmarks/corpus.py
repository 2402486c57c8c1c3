"""Chunks as an index of documents has them, made up by a seeded generator: vectors, texts, parts."""

from collections.abc import Iterator, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from soev_retrieval.domain import Field, FieldSpec, Record

Matrix = NDArray[np.float32]

PARTS = 100
"""The field `part` runs through 0 to 99: each is one chunk in a hundred."""

_LATENT = 16  # dimensions that the embeddings of one corpus really have
_NOISE = 0.1
_VOCABULARY = 30_000
_FLAT = 10  # Mandelbrot's offset: the commonest content word is in about one text of five
_WORDS, _SPREAD = 26, 0.6  # content words of a text: their mean, and the sigma of its logarithm
_FUNCTION = ("the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "was", "with")
_ONSETS = (*"bcdfghklmnprstvwz", "br", "ch", "cl", "dr", "fl", "gr", "pl", "pr", "sh", "st", "tr")
_VOWELS = (*"aeiou", "ai", "ea", "io", "ou")
_CODAS = ("", "", "", *"nrltmx", "ck", "nd", "st")


@attrs.frozen
class Corpus:
    """Chunks, and what is asked of them.

    Args:
        vectors: A vector for each chunk.
        texts: A text for each chunk, of 25 lexemes in the mean.
        queries: Vectors of the same kind that are none of theirs.
        short: Two words for each query.
        questions: Eight content words for each, among others, drawn as the texts are.
    """

    vectors: Matrix
    texts: Sequence[str]
    queries: Sequence[Sequence[float]]
    short: Sequence[str]
    questions: Sequence[str]

    @property
    def spec(self) -> FieldSpec:
        """The spec of the records."""
        fields = [Field("text", "text", searchable=True), Field("part", "int")]
        return FieldSpec(fields, dimension=self.vectors.shape[1])

    def records(self, first: int, last: int) -> Iterator[Record]:
        """The records of the rows from `first` to before `last`."""
        for row in range(first, min(last, len(self.texts))):
            properties = {"text": self.texts[row], "part": row % PARTS}
            yield Record(chunk_id(row), properties, self.vectors[row])


def chunk_id(row: int) -> str:
    """The id of a row."""
    return f"chunk-{row:07}"


def made(rows: int, dimension: int, queries: int) -> Corpus:
    """The corpus of that size, always the same."""
    words, chances = _vocabulary(np.random.default_rng(1))
    vectors = _vectors(queries + rows, dimension, np.random.default_rng(2))
    random = np.random.default_rng(3)
    return Corpus(
        vectors[queries:],
        _texts(rows, words, chances, np.random.default_rng(4)),
        vectors[:queries].tolist(),
        [" ".join(words[random.integers(50, 2_000, 2)]) for _ in range(queries)],
        [_question(words[random.choice(len(words), 8, p=chances)]) for _ in range(queries)],
    )


def _vectors(rows: int, dimension: int, random: np.random.Generator) -> Matrix:
    """Unit vectors near a curved surface of few dimensions, where an embedder puts them."""
    hidden = 4 * _LATENT
    bend = random.standard_normal((_LATENT, hidden)) / np.sqrt(_LATENT)
    spread = random.standard_normal((hidden, dimension)) / np.sqrt(hidden)
    matrix = np.tanh(random.standard_normal((rows, _LATENT)) @ bend) @ spread
    matrix += _NOISE * random.standard_normal((rows, dimension))
    unit: Matrix = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _vocabulary(random: np.random.Generator) -> tuple[NDArray[np.str_], NDArray[np.float64]]:
    """Words that can be said, and how often each comes: as the Zipf-Mandelbrot law has it."""
    words: dict[str, None] = {}
    while len(words) < _VOCABULARY:
        onsets, vowels = (random.choice(each, (_VOCABULARY, 4)) for each in (_ONSETS, _VOWELS))
        syllables = np.strings.add(onsets, vowels)
        lengths, codas = random.integers(2, 5, _VOCABULARY), random.choice(_CODAS, _VOCABULARY)
        for each, length, coda in zip(syllables, lengths, codas, strict=True):
            words["".join([*each[:length], coda])] = None
    chances = 1 / (np.arange(_VOCABULARY) + _FLAT)
    return np.array(list(words)[:_VOCABULARY]), chances / chances.sum()


def _texts(
    rows: int,
    words: NDArray[np.str_],
    chances: NDArray[np.float64],
    random: np.random.Generator,
) -> list[str]:
    center = np.log(_WORDS) - _SPREAD**2 / 2
    lengths = np.maximum(3, random.lognormal(center, _SPREAD, rows).round()).astype(int)
    drawn = words[random.choice(len(words), lengths.sum(), p=chances)]
    function = np.array(_FUNCTION)[random.integers(0, len(_FUNCTION), lengths.sum())]
    texts, ends = [], np.cumsum(lengths)
    for start, end in zip(ends - lengths, ends, strict=True):
        # After every content word but each fourth comes a function word, as in English.
        pairs = zip(drawn[start:end], function[start:end], range(end - start), strict=True)
        texts.append(" ".join(f"{word} {small}" if at % 4 else word for word, small, at in pairs))
    return texts


def _question(words: NDArray[np.str_]) -> str:
    return f"what is the {' '.join(words[:4])} of {' '.join(words[4:])}?"
