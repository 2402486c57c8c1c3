"""Text into the terms that keyword search counts, for a store whose server does not stem."""

import logging
import re
import unicodedata

import Stemmer
from bm25s import stopwords

from soev_retrieval.domain import InvalidQueryError

__all__ = ["Analysis"]

# Its import sets the level to DEBUG, whatever the application said.
logging.getLogger("bm25s").setLevel(logging.NOTSET)

_WORD = re.compile(r"[^\W_]+")

_STOPWORDS = {
    "dutch": stopwords.STOPWORDS_DUTCH,
    "english": stopwords.STOPWORDS_EN,
    "french": stopwords.STOPWORDS_FRENCH,
    "german": stopwords.STOPWORDS_GERMAN,
    "italian": stopwords.STOPWORDS_ITALIAN,
    "norwegian": stopwords.STOPWORDS_NORWEGIAN,
    "portuguese": stopwords.STOPWORDS_PORTUGUESE,
    "russian": stopwords.STOPWORDS_RUSSIAN,
    "spanish": stopwords.STOPWORDS_SPANISH,
    "swedish": stopwords.STOPWORDS_SWEDISH,
}


class Analysis:
    """Text into terms: words of letters and digits, case folded, stop words left out, stemmed.

    Args:
        language: A language of Snowball whose stop words are known, or None to keep every word
            as it is.

    Raises:
        InvalidQueryError: There is no such language.
    """

    def __init__(self, language: str | None) -> None:
        if language is not None and not (isinstance(language, str) and language in _STOPWORDS):
            raise InvalidQueryError(
                f"there is no language {language!r}; use {', '.join(_STOPWORDS)}, or None"
            )
        self.language = language
        self._stop = frozenset(_STOPWORDS[language]) if language else frozenset()
        self._stemmer = Stemmer.Stemmer(language) if language else None

    def words(self, text: str) -> list[str]:
        """The words of `text`, in order."""
        words: list[str] = _WORD.findall(unicodedata.normalize("NFC", text).casefold())
        return words

    def term(self, word: str) -> str | None:
        """The term that a word is found by, or None for a stop word."""
        if word in self._stop:
            return None
        return str(self._stemmer.stemWord(word)) if self._stemmer else word

    def terms(self, text: str) -> list[str]:
        """The terms of `text`, in order."""
        return [term for word in self.words(text) if (term := self.term(word)) is not None]
