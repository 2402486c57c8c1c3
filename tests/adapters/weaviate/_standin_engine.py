"""The operations of the stand-in, by their names."""

from collections.abc import Collection as Names
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qs

import attrs
from weaviate.proto.v1 import health_weaviate_pb2

from tests.adapters.scripted import Request
from tests.adapters.weaviate._standin_answers import RefusedError, RestAnswer
from tests.adapters.weaviate._standin_cluster import Cluster, Collection, tenants_of
from tests.adapters.weaviate._standin_go import parsed_uuid
from tests.adapters.weaviate._standin_schema import (
    changed,
    check_tokenizations,
    class_name,
    completed,
    completed_property,
)
from tests.adapters.weaviate._standin_search import search
from tests.adapters.weaviate._standin_writes import (
    aggregate,
    batch_delete,
    batch_objects,
    put_object,
    tenants_get,
    told,
)


@attrs.define
class Engine:
    """All that the stand-in does, whatever the protocol.

    Args:
        version: The version that it reports.
        cluster: What it keeps.
        shards: How many shards a class has that does not say.
        modules: The vectorizers that it pretends to have.
        api_key: The key that it wants; None is that anybody may ask.
    """

    version: str
    cluster: Cluster
    shards: int = 1
    modules: Names[str] = ()
    api_key: str | None = None

    @property
    def _numbers(self) -> tuple[int, ...]:
        return tuple(int(each) for each in self.version.split("-")[0].split("."))

    def answer(self, operation: str, message: Any, metadata: Mapping[str, str]) -> Any:
        """The reply to a message over gRPC, or `RefusedError`."""
        if operation == "health":
            return health_weaviate_pb2.WeaviateHealthCheckResponse(status="SERVING")
        if not self._known(metadata.get("authorization")):
            raise RefusedError("extract auth: unauthorized: invalid api key")
        if operation == "search":
            return search(message, self.cluster, self._numbers)
        if operation == "batch_objects":
            return batch_objects(message, self.cluster)
        if operation == "batch_delete":
            return batch_delete(message, self.cluster, self._numbers)
        if operation == "aggregate":
            return aggregate(message, self.cluster, self._numbers)
        return tenants_get(message, self.cluster)

    def rest(self, request: Request, names: tuple[str, ...]) -> RestAnswer:
        """The answer to a request over REST, or `RefusedError`."""
        operation = request.operation
        if operation in ("ready", "live"):
            return RestAnswer()
        given = request.headers.get("authorization", "")
        if not self._known(given) and given.startswith("Bearer "):
            text = "unauthorized: invalid api key"
            return RestAnswer.json({"code": 401, "message": text}, 401)
        if operation == "openid":
            return RestAnswer(404)
        if not self._known(given):
            text = "anonymous access not enabled. Please authenticate through one of the available"
            return RestAnswer.json({"code": 401, "message": f"{text} methods: [API-keys]"}, 401)
        result = getattr(self, f"_{operation}")(request, *names)
        return result if isinstance(result, RestAnswer) else RestAnswer.json(result)

    def _known(self, authorization: str | None) -> bool:
        return self.api_key is None or authorization == f"Bearer {self.api_key}"

    def _meta(self, _: Request) -> Any:
        return {
            "grpcMaxMessageSize": 104_858_000,
            "hostname": "http://127.0.0.1:8080",
            "modules": {each: {} for each in self.modules},
            "version": self.version,
        }

    def _schema_list(self, _: Request) -> Any:
        return {"classes": [each.config for each in self.cluster.collections.values()]}

    def _schema_get(self, _: Request, name: str) -> Any:
        return self._found(name).config

    def _schema_create(self, request: Request) -> Any:
        body = _body(request, dict)
        check_tokenizations(body)
        name = class_name(body.get("class") or "")
        if name in self.cluster.collections:
            raise RefusedError(f"class name {name} already exists")
        return self.cluster.add(completed(dict(body), self.shards, self.modules)).config

    def _schema_update(self, request: Request, name: str) -> Any:
        collection = self._found(name)
        collection.config = changed(collection.config, _body(request, dict))
        return collection.config

    def _schema_delete(self, _: Request, name: str) -> Any:
        self.cluster.collections.pop(class_name(name), None)
        return RestAnswer()

    def _property_add(self, request: Request, name: str) -> Any:
        collection = self.cluster.find(name)
        body = _body(request, dict)
        check_tokenizations({"properties": [body]})
        if collection is None:
            raise RefusedError(f'class "{class_name(name)}": not found')
        others = collection.config["properties"] or []
        made = completed_property(body, others, collection.name)
        collection.config["properties"] = [*others, made]
        return made

    def _shards(self, request: Request, name: str) -> Any:
        collection = self.cluster.find(name)
        if collection is None:
            raise RefusedError(
                f"cannot get shards status for a non-existing index for {name}: not found", 404
            )
        tenant = _query(request, "tenant")
        names = [each for each in collection.shards if tenant in ("", each)]
        for each in names:
            if self.cluster.is_lost(collection, each):
                node = self.cluster.node_of(collection, each) + 1
                raise RefusedError(f'resolve node name "node{node}" to host', 500)
            if collection.tenants.get(each, "HOT") != "HOT":  # a server takes 7 s to say so
                text = f"shard {each}: status code: 500 body: (local {each} shard not found\n)"
                raise RefusedError(text, 500)
        return [{"name": each, "status": "READY", "vectorQueueSize": 0} for each in names]

    def _nodes(self, request: Request, name: str = "") -> Any:
        found = list(self.cluster.collections.values())
        if name:
            one = self.cluster.find(name)
            if one is None:
                raise RefusedError(f'class "{class_name(name)}" not found', 404)
            found = [one]
        verbose = _query(request, "output") == "verbose"
        nodes = [self._node(at, found, verbose=verbose) for at in range(self.cluster.nodes)]
        return {"nodes": [each for each in nodes if each is not None]}

    def _node(self, at: int, found: Iterable[Collection], *, verbose: bool) -> Any:
        """A node with its shards; None is one that is gone, with all that it held."""
        cluster = self.cluster
        held = [
            (collection, shard)
            for collection in found
            for shard in collection.shards.values()
            if cluster.node_of(collection, shard.name) == at
            and collection.tenants.get(shard.name, "HOT") == "HOT"
        ]
        lost = [each for each in held if cluster.is_lost(each[0], each[1].name)]
        if held and len(lost) == len(held) and cluster.nodes > 1 and not cluster.dying:
            return None
        if lost and cluster.dying:
            return {"name": f"node{at + 1}", "shards": None, "status": "UNAVAILABLE"}
        shards = [_shard(*each) for each in held if each not in lost]
        result: dict[str, Any] = {
            "batchStats": {"queueLength": 0, "ratePerSecond": 0},
            "name": f"node{at + 1}",
            "operationalMode": "ReadWrite",
            "shards": (shards or None) if verbose else None,
            "status": "HEALTHY",
            "version": self.version,
        }
        if verbose:
            count = sum(each["objectCount"] for each in shards)
            result["stats"] = {"objectCount": count, "shardCount": len(shards)}
        return result

    def _tenants(self, _: Request, name: str) -> Any:
        why = "failed to execute query: could not get tenants: could not get tenants: "
        collection = self.cluster.find(name)
        if collection is None:
            raise RefusedError(f"{why}class not found")
        if not collection.tenancy:
            raise RefusedError(f'{why}multi-tenancy is not enabled for class "{collection.name}"')
        return tenants_of(collection)

    def _tenant(self, _: Request, name: str, tenant: str) -> Any:
        found = tenants_of(self._found(name), [tenant])
        if not found:
            raise RefusedError("", 404, empty=True)
        return found[0]

    def _tenants_add(self, request: Request, name: str) -> Any:
        return self.cluster.add_tenants(self._of_tenants(name, "ADD"), _body(request, list))

    def _tenants_update(self, request: Request, name: str) -> Any:
        body = _body(request, list)
        for each in body:
            if not each.get("activityStatus"):
                raise RefusedError(f"invalid activity status '' for tenant \"{each['name']}\"")
        return self.cluster.set_tenants(self._of_tenants(name, "UPDATE"), body)

    def _tenants_delete(self, request: Request, name: str) -> Any:
        self.cluster.drop_tenants(self._of_tenants(name, "DELETE"), _body(request, list))
        return RestAnswer()

    def _object_create(self, request: Request) -> Any:
        return put_object(_body(request, dict), self.cluster, new=True)

    def _object_replace(self, request: Request, name: str, id: str) -> Any:
        self._found(name)
        return put_object(
            {**_body(request, dict), "class": name, "id": id}, self.cluster, new=False
        )

    def _object_get(self, request: Request, name: str, id: str) -> Any:
        collection, uuid = self._found(name), parsed_uuid(id)
        shard = self.cluster.written(collection, _query(request, "tenant"), uuid or id)
        if uuid not in shard.objects:
            raise RefusedError("", 404, empty=True)
        if request.method == "HEAD":
            return RestAnswer(204)
        return {**told(shard.objects[uuid], collection), "vectorWeights": None}

    def _object_delete(self, request: Request, name: str, id: str) -> Any:
        collection, uuid = self.cluster.find(name), parsed_uuid(id)
        if collection is None:
            raise RefusedError(
                "could not delete object from vector repo: delete from non-existing index for "
                f"{name}",
                500,
            )
        try:
            shard = self.cluster.written(collection, _query(request, "tenant"), uuid or id)
        except RefusedError as error:
            raise RefusedError(
                f'delete object from vector repo: delete from index "{collection.index}": '
                f"determine shard: {error.text}",
                error.status,
            ) from error
        shard.drop(uuid or id)
        return RestAnswer(204)

    def _found(self, name: str) -> Collection:
        collection = self.cluster.find(name)
        if collection is None:
            raise RefusedError("", 404, empty=True)
        return collection

    def _of_tenants(self, name: str, step: str) -> Collection:
        collection = self.cluster.find(name)
        if collection is None:
            raise RefusedError(f"updating schema: TYPE_{step}_TENANT: class not found")
        return collection


def _shard(collection: Collection, shard: Any) -> dict[str, Any]:
    return {
        "asyncReplicationStatus": [],
        "class": collection.name,
        "compressed": False,
        "loaded": True,
        "name": shard.name,
        "numberOfReplicas": 1,
        "objectCount": len(shard.objects),
        "replicationFactor": 1,
        "vectorIndexingStatus": "READY",
        "vectorQueueLength": 0,
    }


def _body(request: Request, kind: type) -> Any:
    if not isinstance(request.body, kind):
        raise RefusedError("body in body is required")
    return request.body


def _query(request: Request, name: str) -> str:
    return parse_qs(request.query).get(name, [""])[0]
