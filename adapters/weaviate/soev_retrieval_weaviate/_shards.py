"""Whether a collection answers as a whole.

A cluster that has lost a node for good answers from the shards that are left, and does not say so:
not in the answer, not in a count, at no consistency. What tells is which shards are served.
"""

from typing import Any

from soev_retrieval.domain import StoreUnavailable, Unconfigured
from soev_retrieval_weaviate._connection import Connection

_STORE = "WeaviateStore"


async def spread(connection: Connection, name: str, config: Any, operation: str) -> int:
    """How many shards of a collection have to answer; 0 where none can be missing in silence.

    Of a tenant the server says itself that it is gone, and where there is one node, either all of
    its shards are there or it answers nothing.

    Raises:
        StoreUnavailable: Some are missing already.
        Unconfigured: These credentials may not see it.
    """
    if config.multi_tenancy_config.enabled or config.sharding_config is None:
        return 0
    count = config.sharding_config.actual_count
    nodes = await check_shards(connection, name, count, operation)
    return count if nodes > 1 else 0


async def check_shards(connection: Connection, name: str, count: int, operation: str) -> int:
    """How many nodes there are, if all shards of a collection are served.

    Raises:
        StoreUnavailable: They are not.
        Unconfigured: These credentials may not see it.
    """
    try:
        nodes = await connection.call(
            lambda client: client.cluster.nodes(collection=name, output="verbose"),
            operation=operation,
        )
    except Unconfigured as error:
        raise Unconfigured(
            f"whether all shards of {name!r} answer cannot be seen ({error}); let these credentials"
            " read nodes, or give checks_shards=False",
            store=_STORE,
            operation=operation,
        ) from error
    served = {
        shard.name for node in nodes for shard in node.shards or () if shard.collection == name
    }
    if len(served) < count:
        raise StoreUnavailable(
            f"collection {name!r}: {len(served)} of its {count} shards are served, and the server"
            " answers from them alone",
            store=_STORE,
            operation=operation,
        )
    return len(nodes)
