"""Every layer around MemoryStore is a store: it keeps every law."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import pytest

from soev_retrieval.calls import Layer
from soev_retrieval.domain import FieldSpec, Filter, Record, predicates
from soev_retrieval.engine import (
    Blocklist,
    Cached,
    CircuitBreaker,
    Limited,
    PostFiltered,
    PreFiltered,
    Rechecked,
    Recording,
    Renamed,
    Replenished,
    Retrying,
    Tenanted,
    Timed,
    tenant_scope,
)
from soev_retrieval.memory import MemoryStore
from soev_retrieval.store import VectorStore
from soev_retrieval.testing import StoreConformance, corpus
from soev_retrieval.testing.laws import LAWS

READ = sum(not law.writes for law in LAWS) - 1
"""All laws but those of writes, and the one of what a spec does not declare at all."""
NOBODY = Blocklist(frozenset())
LAYERS: dict[str, Callable[[VectorStore], Layer]] = {
    "rechecked": Rechecked,
    "timed": lambda store: Timed(store, 60.0),
    "limited": lambda store: Limited(store, 2),
    "breaker": lambda store: CircuitBreaker(store, 1, 60.0),
    "replenished": lambda store: Replenished(store, NOBODY, 100),
    "cached": lambda store: Cached(store, 3),
    "retrying": lambda store: Retrying(store, 3),
    "prefiltered": lambda store: PreFiltered(store, Renamed({"elsewhere": "label"})),
    "postfiltered": lambda store: PostFiltered(store, NOBODY),
    "recording": lambda store: Recording(store, []),
}


class LayerConformance(StoreConformance):
    """A layer is no Loader: the store in it is filled."""

    examples = 10

    @staticmethod
    async def fill(store: Any, target: str, spec: FieldSpec, records: Sequence[Record]) -> None:
        while isinstance(store, Layer):
            store = store.inner
        await StoreConformance.fill(store, target, spec, records)


FOLDED = {
    "undeclared_fields_are_refused",
    "unserved_operators_are_refused",
    "values_of_another_type_are_refused",
}
"""What PreFiltered does not keep to: a filter that comes to nothing is answered unseen."""


def kept(suite: type[StoreConformance], but: Collection[str] = ()) -> int:
    """Check every law on a store, and count those that said something."""
    checked = 0
    suite.setup_class()
    try:
        for law in LAWS:
            if law.name in but:
                continue
            try:
                suite().check(law)
            except pytest.skip.Exception:
                continue
            checked += 1
    finally:
        suite.teardown_class()
    return checked


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_keeps_every_law(name: str) -> None:
    """With a rule that does nothing, it answers and refuses as the store in it does."""

    class Suite(LayerConformance):
        make_store = staticmethod(lambda: LAYERS[name](MemoryStore()))

    but = FOLDED if name == "prefiltered" else ()
    assert kept(Suite, but) == READ - len(but)


def test_a_stack_keeps_every_law() -> None:
    """All of them at once do so too."""

    class Suite(LayerConformance):
        @staticmethod
        def make_store() -> VectorStore:
            store: VectorStore = MemoryStore()
            for layer in LAYERS.values():
                store = layer(store)
            return store

    assert kept(Suite, FOLDED) == READ - len(FOLDED)


def test_tenanted_keeps_every_law_within_a_scope() -> None:
    """It is a store that holds the chunks of one tenant, and refuses to be asked for another."""
    everything = corpus.records(corpus.spec())

    class Suite(StoreConformance):
        examples = 10
        records = tuple(each for each in everything if each.properties["tenant"] == "north")

        @staticmethod
        async def make_store() -> VectorStore:
            memory = MemoryStore()
            await StoreConformance.fill(memory, "Conformance", corpus.spec(), everything)
            return Tenanted(memory)

        @staticmethod
        def terms(text: str) -> list[str]:
            return text.split()

        @staticmethod
        def may_refuse(where: Filter) -> bool:
            return any(term.field == "tenant" for term in predicates(where))

    with tenant_scope("north"):
        assert kept(Suite) > 20
