"""Every law bites: a store that is broken in its way does not pass it."""

import asyncio
from typing import Any

import pytest

from soev_retrieval.domain import InvalidQueryError, StoreUnavailable, field
from soev_retrieval.memory import MemoryStore
from soev_retrieval.testing import corpus
from soev_retrieval.testing.laws import LAWS, Held, LawBroken, outages_are_unavailable
from tests.testing.broken_stores import BROKEN, Broken
from tests.testing.kill_rate import BY_NAME, caught, run


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_a_broken_store_is_caught(broken: Broken) -> None:
    """A store that is broken in one way is caught by the law that is meant to."""
    found = caught(broken)
    assert found is not None
    assert str(found).startswith(broken.law)


def test_every_law_catches_something() -> None:
    """No law is without a store that it catches."""
    names = {law.name for law in LAWS} | {outages_are_unavailable.__name__}
    assert {broken.law for broken in BROKEN} == names


def test_names_are_distinct() -> None:
    """Each law and each broken store has a name of its own."""
    assert len(BY_NAME) == len(LAWS)
    assert len({broken.name for broken in BROKEN}) == len(BROKEN)


def test_a_failure_says_what_happened() -> None:
    """A failure names the law, the filter, the chunks that differ, and how many came."""
    store = next(broken for broken in BROKEN if broken.name == "ne drops missing")
    with pytest.raises(LawBroken) as caught_by:
        run(BY_NAME["values_are_told_apart"], store.make)
    told = str(caught_by.value)
    assert len(told.splitlines()) < 10
    assert "values_are_told_apart: Every operator on every value" in told
    assert "where    text != " in told
    assert "missing  'north-" in told
    assert "expected 7" in told


def test_an_error_of_the_store_breaks_the_law() -> None:
    """A store that raises what it may not breaks the law, with what was drawn in the message."""

    class Raises(MemoryStore):
        async def fetch(self, *_: object, **__: object) -> list[object]:  # type: ignore[override]
            raise StoreUnavailable("down")

    with pytest.raises(LawBroken, match=r"came     StoreUnavailable\('down'\)\nwhere .*"):
        run(BY_NAME["filters_are_exact"], Raises)


def test_a_refusal_must_be_allowed() -> None:
    """A store that refuses a filter that its spec serves is caught, unless it said that it may."""
    law = BY_NAME["filters_are_exact"]

    class Refuses(MemoryStore):
        async def fetch(self, *args: object, **rest: object) -> list[object]:  # type: ignore[override]
            raise InvalidQueryError("not today")

    with pytest.raises(LawBroken, match="refused although the spec serves it"):
        run(law, Refuses)
    held = Held("Conformance", corpus.spec(), (), may_refuse=lambda where: True)
    store: Any = Refuses()
    asyncio.run(law(store, held, where=field("number") == 1))
