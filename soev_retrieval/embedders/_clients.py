"""HTTP clients that outlive a cancellation."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx


class Clients:
    """Lends a client to each request: the caller's own, or one of ours that nobody else has.

    A pool of httpcore may keep a connection, or count one, for ever when the request on it is
    cancelled (https://github.com/encode/httpcore/issues/1093). So a client of ours that did not
    come back with an answer is closed, and nothing of it stays.

    Args:
        given: The client that every request is to use, or None to make as many as needed.
    """

    def __init__(self, given: httpx.AsyncClient | None) -> None:
        self._given = given
        self._tls = None if given else httpx.create_ssl_context()  # takes 20 ms: one for all
        self._idle: list[httpx.AsyncClient] = []
        self._closed = False

    @asynccontextmanager
    async def one(self) -> AsyncIterator[httpx.AsyncClient]:
        """A client for one request.

        Raises:
            RuntimeError: They are closed.
        """
        if self._closed:
            raise RuntimeError("the embedder is closed; make a new one")
        if self._given:
            yield self._given
            return
        client = self._idle.pop() if self._idle else self._made()
        try:
            yield client
        except BaseException:
            await client.aclose()
            raise
        self._idle.append(client)
        if self._closed:
            await self.aclose()

    async def aclose(self) -> None:
        """Close ours: those that are lent when they come back."""
        self._closed = True
        while self._idle:
            await self._idle.pop().aclose()

    def _made(self) -> httpx.AsyncClient:
        assert self._tls  # noqa: S101  (there is none only with a client that was given)
        return httpx.AsyncClient(verify=self._tls)
