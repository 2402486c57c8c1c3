"""A short way to write predicates: `field("year") >= 2020`."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import attrs

from soev_retrieval.domain._filters import DeclaredFilter
from soev_retrieval.domain._values import Scalar


@attrs.frozen(eq=False)
class field:  # noqa: N801  (it reads as a function)
    """A field to compare: each comparison is a DeclaredFilter.

    ```python
    >>> from soev_retrieval.domain import field
    >>> print((field("year") >= 2020) & ~field("status").in_(["draft", "void"]))
    year >= 2020 and not (status in ["draft", "void"])

    ```
    """

    name: str

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, value: Scalar) -> DeclaredFilter:  # type: ignore[override]
        return DeclaredFilter(self.name, "eq", value)

    def __ne__(self, value: Scalar) -> DeclaredFilter:  # type: ignore[override]
        return DeclaredFilter(self.name, "ne", value)

    def __gt__(self, value: str | float | datetime) -> DeclaredFilter:
        return DeclaredFilter(self.name, "gt", value)

    def __ge__(self, value: str | float | datetime) -> DeclaredFilter:
        return DeclaredFilter(self.name, "gte", value)

    def __lt__(self, value: str | float | datetime) -> DeclaredFilter:
        return DeclaredFilter(self.name, "lt", value)

    def __le__(self, value: str | float | datetime) -> DeclaredFilter:
        return DeclaredFilter(self.name, "lte", value)

    def is_(self, value: Scalar) -> DeclaredFilter:
        """`==` for linters that frown on `== True`: the field is there and equal."""
        return DeclaredFilter(self.name, "eq", value)

    def in_(self, values: Iterable[Scalar]) -> DeclaredFilter:
        """The field is there and equal to one of `values`."""
        return self._over("in", values)

    def not_in(self, values: Iterable[Scalar]) -> DeclaredFilter:
        """Exactly not `in_`: also where the field is missing."""
        return self._over("not_in", values)

    def contains(self, value: Scalar) -> DeclaredFilter:
        """The list holds `value`."""
        return DeclaredFilter(self.name, "contains", value)

    def contains_any(self, values: Iterable[Scalar]) -> DeclaredFilter:
        """The list holds at least one of `values`."""
        return self._over("contains_any", values)

    def contains_all(self, values: Iterable[Scalar]) -> DeclaredFilter:
        """The list holds all of `values`."""
        return self._over("contains_all", values)

    def exists(self) -> DeclaredFilter:
        """The field is there."""
        return DeclaredFilter(self.name, "exists")

    def missing(self) -> DeclaredFilter:
        """The field is not there, null, or the empty list."""
        return DeclaredFilter(self.name, "missing")

    def prefix(self, value: str) -> DeclaredFilter:
        """The text starts with `value`, which is never a pattern."""
        return DeclaredFilter(self.name, "prefix", value)

    def under(self, folder: str) -> DeclaredFilter:
        """The path is `folder` or lies below it."""
        return DeclaredFilter(self.name, "under", folder)

    def _over(self, op: str, values: Any) -> DeclaredFilter:
        return DeclaredFilter(self.name, op, values)
