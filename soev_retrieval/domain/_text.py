"""The text form of a filter: what `str(filter)` writes and `parse` reads back to the same value."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import attrs

from soev_retrieval.domain._errors import InvalidQueryError
from soev_retrieval.domain._filters import (
    MAX_DEPTH,
    NOTHING,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Filter,
    Not,
)
from soev_retrieval.domain._json import read_datetime
from soev_retrieval.domain._operators import OPERATORS, WITH_SEQUENCE, WITHOUT_VALUE
from soev_retrieval.domain._words import NAME, RESERVED, SIGNS

_JSON = json.JSONDecoder(strict=False)  # control characters may stand in text as they are
_OPERATOR_OF = {SIGNS.get(op, op): op for op in OPERATORS}
_TOKEN = re.compile(
    rf"""
      (?P<space>\s+)
    | (?P<datetime>\d{{4}}-\d\d-\d\d(?:[T][\d:.]+(?:Z|[+-][\d:.]+)?)?)
    | (?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    | (?P<text>"(?:[^"\\]|\\.)*")
    | (?P<mark>==|!=|>=|<=|[><()\[\],])
    | (?P<word>{NAME})
    """,
    re.VERBOSE | re.DOTALL,
)


class _Token(NamedTuple):
    kind: str
    text: str
    place: int


_END = "end"


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise _unreadable(_Token("", text[place], place), "a name, a value or an operator")
        if found.lastgroup != "space":
            yield _Token(str(found.lastgroup), found.group(), place)
        place = found.end()
    yield _Token(_END, "the end", place)


def _unreadable(token: _Token, wanted: str) -> InvalidQueryError:
    found = token.text if len(token.text) <= 20 else token.text[:20] + "…"
    return InvalidQueryError(
        f"the filter cannot be read at character {token.place + 1}: expected {wanted}, found {found}"
    )


def _from_json_text(token: _Token) -> Any:
    try:
        return _JSON.decode(token.text)
    except ValueError:  # an escape that JSON does not have, a number of thousands of digits
        raise _unreadable(token, "text or a number as JSON writes it") from None


@attrs.define
class _Open:
    """An expression that is being read: the whole text, or what stands in parentheses."""

    opened_by: str
    finished: list[Filter] = attrs.field(factory=list)  # the expressions before a comma
    alternatives: list[list[Filter]] = attrs.field(factory=lambda: [[]])  # or of ands
    negations: int = 0

    def take(self, operand: Filter) -> None:
        for _ in range(self.negations):
            operand = Not(operand)
        self.negations = 0
        self.alternatives[-1].append(operand)

    def finish(self) -> None:
        ands = [AllOf(each) if len(each) > 1 else each[0] for each in self.alternatives]
        self.finished.append(AnyOf(ands) if len(ands) > 1 else ands[0])
        self.alternatives = [[]]

    def whole(self) -> Filter:
        if self.opened_by == "all":
            return AllOf(self.finished)
        return AnyOf(self.finished) if self.opened_by == "any" else self.finished[0]


def parse(text: str) -> Filter:
    """The filter that `text` writes.

    `and` binds tighter than `or`; parentheses group; a field whose name is no word stands in
    double quotes, as text does, with the escapes of JSON; datetimes are ISO 8601 with an offset.

    Args:
        text: Such as `year >= 2020 and not (status in ["draft", "void"])`.

    Raises:
        InvalidQueryError: The text cannot be read (the error says where), or the filter it writes
            is refused.
    """
    if not isinstance(text, str):
        raise InvalidQueryError(f"parse takes text, not {type(text).__name__}")
    return _Reader(_tokens(text)).read()


class _Reader:
    """Reads with a stack of its own, so that no text is too deep for Python's."""

    def __init__(self, tokens: Iterator[_Token]) -> None:
        self._tokens = tokens
        self._ahead = next(tokens)
        self._stack = [_Open("")]

    def read(self) -> Filter:
        while True:
            self._read_operand()
            while self._read_after_operand():
                if not self._stack[-1].opened_by and self._ahead.kind == _END:
                    self._stack[-1].finish()
                    return self._stack[-1].whole()

    def _next(self) -> _Token:
        token = self._ahead
        self._ahead = next(self._tokens, token)
        return token

    def _read_operand(self) -> None:
        """One operand, with the negations and opening parentheses before it."""
        while True:
            top, token = self._stack[-1], self._next()
            if token.text == "not" and token.kind == "word":
                top.negations += 1
            elif token.text == "(" or token.text in ("all", "any"):
                self._open(token)
                if self._closes_at_once():
                    return
            else:
                nothing = token.kind == "word" and token.text == "nothing"
                top.take(NOTHING if nothing else self._read_term(token))
                return

    def _open(self, token: _Token) -> None:
        if token.text != "(" and self._next().text != "(":
            raise _unreadable(token, f"( after {token.text}, or the name in double quotes")
        if len(self._stack) > MAX_DEPTH:
            raise InvalidQueryError(f"the filter nests more than {MAX_DEPTH} deep; flatten it")
        self._stack.append(_Open(token.text))

    def _closes_at_once(self) -> bool:
        """`all()` and `any()` hold no expression."""
        if self._ahead.text != ")" or self._stack[-1].opened_by == "(":
            return False
        self._next()
        closed = self._stack.pop()
        self._stack[-1].take(closed.whole())
        return True

    def _read_after_operand(self) -> bool:
        """What follows an operand: True where the expression may end or go on after it."""
        top = self._stack[-1]
        if self._ahead.kind == _END and not top.opened_by:
            return True
        token = self._next()
        if token.kind == "word" and token.text == "and":
            return False
        if token.kind == "word" and token.text == "or":
            top.alternatives.append([])
            return False
        if token.text == "," and top.opened_by in ("all", "any"):
            top.finish()
            return False
        if token.text == ")" and top.opened_by:
            top.finish()
            self._stack.pop()
            self._stack[-1].take(top.whole())
            return True
        raise _unreadable(token, "and, or" + (", )" if top.opened_by else " or the end"))

    def _read_term(self, name: _Token) -> Filter:
        if name.kind == "text":
            field = _from_json_text(name)
        elif name.kind == "word" and name.text not in RESERVED:
            field = name.text
        else:
            raise _unreadable(name, "the name of a field (in double quotes where it is no word)")
        op = self._read_operator()
        return DeclaredFilter(field, op, None if op in WITHOUT_VALUE else self._read_value(op))

    def _read_operator(self) -> str:
        token = self._next()
        if token.kind == "word" and token.text == "not" and self._ahead.text == "in":
            self._next()
            return "not_in"
        if token.kind not in ("mark", "word") or token.text not in _OPERATOR_OF:
            raise _unreadable(token, f"an operator ({' '.join(_OPERATOR_OF)})")
        return _OPERATOR_OF[token.text]

    def _read_value(self, op: str) -> Any:
        if op not in WITH_SEQUENCE:
            return self._read_scalar()
        if (token := self._next()).text != "[":
            raise _unreadable(token, f"[ and a list of values after {op}")
        values: list[Any] = []
        while self._ahead.text != "]":
            values.append(self._read_scalar())
            if self._ahead.text == ",":
                self._next()
            elif self._ahead.text != "]":
                raise _unreadable(self._ahead, ", or ]")
        self._next()
        return values

    def _read_scalar(self) -> Any:
        token = self._next()
        if token.kind in ("text", "number"):
            return _from_json_text(token)
        if token.kind == "datetime":
            return read_datetime(token.text)
        if token.kind == "word" and token.text in ("true", "false"):
            return token.text == "true"
        raise _unreadable(
            token, "a value: text in double quotes, a number, true, false, a datetime"
        )
