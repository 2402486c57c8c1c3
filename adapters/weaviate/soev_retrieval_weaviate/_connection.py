"""One client of a server that answers within a time limit or says why not."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

import attrs
from weaviate import WeaviateAsyncClient
from weaviate.auth import Auth
from weaviate.classes.config import ConsistencyLevel
from weaviate.collections import CollectionAsync
from weaviate.config import AdditionalConfig, GrpcConfig, Timeout
from weaviate.connect import ConnectionParams
from weaviate.exceptions import UnexpectedStatusCodeError

from soev_retrieval.domain import InvalidQueryError, RetrievalError
from soev_retrieval_weaviate._amended import amend, quietly
from soev_retrieval_weaviate._errors import (
    Astray,
    Closed,
    ClosedMeanwhile,
    Elsewhere,
    GivenUp,
    ours,
    unusable,
)

R = TypeVar("R")

OPTIONS = ("additional_config", "additional_headers", "auth_client_secret")

_MOST_HANDLES = 1_000

# gRPC takes a deadline that is centuries away for one that is past.
_LONGEST = 10**6

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

# What is not of these forms, the drivers repeat in their errors.
_SECRET = re.compile(r"[!-~]([ -~]*[!-~])?")
_URL = re.compile(r"[!-~]+")
_HEADER = re.compile(r"[A-Za-z0-9_.-]+")


@attrs.frozen
class Address:
    """Where Weaviate is.

    Args:
        url: The URL of the server, `http` or `https`. With `https` gRPC is encrypted too.
        api_key: What the server wants, or None. It shows in no repr.
        grpc_host: The server's host for gRPC. None: that of the URL.
        grpc_port: The server's port for gRPC.
        options: More for `WeaviateAsyncClient`: `additional_headers`, `additional_config`,
            `auth_client_secret`.

    Raises:
        InvalidQueryError: A setting is none of the above.
    """

    url: str = attrs.field(repr=False)
    api_key: str | None = attrs.field(default=None, repr=False)
    grpc_host: str | None = None
    grpc_port: int = 50051
    options: Mapping[str, Any] = attrs.field(factory=dict, repr=False)

    def __attrs_post_init__(self) -> None:
        host, port, _ = self._place()
        if self.api_key is not None and not _is_secret(self.api_key):
            raise InvalidQueryError("api_key must be text of printable ASCII characters, or None")
        if self.grpc_host is not None and not _is_host(self.grpc_host):
            raise InvalidQueryError("grpc_host must be the name or the address of a host, or None")
        if not isinstance(self.grpc_port, int) or not 0 < self.grpc_port < 2**16:
            raise InvalidQueryError("grpc_port must be a port, 1 to 65535")
        if (host, port) == (self.grpc_host or host, self.grpc_port):
            raise InvalidQueryError(
                f"grpc_port is {port}, which is the port of the url; Weaviate serves gRPC on another"
            )
        self._check_options()

    def client(self, timeout_seconds: float) -> WeaviateAsyncClient:
        """A client of it, not connected."""
        host, port, is_secure = self._place()
        auth = self.options.get("auth_client_secret")
        return WeaviateAsyncClient(
            connection_params=ConnectionParams.from_params(
                http_host=_bracketed(host),
                http_port=port,
                http_secure=is_secure,
                grpc_host=_bracketed(self.grpc_host or host),
                grpc_port=self.grpc_port,
                grpc_secure=is_secure,
            ),
            auth_client_secret=auth if self.api_key is None else Auth.api_key(self.api_key),
            additional_headers=dict(self.options.get("additional_headers") or {}),
            additional_config=_configured(self.options.get("additional_config"), timeout_seconds),
            skip_init_checks=True,  # they ask a public package index
        )

    def _place(self) -> tuple[str, int, bool]:
        """The host, the port, and whether it is encrypted."""
        wrong = InvalidQueryError(
            "url must be http:// or https:// with a host, perhaps a port, and nothing more"
        )
        if not isinstance(self.url, str) or not _URL.fullmatch(self.url):
            raise wrong
        try:
            parts = urlsplit(self.url)
            host, port = parts.hostname, parts.port
        except ValueError:  # it may show a password
            raise wrong from None
        if parts.scheme not in ("http", "https") or not _is_host(host) or port == 0:
            raise wrong
        if parts.path not in ("", "/") or parts.query or parts.fragment or "@" in parts.netloc:
            raise wrong
        return host or "", port or (443 if parts.scheme == "https" else 80), parts.scheme == "https"

    def _check_options(self) -> None:
        if not isinstance(self.options, Mapping):
            raise InvalidQueryError(f"options must be a mapping of {', '.join(OPTIONS)}")
        if unknown := sorted(map(str, {*self.options} - {*OPTIONS})):
            raise InvalidQueryError(
                f"there is no option {unknown[0]!r}; there is {', '.join(OPTIONS)}"
            )
        headers = self.options.get("additional_headers") or {}
        if not isinstance(headers, Mapping):
            raise InvalidQueryError("additional_headers must be a mapping of texts")
        for name, value in headers.items():
            if not isinstance(name, str) or not _HEADER.fullmatch(name):
                raise InvalidQueryError("additional_headers holds a name that is no header's")
            if not _is_secret(value):
                raise InvalidQueryError(
                    f"header {name!r} must hold text of printable ASCII characters"
                )
        given = [
            self.api_key is not None,
            self.options.get("auth_client_secret") is not None,
            any(name.lower() == "authorization" for name in headers),
        ]
        if sum(given) > 1:
            raise InvalidQueryError(
                "give one of api_key, auth_client_secret and an authorization header"
            )
        config = self.options.get("additional_config")
        if config is not None and not isinstance(config, AdditionalConfig):
            raise InvalidQueryError("additional_config must be an AdditionalConfig")


class Connection:
    """Calls of one client, which connects with the first of them.

    Args:
        address: Where Weaviate is.
        timeout_seconds: How long one call may take, connecting included.
    """

    def __init__(self, address: Address, timeout_seconds: float) -> None:
        self._address = address
        self._seconds = timeout_seconds
        self._client: WeaviateAsyncClient | None = None
        self._handles: dict[tuple[str, str | None, ConsistencyLevel | None], CollectionAsync] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._connecting = asyncio.Lock()
        self._closed = False

    async def call(
        self, work: Callable[[WeaviateAsyncClient], Awaitable[R]], *, operation: str
    ) -> R:
        """What `work` makes of the client: one request or a few.

        Raises:
            RetrievalError: The request is wrong, is not served, or came to no answer.
        """
        try:
            async with asyncio.timeout(self._seconds):
                client = await self._connected(operation)
                with quietly():
                    return await work(client)
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

    async def version(self, operation: str) -> tuple[int, int, int]:
        """The server's version, as it was when the client connected.

        Raises:
            RetrievalError: The server came to no answer.
        """

        async def told(client: WeaviateAsyncClient) -> tuple[int, int, int]:
            major, minor, patch = client._connection.server_version.split(".")
            return int(major), int(minor), int(patch)

        return await self.call(told, operation=operation)

    def handle(
        self,
        client: WeaviateAsyncClient,
        name: str,
        tenant: str | None,
        consistency: ConsistencyLevel | None,
    ) -> CollectionAsync:
        """The collection or the tenant of it, made once: what it can do depends on the server."""
        key = (name, tenant, consistency)
        if (made := self._handles.get(key)) is not None:
            return made
        # What is asked is checked already; the client would look at each argument again.
        made = client.collections.use(name, skip_argument_validation=True)
        if tenant is not None:
            made = made.with_tenant(tenant)
        if consistency is not None:
            made = made.with_consistency_level(consistency)
        if len(self._handles) >= _MOST_HANDLES:
            self._handles.clear()
        self._handles[key] = made
        return made

    async def close(self) -> None:
        """Close the client. What is under way is given up.

        Raises:
            Unconfigured: It serves another event loop, whose connections cannot be closed here.
        """
        if self._loop not in (None, asyncio.get_running_loop()):
            raise ours(Elsewhere(), "close")
        self._closed = True
        client, self._client = self._client, None
        self._handles.clear()
        if client is not None:
            await client.close()

    async def _connected(self, operation: str) -> WeaviateAsyncClient:
        if self._closed:
            raise Closed
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:  # its connections are the other loop's
            raise Elsewhere
        if self._client is not None:
            return self._client
        async with self._connecting:
            if self._client is None:
                self._client = await self._opened(operation)
            return self._client

    async def _opened(self, operation: str) -> WeaviateAsyncClient:
        if self._closed:
            raise ClosedMeanwhile
        try:
            client = self._address.client(self._seconds)
        except Exception as error:
            raise unusable(error, operation) from error
        try:
            await client.connect()
        except UnexpectedStatusCodeError as error:
            await client.close()
            if error.status_code in (404, 405):
                raise Astray(error.status_code) from error
            raise
        except BaseException:
            await client.close()
            raise
        if self._closed:
            await client.close()
            raise ClosedMeanwhile
        amend(client)
        return client

    def _why_cancelled(self) -> RuntimeError:
        return ClosedMeanwhile() if self._closed else GivenUp()


def _is_secret(value: object) -> bool:
    return isinstance(value, str) and _SECRET.fullmatch(value) is not None


def _is_host(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[\w.:%~-]+", value) is not None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _configured(given: AdditionalConfig | None, timeout_seconds: float) -> AdditionalConfig:
    """What is given, under our time limit, over a channel that finds out what became of its server."""
    config = (given or AdditionalConfig()).model_copy()
    if "timeout_" not in config.model_fields_set:
        bound = min(timeout_seconds, _LONGEST)
        config.timeout_ = Timeout(query=bound, insert=bound, init=bound)
    channel = config.grpc_config or GrpcConfig()
    options = {**_CHANNEL, **dict(channel.channel_options or ())}
    config.grpc_config = channel.model_copy(update={"channel_options": [*options.items()]})
    return config
