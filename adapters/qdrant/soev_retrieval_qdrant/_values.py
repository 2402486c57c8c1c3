"""What a value of a payload is, as the server takes it."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from qdrant_client.local.datetime_utils import parse as parsed_datetime


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _int(value: Any) -> int | None:
    return value if type(value) is int else None


def _float(value: Any) -> float | None:
    try:
        return float(value) if type(value) in {int, float} else None
    except OverflowError:
        return None


def _bool(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


_USUAL = re.compile(
    r"\d{4}-\d\d-\d\d[T ]([01]\d|2[0-3]):\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?", re.ASCII
)


def _datetime(value: Any) -> datetime | None:
    """What the server takes for a time, which is more, and less, than Python does."""
    if not isinstance(value, str):
        return None
    if _USUAL.fullmatch(value) is None:
        return parsed_datetime(value)
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


_UUID = re.compile(
    r"[0-9a-f]{32}|(?P<open>\{|urn:uuid:)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?(open)\}?)",
    re.ASCII | re.IGNORECASE,
)


def uuid_of(text: str) -> str | None:
    """The UUID that a text is for a uuid index, in its usual form; None where it is none."""
    if _UUID.fullmatch(text) is None or text.startswith("{") is not text.endswith("}"):
        return None
    return str(UUID(text.lower()))


def _uuid(value: Any) -> str | None:
    return (uuid_of(value) or value) if isinstance(value, str) else None


READS: Mapping[str, Callable[[Any], Any]] = {
    "text": _text,
    "uuid": _uuid,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "datetime": _datetime,
}
"""What a value of a payload is as one of a field's type; None where it is none."""
