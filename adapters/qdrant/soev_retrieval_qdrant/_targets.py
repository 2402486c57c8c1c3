"""The targets of a store: which collections they are, and where everything is in them."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from soev_retrieval.domain import (
    InvalidQueryError,
    RetrievalError,
    StoreUnavailable,
    Target,
    Unconfigured,
)
from soev_retrieval_qdrant._collection import Collection, collection_name
from soev_retrieval_qdrant._connection import Connection
from soev_retrieval_qdrant._errors import is_not_found, may_be_outdated
from soev_retrieval_qdrant._layout import Layout, laid_out, laid_out_made
from soev_retrieval_qdrant._making import Made, made_of
from soev_retrieval_qdrant._server import NEWEST, Server

R = TypeVar("R")

_STORE = "QdrantStore"
_OLDEST = (1, 16)  # which brought metadata, and BM25 of its own one version before


class Targets:
    """The collections of a configuration, and those that `create` made.

    Args:
        connection: Where they are.
        collections: Those of the configuration.
    """

    def __init__(self, connection: Connection, collections: Mapping[Target, Collection]) -> None:
        self._connection = connection
        self._collections = dict(collections)
        self._layouts: dict[Target, Layout] = {}
        self._mades: dict[Target, Made] = {}
        self._server: Server | None = None

    def refuse_configured(self, target: Target, operation: str) -> None:
        """Refuse to write a collection of the configuration.

        Raises:
            Unconfigured: It is one.
        """
        if isinstance(target, str) and target in self._collections:
            raise Unconfigured(
                f"target {target!r} is a collection that was there before, which this store only"
                " reads",
                store=_STORE,
                operation=operation,
            )

    async def made(self, target: Target, operation: str) -> Made | None:
        """What `create` made for a target, read anew; None where it made none."""
        self.forget(target)
        await self._read(target, operation)
        return self._mades.get(target)

    def forget(self, target: Target) -> None:
        """Keep nothing of a target: it is not there any more, or not the same."""
        self._layouts.pop(target, None)
        self._mades.pop(target, None)

    async def on_made(
        self, target: Target, work: Callable[[Made, Layout], Awaitable[R]], *, operation: str
    ) -> R:
        """What `work` makes of a collection that `create` made, read anew; once more if it changed.

        A server takes whatever is written: that somebody made the collection anew, with another
        spec, no error would tell.
        """
        self.forget(target)
        return await self.on(
            target, lambda layout: work(self._mades[target], layout), operation=operation
        )

    async def on(
        self, target: Target, work: Callable[[Layout], Awaitable[R]], *, operation: str
    ) -> R:
        """What `work` makes of a target's layout; once more if the collection was changed meanwhile."""
        known = isinstance(target, str) and target in self._layouts
        layout = await self.layout(target, operation)
        try:
            return await work(layout)
        except RetrievalError as error:
            if not known or not may_be_outdated(error):
                raise
            refused = error
        if self._layouts.get(target) is layout:
            self.forget(target)
        try:
            fresh = await self.layout(target, operation)
        except StoreUnavailable:
            raise refused from refused.__cause__
        if fresh == layout:
            raise refused
        return await work(fresh)

    async def layout(self, target: Target, operation: str) -> Layout:
        """Where everything of a target is, read once and kept.

        Raises:
            InvalidQueryError: There is no such target.
            Unconfigured: Its collection is not there, or not as its configuration says.
            StoreUnavailable: The server gave no answer.
        """
        if isinstance(target, str) and target in self._layouts:
            return self._layouts[target]
        found = await self._read(target, operation)
        if found is None:
            known = ", ".join({**self._collections, **self._layouts}) or "none yet"
            raise InvalidQueryError(
                f"there is no target {target!r}; there is {known}", target=str(target)
            )
        self._layouts[target] = found
        return found

    async def _read(self, target: Target, operation: str) -> Layout | None:
        """Where everything of a target is: a collection of the configuration, or one of `create`."""
        if not isinstance(target, str):
            return None
        configured = self._collections.get(target)
        if configured is None:
            collection_name(target, "the name of a target")
        name = target if configured is None else configured.name
        server = await self._asked_server(operation)
        try:
            info = await self._connection.call(
                lambda client: client.get_collection(name), operation=operation
            )
        except Unconfigured as error:
            if not is_not_found(error):
                raise
            if configured is None:
                return None
            raise Unconfigured(
                f"there is no collection {name!r}", store=_STORE, operation=operation
            ) from error
        if configured is not None:
            return laid_out(configured, info, server)
        if (made := made_of(info.config.metadata)) is None:
            return None
        self._mades[target] = made
        return laid_out_made(name, made, server)

    async def _asked_server(self, operation: str) -> Server:
        """What answers, asked once."""
        if self._server is None:
            info = await self._connection.call(lambda client: client.info(), operation=operation)
            version = _version(info.version)
            if version < _OLDEST:
                raise Unconfigured(
                    f"this is Qdrant {info.version}, and {'.'.join(map(str, _OLDEST))} is the"
                    " oldest that is served",
                    store=_STORE,
                    operation=operation,
                )
            self._server = Server(version, self._connection.is_local, self._connection.over_rest)
        return self._server

    def __repr__(self) -> str:
        return ", ".join(f"{name}: {of}" for name, of in self._collections.items())


def _version(text: str) -> tuple[int, int]:
    """The first two numbers of a version. One that has none, such as `dev`, is the newest."""
    if (found := re.match(r"v?(\d+)\.(\d+)", text)) is None:
        return NEWEST
    return int(found[1]), int(found[2])
