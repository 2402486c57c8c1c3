"""One client, of a server or of local mode, that answers within a time limit or says why not."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from traceback import walk_tb
from typing import Any, TypeVar

import attrs
import httpx
from qdrant_client import AsyncQdrantClient
from qdrant_client.local.async_qdrant_local import AsyncQdrantLocal
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from soev_retrieval.domain import InvalidQueryError, RetrievalError
from soev_retrieval_qdrant._errors import (
    Closed,
    ClosedMeanwhile,
    Elsewhere,
    GivenUp,
    ours,
    unusable,
)

R = TypeVar("R")

TRANSPORTS = ("grpc", "rest")
MEMORY = ":memory:"

# gRPC takes a deadline that is centuries away for one that is past.
_LONGEST = 10**6

# An answer in gzip comes in two parts, and on a connection that is kept the second one waits 40 ms
# for the word that the first has come.
_HEADERS = {"Accept-Encoding": "identity"}

_CHANNEL = {
    # After a long outage gRPC would look for the server every two minutes only.
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
    # Without, a peer that went away and said nothing is asked until TCP gives it up, a quarter of
    # an hour: a connection on which a call waits and nothing comes is probed.
    "grpc.keepalive_time_ms": 10_000,
    "grpc.http2.ping_timeout_ms": 10_000,  # keepalive_timeout_ms alone changes nothing
}
"""How a channel of gRPC finds out that its server is gone, or back."""


@attrs.frozen
class Address:
    """Where Qdrant is.

    Args:
        location: The URL of a server, `:memory:`, or the folder of local mode.
        transport: `grpc` or `rest`; of no matter in local mode.
        api_key: What the server wants, or None. It shows in no repr.
        grpc_port: The server's port for gRPC.
        options: More for `AsyncQdrantClient`, such as `headers` or `auth_token_provider`.

    Raises:
        InvalidQueryError: A setting is none of the above.
    """

    location: str = attrs.field(repr=False)
    transport: str = "grpc"
    api_key: str | None = attrs.field(default=None, repr=False)
    grpc_port: int = 6334
    options: Mapping[str, Any] = attrs.field(factory=dict, repr=False)

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.location, str) or not self.location:
            raise InvalidQueryError(
                "location must be the URL of a server, ':memory:', or a folder for local mode"
            )
        if self.transport not in TRANSPORTS:
            raise InvalidQueryError(
                f"there is no transport {self.transport!r}; use {', '.join(TRANSPORTS)}"
            )
        if self.api_key is not None and not (
            isinstance(self.api_key, str) and self.api_key.isascii() and self.api_key.isprintable()
        ):  # the drivers would say so with the key in their errors
            raise InvalidQueryError("api_key must be text of printable ASCII characters, or None")
        if not self.is_local:
            try:
                host = parse_url(self.location).host
            except LocationParseError:
                host = None
            if not host:
                raise InvalidQueryError("location is a URL that names no host")

    @property
    def is_local(self) -> bool:
        """Whether it is no server, but qdrant-client's own local mode."""
        return not self.location.startswith(("http://", "https://"))

    def client(self, timeout_seconds: float) -> AsyncQdrantClient:
        """A client of it. That of local mode belongs to the thread that makes it."""
        if self.location == MEMORY:
            return AsyncQdrantClient(MEMORY)
        if self.is_local:
            return AsyncQdrantClient(path=self.location)
        given = {
            # Else every request to this machine is a new connection.
            "limits": httpx.Limits(max_connections=100, max_keepalive_connections=20),
            **({"api_key": self.api_key} if self.api_key is not None else {}),
            # Documents go to the server as they are; else the client looks through all it sends.
            "cloud_inference": True,
            **self.options,
            "metadata": {**_HEADERS, **(self.options.get("metadata") or {})},
            "grpc_options": {**_CHANNEL, **(self.options.get("grpc_options") or {})},
        }
        if "pool_size" in given:
            del given["limits"]
        return AsyncQdrantClient(
            url=self.location,
            grpc_port=self.grpc_port,
            prefer_grpc=self.transport == "grpc",
            timeout=math.ceil(min(timeout_seconds, _LONGEST)),
            check_compatibility=False,  # it asks in a thread, and only warns
            **given,
        )


class Connection:
    """Calls of one client.

    Local mode works in a thread of its own, one call after the other: its methods never wait, and
    would hold the event loop for as long as they take. A call that is given up goes on there to
    its end, and the next one waits for it.

    Args:
        address: Where Qdrant is.
        timeout_seconds: How long one request may take.
    """

    def __init__(self, address: Address, timeout_seconds: float) -> None:
        self._address = address
        self._seconds = timeout_seconds
        self._client: AsyncQdrantClient | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    @property
    def is_local(self) -> bool:
        """As `Address.is_local`."""
        return self._address.is_local

    @property
    def over_rest(self) -> bool:
        """Whether requests travel as JSON."""
        return not self.is_local and self._address.transport == "rest"

    async def call(self, work: Callable[[AsyncQdrantClient], Awaitable[R]], *, operation: str) -> R:
        """What `work` makes of the client: one request.

        Raises:
            RetrievalError: The request is wrong, is not served, or came to no answer.
        """
        try:
            async with asyncio.timeout(self._seconds):
                return await self._ask(work, operation)
        except asyncio.CancelledError as cancelled:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Nobody cancelled the caller: a gRPC channel cancels its calls when it is closed.
            raise ours(self._why_cancelled(), operation) from cancelled
        except RetrievalError:
            raise
        except Exception as error:
            if self._closed and not isinstance(error, Closed):
                raise ours(ClosedMeanwhile(), operation) from error
            raise ours(error, operation) from error

    async def close(self) -> None:
        """Close the client. What is under way on a server is given up; local mode ends it first.

        Raises:
            Unconfigured: It serves another event loop, whose connections cannot be closed here.
        """
        if self._loop not in (None, asyncio.get_running_loop()):
            raise ours(Elsewhere(), "close")
        self._closed = True
        thread, self._thread = self._thread, None
        if thread is not None:
            try:
                await asyncio.get_running_loop().run_in_executor(thread, self._close_local_mode)
            finally:
                thread.shutdown(wait=False)
            return
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ask(self, work: Callable[[AsyncQdrantClient], Awaitable[R]], operation: str) -> R:
        if self._closed:
            raise Closed
        if not self.is_local:
            return await work(self._of_server(operation))
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="soev-qdrant")
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, lambda: _finished(work(self._of_local_mode(operation)))
        )

    def _of_server(self, operation: str) -> AsyncQdrantClient:
        loop = asyncio.get_running_loop()
        if self._client is None:
            self._client, self._loop = self._made(operation), loop
        elif self._loop is not loop:  # its connections are the other loop's
            raise Elsewhere
        return self._client

    def _of_local_mode(self, operation: str) -> AsyncQdrantClient:
        """In the thread: it alone makes the client of local mode, and closes it."""
        if self._closed:
            raise Closed
        if self._client is None:
            self._client = self._made(operation)
        return self._client

    def _close_local_mode(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            _finished(client.close())

    def _made(self, operation: str) -> AsyncQdrantClient:
        try:
            return self._address.client(self._seconds)
        except Exception as error:
            _release(error)
            raise unusable(error, operation, is_local=self.is_local) from error

    def _why_cancelled(self) -> RuntimeError:
        return ClosedMeanwhile() if self._closed else GivenUp()


def _release(error: BaseException) -> None:
    """Close what local mode had opened when it failed to open a folder: it leaves that open."""
    for frame, _ in walk_tb(error.__traceback__):
        local = frame.f_locals.get("self")
        if isinstance(local, AsyncQdrantLocal):
            for collection in local.collections.values():
                collection.close()
            if local._flock_file is not None:
                local._flock_file.close()


def _finished(work: Awaitable[R]) -> R:
    """The result of a coroutine that never waits, as those of local mode."""
    running: Coroutine[Any, Any, R] = _as_coroutine(work)
    try:
        running.send(None)
    except StopIteration as end:
        result: R = end.value
        return result
    running.close()
    raise RuntimeError("a method of local mode waited")


async def _as_coroutine(work: Awaitable[R]) -> R:
    return await work
