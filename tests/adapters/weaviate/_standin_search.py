"""Searches: from the message to the hits, shard by shard, as the server goes about it."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from tests.adapters.weaviate._standin_answers import RefusedError
from tests.adapters.weaviate._standin_asked import (
    check_cursor,
    embedded_near,
    hybrid_near,
    keywords_of,
    names_of,
    near_text,
    near_vector,
    targets_of,
)
from tests.adapters.weaviate._standin_cluster import Cluster, Collection
from tests.adapters.weaviate._standin_filters import Clause, read
from tests.adapters.weaviate._standin_hybrid import Leg, fused
from tests.adapters.weaviate._standin_index import Shard, Stored
from tests.adapters.weaviate._standin_keywords import Keywords, ranked, searched
from tests.adapters.weaviate._standin_matching import matching
from tests.adapters.weaviate._standin_replies import Hit, reply
from tests.adapters.weaviate._standin_sorting import Key, in_order, keys_of
from tests.adapters.weaviate._standin_tree import NotIndexedError
from tests.adapters.weaviate._standin_vectors import (
    Near,
    nearest,
)

MOST = 10_000
"""QUERY_MAXIMUM_RESULTS."""

POOL = 100
"""QUERY_HYBRID_MAXIMUM_RESULTS: the least that a hybrid search asks its legs for."""

_FETCH = "explorer: list class: search: "
_KEYWORDS = _VECTORS = "explorer: get class: vector search: "
_NEAR = f"explorer: get class: concurrentTargetVectorSearch): {_VECTORS}"
_UNKNOWN = ("group_by", "autocut", "near_object", "near_image", "generative", "rerank", "boost")


def search(message: Any, cluster: Cluster, version: tuple[int, ...]) -> Any:
    """The reply to a search, or `RefusedError`."""
    collection = cluster.find(message.collection)
    if collection is None:
        raise RefusedError(f"could not find class {message.collection} in schema")
    for each, _ in message.ListFields():
        if each.name in _UNKNOWN:
            raise NotImplementedError(f"the stand-in has no {each.name}")
    targets = targets_of(message, collection)
    names = names_of(message, collection)
    near = None
    if message.HasField("near_vector"):
        near = near_vector(message.near_vector, targets)
    where = None
    if message.HasField("filters"):
        where = read(message.filters, collection.properties, message.collection, version)
    asked = _Asked(message, collection, cluster, where, message.limit or 10, message.offset)
    return reply(_hits(asked, near, targets), names, message, collection)


@attrs.frozen
class _Asked:
    message: Any
    collection: Collection
    cluster: Cluster
    where: Clause | None
    limit: int
    offset: int

    @property
    def total(self) -> int:
        """How many hits are looked for, those of the pages before too."""
        if self.offset + self.limit > MOST:
            raise RefusedError(
                "invalid pagination params: query maximum results exceeded: the total limit "
                f"calculated from the provided offset '{self.offset}' and limit '{self.limit}' "
                f"exceeds the configured value for QUERY_MAXIMUM_RESULTS '{MOST}'. If you've "
                "supplied a negative offset or limit, this may be an underflow error"
            )
        return self.offset + self.limit

    def shards(self, what: str) -> list[Shard]:
        """The shards to ask, or why they cannot be."""
        try:
            return self.cluster.searched(self.collection, self.message.tenant)
        except RefusedError as error:
            raise RefusedError(
                f"{what} search at index {self.collection.index}: {error.text}"
            ) from error

    def each(self, what: str, where: str, ask: Callable[[Shard], Any]) -> list[tuple[Shard, Any]]:
        """What each shard answers, its errors with all that the server wraps them in."""
        index = self.collection.index
        found = []
        for shard in self.shards(what):
            try:
                found.append((shard, ask(shard)))
            except RefusedError as error:
                raise type(error)(
                    f"{what} search at index {index}: {where} {index}_{shard.name}: {error.text}"
                ) from error
        return found

    def allowed(self, shard: Shard, limit: int = 0) -> set[int] | None:
        """The documents that the filter holds for; None is all."""
        if self.where is None:
            return None
        return matching(self.where, shard, self.collection.config, limit)


def _hits(asked: _Asked, near: Near | None, targets: list[str]) -> list[Hit]:
    message = asked.message
    hybrid, keywords = message.HasField("hybrid_search"), message.HasField("bm25_search")
    text = message.HasField("near_text")
    if message.sort_by and (near or hybrid or keywords or text):
        raise RefusedError("sorting cannot be combined with search")
    keys = keys_of(message, asked.collection.properties, asked.collection.name)
    if message.after:
        check_cursor(message, searches=bool(near or hybrid or keywords or text))
    if keywords:
        if near or text:
            raise RefusedError(
                "conflict: both near<Media> and keyword-based (bm25) arguments present, choose one"
            )
        if not message.bm25_search.query:
            raise RefusedError("keyword search (bm25) must have query set")
        words = keywords_of(message.bm25_search, message.bm25_search.search_operator)
        found = _within(_KEYWORDS, lambda: _ranked(asked, words, asked.total))
    elif near or text:
        near = near or near_text(message.near_text, asked.collection, targets)
        found = _within(_NEAR, lambda: _nearest(asked, near, asked.total))
    elif hybrid:
        found = _hybrid(asked, targets)
    else:
        found = _within(_FETCH, lambda: _fetched(asked, keys))
    return found[asked.offset : asked.offset + asked.limit]


def _within(prefix: str, call: Callable[[], list[Hit]]) -> list[Hit]:
    try:
        return call()
    except NotIndexedError as error:
        if prefix == _NEAR:
            raise RefusedError(prefix + error.text) from error
        raise RefusedError(error.text[error.text.index("ing by property") - 6 :]) from error
    except RefusedError as error:
        raise RefusedError(prefix + error.text) from error


def _fetched(asked: _Asked, keys: list[Key]) -> list[Hit]:
    total, config = asked.total, asked.collection.config

    def one(shard: Shard) -> list[Stored]:
        allowed = asked.allowed(shard, total)
        if allowed is not None:
            found = [shard.docs[doc] for doc in sorted(allowed)]
        else:
            found = [each for each in shard.by_uuid() if each.uuid > asked.message.after.lower()]
        return (in_order(found, keys, config, shard) if keys else found)[:total]

    answers = asked.each("object", "local shard object search", one)
    found = [each for _, part in answers for each in part]
    if len(answers) > 1:
        found = (
            in_order(found, keys, config, None, _seen(asked.message))
            if keys
            else sorted(found, key=lambda each: each.uuid)
        )
    return [Hit(each) for each in found[:total]]


def _seen(message: Any) -> list[str] | None:
    """The properties that are read of an object; None where all are.

    Under a filter, and where there are none, they are those that are asked for.
    """
    if not message.HasField("properties") or message.properties.return_all_nonref_properties:
        return None
    asked = list(message.properties.non_ref_properties)
    return asked if message.HasField("filters") or not asked else None


def _ranked(asked: _Asked, words: Keywords, limit: int) -> list[Hit]:
    config = asked.collection.config
    if not words.properties and not searched(words, asked.collection.properties):
        asked.shards("object")
        raise RefusedError(
            f"object search at index {asked.collection.index}: No properties provided, and no "
            "indexed properties found in class"
        )
    answers = asked.each(
        "object",
        "local shard object search",
        lambda shard: ranked(words, shard, config, limit, asked.allowed(shard)),
    )
    hits = [Hit(shard.docs[doc], score) for shard, part in answers for doc, score in part]
    return sorted(hits, key=lambda hit: (-hit.score, hit.stored.uuid))[:limit]


def _nearest(asked: _Asked, near: Near, limit: int) -> list[Hit]:
    if all(len(each) == 0 for each in near.vectors.values()):
        return [Hit(each.stored, 0, 0) for each in _fetched(asked, [])]
    configs = asked.collection.vectors

    def one(shard: Shard) -> list[tuple[int, float]]:
        try:
            allowed = asked.allowed(shard)
        except RefusedError as error:
            raise type(error)(f"build inverted filter allow list: {error.text}") from error
        return nearest(near, shard, configs, limit, allowed)

    answers = asked.each("object vector", "shard", one)
    hits = [Hit(shard.docs[doc], 0, far) for shard, part in answers for doc, far in part]
    return sorted(hits, key=lambda hit: hit.distance or 0)[:limit] if len(answers) > 1 else hits


def _hybrid(asked: _Asked, targets: list[str]) -> list[Hit]:
    message = asked.message.hybrid_search
    alpha = message.alpha_param if message.HasField("alpha_param") else 0.75
    if not message.use_alpha_param:
        alpha = message.alpha
    near, pool = hybrid_near(message, targets), max(POOL, asked.limit)
    keyed: list[Hit] = []
    if alpha < 1:
        words = keywords_of(message, message.bm25_search_operator)
        keyed = _ranked(asked, words, min(pool, MOST))
    legs: list[Leg] = []
    found: dict[str, Stored] = {}
    if alpha > 0:
        near = near or embedded_near(message.query, asked.collection, targets)
        wide = attrs.evolve(asked, limit=pool, offset=0)
        hits = _within(_VECTORS, lambda: _nearest(wide, near, wide.total))
        if message.HasField("vector_distance"):
            hits = [hit for hit in hits if (hit.distance or 0) <= message.vector_distance]
            close = {hit.stored.uuid for hit in hits}
            keyed = [hit for hit in keyed if hit.stored.uuid in close]
        found |= {hit.stored.uuid: hit.stored for hit in hits}
        legs.append(
            Leg(alpha, {hit.stored.uuid: 1 - np.float32(hit.distance or 0) for hit in hits})
        )
    if alpha < 1:
        found |= {hit.stored.uuid: hit.stored for hit in keyed}
        legs.append(Leg(1 - alpha, {hit.stored.uuid: np.float32(hit.score) for hit in keyed}))
    both = fused(legs, message.fusion_type)[: min(asked.offset + asked.limit, MOST)]
    return [Hit(found[uuid], score) for uuid, score in both]
