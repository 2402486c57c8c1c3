"""The table of errors: each class, status, code and text of the drivers, and what it comes to."""

import inspect
import json
import pickle
import struct
from collections.abc import Iterator
from typing import Any

import grpc
import httpx
import pytest
import weaviate.exceptions
from google.protobuf.message import DecodeError
from grpc.aio import AioRpcError, Metadata, UsageError
from packaging.version import Version
from pydantic import BaseModel, ValidationError
from weaviate import exceptions
from weaviate.exceptions import (
    AuthenticationFailedError,
    UnexpectedStatusCodeError,
    WeaviateConnectionError,
    WeaviateQueryError,
    WeaviateStartUpError,
)

from soev_retrieval.domain import (
    InvalidQueryError,
    RetrievalError,
    StoreUnavailable,
    Unconfigured,
)
from soev_retrieval_weaviate import _errors
from soev_retrieval_weaviate._errors import (
    Astray,
    Busy,
    Refused,
    Unanswered,
    is_gone,
    is_there_already,
    may_be_outdated,
    ours,
)
from tests.adapters.weaviate.outages import of_code, of_status

Code = grpc.StatusCode
Kind = type[RetrievalError]

STATUSES: dict[int, Kind] = {
    **dict.fromkeys((400, 404, 409, 413, 422), InvalidQueryError),
    **dict.fromkeys((301, 304, 401, 402, 403, 405, 410, 418, 501), Unconfigured),
    **dict.fromkeys((408, 429, 500, 502, 503, 504, 507, 520, 599), StoreUnavailable),
}
CODES: dict[grpc.StatusCode, Kind] = {
    **dict.fromkeys(
        (Code.INVALID_ARGUMENT, Code.ALREADY_EXISTS, Code.NOT_FOUND, Code.OUT_OF_RANGE),
        InvalidQueryError,
    ),
    **dict.fromkeys(
        (
            Code.FAILED_PRECONDITION,
            Code.PERMISSION_DENIED,
            Code.UNAUTHENTICATED,
            Code.UNIMPLEMENTED,
        ),
        Unconfigured,
    ),
    **dict.fromkeys(
        (
            Code.ABORTED,
            Code.CANCELLED,
            Code.DATA_LOSS,
            Code.DEADLINE_EXCEEDED,
            Code.INTERNAL,
            Code.RESOURCE_EXHAUSTED,
            Code.UNAVAILABLE,
            Code.UNKNOWN,
        ),
        StoreUnavailable,
    ),
}
RESPONSE = httpx.Response(500)
CLASSES: dict[str, tuple[Any, Kind]] = {
    "AdditionalPropertiesError": (("", ""), InvalidQueryError),
    "AuthenticationFailedError": ((), Unconfigured),
    "BackupCanceledError": ((), StoreUnavailable),
    "BackupFailedError": ((), StoreUnavailable),
    "EmptyResponseError": ((), StoreUnavailable),
    "ExportCanceledError": ((), StoreUnavailable),
    "ExportFailedError": ((), StoreUnavailable),
    "InsufficientPermissionsError": ((httpx.Response(403),), Unconfigured),
    "InvalidDataModelError": (("",), InvalidQueryError),
    "MissingScopeError": ((), Unconfigured),
    "ObjectAlreadyExistsError": ((), InvalidQueryError),
    "ResponseCannotBeDecodedError": (("", RESPONSE), StoreUnavailable),
    "SchemaValidationError": ((), Unconfigured),
    "UnexpectedStatusCodeError": (("", RESPONSE), StoreUnavailable),
    "WeaviateAddInvalidPropertyError": (("",), InvalidQueryError),
    "WeaviateAgentsNotInstalledError": ((), Unconfigured),
    "WeaviateBaseError": ((), StoreUnavailable),
    "WeaviateBatchError": (("",), StoreUnavailable),
    "WeaviateBatchFailedToReestablishStreamError": (("",), StoreUnavailable),
    "WeaviateBatchSendError": (("",), StoreUnavailable),
    "WeaviateBatchStreamError": (("",), StoreUnavailable),
    "WeaviateBatchValidationError": (("",), InvalidQueryError),
    "WeaviateClosedClientError": ((), Unconfigured),
    "WeaviateConnectionError": ((), StoreUnavailable),
    "WeaviateDeleteManyError": (("",), StoreUnavailable),
    "WeaviateEmbeddedInvalidVersionError": (("",), Unconfigured),
    "WeaviateGRPCUnavailableError": ((), StoreUnavailable),
    "WeaviateInsertInvalidPropertyError": (({},), InvalidQueryError),
    "WeaviateInsertManyAllFailedError": ((), StoreUnavailable),
    "WeaviateInvalidInputError": (("",), InvalidQueryError),
    "WeaviateProtobufIncompatibility": ((Version("1"), Version("1")), Unconfigured),
    "WeaviateQueryError": (("", ""), StoreUnavailable),
    "WeaviateRetryError": (("", 1), StoreUnavailable),
    "WeaviateStartUpError": ((), Unconfigured),
    "WeaviateTenantGetError": (("",), StoreUnavailable),
    "WeaviateTimeoutError": ((), StoreUnavailable),
    "WeaviateUnsupportedFeatureError": (("", "", ""), Unconfigured),
    "_BatchStreamShutdownError": ((), StoreUnavailable),
}
# What the server says over gRPC as UNKNOWN, and over REST with a status that says little: from a
# real one, or its source.
TEXTS: dict[str, tuple[Kind, str]] = {
    "get tenants: failed to execute query: could not get tenants: class not found": (
        InvalidQueryError,
        "no such collection",
    ),
    "no such prop with name 'zz' found in class 'A' in the schema. Check your schema files": (
        InvalidQueryError,
        "no such property",
    ),
    "extract target vectors: class A has multiple vectors, but no target vectors were provided": (
        InvalidQueryError,
        "no such vector",
    ),
    "extract target vectors: class A does not have named vector zz configured. Available [v]": (
        InvalidQueryError,
        "no such vector",
    ),
    "collection A does not have configuration for vector zz": (
        InvalidQueryError,
        "no such vector",
    ),
    'explorer: list class: search: object search at index a: tenant not found: "t"': (
        InvalidQueryError,
        "no such tenant",
    ),
    "object search at index a: class A has multi-tenancy enabled, but request was without tenant": (
        InvalidQueryError,
        "none is named",
    ),
    "object search at index a: class A has multi-tenancy disabled, but request was with tenant": (
        InvalidQueryError,
        "none is named",
    ),
    'updating schema: TYPE_ADD_TENANT: multi-tenancy is not enabled for class "A"': (
        InvalidQueryError,
        "none is named",
    ),
    "knn search: distance between entrypoint and query node: 3 vs 2: vector lengths don't match": (
        InvalidQueryError,
        "another length",
    ),
    "new node has a vector with length 2. Existing nodes have vectors with length 3": (
        InvalidQueryError,
        "another length",
    ),
    "Insert called with a vector of the wrong size: 2. Saved length: 3, path: /data": (
        InvalidQueryError,
        "another length",
    ),
    "invalid pagination params: query maximum results exceeded: the total limit calculated": (
        InvalidQueryError,
        "more is asked for",
    ),
    "Filtering by property 'n' requires inverted index. Is `indexFilterable` option": (
        InvalidQueryError,
        "not indexed",
    ),
    "Searching by property 'n' requires inverted index. Is `indexSearchable` option": (
        InvalidQueryError,
        "not indexed",
    ),
    "resolve doc ids for prop/value pair: Nullstate must be indexed to be filterable! Add": (
        InvalidQueryError,
        "not indexed",
    ),
    "local shard object search a_1: invalid search term, only stopwords provided. Stopwords": (
        InvalidQueryError,
        "no word",
    ),
    "keyword search (bm25) must have query set": (InvalidQueryError, "no word"),
    "expected an integer value, but could not parse string 'connection refused' as int": (
        InvalidQueryError,
        "property's type",
    ),
    "local shard object search a_1: expected value to be string, got 'int'": (
        InvalidQueryError,
        "property's type",
    ),
    "invalid integer property 'n' on class 'A': requires an integer, the given value is 'x'": (
        InvalidQueryError,
        "property's type",
    ),
    "invalid 'sort' parameter: sort parameter at position 0: prop \"u\" is of type uuid": (
        InvalidQueryError,
        "sorted",
    ),
    "invalid 'after' parameter: where cannot be set with after and limit parameters": (
        InvalidQueryError,
        "does not take",
    ),
    "'Fail-bad' is not a valid class name": (InvalidQueryError, "name"),
    "class name A already exists": (InvalidQueryError, "there already"),
    "grpc: received message larger than max (104858001 vs. 104858000)": (
        InvalidQueryError,
        "too much",
    ),
    "CLIENT: Sent message larger than max (9 vs. 8)": (InvalidQueryError, "too much"),
    "object search at index a: tenant not active: 'one'": (Unconfigured, "not active"),
    "extract auth: unauthorized: invalid api key": (Unconfigured, "credentials"),
    "VectorFromInput was called without vectorizer on class A for input secret": (
        Unconfigured,
        "embed",
    ),
    "vectorize params: could not vectorize input for collection A with search-type nearText": (
        Unconfigured,
        "embed",
    ),
    'target vector "default": vectorizer: no module with name "text2vec-openai" present': (
        Unconfigured,
        "embed",
    ),
    "No properties provided, and no indexed properties found in class": (
        Unconfigured,
        "keyword",
    ),
    "unknown filter operator OPERATOR_NOT": (Unconfigured, "too old"),
    "init sharding state: could not find enough weaviate nodes for replication: 1 available, 3 req": (
        Unconfigured,
        "replicas",
    ),
    "could not find class A in schema": (StoreUnavailable, "not loaded it yet"),
    'class "A" not found': (StoreUnavailable, "not loaded it yet"),
    "class 'A' not present in schema": (StoreUnavailable, "not loaded it yet"),
    "could not find index for class A. It might have been deleted in the meantime": (
        StoreUnavailable,
        "not loaded it yet",
    ),
    "explorer: list class: search: tried to browse non-existing index for A": (
        StoreUnavailable,
        "not loaded it yet",
    ),
    'status code: 422, error: local index "A" not found': (StoreUnavailable, "loading"),
    "local x_1 shard not found": (StoreUnavailable, "loading"),
    "local shard object search a_1: expected value to be string, got 'int' in this shard": (
        InvalidQueryError,
        "property's type",
    ),
    "429 Too many requests": (StoreUnavailable, "less at once"),
    "store is read-only due to: disk usage too high": (StoreUnavailable, "no writes"),
    "remote shard object search x: connect: dial tcp: connect: connection refused": (
        StoreUnavailable,
        "node",
    ),
    "object search at index a: no read replica found": (StoreUnavailable, "node"),
    'resolve node name "node2" to host': (StoreUnavailable, "node"),
    "broadcast: cannot reach enough replicas": (StoreUnavailable, "node"),
    "objects bucket not available (store shutting down?)": (StoreUnavailable, "shutting down"),
    "shard x: context deadline exceeded": (StoreUnavailable, "too long"),
}


def kinds() -> set[type[BaseException]]:
    """The exceptions that weaviate-client defines."""
    return {
        each
        for _, each in inspect.getmembers(exceptions, inspect.isclass)
        if issubclass(each, BaseException) and each.__module__ == exceptions.__name__
    }


def beneath(of: type[Exception]) -> Iterator[type[Exception]]:
    yield of
    for each in of.__subclasses__():
        if each.__module__ == "httpx":
            yield from beneath(each)


def owed(error: RetrievalError, kind: Kind) -> None:
    assert type(error) is kind, error
    if isinstance(error, StoreUnavailable | Unconfigured):
        assert (error.store, error.operation) == ("WeaviateStore", "fetch")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (kind, str(error), vars(error))


def mapped(error: Exception) -> RetrievalError:
    """One of ours, raised from it."""
    became = ours(error, "fetch")
    became.__cause__ = error
    return became


@pytest.mark.parametrize("status", STATUSES)
def test_each_status(status: int) -> None:
    """Each HTTP status is mapped on purpose, and the error says which it was."""
    error = ours(of_status(status), "fetch")
    owed(error, STATUSES[status])
    assert str(status) in str(error)


@pytest.mark.parametrize("code", Code)
def test_each_code(code: grpc.StatusCode) -> None:
    """Each gRPC status that can be an error is mapped on purpose, and a new one has to be put here."""
    if code is Code.OK:
        return
    error = ours(of_code(code), "fetch")
    owed(error, CODES[code])
    assert code in _errors._BY_CODE
    assert code.name in str(error)


@pytest.mark.parametrize("text", TEXTS)
def test_each_text(text: str) -> None:
    """What the server has no status for is told by its text, over both protocols and of objects."""
    kind, words = TEXTS[text]
    for error in (
        of_code(Code.UNKNOWN, text),
        of_status(422, text),
        of_status(500, text),
        Refused("a", 1, text),
        weaviate.exceptions.WeaviateInsertManyAllFailedError(text),
    ):
        became = ours(error, "fetch")
        owed(became, kind)
        assert words in str(became)


def test_a_text_that_nobody_knows() -> None:
    """A text that is none of these leaves it at the status, and over gRPC at a failure inside."""
    text = "an internal error occurred during BM25 search"
    for error in of_code(Code.UNKNOWN, text), of_status(500, text), Refused("a", 1, text):
        owed(ours(error, "fetch"), StoreUnavailable)
    owed(ours(of_status(422, text), "fetch"), InvalidQueryError)
    assert not may_be_outdated(mapped(of_status(422, text)))


def test_what_is_said_first_counts() -> None:
    """A value that the server repeats cannot make one kind of error of another."""
    repeated = "expected an integer value, but could not parse string '%s' as int"
    for value in TEXTS:
        owed(ours(of_code(Code.UNKNOWN, repeated % value), "fetch"), InvalidQueryError)


def test_each_class_of_the_client() -> None:
    """Each exception of weaviate-client's own is mapped on purpose, and a new one has to be put here."""
    assert {each.__name__ for each in kinds()} == set(CLASSES)
    for name, (args, kind) in CLASSES.items():
        owed(ours(getattr(exceptions, name)(*args), "fetch"), kind)


def test_each_error_of_transport() -> None:
    """Whatever httpx says happened on the way is unavailable, but for an address that is none."""
    found = set(beneath(httpx.TransportError))
    assert len(found) > 12
    for each in found:
        kind: Kind = Unconfigured if each is httpx.UnsupportedProtocol else StoreUnavailable
        owed(ours(each(""), "fetch"), kind)


class _Model(BaseModel):
    number: int


def _unvalidated() -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        _Model(number="many")  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (json.JSONDecodeError("", "", 0), StoreUnavailable),
        (AssertionError(), StoreUnavailable),
        (AttributeError(), StoreUnavailable),
        (KeyError("class"), StoreUnavailable),
        (ValueError("unknown tokenization"), StoreUnavailable),
        (TypeError(), StoreUnavailable),
        (EOFError(), StoreUnavailable),
        (TimeoutError(), StoreUnavailable),
        (OSError(), StoreUnavailable),
        (httpx.DecodingError(""), StoreUnavailable),
        (httpx.TooManyRedirects(""), StoreUnavailable),
        (Unanswered(), StoreUnavailable),
        (Busy(503, 1.0), StoreUnavailable),
        (Astray(404), Unconfigured),
        (UsageError("Channel is closed."), Unconfigured),
        (ImportError(), Unconfigured),
        (RuntimeError(), Unconfigured),
        (DecodeError(), InvalidQueryError),
        (RecursionError(), InvalidQueryError),
        (struct.error(), InvalidQueryError),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, ""), InvalidQueryError),
        (_unvalidated(), InvalidQueryError),
        (Exception(), StoreUnavailable),
    ],
)
def test_what_is_no_error_of_the_client(error: Exception, kind: Kind) -> None:
    """What comes from beneath it has its place, and what has none is no answer."""
    owed(ours(error, "fetch"), kind)


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (
            caused(WeaviateStartUpError(), WeaviateConnectionError()),
            StoreUnavailable,
            "connection failed",
        ),
        (caused(WeaviateStartUpError(), httpx.ReadError("")), StoreUnavailable, "connection"),
        (WeaviateStartUpError("Weaviate version 1.26.0 is not supported"), Unconfigured, "version"),
        (
            caused(AuthenticationFailedError(), httpx.ConnectError("")),
            StoreUnavailable,
            "connection",
        ),
        (
            caused(
                WeaviateConnectionError(),
                httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed"),
            ),
            Unconfigured,
            "certificate",
        ),
        (
            caused(
                WeaviateStartUpError(),
                caused(WeaviateConnectionError(), httpx.ConnectError("CERTIFICATE_VERIFY_FAILED")),
            ),
            Unconfigured,
            "certificate",
        ),
        (
            of_code(Code.UNAVAILABLE, "Ssl handshake failed: CERTIFICATE_VERIFY_FAILED"),
            Unconfigured,
            "certificate",
        ),
    ],
)
def test_what_is_under_an_error(error: Exception, kind: Kind, words: str) -> None:
    """What happened to the connection is under what the client says of it."""
    became = ours(error, "fetch")
    owed(became, kind)
    assert words in str(became)


def test_what_somebody_else_raised() -> None:
    """The status of another call, which the caller is just handling, is not taken for this one's."""
    other = AioRpcError(Code.UNAUTHENTICATED, Metadata(), Metadata())
    error = TimeoutError()
    error.__context__ = other
    owed(ours(error, "fetch"), StoreUnavailable)
    under = AioRpcError(Code.DEADLINE_EXCEEDED, Metadata(), Metadata())
    under.__context__ = other
    query = WeaviateQueryError("", "")
    query.__context__ = under
    assert "DEADLINE_EXCEEDED" in str(ours(query, "fetch"))


LIMITED = {"errorCode": "USAGE_LIMIT_EXCEEDED", "limit": "tenants", "value": 3, "message": "no"}


def test_a_limit_of_the_server() -> None:
    """A limit that a server was set up with is no matter of waiting, over both protocols."""
    details = ("grpc-status-details-bin", b"\x08\x08\x12\x1cUSAGE_LIMIT_EXCEEDED")
    for error in of_status(429, LIMITED), of_code(Code.RESOURCE_EXHAUSTED, "no", details):
        owed(ours(error, "fetch"), Unconfigured)
    assert "less at once" in str(ours(of_code(Code.RESOURCE_EXHAUSTED), "fetch"))


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (Busy(429, 7.0), 7.0),
        (of_status(429), None),
        (of_code(Code.RESOURCE_EXHAUSTED), None),
        (of_code(Code.RESOURCE_EXHAUSTED, "", ("retry-after", "7")), 7.0),
        (of_code(Code.RESOURCE_EXHAUSTED, "", ("retry-after", "-7")), 0.0),
        (of_code(Code.RESOURCE_EXHAUSTED, "", ("retry-after", "nan")), None),
        (of_code(Code.RESOURCE_EXHAUSTED, "", ("retry-after", "soon")), None),
        (of_code(Code.UNAVAILABLE, "", ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")), 0.0),
        (of_code(Code.UNAVAILABLE, "", ("retry-after", "Wed, 21 Oct 2015 07:28:00 -0000")), 0.0),
    ],
)
def test_when_to_come_back(error: Exception, seconds: float | None) -> None:
    """retry_after is what the server said in any form that there is, in seconds, and else None."""
    became = ours(error, "fetch")
    assert isinstance(became, StoreUnavailable)
    assert became.retry_after == seconds


@pytest.mark.parametrize(
    ("error", "gone"),
    [
        (of_status(404), True),
        (of_status(422, "updating schema: TYPE_DELETE_TENANT: class not found"), True),
        (of_code(Code.UNKNOWN, "could not get tenants: class not found"), True),
        (of_status(404, 'class "A" not found'), False),
        (of_status(404, {"code": 404, "message": "path /v1/x was not found"}), False),
        (of_code(Code.UNKNOWN, "could not find class A in schema"), False),
        (of_code(Code.NOT_FOUND), False),
        (of_status(422), False),
        (Astray(404), False),
        (TimeoutError(), False),
    ],
)
def test_a_collection_is_gone(error: Exception, gone: bool) -> None:
    """That a collection is gone is what the schema says: a search and a proxy do not know."""
    assert is_gone(mapped(error)) is gone
    assert not is_there_already(mapped(error))


def test_it_is_there_already() -> None:
    """So is that one is there, whoever made it."""
    assert is_there_already(mapped(of_status(422, "class name A already exists")))


@pytest.mark.parametrize(
    ("error", "outdated"),
    [
        (of_code(Code.UNKNOWN, "could not find class A in schema"), True),
        (of_status(404, 'class "A" not found'), True),
        (of_code(Code.UNKNOWN, "no such prop with name 'a' found in class 'A'"), True),
        (of_code(Code.UNKNOWN, 'tenant not found: "a"'), True),
        (of_code(Code.UNKNOWN, "vector lengths don't match"), True),
        (of_code(Code.UNKNOWN, "class A has multi-tenancy enabled, but request was"), True),
        (of_status(404), True),
        (of_code(Code.UNKNOWN, "no read replica found"), False),
        (of_code(Code.UNAVAILABLE, "could not connect"), False),
        (Refused("a", 1, "class 'A' not present in schema"), True),
        (TimeoutError(), False),
        (RuntimeError(), False),
    ],
)
def test_it_may_be_outdated(error: Exception, outdated: bool) -> None:
    """What a change of the collection would give has the store look at it again."""
    assert may_be_outdated(mapped(error)) is outdated


def test_records_that_are_not_written() -> None:
    """An error of a batch names the first record, and says how many more there are."""
    one, more = Refused("a", 1, "x"), Refused("a", 3, "x")
    assert "record 'a' is not written: " in str(ours(one, "upsert"))
    assert "record 'a' is not written, nor are 2 more: " in str(ours(more, "upsert"))
    assert isinstance(of_status(500), UnexpectedStatusCodeError)
