"""Settings, checked."""

import math

from soev_retrieval.domain import InvalidQueryError


def number(value: float, what: str, *, most: float = math.inf) -> float:
    """`value`, where it is a finite number from 0 to `most`."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or not 0 <= value <= most
    ):
        up = "" if most == math.inf else f" to {most:g}"
        raise InvalidQueryError(f"{what} must be a number from 0{up}, not {value!r}")
    return float(value)


def whole(value: int, what: str) -> int:
    """`value`, where it is an int from 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidQueryError(f"{what} must be an int from 1, not {value!r}")
    return value


def seconds(value: float, what: str) -> float:
    """`value`, where it is a time above 0."""
    if (given := number(value, what)) == 0:
        raise InvalidQueryError(f"{what} must be above 0")
    return given
