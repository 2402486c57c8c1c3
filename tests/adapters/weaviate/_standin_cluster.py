"""The collections, their shards and tenants, and the nodes that hold them or are lost."""

import re
from collections.abc import Iterable
from typing import Any
from zlib import crc32

import attrs

from tests.adapters.weaviate._standin_answers import RefusedError
from tests.adapters.weaviate._standin_index import Shard
from tests.adapters.weaviate._standin_schema import class_name

_STATES = {"ACTIVE": "HOT", "INACTIVE": "COLD", "OFFLOADED": "FROZEN"}
_TENANT = re.compile("[A-Za-z0-9_-]{1,64}")


@attrs.define(eq=False)
class Collection:
    """A class with its shards, or with its tenants and theirs."""

    config: dict[str, Any]
    shards: dict[str, Shard] = attrs.field(factory=dict)
    tenants: dict[str, str] = attrs.field(factory=dict)

    @property
    def name(self) -> str:
        """Its class's name."""
        return str(self.config["class"])

    @property
    def index(self) -> str:
        """What the server's errors call it."""
        return self.name.lower()

    @property
    def properties(self) -> dict[str, dict[str, Any]]:
        """Its properties by their names."""
        return {each["name"]: each for each in self.config["properties"] or []}

    @property
    def tenancy(self) -> bool:
        """Whether it is one of tenants."""
        return bool(self.config["multiTenancyConfig"]["enabled"])

    @property
    def vectors(self) -> dict[str, dict[str, Any]]:
        """The configuration of each vector by name; "" is the name of one that has none."""
        named: dict[str, dict[str, Any]] = self.config.get("vectorConfig") or {}
        return named or {"": self.config}


@attrs.define
class Cluster:
    """All that is kept.

    Args:
        nodes: How many nodes there are.
    """

    nodes: int = 1
    collections: dict[str, Collection] = attrs.field(factory=dict)
    lost: set[int] = attrs.field(factory=set)
    gone: set[str] = attrs.field(factory=set)
    dying: bool = False

    def find(self, name: str) -> Collection | None:
        """The collection of that name, its first letter in either case."""
        return self.collections.get(class_name(name))

    def add(self, config: dict[str, Any]) -> Collection:
        """A new collection; its shards have names as random as a server's, and steadier."""
        name = config["class"]
        if name in self.collections:
            raise RefusedError(f"class name {name} already exists")
        count = config["shardingConfig"]["actualCount"]
        names = [f"shard{crc32(f'{name}/{at}'.encode()):08x}" for at in range(count)]
        self.collections[name] = Collection(config, {each: Shard(each) for each in names})
        return self.collections[name]

    def node_of(self, collection: Collection, shard: str) -> int:
        """The number of the node that holds a shard."""
        if collection.tenancy:
            return crc32(shard.encode()) % self.nodes
        return list(collection.shards).index(shard) % self.nodes

    def is_lost(self, collection: Collection, shard: str) -> bool:
        """Whether nobody serves it."""
        if collection.tenancy:
            return shard in self.gone
        return list(collection.shards).index(shard) in self.lost

    def served(self, collection: Collection) -> list[Shard]:
        """The shards of a collection that are not lost."""
        return [
            shard for name, shard in collection.shards.items() if not self.is_lost(collection, name)
        ]

    def searched(self, collection: Collection, tenant: str) -> list[Shard]:
        """The shards that a search asks; without a word about those that are lost."""
        _check_tenancy(collection, tenant)
        if tenant:
            _check_tenant(collection, tenant)
            if not self.is_lost(collection, tenant):
                return [collection.shards[tenant]]
            if not self.dying:
                raise RefusedError("no read replica found")
        elif not self.dying:
            shards = self.served(collection)
            if collection.shards and not shards:
                raise RefusedError("no read replica found")
            return shards
        for name in collection.shards if not tenant else [tenant]:
            if self.is_lost(collection, name):
                raise RefusedError(_refused_connection(name))
        return list(collection.shards.values())

    def written(self, collection: Collection, tenant: str, uuid: str) -> Shard:
        """The shard that holds an object, or will."""
        _check_tenancy(collection, tenant)
        if tenant:
            _check_tenant(collection, tenant)
        names = [tenant] if tenant else list(collection.shards)
        name = names[crc32(uuid.encode()) % len(names)]
        if self.is_lost(collection, name):
            raise RefusedError(
                _refused_connection(name) if self.dying else "no write replica found", 500
            )
        return collection.shards[name]

    def add_tenants(self, collection: Collection, given: list[dict[str, Any]]) -> list[Any]:
        """New tenants; those that are there stay as they are."""
        for at, each in enumerate(given):
            name = each.get("name") or ""
            if not _TENANT.fullmatch(name):
                why = (
                    "empty tenant name"
                    if not name
                    else f" '{name}' is not a valid tenant name. should only contain alphanumeric "
                    "characters (a-z, A-Z, 0-9), underscore (_), and hyphen (-), with a length "
                    "between 1 and 64 characters"
                )
                raise RefusedError(f"tenant name at index {at}: {why}")
        self._check_has_tenants(collection, "TYPE_ADD_TENANT")
        result = []
        for each in given:
            state = each.get("activityStatus")
            name = each["name"]
            collection.tenants.setdefault(name, _STATES.get(state or "ACTIVE", state or "HOT"))
            collection.shards.setdefault(name, Shard(name))
            result.append(
                {"name": name, "activityStatus": _STATES.get(state, state)}
                if state
                else {"name": name}
            )
        return result

    def set_tenants(self, collection: Collection, given: list[dict[str, Any]]) -> list[Any]:
        """Other states for tenants that are there."""
        self._check_has_tenants(collection, "TYPE_UPDATE_TENANT")
        for each in given:
            if each["name"] not in collection.tenants:
                raise RefusedError(
                    f"updating schema: TYPE_UPDATE_TENANT: shard not found: {each['name']}"
                )
            state = each["activityStatus"]
            collection.tenants[each["name"]] = _STATES.get(state, state)
        return tenants_of(collection, [each["name"] for each in given])

    def drop_tenants(self, collection: Collection, names: Iterable[str]) -> None:
        """No such tenants any more."""
        self._check_has_tenants(collection, "TYPE_DELETE_TENANT")
        for name in names:
            collection.tenants.pop(name, None)
            collection.shards.pop(name, None)

    def _check_has_tenants(self, collection: Collection, step: str) -> None:
        if not collection.tenancy:
            raise RefusedError(
                f'updating schema: {step}: multi-tenancy is not enabled for class "'
                f'{collection.name}"'
            )


def tenants_of(collection: Collection, names: Iterable[str] | None = None) -> list[Any]:
    """The tenants as REST tells them."""
    return [
        {"name": name, "activityStatus": collection.tenants[name]}
        for name in (collection.tenants if names is None else names)
        if name in collection.tenants
    ]


def _check_tenancy(collection: Collection, tenant: str) -> None:
    if collection.tenancy != bool(tenant):
        has, asked = ("enabled", "without") if collection.tenancy else ("disabled", "with")
        raise RefusedError(
            f"class {collection.name} has multi-tenancy {has}, but request was {asked} tenant"
        )


def _check_tenant(collection: Collection, tenant: str) -> None:
    if tenant not in collection.tenants:
        raise RefusedError(f'tenant not found: "{tenant}"')
    if collection.tenants[tenant] != "HOT":
        raise RefusedError(f"tenant not active: '{tenant}'")


def _refused_connection(shard: str) -> str:
    return (
        f'remote shard object search {shard}: connect: Post "http://127.0.0.1:7103/indices/'
        f'shards/{shard}/objects/_search": dial tcp 127.0.0.1:7103: connect: connection refused'
    )
