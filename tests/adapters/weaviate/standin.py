"""A stand-in for a Weaviate server, for tests of what is sent, answered, refused and lost."""

from collections.abc import Collection, Iterable
from types import TracebackType
from typing import Self

from tests.adapters.scripted import Answer, GrpcAnswer, Hook, Request, Script, Unanswered
from tests.adapters.weaviate._standin_answers import RefusedError, RestAnswer
from tests.adapters.weaviate._standin_cluster import Cluster
from tests.adapters.weaviate._standin_engine import Engine
from tests.adapters.weaviate._standin_grpc import GrpcServer
from tests.adapters.weaviate._standin_rest import RestServer

__all__ = [
    "GrpcAnswer",
    "RefusedError",
    "Request",
    "RestAnswer",
    "StandIn",
    "Unanswered",
]


class StandIn:
    """Not a server, but the server's wire protocol over objects in memory.

    REST and gRPC on free loopback ports; a real client cannot tell it from a server by what this
    suite asks. Filters are resolved, texts cut into tokens, scores summed and errors wrapped as
    the server's source does it, so that what is odd there is odd here:

    - a lone range or like as the whole filter is cut at the limit before it is sorted;
    - a lone int, number or date to sort by loses the objects without it. The server does so where
      its planner takes it for cheaper, the stand-in always;
    - keywords in several properties lose hits at small limits, a blank query finds empty values;
    - shards that are lost are left out without a word.

    What a server has and this has not: replicas, references, modules, groups, aggregates beyond
    counting, approximate neighbours, batch streams, GraphQL, roles; speed.

    Args:
        version: The version that it reports. Below 1.33 it knows no Not and no ContainsNone.
        nodes: How many nodes its shards and tenants are spread over.
        shards: How many shards a collection has that does not say.
        modules: The vectorizers that it pretends to have; they make vectors of hashed words.
        api_key: The key that it wants; None is that anybody may ask.

    Attributes:
        url: The address for REST, once entered.
        grpc_port: The port for gRPC, once entered.
    """

    def __init__(
        self,
        version: str = "1.39.0",
        *,
        nodes: int = 1,
        shards: int = 1,
        modules: Collection[str] = (),
        api_key: str | None = None,
    ):
        self._cluster, self._script = Cluster(nodes), Script()
        engine = Engine(version, self._cluster, shards, modules, api_key)
        self._rest = RestServer(self._script, engine=engine)
        self._grpc = GrpcServer(engine, self._script)
        self._port, self.grpc_port, self.url = 0, 0, ""

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen, on the ports that it had before, if it had any."""
        self._port = await self._rest.start(self._port)
        self.grpc_port = await self._grpc.start(self.grpc_port)
        self.url = f"http://127.0.0.1:{self._port}"

    async def stop(self) -> None:
        """Close both ports and all connections; what is kept is kept."""
        await self._grpc.stop()
        await self._rest.stop()

    @property
    def requests(self) -> list[Request]:
        """Every request so far, in the order of their arrival."""
        return self._script.requests

    async def given_up(self, count: int = 1) -> list[Request]:
        """The requests whose answer the client did not wait for, once there are so many."""
        return await self._script.abandoned(count)

    def sent(self, operation: str) -> list[Request]:
        """The requests of one operation."""
        return [each for each in self.requests if each.operation == operation]

    def answer(
        self, answer: Answer, operation: str | None = None, *, times: int | None = None
    ) -> None:
        """Answer so in place of the truth.

        Args:
            answer: A `RestAnswer` or `GrpcAnswer` is for its own protocol, the others for both.
            operation: Which one, such as `search`; None is each.
            times: How many times; None is until `recover`.
        """
        self._script.tell(answer, operation, times)

    def arriving(
        self, hook: Hook, operation: str | None = None, *, times: int | None = None
    ) -> None:
        """Call a hook with each request as it arrives, before it is looked at.

        Args:
            hook: It may be a coroutine function; the request waits for it.
            operation: Of which operation; None is each.
            times: How many times; None is until `recover`.
        """
        self._script.call(hook, operation, times)

    def recover(self) -> None:
        """Answer truthfully again, and call nobody."""
        self._script.forget()

    def lose(
        self, shards: int | None = None, *, tenants: Iterable[str] = (), dying: bool = False
    ) -> None:
        """Lose shards, those with the highest numbers in all collections, or tenants.

        Args:
            shards: How many of the collection that has the most. A collection that has fewer
                loses none, or the fewer. None is one, or none where it is tenants that are lost.
            tenants: Names of tenants that are lost.
            dying: Whether the node has only just died: until it leaves, who asks it is told.
        """
        held = self._cluster.collections.values()
        most = max((len(each.shards) for each in held if not each.tenancy), default=0)
        self._cluster.gone = set(tenants)
        if shards is None:
            shards = 0 if self._cluster.gone else 1
        self._cluster.lost = set(range(most - shards, most))
        self._cluster.dying = dying

    def found(self) -> None:
        """Nothing is lost any more."""
        self._cluster.lost, self._cluster.gone, self._cluster.dying = set(), set(), False
