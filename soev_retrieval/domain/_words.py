"""The words of the text form: how names, operators and values are written."""

import json
import re
from datetime import datetime

from soev_retrieval.domain._operators import OPERATORS

SIGNS = {"eq": "==", "ne": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
RESERVED = {"and", "or", "not", "all", "any", "nothing", "true", "false", *OPERATORS}
NAME = r"[^\W\d][\w.]*"
"""A name that needs no quotes, as a pattern."""


def written_term(field: str, op: str, value: object) -> str:
    """One predicate, such as `year >= 2020`."""
    bare = re.fullmatch(NAME, field) and field not in RESERVED
    name = field if bare else _written(field)
    sign = "not in" if op == "not_in" else SIGNS.get(op, op)
    return f"{name} {sign}" if value is None else f"{name} {sign} {_written(value)}"


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False)
