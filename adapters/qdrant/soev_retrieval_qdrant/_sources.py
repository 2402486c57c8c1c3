"""What a field is to a filter and to a result: where its values are, and how they compare.

Only what was found exact on a server is used: no MatchExcept and no IsNull, never gt and gte in
one Range, no empty list of clauses (`../../../docs/qdrant.md` has the reasons).
"""

from collections.abc import Mapping
from typing import Any, Protocol

from soev_retrieval.domain import DeclaredFilter, Field
from soev_retrieval_qdrant._conditions import Condition
from soev_retrieval_qdrant._paths import Path


class Source(Protocol):
    """Where a field's values are, and how they compare."""

    @property
    def field(self) -> Field:
        """The field."""
        ...

    @property
    def order(self) -> Path:
        """Where that is which the server orders by: what is alike there may differ, not the reverse."""
        ...

    @property
    def read_from(self) -> Path:
        """The part of the payload that `read` reads."""
        ...

    def condition(self, op: str, term: DeclaredFilter) -> Condition:
        """`term` by `op`, which is no negation.

        Raises:
            InvalidQueryError: It cannot be asked exactly.
        """
        ...

    @property
    def exists(self) -> Condition:
        """It has a value, one that `read` finds."""
        ...

    def read(self, payload: Mapping[str, Any]) -> Any:
        """What the field holds: None where it is missing."""
        ...

    def ordinal(self, payload: Mapping[str, Any]) -> Any:
        """What the server orders it by, as that compares; None where it is missing."""
        ...
