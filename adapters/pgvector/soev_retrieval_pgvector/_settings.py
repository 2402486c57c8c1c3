"""What each connection of a store is set to."""

import math

from soev_retrieval.domain import check_count, check_seconds

# PostgreSQL counts milliseconds in an int, and takes 0 for no limit at all.
LONGEST = 2_000_000


def of_connections(ef_search: int, statement_seconds: float | None) -> dict[str, str]:
    """What each connection is set to. hnsw and ivfflat go on until they have brought enough."""
    settings = {
        "client_encoding": "UTF8",
        "TimeZone": "UTC",
        "DateStyle": "ISO",
        "extra_float_digits": "1",
        "standard_conforming_strings": "on",
        "jit": "off",  # what it takes to compile is more than any of these searches
        "hnsw.ef_search": str(check_count(ef_search, "ef_search", most=1_000)),
        "hnsw.iterative_scan": "relaxed_order",
        "ivfflat.iterative_scan": "relaxed_order",
    }
    if statement_seconds is not None:
        milliseconds = math.ceil(
            check_seconds(statement_seconds, "statement_seconds", most=LONGEST) * 1000
        )
        settings["statement_timeout"] = f"{milliseconds}ms"
    return settings
