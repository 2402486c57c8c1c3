"""Laws of refusals: what is wrong is refused with InvalidQueryError, never answered."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from soev_retrieval.domain import (
    OPERATORS,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Field,
    Filter,
    InvalidQueryError,
    Not,
)
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.laws._asking import (
    expect_refusal,
    has_both,
    has_filters,
    has_vectors,
    has_words,
    methods,
)
from soev_retrieval.testing.laws._law import Held, law

_EXAMPLES: dict[str, Any] = {
    "text": "a",
    "int": 1,
    "float": 0.5,
    "bool": True,
    "datetime": datetime(2024, 1, 31, tzinfo=UTC),
}


def _nested(term: DeclaredFilter) -> Sequence[Filter]:
    """The predicate alone, and where it could be overlooked."""
    return term, Not(term), AnyOf([AllOf(()), term]), AllOf([AnyOf(()), Not(Not(term))])


async def _expect_refused(store: VectorStore, held: Held, term: DeclaredFilter) -> None:
    for where in _nested(term):
        for method, ask in methods(store, held, where=where).items():
            await expect_refusal(ask(), f"{method} where {where}")


@law(applies=has_filters)
async def undeclared_fields_are_refused(store: VectorStore, held: Held) -> None:
    """A filter on a field that is not declared is refused in every method, wherever it sits."""
    name = "undeclared"
    while name in held.spec:
        name += "_"
    await _expect_refused(store, held, DeclaredFilter(name, "eq", "a"))
    await _expect_refused(store, held, DeclaredFilter(name, "missing"))


def _value_for(op: str, field: Field) -> Any:
    if op in ("exists", "missing"):
        return None
    value = _EXAMPLES["text" if op in ("prefix", "under") else field.type]
    return [value] if op in ("in", "not_in", "contains_any", "contains_all") else value


def _unserved(held: Held) -> SearchStrategy[DeclaredFilter]:
    made: list[DeclaredFilter] = []
    for field in held.spec:
        for op in OPERATORS:
            if op not in field.operators:
                try:
                    made.append(DeclaredFilter(field.name, op, _value_for(op, field)))
                except InvalidQueryError:
                    continue  # the algebra itself refuses it: a bool has no order
    return st.sampled_from(made)


@law(applies=has_filters, term=_unserved)
async def unserved_operators_are_refused(
    store: VectorStore, held: Held, *, term: DeclaredFilter
) -> None:
    """An operator that the spec does not declare for a field is refused in every method."""
    await _expect_refused(store, held, term)


def _wrong_types(held: Held) -> SearchStrategy[DeclaredFilter]:
    made: list[DeclaredFilter] = []
    for field in held.spec:
        op = next((op for op in ("eq", "contains") if op in field.operators), None)
        fits = {field.type, "int"} if field.type == "float" else {field.type}
        made.extend(
            DeclaredFilter(field.name, op, value)
            for type, value in _EXAMPLES.items()
            if op is not None and type not in fits
        )
    return st.sampled_from(made) if made else st.nothing()


def _has_values(held: Held) -> bool:
    return any(op in field.operators for field in held.spec for op in ("eq", "contains"))


@law(applies=_has_values, term=_wrong_types)
async def values_of_another_type_are_refused(
    store: VectorStore, held: Held, *, term: DeclaredFilter
) -> None:
    """A value of another type than the field's is refused: no "1" for 1, no 1 for True."""
    await _expect_refused(store, held, term)


@law()
async def unsortable_fields_are_refused(store: VectorStore, held: Held) -> None:
    """An order by a field that is not declared, or not sortable, is refused."""
    names = [field.name for field in held.spec if not field.sortable] + ["undeclared"]
    for name in names:
        for descending in (False, True):
            asked = store.fetch(held.target, limit=3, order_by=name, descending=descending)
            await expect_refusal(asked, f"fetch by {name}")


@law()
async def unknown_targets_are_refused(store: VectorStore, held: Held) -> None:
    """A target that the store does not have is refused in every method, `fields` too."""
    unknown = Held(held.target + "Unknown", held.spec, held.records)
    for method, ask in methods(store, unknown).items():
        await expect_refusal(ask(), f"{method} of an unknown target")
    await expect_refusal(store.fields(unknown.target), "fields of an unknown target")


@law()
async def bad_limits_are_refused(store: VectorStore, held: Held) -> None:
    """A limit that is no int of at least 1 is refused in every method."""
    for limit in (0, -1, 2.5, True, None, "3"):
        for method, ask in methods(store, held, limit=limit).items():
            await expect_refusal(ask(), f"{method} with limit {limit!r}")


@law(applies=has_words)
async def bad_queries_are_refused(store: VectorStore, held: Held) -> None:
    """A query that is no text, or blank, or holds NUL or a lone surrogate, is refused."""
    for query in ("", " \n\t", "a\0b", "\ud800", None, 3):
        for method, ask in methods(store, held, query=query).items():
            if method in ("bm25", "hybrid"):
                await expect_refusal(ask(), f"{method} of the query {query!r}")


@law(applies=has_vectors)
async def bad_vectors_are_refused(store: VectorStore, held: Held) -> None:
    """A vector of another length, with NaN, an infinity or no number in it, is refused."""
    right = [1.0] * (held.spec.dimension or 1)
    wrongs: list[Any] = [
        [],
        [*right, 1.0],
        right[1:],
        [float("nan"), *right[1:]],
        [float("inf"), *right[1:]],
        [1e39, *right[1:]],
        ["1.0", *right[1:]],
        [None, *right[1:]],
        "1" * len(right),
        *([[0.0] * len(right)] if held.spec.distance == "cosine" else []),
    ]
    for vector in wrongs:
        for method, ask in methods(store, held, vector=vector).items():
            if method in ("near_vector", "hybrid"):
                await expect_refusal(ask(), f"{method} of the vector {vector!r}")


@law(applies=has_both)
async def bad_alphas_are_refused(store: VectorStore, held: Held) -> None:
    """An alpha that is no number from 0 to 1 is refused."""
    for alpha in (1.2, -0.1, float("nan"), True, "0.5"):
        wrong: Any = alpha
        asked = store.hybrid(
            held.target,
            query="zebra",
            vector=[1.0] * (held.spec.dimension or 1),
            limit=3,
            alpha=wrong,
        )
        await expect_refusal(asked, f"hybrid with alpha {alpha!r}")
