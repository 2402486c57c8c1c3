"""What weaviate-client does of itself and is not to do, and what it does not do and should.

All of this leans on its insides. Where one of them is gone the client goes on without, and a test
fails.
"""

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import grpc
import httpx
from grpc.aio import AioRpcError, UnaryUnaryMultiCallable
from weaviate import WeaviateAsyncClient

from soev_retrieval_weaviate._words import Astray, Busy, Unanswered, seconds

R = TypeVar("R")

_OURS = ContextVar("soev_retrieval_weaviate_quiet", default=False)


@contextmanager
def quietly() -> Iterator[None]:
    """Within it the client logs nothing: of a batch it would log each object that failed."""
    token = _OURS.set(True)
    try:
        yield
    finally:
        _OURS.reset(token)


def amend(client: WeaviateAsyncClient) -> None:
    """Make of a client that is connected one that asks once, and looks at the answers."""
    _ask_once(client)
    _look_at_answers(client)


def _is_not_ours(_: logging.LogRecord) -> bool:
    return not _OURS.get()


logging.getLogger("weaviate-client").addFilter(_is_not_ours)


def _ask_once(client: WeaviateAsyncClient) -> None:
    """Make each of the client's gRPC calls one call.

    The client asks a server that is unavailable six times within 63 seconds, and has no setting
    for it. Its retry knows `AioRpcError` alone.
    """
    stub: Any = getattr(client._connection, "_grpc_stub", None)
    for name, call in list(getattr(stub, "__dict__", {}).items()):
        if isinstance(call, UnaryUnaryMultiCallable):
            setattr(stub, name, _once(call))


def _look_at_answers(client: WeaviateAsyncClient) -> None:
    """Look at the answers over REST that are errors.

    Of them the client keeps no header, and no body that is not JSON.
    """
    http = getattr(client._connection, "_client", None)
    if isinstance(http, httpx.AsyncClient):
        hooks = http.event_hooks
        http.event_hooks = {**hooks, "response": [*hooks.get("response", ()), _looked_at]}


async def _looked_at(response: httpx.Response) -> None:
    if not response.is_error:
        return
    await response.aread()
    if response.status_code == 404 and response.content and not _is_json(response):
        raise Astray(404)
    if response.status_code in (429, 503) and (wait := seconds(response.headers)) is not None:
        raise Busy(response.status_code, wait)


def _is_json(response: httpx.Response) -> bool:
    try:
        response.json()
    except (ValueError, RecursionError):
        return False
    return True


def _once(call: Callable[..., Awaitable[R]]) -> Callable[..., Awaitable[R]]:
    async def once(*args: Any, **settings: Any) -> R:
        try:
            return await call(*args, **settings)
        except AioRpcError as error:
            if error.code() is not grpc.StatusCode.UNAVAILABLE:
                raise
            raise Unanswered from error

    return once
