"""What a server says of requests that the store never sends, and what that comes to."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from weaviate.classes.config import Configure, DataType, Property, Tokenization
from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter, Sort
from weaviate.classes.tenants import Tenant

from soev_retrieval.domain import (
    InvalidQueryError,
    RetrievalError,
    StoreUnavailable,
    Unconfigured,
)
from soev_retrieval_weaviate._connection import Address, Connection
from soev_retrieval_weaviate._errors import is_gone, is_there_already, may_be_outdated
from tests.adapters.weaviate.outages import said
from tests.adapters.weaviate.stores import EVERYWHERE, RUN, up

PLAIN, SHARED, NOWHERE = f"{RUN}Plain", f"{RUN}Several", f"{RUN}Nowhere"
NOBODY = "00000000-0000-0000-0000-000000000000"
Kind = type[RetrievalError]
Ask = Callable[[Any], Awaitable[Any]]


def plain(client: Any) -> Any:
    return client.collections.use(PLAIN)


def shared(client: Any) -> Any:
    return client.collections.use(SHARED)


def nowhere(client: Any) -> Any:
    return client.collections.use(NOWHERE)


def where(filter: Any) -> Ask:
    return lambda client: plain(client).query.fetch_objects(filters=filter)


def of(name: str) -> Any:
    return Filter.by_property(name)


WRONG: dict[str, tuple[Ask, Kind, str]] = {
    "a collection that is there": (
        lambda client: client.collections.create(PLAIN),
        InvalidQueryError,
        "already exists",
    ),
    "the schema of no collection": (
        lambda client: nowhere(client).config.get(),
        InvalidQueryError,
        "not there",
    ),
    "no collection": (
        lambda client: nowhere(client).query.fetch_objects(),
        StoreUnavailable,
        f"could not find class {NOWHERE}",
    ),
    "objects for no collection": (
        lambda client: nowhere(client).data.insert_many([{"n": 1}]),
        StoreUnavailable,
        f"class '{NOWHERE}' not present",
    ),
    "objects from no collection": (
        lambda client: nowhere(client).data.delete_many(Filter.by_id().contains_any([NOBODY])),
        StoreUnavailable,
        f"could not find class {NOWHERE}",
    ),
    "tenants of no collection": (
        lambda client: nowhere(client).tenants.get_by_names(["one"]),
        InvalidQueryError,
        "no such collection",
    ),
    "tenants for no collection": (
        lambda client: nowhere(client).tenants.create(["one"]),
        InvalidQueryError,
        "no such collection",
    ),
    "tenants from no collection": (
        lambda client: nowhere(client).tenants.remove(["one"]),
        InvalidQueryError,
        "no such collection",
    ),
    "nodes of no collection": (
        lambda client: client.cluster.nodes(collection=NOWHERE, output="verbose"),
        StoreUnavailable,
        f'class "{NOWHERE}" not found',
    ),
    "no property": (where(of("zz").equal("sesame")), InvalidQueryError, "name 'zz'"),
    "a text for an int": (where(of("n").equal("sesame")), InvalidQueryError, "type"),
    "a fraction for an int": (where(of("n").equal(0.1234567)), InvalidQueryError, "type"),
    "an int for a text": (where(of("t").equal(987654321)), InvalidQueryError, "type"),
    "texts for an int": (where(of("n").contains_any(["sesame"])), InvalidQueryError, "type"),
    "a text for a date": (where(of("d").equal("sesame")), InvalidQueryError, "type"),
    "a stop word": (where(of("t").equal("the")), InvalidQueryError, "no word"),
    "no index": (where(of("ni").equal("sesame")), InvalidQueryError, "property 'ni'"),
    "no null state": (where(of("n").is_none(True)), InvalidQueryError, "Nullstate"),
    "no lengths": (
        where(Filter.by_property("t", length=True).equal(3)),
        InvalidQueryError,
        "Property length",
    ),
    "too much": (
        lambda client: plain(client).query.fetch_objects(limit=20_000),
        InvalidQueryError,
        "'20000' exceeds",
    ),
    "a page of a filter": (
        lambda client: plain(client).query.fetch_objects(after=NOBODY, filters=of("n").equal(1)),
        InvalidQueryError,
        "does not take",
    ),
    "an order by nothing": (
        lambda client: plain(client).query.fetch_objects(sort=Sort.by_property("zz")),
        InvalidQueryError,
        "name 'zz'|sorted",
    ),
    "no vector named": (
        lambda client: plain(client).query.near_vector([1.0, 2.0, 3.0]),
        InvalidQueryError,
        "no target vectors",
    ),
    "no such vector": (
        lambda client: plain(client).query.near_vector([1.0], target_vector="zz"),
        InvalidQueryError,
        "named vector zz",
    ),
    "another length": (
        lambda client: plain(client).query.near_vector([1.0, 2.0], target_vector="v"),
        InvalidQueryError,
        "3 vs 2",
    ),
    "no vectorizer": (
        lambda client: plain(client).query.hybrid("sesame", alpha=0.5, target_vector="v"),
        Unconfigured,
        "embed a text",
    ),
    "nothing searched": (
        lambda client: plain(client).query.bm25("sesame", query_properties=["f"]),
        InvalidQueryError,
        "property 'f'",
    ),
    "no tenant": (
        lambda client: shared(client).query.fetch_objects(),
        InvalidQueryError,
        "without tenant",
    ),
    "no such tenant": (
        lambda client: shared(client).with_tenant("nobody").query.fetch_objects(),
        InvalidQueryError,
        "nobody",
    ),
    "a tenant too many": (
        lambda client: plain(client).with_tenant("one").query.fetch_objects(),
        InvalidQueryError,
        "with tenant",
    ),
    "a tenant that sleeps": (
        lambda client: shared(client).with_tenant("asleep").query.fetch_objects(),
        Unconfigured,
        "not active: 'asleep'",
    ),
    "tenants for a plain collection": (
        lambda client: plain(client).tenants.create(["one"]),
        InvalidQueryError,
        "multi-tenancy is not enabled",
    ),
    "objects of no property": (
        lambda client: plain(client).data.insert_many([{"zz": "sesame"}]),
        InvalidQueryError,
        "name 'zz'",
    ),
    "objects of another type": (
        lambda client: plain(client).data.insert_many([{"n": "sesame"}]),
        InvalidQueryError,
        "property 'n'",
    ),
    "objects of another length": (
        lambda client: plain(client).data.insert_many(
            [DataObject({"n": 1}, vector={"v": [1.0, 2.0]})]
        ),
        InvalidQueryError,
        "another length",
    ),
    "objects for no tenant": (
        lambda client: shared(client).data.insert_many([{"t": "sesame"}]),
        InvalidQueryError,
        "without tenant",
    ),
    "objects for a tenant that sleeps": (
        lambda client: shared(client).with_tenant("asleep").data.insert_many([{"t": "sesame"}]),
        Unconfigured,
        "not active",
    ),
}
GONE = {each for each in WRONG if "no collection" in each and WRONG[each][1] is InvalidQueryError}


@pytest.fixture(params=EVERYWHERE)
async def connection(request: pytest.FixtureRequest) -> AsyncIterator[Connection]:
    async with up(request.param) as place:
        made = Connection(Address(place.url, grpc_port=place.grpc_port), 30.0)
        async with place.client() as client:
            await client.collections.create(
                PLAIN,
                properties=[
                    Property(name="t", data_type=DataType.TEXT),
                    Property(
                        name="f",
                        data_type=DataType.TEXT,
                        tokenization=Tokenization.FIELD,
                        index_searchable=False,
                    ),
                    Property(name="n", data_type=DataType.INT),
                    Property(name="d", data_type=DataType.DATE),
                    Property(
                        name="ni",
                        data_type=DataType.TEXT,
                        index_filterable=False,
                        index_searchable=False,
                    ),
                ],
                vector_config=[
                    Configure.Vectors.self_provided(name="v"),
                    Configure.Vectors.self_provided(name="w"),
                ],
            )
            await plain(client).data.insert_many(
                [DataObject({"t": "what", "n": 1}, vector={"v": [1.0, 2.0, 3.0], "w": [1.0]})]
            )
            await client.collections.create(
                SHARED,
                properties=[Property(name="t", data_type=DataType.TEXT)],
                vector_config=Configure.Vectors.self_provided(),
                multi_tenancy_config=Configure.multi_tenancy(enabled=True),
            )
            await shared(client).tenants.create([Tenant(name="asleep")])
            await shared(client).tenants.deactivate(["asleep"])
            try:
                yield made
            finally:
                await made.close()
                await client.collections.delete([PLAIN, SHARED])


async def test_what_a_server_says(connection: Connection) -> None:
    """Each mistake has its kind of error, which says what is wrong and repeats no value."""
    for name, (ask, kind, words) in WRONG.items():
        with pytest.raises(RetrievalError, match=words) as caught:
            await connection.call(ask, operation="fetch")
        said(caught.value, "fetch")
        assert type(caught.value) is kind, name
        assert is_gone(caught.value) is (name in GONE), name
        assert is_there_already(caught.value) is (name == "a collection that is there"), name
        assert may_be_outdated(caught.value), name


async def test_what_a_server_passes_over(connection: Connection) -> None:
    """What is not there can be removed, and a tenant that is there made again, and nothing is said."""
    for ask in (
        lambda client: client.collections.delete(NOWHERE),
        lambda client: shared(client).tenants.remove(["nobody"]),
        lambda client: shared(client).tenants.create(["asleep"]),
    ):
        await connection.call(ask, operation="drop")
