"""Tasks together: the first error ends all, a cancellation wins, and everything is waited for."""

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any

import pytest

from soev_retrieval.together import together


async def _fails(with_: Exception, *, after: float) -> None:
    await asyncio.sleep(after)
    raise with_


class Slow:
    """Runs until it is cancelled, and then takes its time."""

    def __init__(self) -> None:
        self.ended = False

    async def __call__(self, *, ends_after: float) -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(ends_after)
            self.ended = True


@pytest.mark.looptime
@pytest.mark.parametrize("first", [0, 1, 2])
async def test_the_first_error_is_raised(first: int) -> None:
    """Of several errors the first in time is raised, as itself, wherever it stands."""
    errors = [KeyError(number) for number in range(3)]
    calls = [_fails(error, after=2 if at != first else 1) for at, error in enumerate(errors)]
    with pytest.raises(KeyError) as raised:
        await together(calls)
    assert raised.value is errors[first]


@pytest.mark.looptime
async def test_an_error_waits_for_the_others() -> None:
    """The error is raised when the others, which it cancelled, have ended."""
    slow = Slow()
    with pytest.raises(KeyError):
        await together([_fails(KeyError(), after=1), slow(ends_after=5)])
    assert slow.ended
    assert asyncio.get_running_loop().time() == 6
    task = asyncio.current_task()
    assert task
    assert not task.cancelling()


@pytest.mark.looptime
@pytest.mark.parametrize("cancels", [[0.5], [1], [3], [2, 3, 4]])
async def test_a_cancellation_wins(cancels: list[float]) -> None:
    """Cancelled before an error, with it, or while the others end, the call ends as cancelled."""
    slow = Slow()
    call = asyncio.create_task(together([_fails(KeyError(), after=1), slow(ends_after=5)]))
    for at in cancels:
        asyncio.get_running_loop().call_at(at, call.cancel)
    await asyncio.wait([call])
    assert call.cancelled()
    assert slow.ended


@pytest.mark.looptime
async def test_no_error_is_lost_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Errors beside the first are not logged as never seen."""
    calls: list[Coroutine[Any, Any, None]] = [_fails(KeyError(), after=1) for _ in range(3)]
    with pytest.raises(KeyError):
        await together(calls)
    gc.collect()
    assert not caplog.records


async def test_nothing_together() -> None:
    """No call at all is done at once."""
    await together([])
