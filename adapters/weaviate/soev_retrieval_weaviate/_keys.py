"""Values as text that Weaviate asks, orders and keeps exactly.

Its own text loses white space at the edges, sorts without regard to case and takes the empty one for
none; its own dates end in 2262. A key has none of that: `x` and the UTF-8 of a text in hexadecimal,
or the microseconds of a datetime in 18 digits. The order of keys is that of the values.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

_START = datetime(1, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

BEHIND = "g"
"""Comes behind every hexadecimal digit, as digits are compared."""


def text_key(text: str) -> str:
    """A text as a key."""
    return "x" + text.encode().hex()


def time_key(time: datetime) -> str:
    """A datetime of UTC as a key."""
    return f"{(time - _START) // _MICROSECOND:018d}"


KEYS: dict[str, Callable[[Any], str]] = {"text": text_key, "datetime": time_key}
"""The types of which a key is kept beside the value."""
