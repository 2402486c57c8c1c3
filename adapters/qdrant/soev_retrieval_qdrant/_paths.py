"""Where a field is in a payload: a path of segments, quoted one by one."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs

from soev_retrieval.domain import InvalidQueryError, portable_name

_SEGMENT = re.compile(r'(?:"(?P<quoted>[^"\\]+)"|(?P<bare>[^".\[\]\\]+))(?P<each>\[\])?(?:\.|\Z)')
_BARE = re.compile(r"(?:[^\W_]|[_-])+")


@attrs.frozen
class Path:
    """A place in a payload.

    Args:
        segments: The keys from the outermost in, each with whether the list under it is gone
            through, element by element.
    """

    segments: tuple[tuple[str, bool], ...]

    @classmethod
    def of(cls, *keys: str) -> "Path":
        """The path through these keys, whatever characters they hold.

        Raises:
            InvalidQueryError: A key is empty, or holds a quotation mark or a backslash, which
                Qdrant cannot address (local mode could address the last, a server does not).
        """
        for key in keys:
            if not key or '"' in key or "\\" in key:
                raise InvalidQueryError(
                    f"the payload key {key!r} cannot be addressed: Qdrant has no way to ask for a"
                    " key that is empty, or holds a quotation mark or a backslash; use another one",
                    field=key,
                )
        return cls(tuple((portable_name(key, "a payload key"), False) for key in keys))

    @classmethod
    def parse(cls, text: str) -> "Path":
        """The path that Qdrant's own notation says: `meta.year`, `pages[].text`, `"a.b".c`.

        Raises:
            InvalidQueryError: It is none.
        """
        text = portable_name(text, "a payload path")
        segments: list[tuple[str, bool]] = []
        at = 0
        while at < len(text):
            if (found := _SEGMENT.match(text, at)) is None:
                raise InvalidQueryError(
                    f"{text!r} is no payload path; write keys with dots between them, each in"
                    ' quotation marks where it holds a dot or a bracket, such as meta.year or "a.b"'
                )
            segments.append((found["quoted"] or found["bare"], found["each"] is not None))
            at = found.end()
        if text.endswith("."):
            raise InvalidQueryError(f"{text!r} is no payload path; it ends in a dot")
        return cls(tuple(segments))

    def inside(self, *keys: str) -> "Path":
        """The path through these keys under this one."""
        return Path((*self.segments, *Path.of(*keys).segments))

    @property
    def many(self) -> bool:
        """Whether it goes through a list on its way."""
        return any(each for _, each in self.segments)

    @property
    def quoted(self) -> str:
        """The path as Qdrant takes it, whatever characters are in it."""
        return ".".join(f"{_quoted(key)}{'[]' if each else ''}" for key, each in self.segments)

    @property
    def written(self) -> str:
        """The path as people write it: a key in quotation marks only where it needs them."""
        return ".".join(
            f"{key if _BARE.fullmatch(key) else _quoted(key)}{'[]' if each else ''}"
            for key, each in self.segments
        )

    def read(self, payload: Mapping[str, Any]) -> Any:
        """What is there: None where nothing is, a list where the path goes through one."""
        if self._key is not None:
            return payload.get(self._key)
        return _read(payload, self.segments)

    @cached_property
    def _key(self) -> str | None:
        """The key of a path that is no more than one."""
        [(key, each), *more] = self.segments
        return None if each or more else key

    def __str__(self) -> str:
        return self.quoted


def _quoted(key: str) -> str:
    return f'"{key}"'


def _read(value: Any, segments: Sequence[tuple[str, bool]]) -> Any:
    for at, (key, each) in enumerate(segments):
        if not isinstance(value, dict) or (value := value.get(key)) is None:
            return None
        if each:
            if not isinstance(value, list):
                return None
            found = [_read(one, segments[at + 1 :]) for one in value]
            return [one for some in found for one in (some if isinstance(some, list) else [some])]
    return value
