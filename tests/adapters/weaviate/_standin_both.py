"""The stand-in and a real server, asked the same in turn."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import attrs
import pytest

from tests.adapters.weaviate._standin_client import Bare, Refused, bare
from tests.adapters.weaviate.standin import StandIn
from tests.servers import weaviate

NAME = "StandinReal"
"""The collection that is asked, and goes at the end; those that its tests add begin with it."""

needs_server = pytest.mark.skipif(weaviate() is None, reason="no server: WEAVIATE_URL is not set")


@attrs.frozen
class Both:
    """The stand-in, and the server that it stands in for."""

    ours: Bare
    theirs: Bare

    async def same(self, name: str, *given: Any, **more: Any) -> Any:
        """What both answer to a method of `Bare`, which is the same."""
        return await self.agree(lambda place: getattr(place, name)(*given, **more), (given, more))

    async def agree(self, ask: Callable[[Bare], Awaitable[Any]], about: Any = None) -> Any:
        """What both answer to a question, which is the same."""
        ours, theirs = await ask(self.ours), await ask(self.theirs)
        assert plain(ours) == plain(theirs), about
        return ours


@asynccontextmanager
async def opened(**settings: Any) -> AsyncIterator[Both]:
    """A stand-in of those settings, and the server."""
    named = weaviate()
    assert named is not None
    async with (
        StandIn(**settings) as server,
        bare(server.url, server.grpc_port) as ours,
        bare(named.url, named.grpc_port) as theirs,
    ):
        try:
            yield Both(ours, theirs)
        finally:
            for each in (await theirs.ask("GET", "/schema"))["classes"]:
                if each["class"].startswith(NAME):
                    await theirs.ask("DELETE", f"/schema/{each['class']}")


def plain(answer: Any) -> Any:
    """An answer without what each server calls as it likes, or in what order it came to it."""
    if isinstance(answer, dict):
        return {key: plain(value) for key, value in answer.items()}
    if isinstance(answer, str):
        return re.sub(r"path: .*", "", answer)
    if isinstance(answer, Refused):
        text = re.sub(r"(pos|child) \d+|(?<=[a-z])_\w+(?=:)", "", answer.text)
        # Lists are of what is in a map, which the server goes through in any order.
        return answer.status, re.sub(r'shard "\w+"|path: .*|(vectors|but) \[.*', "", text)
    return answer
