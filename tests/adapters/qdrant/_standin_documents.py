"""Documents to sparse vectors, which the server does by itself for its model `qdrant/bm25`."""

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import BaseModel
from qdrant_client import models
from qdrant_edge import (
    Bm25,
    Bm25Config,
    DisabledStemmer,
    Language,
    SnowballLanguage,
    SnowballParams,
    StopwordsSet,
    TokenizerType,
)

from tests.adapters.qdrant._standin_answers import RefusedError

_PLAIN = {"k", "b", "avg_len", "lowercase", "ascii_folding", "min_token_len", "max_token_len"}


def with_queries(value: Any) -> Any:
    """A copy in which each document is the sparse vector of a query."""
    return _replaced(value, lambda document: _model(document).embed_query(document.text))


def with_vectors(value: Any) -> Any:
    """A copy in which each document is the sparse vector of a text that is indexed."""
    return _replaced(value, lambda document: _model(document).embed_document(document.text))


def parts(value: Any) -> Iterator[BaseModel]:
    """Every model within a request, itself first."""
    if isinstance(value, BaseModel):
        yield value
        for name in type(value).model_fields:
            yield from parts(getattr(value, name))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from parts(each)
    elif isinstance(value, dict):
        yield from parts(list(value.values()))


def _replaced(value: Any, embed: Callable[[models.Document], Any]) -> Any:
    if isinstance(value, models.Document):
        vector = embed(value)
        return models.SparseVector(indices=vector.indices, values=vector.values)
    if isinstance(value, list):
        return [_replaced(each, embed) for each in value]
    if isinstance(value, dict):
        return {key: _replaced(each, embed) for key, each in value.items()}
    if isinstance(value, models.Filter) or not isinstance(value, BaseModel):
        return value
    fields = {name: getattr(value, name) for name in type(value).model_fields}
    return value.model_copy(
        update={name: _replaced(each, embed) for name, each in fields.items() if each is not None}
    )


def _model(document: models.Document) -> Bm25:
    if document.model.lower() not in ("qdrant/bm25", "bm25"):
        raise RefusedError(
            "internal",
            "Service internal error: InferenceService URL not configured - please provide valid "
            "address in config",
        )
    options = document.options or {}
    if isinstance(options, models.Bm25Config):
        options = options.model_dump(mode="json", exclude_none=True)
    try:
        return Bm25(Bm25Config(**_configured(dict(options))))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RefusedError("bad input", f"Wrong input: Invalid BM25 config: {error}") from error


def _configured(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a document in the core's own types."""
    config = {name: options.pop(name) for name in _PLAIN & options.keys()}
    language = options.pop("language", "english")
    if language in {each.lower() for each in dir(Language) if each[0].isupper()}:
        config["language"] = language
    else:  # the server warns in its log, and goes without stop words and stemming
        config |= {"stemmer": DisabledStemmer(), "stopwords": StopwordsSet()}
    if tokenizer := options.pop("tokenizer", None):
        config["tokenizer"] = getattr(TokenizerType, tokenizer.capitalize())
    if (stopwords := options.pop("stopwords", None)) is not None:
        config["stopwords"] = _stopwords(stopwords)
    if stemmer := options.pop("stemmer", None):
        config["stemmer"] = _stemmer(stemmer)
    return config  # the server takes no notice of an option that it does not know


def _stopwords(given: str | dict[str, Any]) -> Any:
    if isinstance(given, str):
        return getattr(Language, given.capitalize())
    languages = {getattr(Language, each.capitalize()) for each in given.get("languages") or []}
    return StopwordsSet(languages=languages, custom=set(given.get("custom") or []))


def _stemmer(given: dict[str, Any]) -> Any:
    if given["type"] == "none":
        return DisabledStemmer()
    return SnowballParams(getattr(SnowballLanguage, given["language"].capitalize()))
