"""Text and UUIDs of a collection that was there before: what of them Weaviate tells exactly."""

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import attrs
from weaviate.classes.query import Filter
from weaviate.collections.classes.filters import _Filters as Condition

from soev_retrieval.domain import InvalidQueryError
from soev_retrieval_weaviate._sources import (
    ALWAYS,
    NEVER,
    Held,
    any_of,
    compared,
    not_asked,
    one_of,
)

_WHITE = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000").union(
    map(chr, range(0x2000, 0x200B))
)
"""What Go's TrimSpace takes away."""

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be but by for if in into is it no not of on or such that the their then"
        " there these they this to was will with",
    )
)
"""Weaviate's own, of its preset `en`."""


@attrs.frozen
class Text(Held):
    """Text of the tokenization `field`, which is one token without the white space at its edges.

    Args:
        field: The field.
        read_from: The property where it is.
        has_nulls: Whether the collection has an index of what is null.
        is_trimmed: Whether no value has white space at its edges.
        dropped: The stop words, where the server drops them from what is asked.
    """

    has_nulls: bool = True
    is_trimmed: bool = False
    dropped: frozenset[str] = frozenset()

    def equals(self, values: Sequence[Any]) -> Condition:
        """As in `Source`; of values that may not be trimmed, those that are so when they are too."""
        if not self.is_trimmed:
            asked = list(dict.fromkeys(self._asked(_trimmed(value)) for value in values))
            return one_of(self.read_from, asked, many=self.field.many)
        possible = [self._asked(value) for value in values if value == _trimmed(value)]
        return one_of(self.read_from, possible, many=self.field.many) if possible else NEVER

    def compares(self, op: str, value: Any) -> Condition:
        """As in `Source`. What has white space at its edges, no value is: it is before or behind."""
        bound = self._asked(_bound(value))
        if bound != value:
            op = "gte" if op in {"gt", "gte"} else "lt"
        return compared(self.read_from, op, bound)

    def begins(self, text: str) -> Condition:
        """As in `Source`."""
        if not text:
            return self.exists
        by = Filter.by_property(self.read_from)
        from_there = by.greater_or_equal(self._asked(_bound(text)))
        behind = _behind(text)
        return from_there & by.less_than(self._asked(_bound(behind))) if behind else from_there

    def _asked(self, text: str) -> str:
        if text not in self.dropped:
            return text
        raise InvalidQueryError(
            f"field {self.field.name!r}: {text!r} is a stop word of the collection, and a Weaviate of"
            " this version drops those from filters; update the server, or name the property in"
            " the recheck of its Collection",
            field=self.field.name,
        )

    @property
    def exists(self) -> Condition:
        """As in `Source`: the empty text is one, and null to the server."""
        by = Filter.by_property(self.read_from)
        if not self.has_nulls:
            return by.greater_or_equal("")
        some = by.is_none(False)
        return some if self.field.many else some | by.equal("")


@attrs.frozen
class Cut:
    """How the server cuts text into tokens, as far as to know whether any come of it.

    Args:
        tokenization: What Weaviate calls it.
        stop_words: The words that may be dropped; more of them than are does no harm.
    """

    tokenization: str
    stop_words: frozenset[str] = STOP_WORDS

    def leaves(self, text: str) -> bool:
        """Whether a token comes of a text for certain: one of none is an error to ask for."""
        words = [word for word in _words(self.tokenization, text) if word]
        return not self.stop_words.issuperset(words)


def _words(tokenization: str, text: str) -> list[str]:
    """The tokens of a text. Older servers look for stop words among all of them."""
    small = text.replace("\u0130", "i").lower()
    match tokenization:
        case "field":
            return [_trimmed(text) or "-"]  # the empty text is a token too
        case "lowercase" | "whitespace":
            return re.split(f"[{''.join(_WHITE)}]+", small)
        case "trigram":
            joined = "".join(filter(str.isalnum, small))
            return [joined[at : at + 3] for at in range(len(joined) - 2)]
        case _:
            return re.findall(r"[^\W_]+", small)


@attrs.frozen
class Words(Held):
    """Text that is cut into words: who asks for one that is equal finds others too.

    Args:
        field: The field.
        read_from: The property where it is.
        cut: How it is cut, or None where the server cannot be asked, or nobody knows.
    """

    cut: Cut | None = None

    def equals(self, values: Sequence[Any]) -> Condition:
        """Those that are equal, and more."""
        if self.cut is None or not all(map(self.cut.leaves, values)):
            return ALWAYS
        by = Filter.by_property(self.read_from)
        return any_of([by.equal(value) for value in values])

    def compares(self, op: str, value: Any) -> Condition:
        """As in `Source`."""
        raise not_asked(self.field)

    @property
    def exists(self) -> Condition:
        """As in `Source`."""
        raise not_asked(self.field)


@attrs.frozen
class Uuids(Held):
    """UUIDs, which are text as they are usually written.

    Args:
        field: The field.
        read_from: The property where it is.
        has_nulls: Whether the collection has an index of what is null.
    """

    has_nulls: bool = True

    def equals(self, values: Sequence[Any]) -> Condition:
        """As in `Source`."""
        possible = [value for value in values if _is_uuid(value)]
        return one_of(self.read_from, possible, many=self.field.many) if possible else NEVER

    def compares(self, op: str, value: Any) -> Condition:
        """As in `Source`."""
        if not _is_uuid(value):
            raise InvalidQueryError(
                f"field {self.field.name!r} {op}: it holds UUIDs; give one, in small letters",
                field=self.field.name,
            )
        return compared(self.read_from, op, value)

    @property
    def exists(self) -> Condition:
        """As in `Source`."""
        by = Filter.by_property(self.read_from)
        if self.has_nulls:
            return by.is_none(False)
        return by.greater_or_equal(str(UUID(int=0)))

    def read(self, value: Any) -> Any:
        """As in `Source`."""
        return tuple(str(one) for one in value) if self.field.many else str(value)


def _is_uuid(value: str) -> bool:
    try:
        return str(UUID(value)) == value
    except ValueError:
        return False


def _trimmed(text: str) -> str:
    """What Go's TrimSpace leaves of a text."""
    return text.strip("".join(_WHITE))


def _bound(text: str) -> str:
    """The first text without white space at its edges that does not come before `text`."""
    if text == _trimmed(text):
        return text
    if text[0] not in _WHITE:
        return text + "\0"
    behind = ord(text[0]) + 1
    while chr(behind) in _WHITE:
        behind += 1
    return chr(behind)


def _behind(text: str) -> str | None:
    """The first text behind all that begin with `text`, or None where there is none."""
    while text:
        last = ord(text[-1]) + 1
        if last == 0xD800:
            last = 0xE000
        if last <= 0x10FFFF:
            return text[:-1] + chr(last)
        text = text[:-1]
    return None
