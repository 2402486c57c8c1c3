"""Bare clients of the stand-in and of a server, and what both are asked."""

import struct
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import attrs
import grpc
import httpx
from weaviate.proto.v1 import (
    aggregate_pb2,
    base_pb2,
    base_search_pb2,
    batch_delete_pb2,
    batch_pb2,
    search_get_pb2,
    tenants_pb2,
    weaviate_pb2_grpc,
)

Filters = base_pb2.Filters
SINGLE = base_pb2.Vectors.VECTOR_TYPE_SINGLE_FP32


def uuid_of(number: int) -> str:
    """The id of the object of a number; their order is not that of the numbers."""
    return str(UUID(int=(number + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC834 % 2**128))


NUMBERS = {uuid_of(number): number for number in range(20_000)}
"""The numbers of the objects that tests make."""


def packed(vector: Sequence[float]) -> bytes:
    """A vector as the wire has it."""
    return struct.pack(f"<{len(vector)}f", *vector)


def leaf(operator: str, name: str, value: Any) -> Any:
    """A filter of one property."""
    message = Filters(operator=getattr(Filters, f"OPERATOR_{operator}"))
    message.target.property = name
    kinds = {bool: "boolean", int: "int", float: "number", str: "text"}
    if isinstance(value, list):
        held: Any = {
            "boolean": base_pb2.BooleanArray,
            "int": base_pb2.IntArray,
            "number": base_pb2.NumberArray,
            "text": base_pb2.TextArray,
        }
        kind = kinds[type(value[0])] if value else "text"
        getattr(message, f"value_{kind}_array").CopyFrom(held[kind](values=value))
    elif value is not None:
        setattr(message, f"value_{kinds[type(value)]}", value)
    return message


def joined(operator: str, *children: Any) -> Any:
    """An And, an Or or a Not."""
    return Filters(operator=getattr(Filters, f"OPERATOR_{operator}"), filters=children)


def by(*names: str) -> dict[str, Any]:
    """What to sort by; `-` before a name descends."""
    return {
        "sort_by": [
            search_get_pb2.SortBy(path=[each.removeprefix("-")], ascending=each[0] != "-")
            for each in names
        ]
    }


def bm25(query: str, *properties: str) -> dict[str, Any]:
    """A search for keywords."""
    return {"bm25_search": base_search_pb2.BM25(query=query, properties=properties)}


def near(vector: Sequence[float], **more: Any) -> dict[str, Any]:
    """A search for neighbours."""
    return {"near_vector": base_search_pb2.NearVector(vector_bytes=packed(vector), **more)}


def hybrid(
    query: str, vector: Sequence[float] | None, alpha: float, *properties: str, **more: Any
) -> dict[str, Any]:
    """A search for both."""
    if vector is not None:
        more["vector_bytes"] = packed(vector)
    return {
        "hybrid_search": base_search_pb2.Hybrid(
            query=query, alpha_param=alpha, use_alpha_param=True, properties=properties, **more
        )
    }


@attrs.frozen
class Refused:
    """How a call was refused: its status on either protocol, and its text."""

    status: Any
    text: str


@attrs.frozen
class Bare:
    """A place, asked without the client's own ideas of it."""

    stub: Any
    rest: httpx.AsyncClient

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of an answer over REST, or how it was refused."""
        answer = await self.rest.request(method, f"/v1{path}", json=body)
        if answer.status_code >= 400:
            return Refused(answer.status_code, _message(answer))
        return answer.json() if answer.content else None

    async def rpc(self, name: str, message: Any) -> Any:
        """The reply to a message, or how it was refused."""
        try:
            return await getattr(self.stub, name)(message)
        except grpc.aio.AioRpcError as error:
            return Refused(error.code(), error.details() or "")

    async def create(self, name: str, *properties: Mapping[str, Any], **more: Any) -> Any:
        """A new class, its vectors compared one by one."""
        await self.rest.delete(f"/v1/schema/{name}")
        body = {"class": name, "properties": list(properties), **more}
        if not body.get("vectorConfig"):
            body.setdefault("vectorIndexType", "flat")
        return await self.ask("POST", "/schema", body)

    async def insert(
        self,
        name: str,
        objects: Mapping[int, Mapping[str, Any]],
        vectors: Mapping[int, Any] | None = None,
        tenant: str = "",
    ) -> Any:
        """The errors by the place of their objects in one batch."""
        rows = []
        for number, properties in objects.items():
            row = batch_pb2.BatchObject(uuid=uuid_of(number), collection=name, tenant=tenant)
            put(row.properties, properties)
            vector = (vectors or {}).get(number)
            if isinstance(vector, dict):
                row.vectors.extend(
                    base_pb2.Vectors(name=key, vector_bytes=packed(each), type=SINGLE)
                    for key, each in vector.items()
                )
            elif vector is not None:
                row.vector_bytes = packed(vector)
            rows.append(row)
        reply = await self.rpc("BatchObjects", batch_pb2.BatchObjectsRequest(objects=rows))
        if isinstance(reply, Refused):
            return reply
        return {each.index: each.error for each in reply.errors}

    async def search(self, name: str, where: Any = None, **more: Any) -> Any:
        """The results of a search, or how it was refused."""
        told = search_get_pb2.MetadataRequest(uuid=True, score=True, distance=True)
        more.setdefault("metadata", told)
        more.setdefault(
            "properties", search_get_pb2.PropertiesRequest(return_all_nonref_properties=True)
        )
        message = search_get_pb2.SearchRequest(
            collection=name,
            filters=where,
            uses_123_api=True,
            uses_125_api=True,
            uses_127_api=True,
            **more,
        )
        reply = await self.rpc("Search", message)
        return reply if isinstance(reply, Refused) else list(reply.results)

    async def found(self, name: str, where: Any = None, **more: Any) -> Any:
        """The numbers of what a search finds, in its order."""
        results = await self.search(name, where, **more)
        return results if isinstance(results, Refused) else numbers(results)

    async def delete(self, name: str, where: Any, **more: Any) -> Any:
        """How many a delete matched and deleted."""
        message = batch_delete_pb2.BatchDeleteRequest(collection=name, filters=where, **more)
        reply = await self.rpc("BatchDelete", message)
        return reply if isinstance(reply, Refused) else (reply.matches, reply.successful)

    async def count(self, name: str, **more: Any) -> Any:
        """How many objects there are."""
        message = aggregate_pb2.AggregateRequest(collection=name, objects_count=True, **more)
        reply = await self.rpc("Aggregate", message)
        return reply if isinstance(reply, Refused) else reply.single_result.objects_count

    async def tenants(self, name: str, *names: str) -> Any:
        """The tenants and their states."""
        message = tenants_pb2.TenantsGetRequest(collection=name)
        if names:
            message.names.values.extend(names)
        reply = await self.rpc("TenantsGet", message)
        if isinstance(reply, Refused):
            return reply
        return {each.name: each.activity_status for each in reply.tenants}


def numbers(results: Iterable[Any]) -> list[int]:
    """The numbers of the objects of results."""
    return [NUMBERS[each.metadata.id] for each in results]


def put(message: Any, properties: Mapping[str, Any]) -> None:
    """Write properties into an object's message as the client does."""
    message.non_ref_properties.update({})
    for name, value in properties.items():
        if not isinstance(value, list):
            message.non_ref_properties.update({name: value})
        elif not value:
            message.empty_list_props.append(name)
        elif isinstance(value[0], float):
            content = struct.pack(f"<{len(value)}d", *value)
            held = base_pb2.NumberArrayProperties(prop_name=name, values_bytes=content)
            message.number_array_properties.append(held)
        else:
            kind, of = {
                bool: ("boolean", base_pb2.BooleanArrayProperties),
                int: ("int", base_pb2.IntArrayProperties),
                str: ("text", base_pb2.TextArrayProperties),
            }[type(value[0])]
            getattr(message, f"{kind}_array_properties").append(of(prop_name=name, values=value))


@asynccontextmanager
async def bare(url: str, grpc_port: int) -> AsyncIterator[Bare]:
    """A bare client of a place."""
    async with (
        grpc.aio.insecure_channel(f"127.0.0.1:{grpc_port}") as channel,
        httpx.AsyncClient(base_url=url, timeout=30) as rest,
    ):
        stub: Any = weaviate_pb2_grpc.WeaviateStub
        yield Bare(stub(channel), rest)


def prop(name: str, type: str = "text", /, **more: Any) -> dict[str, Any]:
    """A property of a class."""
    return {"name": name, "dataType": [type], **more}


def _message(answer: httpx.Response) -> str:
    if not answer.content:
        return ""
    body = answer.json()
    if "error" in body:
        return str(body["error"][0]["message"])
    return str(body["message"])
