"""Rewrite the caller's predicates before the store sees them."""

from collections.abc import Mapping
from typing import Protocol, assert_never, cast, runtime_checkable

import attrs

from soev_retrieval.calls import Call, FilteredCall, Layer, R
from soev_retrieval.domain import (
    NOTHING,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Filter,
    Not,
    Nothing,
    Target,
    check_filter,
    predicates,
    simplify,
)
from soev_retrieval.engine._calls import check_call
from soev_retrieval.together import alone, together


@runtime_checkable
class Rewrite(Protocol):
    """The rule that gives the filter to put in the place of one predicate of the caller's filter.

    It gets the target and one predicate, and returns the predicate itself, a replacement the inner
    store can serve, or NOTHING when no chunk could match it.

    PreFiltered calls it once for each predicate of each filter. A predicate that stands in a
    filter more than once is one predicate.
    """

    async def __call__(self, target: Target, term: DeclaredFilter, /) -> Filter:
        """Return the filter to put in the place of `term`.

        Args:
            target: The target that the call named.
            term: One predicate of the caller's filter.

        Returns:
            `term` itself, a filter that the inner store can serve, or NOTHING when no chunk can
            match `term`.
        """
        ...


@attrs.frozen(repr=False, eq=False)
class PreFiltered(Layer):
    """VectorStore over another, with every predicate of the filter replaced by what `rewrite` returns.

    `rewrite` sees the target and each predicate of the filter of each method (the three searches
    and fetch), wherever it sits in the expression, and the expression around it is kept. It is for
    an operator the store cannot serve itself: a folder scope (`under`) resolved through a catalog
    into the document ids it covers, a name looked up into a key. What it returns is not rewritten
    again. The predicates of one filter are rewritten at once.

    A predicate rewritten to NOTHING matches nothing, so its branch of an AnyOf drops out, its
    AllOf matches nothing, and its Not matches everything. When the whole filter comes to match
    nothing, the call answers an empty sequence without the inner store being called; a limit, a
    query, a weight or a vector that no store takes is refused all the same. Every other argument
    reaches the inner store unchanged, results come back untouched, and `fields` passes through.
    PostFiltered acts on the results instead. The two compose in either order.

    Args:
        inner: The store that answers each call.
        rewrite: The rule that replaces each predicate.
    """

    rewrite: Rewrite

    async def send(self, call: Call[R]) -> R:
        """Perform `call` with its filter rewritten and folded."""
        asked: Filter | None = getattr(call, "where", None)  # Fields has none
        if asked is None:
            return await call.on(self.inner)
        where = await self._rewritten(call.target, asked)
        if where is NOTHING:
            check_call(cast("FilteredCall", call))  # the inner store is not there to do it
            return cast("R", [])
        if where is asked:
            return await call.on(self.inner)
        filtered = cast("FilteredCall", call).filtered(where)
        return await cast("Call[R]", filtered).on(self.inner)

    async def _rewritten(self, target: Target, where: Filter) -> Filter:
        if isinstance(where, DeclaredFilter):
            return simplify(await alone(self._rewrite(target, where)))
        check_filter(where, "where")
        terms = list(dict.fromkeys(predicates(where)))
        rewriting = [self._rewrite(target, term) for term in terms]
        one = len(rewriting) == 1
        filters = [await alone(rewriting[0])] if one else await together(rewriting)
        by = dict(zip(terms, filters, strict=True))
        folded = simplify(_replaced(where, by))
        if folded is not NOTHING and all(term is new for term, new in by.items()):
            return where  # as it is: what folding takes away, the inner store could not refuse
        return folded

    async def _rewrite(self, target: Target, term: DeclaredFilter) -> Filter:
        rewritten = await self.rewrite(target, term)
        if rewritten is not term:
            check_filter(rewritten, f"what rewrite returns for field {term.field!r} {term.op}")
        return rewritten


def _replaced(where: Filter, by: Mapping[DeclaredFilter, Filter]) -> Filter:
    match where:
        case DeclaredFilter():
            return by[where]
        case AllOf(filters):
            return AllOf([_replaced(one, by) for one in filters])
        case AnyOf(filters):
            return AnyOf([_replaced(one, by) for one in filters])
        case Not(inner):
            return Not(_replaced(inner, by))
        case Nothing():
            return where
        case _:
            assert_never(where)
