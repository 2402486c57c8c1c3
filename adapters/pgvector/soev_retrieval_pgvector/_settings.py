"""The settings of a store, checked, and those of its connections."""

import math

from soev_retrieval.domain import InvalidQueryError


def number(value: float, what: str, *, most: float = math.inf) -> float:
    """`value`, where it is a number from 0 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        up = "" if most == math.inf else f" to {most:g}"
        raise InvalidQueryError(f"{what} must be a number from 0{up}, not {value!r}")
    return float(value)


def whole(value: int, what: str, *, most: float = math.inf) -> int:
    """`value`, where it is an int from 1 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        up = "" if most == math.inf else f" to {most:,}"
        raise InvalidQueryError(f"{what} must be an int from 1{up}, not {value!r}")
    return value


def seconds(value: float, what: str) -> float:
    """`value`, where it is a time."""
    # PostgreSQL counts milliseconds in an int, and takes 0 for no limit at all.
    if (given := number(value, what, most=2_000_000)) == 0:
        raise InvalidQueryError(f"{what} must be above 0")
    return given


def of_connections(ef_search: int, statement_seconds: float | None) -> dict[str, str]:
    """What each connection is set to. hnsw and ivfflat go on until they have brought enough."""
    settings = {
        "client_encoding": "UTF8",
        "TimeZone": "UTC",
        "DateStyle": "ISO",
        "extra_float_digits": "1",
        "standard_conforming_strings": "on",
        "jit": "off",  # what it takes to compile is more than any of these searches
        "hnsw.ef_search": str(whole(ef_search, "ef_search", most=1_000)),
        "hnsw.iterative_scan": "relaxed_order",
        "ivfflat.iterative_scan": "relaxed_order",
    }
    if statement_seconds is not None:
        milliseconds = math.ceil(seconds(statement_seconds, "statement_seconds") * 1000)
        settings["statement_timeout"] = f"{milliseconds}ms"
    return settings
