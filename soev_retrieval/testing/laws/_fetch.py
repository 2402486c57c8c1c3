"""Laws of a fetch in order."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from soev_retrieval.domain import Filter
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.laws._asking import allowed, filters_of, limits_of
from soev_retrieval.testing.laws._law import Held, expect, law


def _sortable(held: Held) -> list[str]:
    return [field.name for field in held.spec if field.sortable]


def _orders(held: Held) -> SearchStrategy[str]:
    return st.sampled_from(_sortable(held))


def _wheres(held: Held) -> SearchStrategy[Filter | None]:
    return st.none() | filters_of(held)


@law(
    applies=lambda held: bool(_sortable(held)),
    order_by=_orders,
    descending=lambda held: st.booleans(),
    limit=limits_of,
    where=_wheres,
)
async def order_is_kept(
    store: VectorStore,
    held: Held,
    *,
    order_by: str,
    descending: bool,
    limit: int,
    where: Filter | None,
) -> None:
    """A fetch in order brings the first of all that match, missing ones last, equal ones by id."""
    asked = store.fetch(
        held.target, where=where, limit=limit, order_by=order_by, descending=descending
    )
    chunks = await allowed(asked, held, where)
    keys: dict[str, Any] = {
        id: held.by_id[id].properties.get(order_by) for id in sorted(held.matching(where))
    }
    there = [id for id in keys if keys[id] is not None]
    missing = [id for id in keys if keys[id] is None]
    # Sorting is stable, in both directions, so equal keys stay in the order of their ids.
    ordered = sorted(there, key=lambda id: keys[id], reverse=descending) + missing
    direction = "falling" if descending else "rising"
    told = f"fetch by {direction} {order_by}, limit {limit}, where {where}"
    expect([chunk.id for chunk in chunks], ordered[:limit], told)
