"""The targets of a store: which collections they are, and where everything is in them."""

import re
from collections.abc import Mapping

from soev_retrieval.domain import RetrievalError, Target, Unconfigured
from soev_retrieval.targets import Targets
from soev_retrieval_qdrant._collection import Collection, collection_name
from soev_retrieval_qdrant._connection import Connection
from soev_retrieval_qdrant._errors import is_not_found, may_be_outdated
from soev_retrieval_qdrant._layout import Layout, laid_out, laid_out_made
from soev_retrieval_qdrant._making import Made, made_of
from soev_retrieval_qdrant._server import NEWEST, Server

_STORE = "QdrantStore"
_OLDEST = (1, 16)  # which brought metadata, and BM25 of its own one version before


class Collections(Targets[Layout, Made]):
    """The collections of a configuration, and those that `create` made.

    Args:
        connection: Where they are.
        collections: Those of the configuration.
    """

    looks_before_writing = True

    def __init__(self, connection: Connection, collections: Mapping[Target, Collection]) -> None:
        super().__init__(collections, store=_STORE, what="collection")
        self._connection = connection
        self._server: Server | None = None

    async def read(self, target: Target, operation: str) -> tuple[Layout, Made | None] | None:
        """As `Targets.read`: what the server says of the collection."""
        configured: Collection | None = self._configured.get(target)
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
            return laid_out(configured, info, server), None
        if (made := made_of(info.config.metadata)) is None:
            return None
        return laid_out_made(name, made, server), made

    def may_be_outdated(self, error: RetrievalError) -> bool:
        """As `Targets.may_be_outdated`."""
        return may_be_outdated(error)

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


def _version(text: str) -> tuple[int, int]:
    """The first two numbers of a version. One that has none, such as `dev`, is the newest."""
    if (found := re.match(r"v?(\d+)\.(\d+)", text)) is None:
        return NEWEST
    return int(found[1]), int(found[2])
