"""Laws of refusals: what is wrong is refused with InvalidQueryError, never answered."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from soev_retrieval.domain import (
    OPERATORS,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Field,
    Filter,
    InvalidQueryError,
    Not,
    Unconfigured,
)
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.laws._asking import (
    Ask,
    expect_refusal,
    has_both,
    has_filters,
    has_vectors,
    has_words,
    methods,
    undeclared,
)
from soev_retrieval.testing.laws._law import Held, LawBroken, law

_EXAMPLES: dict[str, Any] = {
    "text": "a",
    "int": 1,
    "float": 0.5,
    "bool": True,
    "datetime": datetime(2024, 1, 31, tzinfo=UTC),
}

_SEVERAL = ("in", "not_in", "contains_any", "contains_all")


def _nested(term: DeclaredFilter) -> Sequence[Filter]:
    """The predicate alone, and where it could be overlooked."""
    return term, Not(term), AnyOf([AllOf(()), term]), AllOf([AnyOf(()), Not(Not(term))])


async def _expect_refused(store: VectorStore, held: Held, term: DeclaredFilter) -> None:
    for where in _nested(term):
        for method, ask in methods(store, held, where=where).items():
            await expect_refusal(ask(), f"{method} where {where}")


@law()
async def undeclared_fields_are_refused(store: VectorStore, held: Held) -> None:
    """A filter on a field that is not declared is refused in every method, wherever it sits."""
    await _expect_refused(store, held, DeclaredFilter(undeclared(held), "eq", "a"))
    await _expect_refused(store, held, DeclaredFilter(undeclared(held), "missing"))


def _value_for(op: str, field: Field) -> Any:
    if op in ("exists", "missing"):
        return None
    value = _EXAMPLES["text" if op in ("prefix", "under") else field.type]
    return [value] if op in _SEVERAL else value


def _term(field: Field, op: str, value: Any) -> list[DeclaredFilter]:
    """The predicate, or none where the algebra itself refuses it: a bool has no order."""
    try:
        return [DeclaredFilter(field.name, op, value)]
    except InvalidQueryError:
        return []


@law(applies=lambda held: bool(held.spec.fields))
async def unserved_operators_are_refused(store: VectorStore, held: Held) -> None:
    """An operator that the spec does not declare for a field is refused in every method."""
    for field in held.spec:
        for op in OPERATORS:
            if op not in field.operators:
                for term in _term(field, op, _value_for(op, field)):
                    await _expect_refused(store, held, term)


@law(applies=has_filters)
async def values_of_another_type_are_refused(store: VectorStore, held: Held) -> None:
    """A value of another type than the field's is refused: no "1" for 1, no 1 for True."""
    for field in held.spec:
        fits = {field.type, "int"} if field.type == "float" else {field.type}
        for op in field.operators:
            for type, value in _EXAMPLES.items():
                if op not in ("exists", "missing") and type not in fits:
                    for term in _term(field, op, [value] if op in _SEVERAL else value):
                        await _expect_refused(store, held, term)


@law(applies=lambda held: not has_both(held))
async def unserved_searches_are_unconfigured(store: VectorStore, held: Held) -> None:
    """A search for vectors or words that the spec does not declare is Unconfigured, never empty."""
    vector = [1.0] * (held.spec.dimension or 1)
    asks: dict[str, Ask] = {
        "near_vector": lambda: store.near_vector(held.target, vector=vector, limit=3),
        "bm25": lambda: store.bm25(held.target, query="zebra", limit=3),
        "hybrid": lambda: store.hybrid(held.target, query="zebra", vector=vector, limit=3),
    }
    served = methods(store, held)
    for method, ask in asks.items():
        if method not in served:
            try:
                came: object = await ask()
            except Unconfigured:
                continue
            except Exception as other:
                came = other
            raise LawBroken(f"{method}\nexpected Unconfigured\ncame     {came!r}")


@law()
async def unsortable_fields_are_refused(store: VectorStore, held: Held) -> None:
    """An order by a field that is not declared, or not sortable, is refused."""
    names = [field.name for field in held.spec if not field.sortable]
    for name in (*names, undeclared(held)):
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
