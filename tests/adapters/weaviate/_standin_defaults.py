"""What the server fills into a class that says less."""

from typing import Any

_FLAT: dict[str, Any] = {
    "distance": "cosine",
    "vectorCacheMaxObjects": 10**12,
    "pq": {"enabled": False, "rescoreLimit": -1, "cache": False},
    "bq": {"enabled": False, "rescoreLimit": -1, "cache": False},
    "sq": {"enabled": False, "rescoreLimit": -1, "cache": False},
    "rq": {"enabled": False, "rescoreLimit": -1, "cache": False, "bits": 8},
    "skipDefaultQuantization": False,
    "trackDefaultQuantization": False,
}
_HNSW: dict[str, Any] = {
    "skip": False,
    "cleanupIntervalSeconds": 300,
    "maxConnections": 32,
    "efConstruction": 128,
    "ef": -1,
    "dynamicEfMin": 100,
    "dynamicEfMax": 500,
    "dynamicEfFactor": 8,
    "vectorCacheMaxObjects": 10**12,
    "flatSearchCutoff": 40_000,
    "distance": "cosine",
    "pq": {
        "enabled": False,
        "bitCompression": False,
        "segments": 0,
        "centroids": 256,
        "trainingLimit": 100_000,
        "encoder": {"type": "kmeans", "distribution": "log-normal"},
    },
    "bq": {"enabled": False},
    "sq": {"enabled": False, "trainingLimit": 100_000, "rescoreLimit": 20},
    "rq": {"enabled": False, "bits": 8, "rescoreLimit": 20},
    "filterStrategy": "acorn",
    "multivector": {
        "enabled": False,
        "muvera": {"enabled": False, "ksim": 4, "dprojections": 16, "repetitions": 10},
        "aggregation": "maxSim",
    },
    "skipDefaultQuantization": False,
    "trackDefaultQuantization": False,
}
VECTOR_INDEXES = {"flat": _FLAT, "hnsw": _HNSW}
"""What each type of vector index has where nothing else was said."""

_INVERTED: dict[str, Any] = {
    "bm25": {"b": 0.75, "k1": 1.2},
    "cleanupIntervalSeconds": 60,
    "stopwords": {"additions": None, "preset": "en", "removals": None},
    "usingBlockMaxWAND": True,
}
_LEFT_OUT = ("indexNullState", "indexPropertyLength", "indexTimestamps")
_TENANCY = {"autoTenantActivation": False, "autoTenantCreation": False, "enabled": False}
_REPLICATION = {"deletionStrategy": "TimeBasedResolution", "factor": 1, "asyncEnabled": False}


def filled(body: dict[str, Any], shards: int) -> dict[str, Any]:
    """A class with all of its defaults but those of its properties and its vectors."""
    inverted = _merged(_INVERTED, body.get("invertedIndexConfig") or {})
    given = (body.get("invertedIndexConfig") or {}).get("bm25")
    if given:  # what is 0 is not told, and what was not given is 0
        inverted["bm25"] = {name: value for name, value in given.items() if value}
    for name in _LEFT_OUT:
        if not inverted.get(name):
            inverted.pop(name, None)
    tenancy = _TENANCY | (body.get("multiTenancyConfig") or {})
    asked = (body.get("shardingConfig") or {}).get("desiredCount", shards)
    result = {
        "class": body["class"],
        "invertedIndexConfig": inverted,
        "multiTenancyConfig": tenancy,
        "properties": body.get("properties") or None,
        "shardingConfig": _sharding(0 if tenancy["enabled"] else asked),
        "replicationConfig": _REPLICATION | (body.get("replicationConfig") or {}),
    }
    for name in ("description", "moduleConfig"):
        if body.get(name):
            result[name] = body[name]
    return result


def index_of(kind: str | None, config: dict[str, Any] | None) -> dict[str, Any]:
    """The index of one vector, with its type."""
    kind = kind or "hnsw"
    return {
        "vectorIndexType": kind,
        "vectorIndexConfig": _merged(VECTOR_INDEXES[kind], config or {}),
    }


def _sharding(count: int) -> dict[str, Any]:
    return {
        "virtualPerPhysical": 128 if count else 0,
        "desiredCount": count,
        "actualCount": count,
        "desiredVirtualCount": 128 * count,
        "actualVirtualCount": 128 * count,
        "key": "_id" if count else "",
        "strategy": "hash" if count else "",
        "function": "murmur3" if count else "",
    }


def _merged(defaults: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The defaults, with what was given in their place, however deep."""
    result = dict(defaults)
    for name, value in given.items():
        inner = defaults.get(name)
        if isinstance(inner, dict) and isinstance(value, dict):
            result[name] = _merged(inner, value)
        elif value is not None:
            result[name] = value
    return result
