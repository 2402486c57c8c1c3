"""Vectors: what an object may bring, how far they are, and a vectorizer that only pretends."""

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import attrs
import numpy as np

from tests.adapters.weaviate._standin_answers import RefusedError
from tests.adapters.weaviate._standin_index import Shard, Vector
from tests.adapters.weaviate._standin_tokens import tokens

SIZE = 64
"""The length of the vectors that a pretended vectorizer makes."""

Found = tuple[int, float]
"""A document and its distance."""


@attrs.frozen
class Near:
    """What is asked.

    Args:
        vectors: A vector for each target by its name.
        distance: The greatest distance; None is any.
    """

    vectors: dict[str, Vector]
    distance: float | None = None


def floats(content: bytes) -> Vector:
    """A vector as the wire has it; what is no whole number of floats is none."""
    return np.frombuffer(content[: len(content) // 4 * 4], np.dtype("<f4")).astype(np.float32)


def embedded(text: str) -> Vector:
    """A vector of a text's words, the same in every run; texts that share words are near."""
    vector = np.zeros(SIZE, np.float32)
    for word in tokens("word", text):
        number = crc32(word.encode())
        vector[number % SIZE] += 1 if number & 1 << 16 else -1
    norm = float(np.linalg.norm(vector))
    return vector / np.float32(norm) if norm else vector + np.float32(SIZE**-0.5)


def distances(metric: str, query: Vector, rows: Any) -> Any:
    """The distances of many vectors to one, in float32."""
    with np.errstate(all="ignore"):
        if metric == "cosine":
            return np.float32(1) - _normal(rows) @ _normal(query)
        if metric == "dot":
            return -(rows @ query)
        if metric == "hamming":
            return (rows != query).sum(axis=1).astype(np.float32)
        if metric == "manhattan":
            return np.abs(rows - query).sum(axis=1)
        return ((rows - query) ** 2).sum(axis=1)


def _normal(vectors: Any) -> Any:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True).astype(np.float32)
    return np.where(norms == 0, vectors, vectors / norms)


def nearest(
    asked: Near,
    shard: Shard,
    configs: dict[str, dict[str, Any]],
    limit: int,
    allowed: set[int] | None,
) -> list[Found]:
    """The nearest documents; of several targets each document's least distance."""
    best: dict[int, float] = {}
    for name, query in asked.vectors.items():
        config = configs[name]
        docs = [doc for doc, each in shard.docs.items() if name in each.vectors]
        if not docs:
            continue
        if len(query) != shard.dimensions[name]:
            sizes, where = [len(query), shard.dimensions[name]], ""
            if config["vectorIndexType"] == "hnsw":
                where = "knn search: distance between entrypoint and query node: "
                sizes.reverse()
            raise RefusedError(
                f"vector search: {where}{sizes[0]} vs {sizes[1]}: vector lengths don't match"
            )
        docs = [doc for doc in docs if allowed is None or doc in allowed]
        if not docs:
            continue
        rows = np.stack([shard.docs[doc].vectors[name] for doc in docs])
        metric = config["vectorIndexConfig"]["distance"]
        for doc, distance in zip(docs, distances(metric, query, rows).tolist(), strict=True):
            best[doc] = min(best.get(doc, distance), distance)
    bound = float("inf") if not asked.distance else np.float32(asked.distance)
    kept = [(doc, each) for doc, each in best.items() if not each > bound]
    return sorted(kept, key=lambda each: (each[1], each[0]))[:limit]


def given_vectors(
    brought: dict[str, Vector],
    properties: dict[str, Any],
    config: dict[str, Any],
    configs: dict[str, dict[str, Any]],
) -> dict[str, Vector]:
    """An object's vectors, made from its texts where it brings none and something makes them."""
    if "" in brought and "" not in configs and len(configs) == 1:
        brought = dict.fromkeys(configs, brought[""])  # there is no other that it could be
    for name in brought:
        if name not in configs:
            of = config["class"]
            if name:
                raise RefusedError(f"collection {of} does not have configuration for vector {name}")
            raise RefusedError(f"collection {of} configuration does not have single vector index")
    made = {
        name: embedded(" ".join(texts_of(properties, config)))
        for name, each in configs.items()
        if name not in brought and vectorizer_of(each) != "none"
    }
    return brought | made


def vectorizer_of(config: dict[str, Any]) -> str:
    """What makes a vector where none is brought."""
    vectorizer = config.get("vectorizer") or "none"
    return vectorizer if isinstance(vectorizer, str) else str(next(iter(vectorizer)))


def texts_of(properties: dict[str, Any], config: dict[str, Any]) -> Sequence[str]:
    """The texts of an object in the order of its class's properties."""
    held = [each["name"] for each in config["properties"] or []]
    return [properties[name] for name in held if isinstance(properties.get(name), str)]


def check_sizes(vectors: dict[str, Vector], shard: Shard, uuid: str) -> None:
    """Vectors are of the lengths of those that are there."""
    for name, vector in vectors.items():
        size = shard.dimensions.get(name)
        if size is not None and len(vector) != size:
            raise RefusedError(
                f"Validate vector index{f' {name}' if name else ''} for {uuid}: insert called with "
                f"a vector of the wrong size: {len(vector)}. Saved length: {size}, path: /data"
            )
