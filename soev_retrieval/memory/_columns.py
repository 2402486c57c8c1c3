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
        # In the order of their codes, so that the rows of a run of codes are one slice.
        cells.sort(key=lambda cell: self._code_of[cell[1]])
        self._row_of_cell = np.fromiter((row for row, _ in cells), np.intp, len(cells))
        self._code_of_cell = np.fromiter(
            (self._code_of[value] for _, value in cells), np.intp, len(cells)
        )
        self._starts = np.searchsorted(self._code_of_cell, np.arange(len(self._distinct) + 1))

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

    def _where(self, picked: slice | list[int]) -> Mask:
        """The rows that hold one of the distinct values."""
        mask = np.zeros(self._rows, np.bool_)
        if isinstance(picked, slice):
            start, stop, _ = picked.indices(len(self._distinct))
            mask[self._row_of_cell[self._starts[start] : self._starts[max(start, stop)]]] = True
        else:
            chosen = np.zeros(len(self._distinct), np.bool_)
            chosen[picked] = True
            mask[self._row_of_cell[np.repeat(chosen, np.diff(self._starts))]] = True
        return mask

    def _picked(self, op: str, term: DeclaredFilter) -> slice | list[int]:
        """Which of the distinct values `op` picks."""
        value: Any = term.value
        distinct = self._distinct
        match op:
            case "eq" | "contains":
                return self._one(value)
            case "in" | "contains_any":
                return [self._code_of[one] for one in term.members if one in self._code_of]
            case "gt":
                return slice(bisect_right(distinct, value), None)
            case "gte":
                return slice(bisect_left(distinct, value), None)
            case "lt":
                return slice(bisect_left(distinct, value))
            case "lte":
                return slice(bisect_right(distinct, value))
            case "exists":
                return slice(None)
            case "prefix":
                start = bisect_left(distinct, value)
                key = lambda text: not text.startswith(value)  # noqa: E731
                return slice(start, bisect_left(distinct, True, lo=start, key=key))
            case _:  # under, the one that no order helps with: ask its definition
                texts = enumerate(distinct)
                return [code for code, text in texts if matches(term, {term.field: text})]

    def _one(self, value: Any) -> slice:
        code = self._code_of.get(value)
        return slice(0) if code is None else slice(code, code + 1)


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
