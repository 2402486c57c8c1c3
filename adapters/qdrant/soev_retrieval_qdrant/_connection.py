"""One client, of a server or of local mode, that answers within a time limit or says why not."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import attrs
import httpx
from qdrant_client import AsyncQdrantClient
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from soev_retrieval.domain import InvalidQueryError
from soev_retrieval_qdrant._errors import RAISED, Closed, Elsewhere, ours

R = TypeVar("R")

TRANSPORTS = ("grpc", "rest")
MEMORY = ":memory:"


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
            **self.options,
        }
        if "pool_size" in given:
            del given["limits"]
        return AsyncQdrantClient(
            url=self.location,
            grpc_port=self.grpc_port,
            prefer_grpc=self.transport == "grpc",
            timeout=math.ceil(timeout_seconds),
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
                return await self._ask(work)
        except RAISED as error:
            raise ours(error, operation) from error

    async def close(self) -> None:
        """Close the client. What is under way on a server is given up."""
        self._closed = True
        client, self._client = self._client, None
        if self._thread is not None:
            thread, self._thread = self._thread, None
            if client is not None:
                await asyncio.get_running_loop().run_in_executor(thread, _finished, client.close())
            thread.shutdown(wait=False)
        elif client is not None:
            await client.close()

    async def _ask(self, work: Callable[[AsyncQdrantClient], Awaitable[R]]) -> R:
        if self._closed:
            raise Closed
        if not self.is_local:
            return await work(self._of_server())
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="soev-qdrant")
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, lambda: _finished(work(self._of_local_mode()))
        )

    def _of_server(self) -> AsyncQdrantClient:
        loop = asyncio.get_running_loop()
        if self._client is None:
            self._client, self._loop = self._address.client(self._seconds), loop
        elif self._loop is not loop:  # its connections are the other loop's
            raise Elsewhere
        return self._client

    def _of_local_mode(self) -> AsyncQdrantClient:
        if self._client is None:
            self._client = self._address.client(self._seconds)
        return self._client


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
