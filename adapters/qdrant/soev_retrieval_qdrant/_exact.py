"""Fields of floats that stand in a payload as whole numbers too, which survive."""

from collections.abc import Mapping
from typing import Any

import attrs
from qdrant_client import models

from soev_retrieval.domain import DeclaredFilter, Field
from soev_retrieval_qdrant._conditions import Condition, OneOf, distinct, every, is_empty
from soev_retrieval_qdrant._floats import halves, of_ordinal, ordinal
from soev_retrieval_qdrant._paths import Path
from soev_retrieval_qdrant._server import Server


@attrs.frozen
class Exact:
    """A float field whose values stand in the payload as whole numbers too, which survive.

    Args:
        field: The field.
        path: Where they stand: `place` has what `ordinal` says, or several for a list; `high` and
            `low` have its halves, for ranges.
        server: As in `Plain`.
    """

    field: Field
    path: Path
    server: Server = attrs.field(factory=Server)

    @property
    def place(self) -> Path:
        """The ordinals."""
        return self.path.inside("place")

    @property
    def high(self) -> Path:
        """Their high 32 bits."""
        return self.path.inside("high")

    @property
    def low(self) -> Path:
        """Their low 32 bits."""
        return self.path.inside("low")

    @property
    def order(self) -> Path:
        """As `Source.order`."""
        return self.high

    @property
    def read_from(self) -> Path:
        """As `Source.read_from`."""
        return self.place

    @property
    def exists(self) -> Condition:
        """As `Source.exists`."""
        return models.Filter(must_not=[is_empty(self.place)])

    def condition(self, op: str, term: DeclaredFilter) -> Condition:
        """As `Source.condition`."""
        match op:
            case "eq" | "contains":
                return self._one_of([term.value])
            case "in" | "contains_any":
                return self._one_of(term.value)
            case "contains_all":
                return every([self._one_of([value]) for value in distinct(term.value)])
            case "exists":
                return self.exists
            case _:
                return self._bound(op, term.value)

    def _one_of(self, values: Any) -> Condition:
        places = list(dict.fromkeys(ordinal(value) for value in values))
        if len(places) == 1:
            match: Any = models.MatchValue(value=places[0])
        elif self.server.is_local:
            match = models.MatchValue.model_construct(value=OneOf(places))
        else:
            match = models.MatchAny(any=places)
        return models.FieldCondition(key=self.place.quoted, match=match)

    def _bound(self, op: str, value: Any) -> Condition:
        """Beyond in the high bits, or equal there and beyond in the low ones."""
        high, low = halves(ordinal(value))
        beyond = models.Range(**{op[:2]: float(high)})
        equal = models.MatchValue(value=high)
        rest = models.Range(**{op: float(low)})
        return models.Filter(
            should=[
                models.FieldCondition(key=self.high.quoted, range=beyond),
                models.Filter(
                    must=[
                        models.FieldCondition(key=self.high.quoted, match=equal),
                        models.FieldCondition(key=self.low.quoted, range=rest),
                    ]
                ),
            ]
        )

    def read(self, payload: Mapping[str, Any]) -> Any:
        """As `Source.read`."""
        held = self.place.read(payload)
        if isinstance(held, list):
            return tuple(map(of_ordinal, held)) or None
        return None if held is None else of_ordinal(held)

    def ordinal(self, payload: Mapping[str, Any]) -> Any:
        """As `Source.ordinal`."""
        return self.high.read(payload)

    def written(self, value: Any) -> dict[str, Any]:
        """What stands in the payload for a value, or for several."""
        if isinstance(value, tuple):
            return {"place": [ordinal(each) for each in value]}
        place = ordinal(value)
        high, low = halves(place)
        return {"place": place, "high": high, "low": low}
