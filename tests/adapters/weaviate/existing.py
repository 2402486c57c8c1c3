"""Collections that were there before: made and filled with the bare client."""

import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import attrs
from weaviate import WeaviateAsyncClient
from weaviate.classes.config import Configure, DataType, Property, Tokenization
from weaviate.classes.data import DataObject

from soev_retrieval.domain import Chunk, Filter, InvalidQueryError, Unconfigured
from soev_retrieval_weaviate import Collection, WeaviateStore
from tests.adapters.weaviate.stores import RUN, Where, up

TARGET = "T"


@attrs.frozen
class There:
    """A collection, and a store that reads it.

    Args:
        store: The store, which knows the collection as `TARGET`.
        name: The collection's own name.
        client: The client that filled it.
        where: The place.
    """

    store: WeaviateStore
    name: str
    client: WeaviateAsyncClient
    where: Where

    async def ids(self, where: Filter | None = None, limit: int = 1000) -> list[str]:
        """The ids that `fetch` finds, sorted."""
        return sorted(chunk.id for chunk in await self.fetch(where, limit))

    async def numbers(self, where: Filter | None = None) -> list[int]:
        """The numbers of the objects that `fetch` finds, sorted."""
        return sorted(_NUMBERS[id] for id in await self.ids(where))

    async def fetch(self, where: Filter | None = None, limit: int = 1000) -> Sequence[Chunk]:
        """The chunks that match."""
        return await self.store.fetch(TARGET, where=where, limit=limit)


@asynccontextmanager
async def existing(
    place: str,
    properties: Sequence[Property],
    objects: Sequence[DataObject[Any, Any]] = (),
    *,
    making: Mapping[str, Any] | None = None,
    tenant: str | None = None,
    settings: Mapping[str, Any] | None = None,
    standing: Mapping[str, Any] | None = None,
    **collection: Any,
) -> AsyncIterator[There]:
    """A collection at a place, and a store over it.

    Args:
        place: As in `stores`.
        properties: Its properties.
        objects: What is in it.
        making: More of how `collections.create` makes it.
        tenant: The tenant that it is filled as, and read.
        settings: More of the store.
        standing: More of the stand-in.
        collection: The rest of the store's `Collection`.
    """
    name = f"{RUN}{uuid.uuid4().hex[:8]}"
    configured = {TARGET: Collection(name, tenant=tenant, **collection)}
    async with up(place, **(standing or {})) as where, where.client() as client:
        given = {"vector_config": Configure.Vectors.self_provided(), **(making or {})}
        if tenant is not None:
            given["multi_tenancy_config"] = Configure.multi_tenancy()
        made = await client.collections.create(name, properties=list(properties), **given)
        if tenant is not None:
            await made.tenants.create([tenant])
            made = made.with_tenant(tenant)
        if objects:
            done = await made.data.insert_many(list(objects))
            assert not done.errors, done.errors
        async with where.store(collections=configured, **(settings or {})) as store:
            yield There(store, name, client, where)
        await client.collections.delete(name)


def exact(name: str, type: DataType = DataType.TEXT) -> Property:
    """A text property that is one token."""
    return Property(
        name=name, data_type=type, tokenization=Tokenization.FIELD, index_searchable=False
    )


def number_id(number: int) -> str:
    """The id of the object of a number."""
    return str(uuid.UUID(int=number * 0x9E3779B97F4A7C15F39CC0605CEDC834 % 2**128))


_NUMBERS = {number_id(number): number for number in range(1000)}


def objects(*properties: Mapping[str, Any]) -> list[DataObject[Any, Any]]:
    """Objects with the ids of 0, 1, 2 and so on."""
    return [
        DataObject(properties=dict(each), uuid=number_id(at), vector=[1.0, float(at)])
        for at, each in enumerate(properties)
    ]


async def refusal(asking: Any) -> str:
    """What a call that is refused says."""
    try:
        await asking
    except (InvalidQueryError, Unconfigured) as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("it is not refused")
