"""No text, value, vector or key of a caller stands in what we say of an error."""

import logging
from typing import Any

import grpc
import pytest
from weaviate.auth import Auth

from soev_retrieval.domain import InvalidQueryError, RetrievalError, StoreUnavailable
from soev_retrieval_weaviate import WeaviateStore
from soev_retrieval_weaviate._connection import Address
from soev_retrieval_weaviate._errors import ours
from tests.adapters.weaviate.outages import (
    KEY,
    METHODS,
    SECRETS,
    failed,
    filled,
    of_code,
    of_status,
    said,
)
from tests.adapters.weaviate.standin import GrpcAnswer, RefusedError, StandIn, Unanswered
from tests.adapters.weaviate.stores import Where

# Whatever the server repeats: a filter, a text, a vector, and a key.
REPEATED = "sesame in 987654321 near [0.1234567] for hunter2"
TEXTS = [
    REPEATED,
    f"expected an integer value, but could not parse string '{REPEATED}' as int",
    f"VectorFromInput was called without vectorizer on class A for input {REPEATED}",
    f"invalid text property 'text' on class 'A': requires a string, the given value is '{REPEATED}'",
    f"could not find class {REPEATED}",
    f'tenant not found: "{REPEATED}"',
]


@pytest.mark.parametrize("text", TEXTS)
async def test_what_the_server_repeats(text: str, caplog: pytest.LogCaptureFixture) -> None:
    """What a server repeats of a request stands neither in our errors nor in a log."""
    caplog.set_level(logging.DEBUG)
    async with (
        StandIn(api_key=KEY) as standing,
        Where(standing.url, standing.grpc_port).store(api_key=KEY) as store,
    ):
        await filled(store)
        for status in 400, 422, 500:
            standing.answer(RefusedError(text, status))
            for name, ask in METHODS.items():
                await failed(store, name, ask, RetrievalError)
        for code in grpc.StatusCode.INTERNAL, grpc.StatusCode.UNAVAILABLE:
            standing.answer(GrpcAnswer(code, text))
            for name, ask in METHODS.items():
                await failed(store, name, ask, RetrievalError)
        assert KEY not in repr(store)
    logged = [each for each in caplog.records if each.name.startswith(("soev", "http", "weaviate"))]
    assert not any(secret in each.getMessage() for each in logged for secret in SECRETS)


async def test_no_answer(standing: StandIn) -> None:
    """Nor where there is none."""
    async with Where(standing.url, standing.grpc_port).store(api_key=KEY) as store:
        await filled(store)
        standing.answer(Unanswered.CLOSED)
        for name, ask in METHODS.items():
            with pytest.raises(StoreUnavailable) as caught:
                await ask(store)
            said(caught.value, name)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("could not find class Rules in schema", "could not find class Rules"),
        (
            "no such prop with name 'zz' found in class 'Rules' in the schema. Check your schema",
            "no such prop with name 'zz' found in class 'Rules'",
        ),
        ('search: tenant not found: "one"', 'tenant not found: "one"'),
        (
            "invalid integer property 'n' on class 'Rules': requires an integer, the given value is"
            " 'sesame'",
            "invalid integer property 'n' on class 'Rules'",
        ),
        ("between entrypoint and query node: 3 vs 2: vector lengths don't match", "3 vs 2"),
        ("an error with sesame in it", ""),
        ("VectorFromInput was called without vectorizer on class Rules for input sesame", ""),
        ("could not find class sesame's", ""),
        ("could not find class sesame opens", ""),
    ],
)
def test_what_is_told(text: str, shown: str) -> None:
    """Told is what has a known form, whose blanks are names and numbers."""
    for error in of_status(422, text), of_code(grpc.StatusCode.UNKNOWN, text):
        message = str(ours(error, "fetch"))
        assert shown in message
        if shown == "":
            assert message.endswith(("422)", "UNKNOWN)"))
            assert "sesame" not in message


@pytest.mark.parametrize(
    "body", [None, [], 7, {}, {"error": "sesame"}, {"error": ["sesame"]}, {"error": [{}]}]
)
def test_a_body_that_is_anything(body: Any) -> None:
    """A body of any form is told nothing of, and does not raise something else."""
    error = of_status(400, body)
    assert str(ours(error, "fetch")).endswith("(UnexpectedStatusCodeError: 400)")


WRONG: dict[str, dict[str, Any]] = {
    "a key with a line": {"api_key": "hunter2\n"},
    "a key that is not ASCII": {"api_key": "hunter2…"},
    "a key with a space at its end": {"api_key": "hunter2 "},
    "a key with NUL": {"api_key": "\x00hunter2"},
    "bytes": {"api_key": b"hunter2"},
    "no key": {"api_key": ""},
    "a number": {"api_key": 7},
    "a header with a line": {"options": {"additional_headers": {"x": "hunter2\n"}}},
    "a header that is not ASCII": {"options": {"additional_headers": {"x": "hunter2…"}}},
    "a header with a number": {"options": {"additional_headers": {"x": 7}}},
    "a header without": {"options": {"additional_headers": {"x": None}}},
    "a name with a line": {"options": {"additional_headers": {"hunter2\n": "x"}}},
    "headers that are none": {"options": {"additional_headers": "hunter2"}},
    "two keys": {"api_key": KEY, "options": {"auth_client_secret": Auth.api_key("x")}},
    "a key and a header": {
        "api_key": KEY,
        "options": {"additional_headers": {"authorization": f"Bearer {KEY}"}},
    },
    "an option that is none": {"options": {"hunter": KEY}},
    "embedded": {"options": {"embedded_options": KEY}},
    "a config that is none": {"options": {"additional_config": {"timeout": KEY}}},
    "options that are none": {"options": [KEY]},
    "a port": {"grpc_port": 0},
    "a port beyond": {"grpc_port": 65536},
    "a port in text": {"grpc_port": "50051"},
    "the same port": {"grpc_port": 8080},
    "a host": {"grpc_host": "hunter2@nowhere"},
    "a host with a port": {"grpc_host": "http://nowhere"},
    "no host": {"grpc_host": ""},
}


@pytest.mark.parametrize("kind", WRONG)
def test_settings_that_are_wrong(kind: str) -> None:
    """What no client can be made of is refused at once, and not repeated as the drivers would."""
    with pytest.raises(InvalidQueryError) as caught:
        Address("http://nowhere:8080", **WRONG[kind])
    for each in (str(caught.value), repr(caught.value)):
        assert "hunter2" not in each
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "url",
    [
        "",
        "nowhere",
        "nowhere:8080",
        "ftp://nowhere",
        "http://",
        "http://:8080",
        "http://nowhere:hunter2",
        "http://nowhere:0",
        "http://nowhere:65536",
        "http://hunter2:hunter2@nowhere",
        "http://nowhere/hunter2",
        "http://nowhere?key=hunter2",
        "http://nowhere#hunter2",
        "http://no where",
        "http://[::1",
        "http://nowhere\n",
        7,
        None,
    ],
)
def test_a_url_that_is_none(url: Any) -> None:
    """So is a URL that names no host, or more than a host, and it is not repeated."""
    with pytest.raises(InvalidQueryError, match="url must be") as caught:
        WeaviateStore(url)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("settings", "rest", "over_grpc"),
    [
        ({"url": "http://nowhere:8080"}, "http://nowhere:8080", ("nowhere", 50051, False)),
        ({"url": "https://nowhere"}, "https://nowhere:443", ("nowhere", 50051, True)),
        ({"url": "http://nowhere/"}, "http://nowhere:80", ("nowhere", 50051, False)),
        (
            {"url": "https://nowhere", "grpc_host": "grpc.nowhere", "grpc_port": 443},
            "https://nowhere:443",
            ("grpc.nowhere", 443, True),
        ),
        ({"url": "http://[::1]:8080"}, "http://[::1]:8080", ("[::1]", 50051, False)),
    ],
)
def test_where_it_asks(
    settings: dict[str, Any], rest: str, over_grpc: tuple[str, int, bool]
) -> None:
    """A call of gRPC goes to the host of the URL unless another is named, and is encrypted as REST is."""
    params = Address(**settings).client(5.0)._connection._connection_params
    assert params._http_url == rest
    assert (params.grpc.host, params.grpc.port, params.grpc.secure) == over_grpc


def test_reprs() -> None:
    """A store's repr holds neither its address nor its key nor its headers."""
    settings: dict[str, Any] = {
        "api_key": KEY,
        "options": {"additional_headers": {"x": KEY}},
    }
    assert KEY not in repr(WeaviateStore("http://nowhere", **settings))
    shown = repr(Address("http://nowhere", **settings))
    assert KEY not in shown
    assert "nowhere" not in shown
