"""What the stand-in can be told to answer, beyond what any can."""

from collections.abc import Mapping
from http import HTTPStatus

import grpc

from tests.adapters import scripted

_KINDS: dict[str, tuple[HTTPStatus, grpc.StatusCode]] = {
    "bad input": (HTTPStatus.BAD_REQUEST, grpc.StatusCode.INVALID_ARGUMENT),
    "invalid": (HTTPStatus.UNPROCESSABLE_ENTITY, grpc.StatusCode.INVALID_ARGUMENT),
    "not found": (HTTPStatus.NOT_FOUND, grpc.StatusCode.NOT_FOUND),
    "exists": (HTTPStatus.CONFLICT, grpc.StatusCode.ALREADY_EXISTS),
    "forbidden": (HTTPStatus.FORBIDDEN, grpc.StatusCode.PERMISSION_DENIED),
    "timeout": (HTTPStatus.REQUEST_TIMEOUT, grpc.StatusCode.DEADLINE_EXCEEDED),
    "internal": (HTTPStatus.INTERNAL_SERVER_ERROR, grpc.StatusCode.INTERNAL),
    "shard unavailable": (HTTPStatus.SERVICE_UNAVAILABLE, grpc.StatusCode.UNAVAILABLE),
    "no space": (HTTPStatus.INSUFFICIENT_STORAGE, grpc.StatusCode.RESOURCE_EXHAUSTED),
}


class RefusedError(scripted.RefusedError):
    """An error as the server itself makes it, with its status on either protocol.

    Args:
        kind: One of "bad input", "invalid", "not found", "exists", "forbidden", "timeout",
            "internal", "shard unavailable", "no space".
        text: The server's message.
    """

    def __init__(self, kind: str, text: str):
        super().__init__(text)
        self.status, self.code = _KINDS[kind]


NO_REPLICA = RefusedError(
    "internal",
    "Service internal error: 1 of 1 read operations failed:\n  Service internal error: "
    "The replica set for shard 0 on peer 1 has no active replica, currently unavailable",
)
"""What a cluster says whose only replica of a shard is gone: unavailable, though it is a 500."""


class RestAnswer(scripted.RestAnswer):
    """An HTTP answer, byte for byte."""

    @classmethod
    def error(
        cls, status: int, text: str, headers: Mapping[str, str] | None = None
    ) -> "RestAnswer":
        """An error in the server's JSON."""
        return cls.json({"status": {"error": text}, "time": 0}, status, headers)
