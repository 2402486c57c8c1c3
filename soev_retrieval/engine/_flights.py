"""One flight for all who ask for the same at once."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from contextlib import suppress
from typing import Any

import attrs


def cancelled() -> bool:
    """Whether the flight that calls this has been cancelled, and runs on."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


@attrs.define(eq=False)
class _Flight:
    task: asyncio.Task[Any]
    aboard: int = 0


@attrs.frozen(eq=False)
class Flights:
    """What is under way, by key. Each flight is a task, which all who wait for it share."""

    _flights: dict[Hashable, _Flight] = attrs.field(init=False, factory=dict)

    async def join(self, key: Hashable, depart: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """What comes of the flight of that key, which is `depart()` where there is none.

        Who is cancelled leaves it. When the last has left, it is cancelled and waited for, as an
        await without the others would be.
        """
        flight = self._flights.get(key)
        if flight is None or flight.task.done():
            flight = self._flights[key] = _Flight(asyncio.create_task(depart()))
            flight.task.add_done_callback(lambda _: self._landed(key, flight))
        flight.aboard += 1
        try:
            await asyncio.wait([flight.task])
        finally:
            flight.aboard -= 1
            if not flight.aboard:
                await self._stop(key, flight)
        return flight.task.result()

    async def _stop(self, key: Hashable, flight: _Flight) -> None:
        while not flight.task.done():
            self._forget(key, flight)  # nobody may join it any more
            flight.task.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.wait([flight.task])

    def _landed(self, key: Hashable, flight: _Flight) -> None:
        self._forget(key, flight)
        _ = flight.task.cancelled() or flight.task.exception()  # retrieved: nobody may be left

    def _forget(self, key: Hashable, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
