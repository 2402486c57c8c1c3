"""BM25 of one shard, a leg for each property, as the server sums them."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from tests.adapters.weaviate._standin_index import Bucket, Shard
from tests.adapters.weaviate._standin_tokens import tokens
from tests.adapters.weaviate._standin_tree import NotIndexedError, stop_words

Scored = tuple[int, float]
"""A document and its score."""


@attrs.frozen
class Keywords:
    """What is asked.

    Args:
        query: The text.
        properties: Where to look, such as `title^2`; none is everywhere.
        operator: The operator's name as the wire has it.
        minimum: How many of the terms have to be there, of an Or.
    """

    query: str
    properties: Sequence[str] = ()
    operator: str = ""
    minimum: int = 0


def searched(asked: Keywords, properties: dict[str, dict[str, Any]]) -> dict[str, float]:
    """The properties to search, and the weight of each."""
    if not asked.properties:
        return {name: 1.0 for name, each in properties.items() if each["indexSearchable"]}
    result = {}
    for each in asked.properties:
        name, _, boost = (each[:1].lower() + each[1:]).partition("^")
        if not properties.get(name, {}).get("indexSearchable"):
            raise NotIndexedError(
                f"Searching by property '{name}' requires inverted index. Is `indexSearchable` "
                f"option of property '{name}' enabled? Set it to `true` or leave empty"
            )
        result[name] = _number(boost) if boost else 1.0
    return result


def ranked(
    asked: Keywords, shard: Shard, config: dict[str, Any], limit: int, allowed: set[int] | None
) -> list[Scored]:
    """The best documents. Each property's leg is cut a little above the limit: sums lose parts."""
    held = {each["name"]: each for each in config["properties"] or []}
    boosts = searched(asked, held)
    if allowed is not None and not allowed:
        return []
    groups: dict[str, list[str]] = defaultdict(list)
    for name in boosts:
        groups[held[name]["tokenization"]].append(name)
    totals: dict[int, np.float32] = {}
    for tokenization, names in groups.items():
        terms = _terms(asked.query, tokenization, config)
        idfs = _idfs(terms, [shard.bucket(name) for name in names], len(shard.docs))
        for name in names:
            leg = _Leg(shard.bucket(name), config["invertedIndexConfig"]["bm25"], boosts[name])
            for doc, score in leg.best(terms, idfs, asked, limit, allowed):
                totals[doc] = totals.get(doc, np.float32(0)) + np.float32(score)
    order = sorted(totals, key=lambda doc: (-totals[doc], doc))[:limit]
    order.sort(key=lambda doc: (-totals[doc], shard.docs[doc].uuid))
    return [(doc, float(totals[doc])) for doc in order]


@attrs.frozen
class _Leg:
    rows: Bucket
    settings: dict[str, float]
    boost: float

    def best(
        self,
        terms: Counter[bytes],
        idfs: dict[bytes, float],
        asked: Keywords,
        limit: int,
        allowed: set[int] | None,
    ) -> list[Scored]:
        scores: dict[int, float] = defaultdict(float)
        matched: Counter[int] = Counter()
        k1, b = self.settings.get("k1", 0), self.settings.get("b", 0)
        for term in terms:
            for doc, count in self.rows.rows.get(term, {}).items():
                if allowed is None or doc in allowed:
                    length = self.rows.lengths[doc] / self.rows.mean
                    weight = count / (count + k1 * (1 - b + b * length))
                    scores[doc] += weight * idfs[term] * self.boost
                    matched[doc] += 1
        needed = len(terms) if asked.operator.endswith("AND") else asked.minimum
        kept = [doc for doc in scores if matched[doc] >= needed]
        kept.sort(key=lambda doc: (-np.float32(scores[doc]), doc))
        return [(doc, scores[doc]) for doc in kept[: max(int(limit * 1.1), limit + 10)]]


def _terms(query: str, tokenization: str, config: dict[str, Any]) -> Counter[bytes]:
    stops = stop_words(config) if tokenization == "word" else ()
    return Counter(each.encode() for each in tokens(tokenization, query) if each not in stops)


def _idfs(terms: Counter[bytes], buckets: list[Bucket], total: int) -> dict[bytes, float]:
    """The weight of each term, of its mean number of documents in the properties that have it."""
    result = {}
    for term, times in terms.items():
        counts = [len(each.rows[term]) for each in buckets if term in each.rows]
        if counts:
            n = sum(counts) // len(counts)
            result[term] = times * math.log(1 + (max(total, n) - n + 0.5) / (n + 0.5))
    return result


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
