"""One column for each field, in which a filter is a mask over all rows."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from soev_retrieval.domain import (
    AllOf,
    AnyOf,
    DeclaredFilter,
    Filter,
    Not,
    Nothing,
    matches,
)

Mask: TypeAlias = NDArray[np.bool_]

_COMPLEMENTS = {"ne": "eq", "not_in": "in", "missing": "exists"}


class Column:
    """The values of one field, as codes into its distinct values in their order.

    So text, numbers, bools and datetimes are all the same here: an operator picks distinct values,
    and the rows follow from their codes.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        self._rows = len(values)
        self._many = any(isinstance(value, tuple) for value in values)
        if self._many:
            cells = [(row, one) for row, value in enumerate(values) for one in value or ()]
        else:
            cells = [(row, value) for row, value in enumerate(values) if value is not None]
        self._distinct = sorted({value for _, value in cells})
        self._code_of = {value: code for code, value in enumerate(self._distinct)}
        self._row_of_cell = np.fromiter((row for row, _ in cells), np.intp, len(cells))
        self._code_of_cell = np.fromiter(
            (self._code_of[value] for _, value in cells), np.intp, len(cells)
        )

    def mask(self, term: DeclaredFilter) -> Mask:
        """The rows for which `term` holds."""
        if term.op in _COMPLEMENTS:
            return ~self._where(self._picked(_COMPLEMENTS[term.op], term))
        if term.op == "contains_all":
            holds = np.ones(self._rows, np.bool_)
            for value in term.members:
                holds &= self._where(self._one(value))
            return holds
        return self._where(self._picked(term.op, term))

    def sort_keys(self, *, descending: bool) -> NDArray[np.intp]:
        """A key for each row: rows that lack the field come last in both directions."""
        keys = np.full(self._rows, len(self._distinct), np.intp)
        codes = self._code_of_cell
        keys[self._row_of_cell] = len(self._distinct) - 1 - codes if descending else codes
        return keys

    def _where(self, picked: Mask) -> Mask:
        mask = np.zeros(self._rows, np.bool_)
        mask[self._row_of_cell[picked[self._code_of_cell]]] = True
        return mask

    def _picked(self, op: str, term: DeclaredFilter) -> Mask:
        """Which of the distinct values `op` picks."""
        value: Any = term.value
        match op:
            case "eq" | "contains":
                return self._one(value)
            case "in" | "contains_any":
                codes = [self._code_of[one] for one in term.members if one in self._code_of]
                return self._these(codes)
            case "gt":
                return self._these(slice(bisect_right(self._distinct, value), None))
            case "gte":
                return self._these(slice(bisect_left(self._distinct, value), None))
            case "lt":
                return self._these(slice(bisect_left(self._distinct, value)))
            case "lte":
                return self._these(slice(bisect_right(self._distinct, value)))
            case "exists":
                return self._these(slice(None))
            case "prefix":
                start = bisect_left(self._distinct, value)
                end = bisect_left(
                    self._distinct, True, lo=start, key=lambda text: not text.startswith(value)
                )
                return self._these(slice(start, end))
            case _:  # under, the one that no order helps with: ask its definition
                holds = (matches(term, {term.field: text}) for text in self._distinct)
                return np.fromiter(holds, np.bool_, len(self._distinct))

    def _one(self, value: Any) -> Mask:
        code = self._code_of.get(value)
        return self._these([] if code is None else [code])

    def _these(self, codes: slice | list[int]) -> Mask:
        picked = np.zeros(len(self._distinct), np.bool_)
        picked[codes] = True
        return picked


class Columns:
    """The columns of one index, each made when a filter first asks for it."""

    def __init__(self, properties: Sequence[Any]) -> None:
        self._properties = properties
        self._columns: dict[str, Column] = {}

    def __getitem__(self, field: str) -> Column:
        if field not in self._columns:
            self._columns[field] = Column([each.get(field) for each in self._properties])
        return self._columns[field]

    def mask(self, where: Filter) -> Mask:
        """The rows that `where` matches."""
        match where:
            case DeclaredFilter():
                return self[where.field].mask(where)
            case AllOf(filters):
                mask = np.ones(len(self._properties), np.bool_)
                for one in filters:
                    mask &= self.mask(one)
                return mask
            case AnyOf(filters):
                mask = np.zeros(len(self._properties), np.bool_)
                for one in filters:
                    mask |= self.mask(one)
                return mask
            case Not(inner):
                return ~self.mask(inner)
            case Nothing():
                return np.zeros(len(self._properties), np.bool_)
            case _:
                assert_never(where)
