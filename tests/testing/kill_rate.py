"""Which law catches which broken store: `python -m tests.testing.kill_rate` prints it."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from soev_retrieval.domain import FieldSpec
from soev_retrieval.memory import MemoryStore
from soev_retrieval.testing import StoreConformance, corpus
from soev_retrieval.testing.laws import LAWS, Held, Law, LawBroken, outages_are_unavailable
from tests.testing.broken_stores import BROKEN, Broken

EXAMPLES = StoreConformance.examples
BY_NAME = {law.name: law for law in LAWS}


async def _held(store: Any, spec: FieldSpec, *, writes: bool = False) -> Held:
    if writes:
        return Held("Writes", spec, ())
    records = corpus.records(spec)
    await StoreConformance.fill(store, "Conformance", spec, records)
    return Held("Conformance", await store.fields("Conformance"), records)


def run(
    law: Law, make: Callable[[], Any], spec: FieldSpec | None = None, examples: int = EXAMPLES
) -> int:
    """Check a law on a store, without shrinking; how many times it was checked.

    Raises:
        LawBroken: The store does not keep to it.
    """
    with asyncio.Runner() as runner:
        store = make()
        held = runner.run(_held(store, spec or corpus.spec(), writes=law.writes))
        checks = 0

        @settings(
            max_examples=examples if law.draws else 1,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        @given(law.drawn(held))
        def checked(drawn: dict[str, Any]) -> None:
            nonlocal checks
            checks += 1
            runner.run(law(store, held, **drawn))

        checked()
        return checks


async def _check_outage(make: Callable[[], Any]) -> None:
    store = make()
    held = await _held(store, corpus.spec())

    @asynccontextmanager
    async def outage() -> AsyncIterator[None]:
        store.down = True
        yield
        store.down = False

    await outages_are_unavailable(store, held, outage=outage)


def caught(broken: Broken) -> LawBroken | None:
    """How the law that is meant to catch a broken store does, or None where it does not."""
    try:
        if broken.law == outages_are_unavailable.__name__:
            asyncio.run(_check_outage(broken.make))
        else:
            run(BY_NAME[broken.law], broken.make, broken.spec)
    except LawBroken as found:
        return found
    return None


def main() -> int:
    """Print every law with its cost and the broken stores that it catches."""
    alive, total = 0, 0.0
    for law in LAWS:
        meant = [each for each in BROKEN if each.law == law.name]
        start = time.perf_counter()
        checks = run(law, MemoryStore, meant[0].spec)
        seconds = time.perf_counter() - start
        total += seconds
        missed = [each.name for each in meant if caught(each) is None]
        alive += len(missed)
        print(
            f"{law.name:38} {seconds:6.2f} s {checks:4} checks  catches {len(meant) - len(missed)} of {len(meant)}"
        )
        for name in missed:
            print(f"    alive: {name}")
    outage = [each for each in BROKEN if each.law == outages_are_unavailable.__name__]
    alive += sum(caught(each) is None for each in outage)
    print(
        f"{len(BROKEN) - alive} of {len(BROKEN)} broken stores caught by the law that is meant to;"
        f" MemoryStore passes {len(LAWS)} laws in {total:.1f} s"
    )
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
