"""A tenant of a collection of others as a target."""

from typing import Any

import pytest
from weaviate.classes.config import Configure, DataType, Property
from weaviate.classes.tenants import Tenant, TenantActivityStatus

from soev_retrieval.domain import field
from soev_retrieval_weaviate import Collection
from tests.adapters.weaviate.existing import TARGET, There, existing, objects, refusal
from tests.adapters.weaviate.stores import EVERYWHERE

everywhere = pytest.mark.parametrize("place", EVERYWHERE)
MADE = [
    Property(name="n", data_type=DataType.INT),
    Property(name="t", data_type=DataType.TEXT),
]


async def refusals(there: There, settings: dict[str, Any]) -> set[str]:
    """What every method says of the collection with other settings."""
    configured = {TARGET: Collection(there.name, **settings)}
    async with there.where.store(collections=configured) as store:
        return {
            await refusal(asking)
            for asking in (
                store.fetch(TARGET, limit=1),
                store.fields(TARGET),
                store.near_vector(TARGET, vector=[1, 0], limit=1),
                store.bm25(TARGET, query="wing", limit=1),
                store.hybrid(TARGET, query="wing", vector=[1, 0], limit=1),
            )
        }


@everywhere
async def test_a_target_is_one_tenant(place: str) -> None:
    """Every method finds its objects and no other's, negations and ties included."""
    stored = objects({"n": 1, "t": "wing"}, {"n": 2, "t": "wing"}, {"t": "heat"})
    async with existing(place, MADE, stored, tenant="north") as there:
        made = there.client.collections.use(there.name)
        await made.tenants.create(["south", "North"])
        await made.with_tenant("south").data.insert_many(objects(*({"t": "wing"},) * 9)[3:])
        store, near = there.store, [1.0, 0.0]
        assert await there.numbers() == await there.numbers(field("n") != 7) == [0, 1, 2]
        assert await there.numbers(~(field("n") == 1)) == [1, 2]
        for found, count in (
            (await store.near_vector(TARGET, vector=near, limit=50), 3),
            (await store.bm25(TARGET, query="wing", limit=50), 2),
            (await store.hybrid(TARGET, query="wing", vector=near, limit=50), 3),
            (await store.hybrid(TARGET, query="wing", vector=near, limit=150), 3),
            (await store.fetch(TARGET, order_by="n", limit=50), 3),
        ):
            assert len(found) == count
        configured = {"empty": Collection(there.name, tenant="North")}
        async with there.where.store(collections=configured) as other:
            assert await other.fetch("empty", limit=9) == []
            assert (await other.fields("empty")).dimension is None


@everywhere
async def test_a_tenant_that_cannot_be_served_is_said(place: str) -> None:
    """None given, an unknown one, one that sleeps, and one of a collection without any."""
    async with existing(place, MADE, objects({"n": 1}), tenant="north") as there:
        made = there.client.collections.use(there.name)
        asleep = Tenant(name="asleep", activity_status=TenantActivityStatus.INACTIVE)
        await made.tenants.create([asleep])
        [said] = await refusals(there, {})
        assert said == (
            f"Unconfigured: collection {there.name!r} has tenants; name one in the Collection"
        )
        [said] = await refusals(there, {"tenant": "nobody"})
        assert said == f"InvalidQueryError: collection {there.name!r} has no tenant 'nobody'"
        [said] = await refusals(there, {"tenant": "asleep"})
        assert said.startswith("Unconfigured")
        assert "not active" in said
    async with existing(place, MADE, objects({"n": 1})) as there:
        [said] = await refusals(there, {"tenant": "north"})
        assert said == (
            f"Unconfigured: collection {there.name!r} has no tenants, and 'north' is given"
        )


@everywhere
async def test_a_tenant_that_is_gone_is_said(place: str) -> None:
    """One that was removed or put to sleep meanwhile is an error, and no empty answer."""
    async with existing(place, MADE, objects({"n": 1}), tenant="north") as there:
        assert await there.numbers() == [0]
        made = there.client.collections.use(there.name)
        asleep = Tenant(name="north", activity_status=TenantActivityStatus.INACTIVE)
        await made.tenants.update([asleep])
        assert "not active" in await refusal(there.fetch())
        awake = Tenant(name="north", activity_status=TenantActivityStatus.ACTIVE)
        await made.tenants.update([awake])
        assert await there.numbers() == [0]
        await made.tenants.remove(["north"])
        said = await refusal(there.fetch())
        assert said == f"InvalidQueryError: collection {there.name!r} has no tenant 'north'"


@pytest.mark.parametrize("place", EVERYWHERE[1:])
async def test_a_tenant_that_wakes_by_itself_is_served(place: str) -> None:
    """Where the collection activates tenants that are asked for, nothing has to be told."""
    waking = Configure.multi_tenancy(auto_tenant_activation=True)
    async with existing(place, MADE) as there:
        name = f"{there.name}Waking"
        made = await there.client.collections.create(
            name, properties=MADE, multi_tenancy_config=waking
        )
        await made.tenants.create(["north"])
        await made.with_tenant("north").data.insert({"n": 1})
        asleep = Tenant(name="north", activity_status=TenantActivityStatus.INACTIVE)
        await made.tenants.update([asleep])
        configured = {TARGET: Collection(name, tenant="north")}
        async with there.where.store(collections=configured) as store:
            assert len(await store.fetch(TARGET, limit=9)) == 1
        await there.client.collections.delete(name)
