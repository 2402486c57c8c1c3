"""The filter algebra as values. What they mean is decided in `matches` alone."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, TypeAlias

import attrs

from soev_retrieval.domain._errors import InvalidQueryError
from soev_retrieval.domain._operators import value_for
from soev_retrieval.domain._values import Value, portable_name, tupled, typed
from soev_retrieval.domain._words import written_term

MAX_DEPTH = 100
"""How deep filters may nest. No store's transport carries much more."""


class _Algebra:
    """What all filters share: `&`, `|`, `~`, and no truth."""

    __slots__ = ()

    def __and__(self, other: "Filter") -> "AllOf":
        return AllOf((*_parts(self, AllOf), *_parts(other, AllOf)))

    def __or__(self, other: "Filter") -> "AnyOf":
        return AnyOf((*_parts(self, AnyOf), *_parts(other, AnyOf)))

    def __invert__(self) -> "Not":
        return Not(self)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        raise TypeError(
            "a filter is neither true nor false: combine filters with & | ~ (and, or, not and"
            " chained comparisons would drop one of them), and test for one with `is not None`"
        )


def _joined(filters: "tuple[Filter, ...]", word: str, name: str) -> str:
    """`a and (b or c)`, or `all(a)` where there are not two to join."""
    if len(filters) < 2:
        return f"{name}({', '.join(map(str, filters))})"
    return f" {word} ".join(
        f"({one})" if isinstance(one, AllOf | AnyOf) and len(one.filters) > 1 else str(one)
        for one in filters
    )


def _parts(of: Any, kind: type[Any]) -> tuple[Any, ...]:
    return of.filters if isinstance(of, kind) else (of,)


@attrs.frozen(cache_hash=True, str=False)
class DeclaredFilter(_Algebra):
    """One predicate: a declared field, an operator, a value.

    Args:
        field: The name of the field.
        op: One of `OPERATORS`.
        value: What to compare with: a sequence for `in`, `not_in`, `contains_any`,
            `contains_all` (kept as a tuple), None for `exists` and `missing`, else one scalar; the
            path of `under` is kept without leading, trailing and double slashes.

    Raises:
        InvalidQueryError: The operator does not exist, or its value is not portable or not of the
            shape that the operator takes.
    """

    field: str
    op: str
    value: Value | None = attrs.field(default=None, converter=tupled, eq=typed)

    def __attrs_post_init__(self) -> None:
        portable_name(self.field, "the name of a filter's field")
        try:
            object.__setattr__(self, "value", value_for(self.field, self.op, self.value))
        except InvalidQueryError as error:
            error.field = self.field
            raise

    @property
    def depth(self) -> int:
        """How deep it nests: a predicate is 1."""
        return 1

    def __str__(self) -> str:
        return written_term(self.field, self.op, self.value)

    @cached_property
    def members(self) -> frozenset[Any]:
        """The values of a sequence as a set, made once: lists of 100,000 ids are usual."""
        return frozenset(self.value if isinstance(self.value, tuple) else ())


def _filters(filters: Iterable["Filter"]) -> tuple["Filter", ...]:
    if isinstance(filters, _Algebra):
        raise InvalidQueryError("AllOf and AnyOf take an iterable of filters: AllOf([a, b])")
    return tuple(filters)


def _depth_of(filters: tuple["Filter", ...]) -> int:
    deepest = 0
    for one in filters:
        if not isinstance(one, _Algebra):
            raise InvalidQueryError(
                f"a filter is made of filters, not of {type(one).__name__};"
                " write DeclaredFilter(field, op, value) or field(name) == value"
            )
        deepest = max(deepest, one.depth)
    if deepest >= MAX_DEPTH:
        raise InvalidQueryError(
            f"the filter nests more than {MAX_DEPTH} deep;"
            " flatten it: AllOf and AnyOf take any number of filters"
        )
    return deepest + 1


@attrs.frozen(cache_hash=True, str=False)
class AllOf(_Algebra):
    """True where every one of `filters` is; `AllOf(())` everywhere.

    Raises:
        InvalidQueryError: Something in `filters` is no filter, or they nest too deep.
    """

    filters: tuple["Filter", ...] = attrs.field(converter=_filters)
    depth: int = attrs.field(
        init=False,
        repr=False,
        eq=False,
        default=attrs.Factory(lambda self: _depth_of(self.filters), takes_self=True),
    )

    def __str__(self) -> str:
        return _joined(self.filters, "and", "all")


@attrs.frozen(cache_hash=True, str=False)
class AnyOf(_Algebra):
    """True where at least one of `filters` is; `AnyOf(())` nowhere.

    Raises:
        InvalidQueryError: Something in `filters` is no filter, or they nest too deep.
    """

    filters: tuple["Filter", ...] = attrs.field(converter=_filters)
    depth: int = attrs.field(
        init=False,
        repr=False,
        eq=False,
        default=attrs.Factory(lambda self: _depth_of(self.filters), takes_self=True),
    )

    def __str__(self) -> str:
        return _joined(self.filters, "or", "any")


@attrs.frozen(cache_hash=True, str=False)
class Not(_Algebra):
    """True exactly where `filter` is not, on chunks that lack its fields too.

    Raises:
        InvalidQueryError: `filter` is no filter, or nests too deep.
    """

    filter: "Filter"
    depth: int = attrs.field(
        init=False,
        repr=False,
        eq=False,
        default=attrs.Factory(lambda self: _depth_of((self.filter,)), takes_self=True),
    )

    def __str__(self) -> str:
        return f"not ({self.filter})"


class Nothing(_Algebra):
    """The filter that is true nowhere. Its one value is `NOTHING`."""

    __slots__ = ()

    def __new__(cls) -> "Nothing":
        """The one value."""
        return _nothing[0] if _nothing else super().__new__(cls)

    @property
    def depth(self) -> int:
        """How deep it nests: like a predicate, 1."""
        return 1

    def __str__(self) -> str:
        return "nothing"

    def __repr__(self) -> str:
        return "NOTHING"

    def __reduce__(self) -> str:
        return "NOTHING"


_nothing: list[Nothing] = []
NOTHING = Nothing()
"""The filter that matches nothing. A rule returns it when no chunk could match."""
_nothing.append(NOTHING)

Filter: TypeAlias = DeclaredFilter | AllOf | AnyOf | Not | Nothing
"""An expression over the declared fields of a target."""


def check_filter(filter: object, what: str) -> None:
    """Refuse what is not a filter.

    Raises:
        InvalidQueryError: It is not.
    """
    if not isinstance(filter, _Algebra):
        raise InvalidQueryError(f"{what} must be a filter, not {type(filter).__name__}")


def predicates(filter: Filter) -> Iterator[DeclaredFilter]:
    """Every predicate of `filter`, from left to right, wherever it sits in the expression."""
    waiting: list[Filter] = [filter]
    while waiting:
        match waiting.pop():
            case DeclaredFilter() as term:
                yield term
            case AllOf(filters) | AnyOf(filters):
                waiting.extend(reversed(filters))
            case Not(inner):
                waiting.append(inner)
            case Nothing():
                pass
