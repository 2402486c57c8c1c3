"""What a target declares about its fields, and whether a filter or a record keeps to it."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import attrs

from soev_retrieval.domain._arguments import check_vector, listed
from soev_retrieval.domain._errors import InvalidQueryError
from soev_retrieval.domain._filters import DeclaredFilter, Filter, predicates
from soev_retrieval.domain._operators import OPERATORS
from soev_retrieval.domain._values import (
    Properties,
    Record,
    kind_of,
    portable,
    portable_name,
)

TYPES = ("text", "int", "float", "bool", "datetime")
"""The types that a field can have; `many` makes it a list of them."""

DISTANCES = ("cosine", "dot", "euclidean", "manhattan")
"""How vectors compare. Scores are cosine similarity, dot product, minus the distance (L2, L1)."""

_TYPES_OF_VALUE = {
    "text": (str,),
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "datetime": (),  # told by kind_of
}
_SCALAR = ("eq", "ne", "in", "not_in", "exists", "missing")
_LIST = ("contains", "contains_any", "contains_all", "exists", "missing")
_ORDER = ("gt", "gte", "lt", "lte")


def operators_of(type: str, many: bool) -> tuple[str, ...]:
    """The operators that the algebra defines for a type, in the order of `OPERATORS`.

    `under` is not among them: it is what a PreFiltered layer is for, and a store that serves it
    natively declares it.
    """
    if many:
        served = set(_LIST)
    else:
        served = {*_SCALAR, *(() if type == "bool" else _ORDER)}
        served |= {"prefix"} if type == "text" else set()
    return tuple(op for op in OPERATORS if op in served)


def _sorts(type: str, many: bool) -> bool:
    return not many and type != "bool"


def _in_order(operators: Iterable[str]) -> tuple[str, ...]:
    given = set(operators)
    if unknown := sorted(given - set(OPERATORS)):
        raise InvalidQueryError(
            f"there is no operator {unknown[0]!r}; the operators are {', '.join(OPERATORS)}"
        )
    return tuple(op for op in OPERATORS if op in given)


@attrs.frozen
class Field:
    """One declared field of a target.

    Args:
        name: Its name.
        type: `text`, `int`, `float`, `bool` or `datetime`.
        many: Whether it holds a list of them.
        searchable: Whether `bm25` and `hybrid` look in it (text only).
        sortable: Whether `fetch` can order by it. Every scalar but bool, unless the store serves less.
        operators: The operators it serves. All that the algebra defines for the type but `under`,
            unless the store serves less, or declares `under` for text.

    Raises:
        InvalidQueryError: The type does not exist, or something is declared that it cannot be.
    """

    name: str
    type: str
    many: bool = False
    searchable: bool = False
    sortable: bool = attrs.field(
        default=attrs.Factory(lambda self: _sorts(self.type, self.many), takes_self=True)
    )
    operators: tuple[str, ...] = attrs.field(
        default=attrs.Factory(lambda self: operators_of(self.type, self.many), takes_self=True),
        converter=_in_order,
    )

    def __attrs_post_init__(self) -> None:
        portable_name(self.name, "the name of a field")
        if self.type not in TYPES:
            raise self._wrong(f"has no type {self.type!r}; the types are {', '.join(TYPES)}")
        if self.searchable and self.type != "text":
            raise self._wrong(f"is {self.type}, and only text is searchable")
        if self.sortable and not _sorts(self.type, self.many):
            raise self._wrong("cannot be sortable: lists and bools have no order")
        allowed = {
            *operators_of(self.type, self.many),
            *(("under",) if self.type == "text" else ()),
        }
        for op in self.operators:
            if op not in allowed:
                raise self._wrong(
                    f"cannot serve {op!r}; {self} serves {', '.join(sorted(allowed))}"
                )

    def _wrong(self, message: str) -> InvalidQueryError:
        return InvalidQueryError(f"field {self.name!r} {message}", field=self.name)

    def __str__(self) -> str:
        return f"list of {self.type}" if self.many else self.type


def _fields(fields: Iterable[Field]) -> tuple[Field, ...]:
    return tuple(fields)


@attrs.frozen
class FieldSpec:
    """What a target declares: `for field in spec`, `"year" in spec`, `spec["year"]`.

    Args:
        fields: Its fields, in order.
        dimension: The length of its vectors, or None where it has none.
        distance: `cosine`, `dot`, `euclidean` or `manhattan`.
        embeds: Whether the store can embed a query by itself.

    Raises:
        InvalidQueryError: A name stands twice, or a value is not one of the above.
    """

    fields: tuple[Field, ...] = attrs.field(converter=_fields)
    dimension: int | None = None
    distance: str = "cosine"
    embeds: bool = False

    def __attrs_post_init__(self) -> None:
        if len(self._by_name) < len(self.fields):
            names = [field.name for field in self.fields]
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidQueryError(f"field {twice!r} is declared twice", field=twice)
        dimension = self.dimension
        if dimension is not None and (type(dimension) is not int or dimension < 1):
            raise InvalidQueryError(f"a dimension is an int of at least 1, not {dimension!r}")
        if self.distance not in DISTANCES:
            raise InvalidQueryError(
                f"there is no distance {self.distance!r}; use {', '.join(DISTANCES)}"
            )

    @cached_property
    def _by_name(self) -> dict[str, Field]:
        return {field.name: field for field in self.fields}

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Field:
        return self._by_name[name]


def declared(name: str, spec: FieldSpec) -> Field:
    """The field of that name.

    Raises:
        InvalidQueryError: The target does not declare it. The error names what it declares.
    """
    if isinstance(name, str) and name in spec:
        return spec[name]
    names = [field.name for field in spec]
    near = get_close_matches(name, names, n=1) if isinstance(name, str) else []
    raise InvalidQueryError(
        f"the target declares no field {name!r}; "
        + (f"did you mean {near[0]!r}? It" if near else "it")
        + f" declares {', '.join(names) or 'none'}",
        field=name,
    )


def check(filter: Filter, spec: FieldSpec) -> None:
    """Refuse a filter that `spec` does not serve, before anything is sent.

    An int is a value for a float field; a float is none for an int field.

    Raises:
        InvalidQueryError: A field that is not declared, an operator that its field does not
            serve, a value of another type. The error names the field, the operator, the type and
            what would do.
    """
    for term in predicates(filter):
        _check_term(term, declared(term.field, spec))


def _check_term(term: DeclaredFilter, field: Field) -> None:
    where = f"field {field.name!r} ({field})"
    if term.op not in field.operators:
        raise InvalidQueryError(
            f"{where} does not serve {term.op!r}; it serves {', '.join(field.operators)}",
            field=field.name,
        )
    values = term.value if isinstance(term.value, tuple) else (term.value,)
    if term.value is not None and not all(is_of_type(one, field.type) for one in values):
        wrong = next(one for one in values if not is_of_type(one, field.type))
        raise InvalidQueryError(
            f"{where} {term.op}: the value is {type(wrong).__name__}, give {field.type}",
            field=field.name,
        )


def is_of_type(value: object, type_name: str) -> bool:
    """Whether a portable scalar is a value of a field's type."""
    if type_name == "datetime":
        return kind_of(value) == "datetime"
    return type(value) in _TYPES_OF_VALUE[type_name]


def check_order(order_by: str | None, spec: FieldSpec) -> None:
    """Refuse to order by a field that is not declared or not sortable.

    Raises:
        InvalidQueryError: The error names the fields that are.
    """
    if order_by is None or declared(order_by, spec).sortable:
        return
    able = [field.name for field in spec if field.sortable]
    raise InvalidQueryError(
        f"field {order_by!r} ({spec[order_by]}) is not sortable;"
        f" sortable are {', '.join(able) or 'none'}",
        field=order_by,
    )


def check_record(record: Record, spec: FieldSpec) -> Record:
    """`record` as every store keeps it: numbers of a float field are floats.

    Raises:
        InvalidQueryError: The id is no text or empty, a property is not declared or not of its
            type, a value is not portable, the vector does not fit. The error names the record.
    """
    if not isinstance(record, Record):
        raise InvalidQueryError(f"a Loader takes Records, not {type(record).__name__}")
    who = f"record {portable_name(record.id, f'the id of record {record.id!r}')!r}"
    properties: dict[str, Any] = {}
    for name, value in record.properties.items():
        try:
            field = declared(name, spec)
        except InvalidQueryError as error:
            raise InvalidQueryError(f"{who}: {error}", field=name) from None
        properties[name] = _property(value, field, f"{who}: field {name!r}")
    if record.vector is not None:
        check_vector(record.vector, spec.dimension, spec.distance, what=f"{who}: the vector")
    return Record(record.id, Properties(properties), record.vector)


def check_records(records: Iterable[Record], spec: FieldSpec) -> list[Record]:
    """The records that a Loader was given, each checked; of two with one id the last.

    Raises:
        InvalidQueryError: They are not several, or one is not as `check_record` wants it.
    """
    checked = (check_record(each, spec) for each in listed(records, "record"))
    return list({each.id: each for each in checked}.values())


def check_spec(spec: object, *, store: str) -> None:
    """Refuse a spec that no store which does not embed can create a target with.

    Args:
        spec: What `create` was given.
        store: The name of the store, for the error.

    Raises:
        InvalidQueryError: It is no FieldSpec, or says that the store embeds.
    """
    if not isinstance(spec, FieldSpec):
        raise InvalidQueryError(f"a spec must be a FieldSpec, not {type(spec).__name__}")
    if spec.embeds:
        raise InvalidQueryError(f"{store} does not embed queries; leave embeds out")


def _property(value: Any, field: Field, what: str) -> Any:
    if isinstance(value, tuple) is not field.many:
        shape = "a list" if isinstance(value, tuple) else "one value"
        raise InvalidQueryError(f"{what} is {field} and holds {shape}", field=field.name)
    if field.many:
        return tuple(_scalar(one, field, what) for one in value)
    return _scalar(value, field, what)


def _scalar(value: Any, field: Field, what: str) -> Any:
    plain = portable(value, what)
    if not is_of_type(plain, field.type):
        raise InvalidQueryError(
            f"{what} is {field} and the value {type(value).__name__}; give {field.type}",
            field=field.name,
        )
    return float(plain) if field.type == "float" else plain  # type: ignore[arg-type]
