"""The laws that every store keeps to, each a value that can be checked by itself.

`StoreConformance` checks them all. One by one: `await law(store, held, **drawn)`, where
`law.drawn(held)` is a hypothesis strategy for what is drawn.
"""

from soev_retrieval.testing.laws import _calls, _fetch, _filters, _refusals, _results, _writes
from soev_retrieval.testing.laws._law import Held, Law, LawBroken
from soev_retrieval.testing.laws._outages import outages_are_unavailable

LAWS: tuple[Law, ...] = tuple(
    law
    for module in (_filters, _results, _fetch, _calls, _refusals, _writes)
    for law in vars(module).values()
    if isinstance(law, Law)
)
"""Every law, in the order in which they are best read."""

__all__ = ["LAWS", "Held", "Law", "LawBroken", "outages_are_unavailable"]
