"""Collections that are already there, as a configuration describes them, and names on the server."""

import re
from collections.abc import Iterable
from typing import Any

import attrs

from soev_retrieval.domain import InvalidQueryError

CONSISTENCIES = ("ONE", "QUORUM", "ALL")

_COLLECTION = re.compile(r"[A-Za-z][_0-9A-Za-z]{0,254}", re.ASCII)
_PROPERTY = re.compile(r"[_A-Za-z][_0-9A-Za-z]{0,230}", re.ASCII)
_TENANT = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def collection_name(name: object, what: str) -> str:
    """The name of a collection as the server writes it: it begins with a capital.

    Names stand in URLs, so one that is more than a name is refused here.

    Raises:
        InvalidQueryError: No collection can have the name.
    """
    if isinstance(name, str) and _COLLECTION.fullmatch(name):
        return name[0].upper() + name[1:]
    raise InvalidQueryError(
        f"{what} must be letters, digits and '_', a letter first, up to 255, not {name!r}"
    )


def _name(of: object, what: "attrs.Attribute[Any]", value: Any) -> None:
    collection_name(value, "the name of a collection")


def _tenant(of: object, what: "attrs.Attribute[Any]", value: Any) -> None:
    if not (isinstance(value, str) and _TENANT.fullmatch(value)):
        raise InvalidQueryError(
            f"a tenant must be letters, digits, '_' and '-', up to 64, not {value!r}"
        )


def _property(of: object, what: "attrs.Attribute[Any]", value: Any) -> None:
    if value is not None and not (isinstance(value, str) and _PROPERTY.fullmatch(value)):
        raise InvalidQueryError(f"{what.name} must be the name of one, or None, not {value!r}")


def _consistency(of: object, what: "attrs.Attribute[Any]", value: Any) -> None:
    if value is not None and value not in CONSISTENCIES:
        raise InvalidQueryError(
            f"there is no consistency {value!r}; use {', '.join(CONSISTENCIES)}, or None"
        )


def _properties(names: Any) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InvalidQueryError(f"properties must be a list of names, not {names!r}; give [name]")
    given = tuple(names)
    for each in given:
        if not (isinstance(each, str) and _PROPERTY.fullmatch(each)):
            raise InvalidQueryError(f"no property can be named {each!r}")
    return given


@attrs.frozen
class Collection:
    """A collection that is already there, and of it what Weaviate does not tell.

    Its properties are the fields, spelled as in the schema; what each serves, the schema says too.
    An object, a reference, a geo coordinate, a phone number and a blob are none.

    Args:
        name: The name of the collection.
        tenant: The tenant that is the target, where the collection has tenants.
        id: The property with the chunk's id, a text that no other object has, with the tokenization
            `field`; None where the object's UUID is the chunk's id.
        vector: The name of the vector, None for the only one.
        searchable: The properties that `bm25` and `hybrid` look in; None for all that have an index
            of words. Over one, a search is one small request; over several, the true best take some.
        consistency: How many replicas have to answer: `ONE`, `QUORUM` or `ALL`; None for the
            server's default.
        trimmed: The text properties of which no value has white space at its edges. Weaviate cannot
            tell `a` from `a ` in them, so what this says is believed: without it only equality is
            served, and what is found is looked at again here.
        recheck: The text properties that the server can only ask roughly, such as those that are cut
            into words, but that filters may name: what it finds is looked at again here. It may have
            to find many more for that; where more than a page of them does not suffice, the search
            is refused.

    Raises:
        InvalidQueryError: A name or a setting is none of the above.
    """

    name: str = attrs.field(validator=_name)
    tenant: str | None = attrs.field(default=None, validator=attrs.validators.optional(_tenant))
    id: str | None = attrs.field(default=None, validator=_property)
    vector: str | None = attrs.field(default=None, validator=_property)
    searchable: tuple[str, ...] | None = attrs.field(
        default=None, converter=attrs.converters.optional(_properties)
    )
    consistency: str | None = attrs.field(default=None, validator=_consistency)
    trimmed: tuple[str, ...] = attrs.field(default=(), converter=_properties)
    recheck: tuple[str, ...] = attrs.field(default=(), converter=_properties)

    def __str__(self) -> str:
        return self.name if self.tenant is None else f"{self.name}/{self.tenant}"


@attrs.frozen
class Tenant:
    """A target that `create` makes as one tenant of a collection.

    Args:
        collection: The name of the collection. All tenants of it have one spec.
        name: The name of the tenant.

    Raises:
        InvalidQueryError: One of them is no such name.
    """

    collection: str = attrs.field(validator=_name)
    name: str = attrs.field(validator=_tenant)

    def __str__(self) -> str:
        return f"{self.collection}/{self.name}"
