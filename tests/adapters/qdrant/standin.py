"""A stand-in for a Qdrant server, for tests of what is sent, answered and refused."""

from types import TracebackType
from typing import Self

from tests.adapters.qdrant._standin_answers import NO_REPLICA, RefusedError, RestAnswer
from tests.adapters.qdrant._standin_engine import Engine
from tests.adapters.qdrant._standin_grpc import GrpcServer
from tests.adapters.qdrant._standin_rest import RestServer
from tests.adapters.scripted import Answer, GrpcAnswer, Request, Script, Unanswered

__all__ = [
    "NO_REPLICA",
    "GrpcAnswer",
    "RefusedError",
    "Request",
    "RestAnswer",
    "StandIn",
    "Unanswered",
]


class StandIn:
    """Not a server, but the server's wire protocol over the client's local mode.

    REST and gRPC on free loopback ports, over one `AsyncQdrantClient(":memory:")`; a real client
    cannot tell it from a server by what this suite asks. Beyond local mode:

    - documents of `qdrant/bm25` are embedded by `qdrant_edge`, where the server embeds them itself;
    - payload indexes are reported, and `order_by` wants one of integers, floats or datetimes; equal
      values come in an order that is not that of ids, reversed where the order descends;
    - floats of payloads, and all floats of a REST body, are read as inexactly as the server reads
      them;
    - refused as the server does, with its status: see `_standin_checks`. A text that is not there
      or in the engine is local mode's.

    What a server has and this has not: shards, replicas, strict mode, credentials, aliases,
    snapshots, groups, facets; what an index does to values of mixed types and to floats; NaN vectors,
    which a server takes over gRPC and this refuses; speed.

    Args:
        version: The version that it reports. From 1.20 it takes `TextQuery` and `MatchSubstring`.

    Attributes:
        url: The address for REST, once entered.
        grpc_port: The port for gRPC, once entered.
    """

    def __init__(self, version: str = "1.19.0"):
        self._engine, self._script = Engine(version), Script()
        self._rest = RestServer(self._script, engine=self._engine)
        self._grpc = GrpcServer(self._engine, self._script)
        self.url, self.grpc_port = "", 0

    async def __aenter__(self) -> Self:
        self.url = f"http://127.0.0.1:{await self._rest.start()}"
        self.grpc_port = await self._grpc.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._grpc.stop()
        await self._rest.stop()
        await self._engine.close()

    @property
    def requests(self) -> list[Request]:
        """Every request so far, in the order of their arrival."""
        return self._script.requests

    def sent(self, operation: str) -> list[Request]:
        """The requests of one operation."""
        return [each for each in self.requests if each.operation == operation]

    def answer(
        self, answer: Answer, operation: str | None = None, *, times: int | None = None
    ) -> None:
        """Answer so in place of the truth.

        Args:
            answer: A `RestAnswer` or `GrpcAnswer` is for its own protocol, the others for both.
            operation: Which one, such as `scroll`; None is each.
            times: How many times; None is until `recover`.
        """
        self._script.tell(answer, operation, times)

    def recover(self) -> None:
        """Answer truthfully again."""
        self._script.forget()
