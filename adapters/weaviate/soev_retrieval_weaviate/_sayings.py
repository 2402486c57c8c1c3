"""What a server says, where it gives no status that would tell."""

import re

from soev_retrieval.domain import (
    InvalidQueryError,
    RetrievalError,
    StoreUnavailable,
    Unconfigured,
)

Becomes = tuple[type[RetrievalError], str]
"""One of our errors, and what happened."""

BUSY: Becomes = (StoreUnavailable, "the server asks for less at once")
CREDENTIALS: Becomes = (Unconfigured, "the server refuses these credentials")
LATE: Becomes = (StoreUnavailable, "the server took too long")
NOT_TAKEN: Becomes = (InvalidQueryError, "the server does not take the request")
THERE: Becomes = (InvalidQueryError, "it is there already")
TOO_MUCH: Becomes = (InvalidQueryError, "too much for one request, or for one answer")

# A server that starts answers so for seconds of a collection that is there, and one of a cluster
# until it has heard of a new one. Only what the cluster has agreed on tells.
NOT_KNOWN_HERE = re.compile(
    r"could not find (?:class|index for class)|[Cc]lass ['\"]?\w+['\"]? (?:not (?:found|present)|does not exist)"
    r"|failed to find class|non-existing index"
)
AGREED_GONE = re.compile(r": class not found")

_BY_TEXT: tuple[tuple[re.Pattern[str], type[RetrievalError], str], ...] = tuple(
    (re.compile(text), kind, what)
    for text, kind, what in (
        (
            NOT_KNOWN_HERE.pattern,
            StoreUnavailable,
            "the collection is not there, or the server has not loaded it yet",
        ),
        (AGREED_GONE.pattern, InvalidQueryError, "there is no such collection"),
        (
            r"no such prop with name",
            InvalidQueryError,
            "the collection has no such property",
        ),
        (
            r"no target vectors|does not have named vector|not have configuration for vector"
            r"|multiple vectorizers configuration",
            InvalidQueryError,
            "the collection has no such vector, or several and none is named",
        ),
        (r"tenant not found", InvalidQueryError, "the collection has no such tenant"),
        (
            r"has multi-tenancy (?:enabled|disabled), but|multi-tenancy is not enabled",
            InvalidQueryError,
            "the collection has tenants and none is named, or has none and one is",
        ),
        (
            r"vector lengths don't match|vector with length|vector dimensions do not match"
            r"|inconsistent vector lengths|vector of the wrong size",
            InvalidQueryError,
            "the vector has another length than the collection's",
        ),
        (
            r"query maximum results exceeded",
            InvalidQueryError,
            "more is asked for than the server gives",
        ),
        (
            r"requires inverted index|must be indexed to be filterable|is it indexed\?"
            r"|is not filterable",
            InvalidQueryError,
            "the property is not indexed for this",
        ),
        (
            r"only stopwords provided|must have query set",
            InvalidQueryError,
            "there is no word to look for",
        ),
        (
            r"could not parse string|filtering for integer|expected value (?:type )?to be"
            r"|type should be|parse uuid filter value|parse time as|type filter cannot use"
            r"|cannot be used on uuid|invalid [\w \[\]-]{1,40} property '|unknown value type"
            r"|filter(?:ing)? for .{0,40} requires|unsupported type",
            InvalidQueryError,
            "a value is not of the property's type",
        ),
        (
            r"is not a valid (?:class|tenant|property) name|' is not a valid",
            InvalidQueryError,
            "the name is none that Weaviate takes",
        ),
        (
            r"invalid 'sort' parameter|[Ss]orting by",
            InvalidQueryError,
            "the property cannot be sorted by",
        ),
        (
            r"invalid 'after' parameter|sorting cannot be combined",
            *NOT_TAKEN,
        ),
        (r"already exists", *THERE),
        (r"larger than max", *TOO_MUCH),
        (r"tenant not active", Unconfigured, "the tenant is not active"),
        (r"extract auth", *CREDENTIALS),
        (
            r"called without vectorizer|could not vectorize input|no module with name",
            Unconfigured,
            "nothing is set up that would embed a text",
        ),
        (
            r"no indexed properties found in class",
            Unconfigured,
            "no property of the collection is searched by keyword",
        ),
        (
            r"unknown filter operator|unsupported operator",
            Unconfigured,
            "the server is too old for this filter",
        ),
        (
            r"not find enough weaviate nodes|minimum replication factor|caps replication",
            Unconfigured,
            "the cluster does not take as many replicas",
        ),
        (r"429 Too many requests", *BUSY),
        (r"read-only|READONLY", StoreUnavailable, "the server takes no writes now"),
        (
            r"local index .{1,255}? not found|local \S{1,255} shard (?:not found|does not exist)"
            r"|objects loading|is not ready|wait for schema version|not initialized",
            StoreUnavailable,
            "the server is still loading the collection",
        ),
        (
            r"connection refused|reset by peer|no (?:read|write) replica found|resolve node name"
            r"|enough replicas|broken pipe|connect: |i/o timeout|resolve hostname"
            r"|leader not found|no such host|unexpected EOF",
            StoreUnavailable,
            "a node of the cluster is gone, or what embeds for it",
        ),
        (r"shut(?:ting )?down|already closed", StoreUnavailable, "the server is shutting down"),
        (r"context (?:deadline exceeded|canceled)", *LATE),
    )
)
"""What the server says where it gives no status of its own. What it says first, counts: what
follows may be a value that somebody asked for."""


def of_text(text: str) -> Becomes | None:
    """What the first of the texts that a server is known by comes to. None: there is none."""
    found = (
        (match.start(), kind, what) for of, kind, what in _BY_TEXT if (match := of.search(text))
    )
    first = min(found, default=None, key=lambda each: each[0])
    return None if first is None else first[1:]
