"""Collections of our own: created, filled, emptied."""

from collections.abc import Iterator, Sequence
from typing import Any

from weaviate.classes.query import Filter as Native
from weaviate.exceptions import WeaviateInsertManyAllFailedError

from soev_retrieval.domain import Record, RetrievalError
from soev_retrieval_weaviate._connection import Connection
from soev_retrieval_weaviate._creation import creation
from soev_retrieval_weaviate._errors import Refused, is_gone, is_there_already
from soev_retrieval_weaviate._making import Made, object_id, object_of

BATCH = 500
"""How many objects are sent at once, at the most."""

_BYTES = 8_000_000  # of them, about; the server takes 104 MB
_DELETED = 5_000


class Loading:
    """Writes to collections that `create` made.

    Args:
        connection: Where they are.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def create(self, name: str, made: Made) -> None:
        """Make the collection unless it is there."""
        try:
            await self._connection.call(
                lambda client: client.collections.create(name, **creation(made)),
                operation="create",
            )
        except RetrievalError as error:
            if not is_there_already(error):
                raise

    async def create_tenant(self, name: str, tenant: str) -> None:
        """Make the tenant. One that is there stays as it is."""
        await self._connection.call(
            lambda client: client.collections.use(name).tenants.create([tenant]),
            operation="create",
        )

    async def upsert(
        self, name: str, tenant: str | None, made: Made, records: Sequence[Record]
    ) -> None:
        """Write the records.

        Raises:
            RetrievalError: One was not written; the error names it. Others may be.
        """
        for batch in _batches(records):
            objects = [object_of(record, made) for record in batch]

            async def written(client: Any, batch: Any = batch, objects: Any = objects) -> None:
                handle = self._connection.handle(client, name, tenant, None)
                try:
                    errors = (await handle.data.insert_many(objects)).errors
                except WeaviateInsertManyAllFailedError as error:
                    raise Refused(batch[0].id, len(batch), error.message) from error
                if errors:
                    at = min(errors)
                    raise Refused(batch[at].id, len(errors), errors[at].message)

            await self._connection.call(written, operation="upsert")

    async def delete(self, name: str, tenant: str | None, ids: Sequence[str]) -> None:
        """Remove the objects of these chunks.

        Raises:
            RetrievalError: Some are there still.
        """
        for start in range(0, len(ids), _DELETED):
            uuids = [object_id(id) for id in ids[start : start + _DELETED]]

            async def deleted(client: Any, uuids: Any = uuids) -> None:
                handle = self._connection.handle(client, name, tenant, None)
                done = await handle.data.delete_many(Native.by_id().contains_any(uuids))
                if done.failed:
                    raise Refused(None, done.failed, "")

            await self._connection.call(deleted, operation="delete")

    async def drop(self, name: str, tenant: str | None) -> None:
        """Remove the collection, or the tenant alone."""
        if tenant is None:
            await self._connection.call(
                lambda client: client.collections.delete(name), operation="drop"
            )
            return
        try:
            await self._connection.call(
                lambda client: client.collections.use(name).tenants.remove([tenant]),
                operation="drop",
            )
        except RetrievalError as error:
            if not is_gone(error):
                raise


def _batches(records: Sequence[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    size = 0
    for record in records:
        more = _size(record)
        if batch and (len(batch) == BATCH or size + more > _BYTES):
            yield batch
            batch, size = [], 0
        batch.append(record)
        size += more
    if batch:
        yield batch


def _size(record: Record) -> int:
    """How many bytes a record is on the wire, about: each text stands there up to four times."""
    vector = 0 if record.vector is None else 4 * len(record.vector)
    return vector + 4 * len(str(record.properties)) + 500
