"""How Go reads and writes what the server keeps: times, numbers, UUIDs, names of types."""

import math
import re
import struct
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)", re.ASCII
)
_EPOCH = date(1970, 1, 1).toordinal()
_TYPES = {str: "string", int: "int", float: "float64", bool: "bool", type(None): "<nil>"}


def parsed_time(text: str) -> tuple[int, str] | None:
    """Nanoseconds since 1970, as many as there are, and the text as it is given back."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    fraction, zone = (match[7] or "")[:9], match[8]
    # `date` knows no year 0; any 400 years have the same days.
    try:
        days = date(year % 400 + 400, month, day).toordinal() - _EPOCH
    except ValueError:
        return None
    offset = 0 if zone == "Z" else (int(zone[1:3]) * 60 + int(zone[4:])) * 60
    if hour > 23 or minute > 59 or second > 59 or (zone != "Z" and int(zone[4:]) > 59):
        return None
    offset = -offset if zone[0] == "-" else offset
    days += (year // 400 - 1) * 146_097
    seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset
    digits = fraction.rstrip("0")
    said = f"{text[:10]}T{hour:02}:{minute:02}:{second:02}{'.' if digits else ''}{digits}"
    return seconds * 10**9 + int(fraction.ljust(9, "0")), said + ("Z" if offset == 0 else zone)


def parsed_uuid(text: str) -> str | None:
    """A UUID in the form in which it is given back; None is no UUID."""
    if len(text) == 45 and text.lower().startswith("urn:uuid:"):
        text = text[9:]
    if len(text) == 38:
        text = text[1:-1]
    dashed = len(text) == 36 and all(text[each] == "-" for each in (8, 13, 18, 23))
    digits = text.replace("-", "") if dashed else text
    if not re.fullmatch("[0-9a-fA-F]{32}", digits):
        return None
    return str(UUID(digits))


def uuid_error(text: str) -> str:
    """Why a text is no UUID."""
    wrong = len(text) not in (32, 36, 38, 45)
    return f"invalid UUID length: {len(text.encode())}" if wrong else "invalid UUID format"


def number(value: float) -> str:
    """A float64 by `%v`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    shortest = Decimal(repr(value)).normalize()
    if value == 0 or -4 <= shortest.adjusted() < 21:
        return format(shortest, "f")
    digits, power = "".join(map(str, shortest.as_tuple().digits)), shortest.adjusted()
    mantissa = digits[0] + ("." + digits[1:] if digits[1:] else "")
    return f"{'-' if value < 0 else ''}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02}"


def plain(value: Any) -> str:
    """A value by `%v`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list):
        return f"[{' '.join(map(plain, value))}]"
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{plain(value[key])}' for key in sorted(value))}]"
    return str(value)


def type_name(value: Any) -> str:
    """A value's type by `%T`, of a filter's value or of one in JSON."""
    if isinstance(value, list):
        return f"[]{type_name(value[0])}" if value else "[]string"
    return _TYPES.get(type(value), "map[string]interface {}")


def int_key(value: int) -> bytes:
    """An int64 as the server orders it by its bytes; one that is too large has wrapped."""
    return struct.pack(">Q", (value + 2**63) % 2**64)


def float_key(value: float) -> bytes:
    """A float64 as the server orders it by its bytes."""
    key = struct.pack(">d", 0.0 if value == 0 else value)
    if value >= 0:
        return bytes([key[0] ^ 0x80]) + key[1:]
    return bytes(each ^ 0xFF for each in key)


def as_int64(value: float) -> int:
    """A float64 converted to int64, as amd64 does what does not fit."""
    if not math.isfinite(value) or not -(2**63) <= value < 2**63:
        return -(2**63)
    return int(value)


def escaped(text: str) -> str:
    """A text within JSON, without its quotes."""
    return re.sub(r'["\\\x00-\x1f<>&\u2028\u2029]', _escape, text)


def _escape(match: re.Match[str]) -> str:
    short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r"}
    return (short | {"\t": "\\t"}).get(match[0]) or f"\\u{ord(match[0]):04x}"
