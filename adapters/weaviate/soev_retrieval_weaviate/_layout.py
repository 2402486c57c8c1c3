"""Where everything of a target is: what a call goes by, and what it is where `create` made it."""

from collections.abc import Mapping
from functools import cached_property

import attrs
from weaviate.classes.config import ConsistencyLevel

from soev_retrieval.analysis import Analysis
from soev_retrieval.domain import (
    DeclaredFilter,
    Field,
    FieldSpec,
    Filter,
    InvalidQueryError,
    check,
    predicates,
    simplify,
)
from soev_retrieval_weaviate._filters import unequal
from soev_retrieval_weaviate._making import ID, ID_KEY, STEMS, VECTOR, Made
from soev_retrieval_weaviate._sources import Source
from soev_retrieval_weaviate._versions import NOT, ranks_exactly

_NEGATIVE = ("ne", "not_in", "missing")

_NO_NOT = f"that needs a negation, which Weaviate has from {'.'.join(map(str, NOT))} on"
"""Why a field serves none on an older server."""


@attrs.frozen
class Vectors:
    """Where the vectors are.

    Args:
        name: The name of the vector, or None for the one that has none.
        dimension: The length of each, or None where nobody knows.
        distance: How they compare.
        embeds: Whether the server makes a vector of a text.
    """

    name: str | None
    dimension: int | None
    distance: str
    embeds: bool = False


@attrs.frozen
class Keywords:
    """Where keywords are asked.

    Args:
        properties: The properties that are searched.
        analysis: What the question is made into, or None where the server does that.
        is_exact: Whether the server finds the best at every limit.
    """

    properties: tuple[str, ...]
    analysis: Analysis | None = attrs.field(default=None, eq=lambda of: of and of.language)
    is_exact: bool = True

    def asked(self, query: str) -> str:
        """A question as the server gets it; empty where nothing is left of it."""
        if self.analysis is None:
            return query
        return " ".join(sorted(set(self.analysis.terms(query))))


ROUGH = (
    "Weaviate drops white space at the edges of text, and what is found is looked at again here;"
    " name the property in the trimmed of its Collection where no value has any, or in its recheck"
)
"""Why a text serves less than its type does."""


@attrs.frozen
class Layout:
    """Where everything of a target is.

    Args:
        name: The name of its collection.
        spec: What it serves.
        sources: Where each field is.
        vectors: The vectors, or why there are none.
        keywords: Where keywords are asked, or why nowhere.
        id: The property of the chunk's id; None where it is the object's UUID.
        id_order: The property by which the server orders as the chunks' ids are; None where that
            is the UUID, or where it cannot.
        tenant: The tenant that the target is.
        consistency: How many replicas answer.
        refused: Why a property is no field, by name.
        unserved: Why a field serves less than its type does, by name.
        recheck: The fields that are looked at again, whatever is asked of them.
        rough: The fields that are looked at again where equality is asked, and asked for nothing
            that would be no equality.
        has_not: Whether the server has a negation.
        shards: How many shards have to answer; 0 where none can be missing in silence.
    """

    name: str
    spec: FieldSpec
    sources: Mapping[str, Source]
    vectors: Vectors | str
    keywords: Keywords | str
    id: str | None = None
    id_order: str | None = None
    tenant: str | None = None
    consistency: ConsistencyLevel | None = None
    refused: Mapping[str, str] = attrs.field(factory=dict)
    unserved: Mapping[str, str] = attrs.field(factory=dict)
    recheck: frozenset[str] = frozenset()
    rough: frozenset[str] = frozenset()
    has_not: bool = True
    shards: int = 0

    @cached_property
    def readable(self) -> list[str]:
        """The properties that a chunk is read from."""
        found = [source.read_from for source in self.sources.values()]
        return list(dict.fromkeys([*self.ids, *found]))

    @cached_property
    def ids(self) -> list[str]:
        """The properties that the chunk's id is read from."""
        return [] if self.id is None else [self.id]

    @property
    def orders_ids(self) -> bool:
        """Whether the server can order as the chunks' ids are."""
        return self.id is None or self.id_order is not None

    def checked(self, where: Filter) -> Filter:
        """A filter that the fields serve, folded.

        Raises:
            InvalidQueryError: They do not. It says why, where there is a reason.
        """
        for term in predicates(where):
            self.refuse(term.field)
            served = term.field not in self.spec or term.op in self.spec[term.field].operators
            if not served and (why := self._why_not(term)):
                raise InvalidQueryError(
                    f"field {term.field!r} does not serve {term.op!r}: {why}", field=term.field
                )
        check(where, self.spec)
        folded = simplify(where)
        if self.rough and (name := unequal(folded, self.rough)) is not None:
            raise InvalidQueryError(
                f"field {name!r} cannot be asked for what it is not: {ROUGH}", field=name
            )
        return folded

    def is_rough(self, term: DeclaredFilter) -> bool:
        """Whether the server finds more by a predicate than what matches it."""
        is_equality = term.op not in {"exists", "missing"}
        return term.field in self.recheck or (is_equality and term.field in self.rough)

    def measured(self, dimension: int | None) -> "Layout":
        """The same, whose vectors are so long."""
        if isinstance(self.vectors, str):
            return self
        return attrs.evolve(
            self,
            spec=attrs.evolve(self.spec, dimension=dimension),
            vectors=attrs.evolve(self.vectors, dimension=dimension),
        )

    def _why_not(self, term: DeclaredFilter) -> str | None:
        if not self.has_not and term.op in _NEGATIVE:
            return _NO_NOT
        return self.unserved.get(term.field)

    def refuse(self, name: str | None) -> None:
        """Say why a name is no field.

        Raises:
            InvalidQueryError: It is none for a reason.
        """
        if isinstance(name, str) and name in self.refused:
            raise InvalidQueryError(self.refused[name], field=name)


def laid_out_made(
    name: str, made: Made, *, tenant: str | None, version: tuple[int, ...], shards: int
) -> Layout:
    """Where everything is in a collection that `create` made."""
    has_not = version >= NOT
    fields = made.spec.fields if has_not else map(without_not, made.spec)
    spec = FieldSpec(fields, made.spec.dimension, made.spec.distance)
    vectors: Vectors | str = "the target declares no dimension"
    if spec.dimension is not None:
        vectors = Vectors(VECTOR, spec.dimension, spec.distance)
    keywords: Keywords | str = "the target has no searchable field"
    if made.searchable:
        keywords = Keywords((STEMS,), made.analysis, ranks_exactly(version))
    return Layout(
        name,
        spec,
        made.sources,
        vectors,
        keywords,
        id=ID,
        id_order=ID_KEY,
        tenant=tenant,
        consistency=ConsistencyLevel.QUORUM if made.making.replicas > 1 else None,
        has_not=has_not,
        shards=shards,
    )


def without_not(field: Field) -> Field:
    """The field as a server without a negation serves it: nothing can be put last there either."""
    operators = [op for op in field.operators if op not in _NEGATIVE]
    return attrs.evolve(field, operators=operators, sortable=False)
