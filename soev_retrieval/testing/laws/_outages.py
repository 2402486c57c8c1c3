"""The law of outages. It needs a store that can be taken down, so it is checked by itself."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from soev_retrieval.domain import StoreUnavailable
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.laws._asking import methods
from soev_retrieval.testing.laws._law import Held, LawBroken, expect_ids


async def outages_are_unavailable(
    store: VectorStore, held: Held, *, outage: Callable[[], AbstractAsyncContextManager[object]]
) -> None:
    """While a store does not answer every method raises StoreUnavailable, and after it answers.

    Args:
        store: The store.
        held: What it holds.
        outage: A context in which the server does not answer.
    """
    async with outage():
        for method, ask in methods(store, held).items():
            try:
                came = await ask()
            except StoreUnavailable:
                continue
            raise LawBroken(
                f"outages_are_unavailable: {method} during an outage\n"
                f"expected StoreUnavailable\ncame     {came!r}"
            )
    chunks = await store.fetch(held.target, limit=held.limit)
    expect_ids(held, chunks, set(held.by_id), "after an outage")
