"""Answer from what was written down."""

from collections import deque
from collections.abc import Hashable, Iterable
from typing import Any, cast

import attrs

from soev_retrieval.calls import Call, CallStore, R
from soev_retrieval.domain import Unconfigured
from soev_retrieval.engine._calls import key_of, settled
from soev_retrieval.engine._recording import Recorded


def _by_call(recorded: Iterable[Recorded]) -> dict[Hashable, deque[Any]]:
    outcomes: dict[Hashable, deque[Any]] = {}
    for call, outcome in recorded:
        outcomes.setdefault(key_of(settled(call)), deque()).append(outcome)
    return {key: each for key, each in outcomes.items() if key is not None}


@attrs.frozen(repr=False, eq=False)
class Replaying(CallStore):
    """VectorStore without an inner one, answering the calls of a recording with their outcomes.

    A call that was recorded several times is answered in that order, and the last goes for all
    that follow. One that was not recorded is Unconfigured.
    """

    _outcomes: dict[Hashable, deque[Any]] = attrs.field(alias="recorded", converter=_by_call)

    async def send(self, call: Call[R]) -> R:
        """Give the next outcome of `call`."""
        outcomes = self._outcomes.get(key_of(settled(call)))
        if outcomes is None:
            raise Unconfigured(f"{call!r} was not recorded", operation=call.operation)
        outcome = outcomes.popleft() if len(outcomes) > 1 else outcomes[0]
        if isinstance(outcome, BaseException):
            raise outcome.with_traceback(None)
        return cast("R", outcome)

    def __repr__(self) -> str:
        return f"Replaying(calls={len(self._outcomes)})"
