"""What the server refuses and local mode takes, or words otherwise."""

from typing import Any
from uuid import UUID

from qdrant_client import models

from tests.adapters.qdrant._standin_answers import RefusedError
from tests.adapters.qdrant._standin_documents import parts

_OF_NO_VECTOR = (
    models.FusionQuery,
    models.RrfQuery,
    models.OrderByQuery,
    models.SampleQuery,
    models.FormulaQuery,
    models.TextQuery,
)

_WORDS = {
    "Unnamed vectors are not allowed": "Not existing vector name error: ",
    "Offset is not supported": "Cannot use an `offset` when using `order_by`. The alternative for "
    "paging is to use `order_by.start_from` and a filter to exclude the IDs that you've already "
    "seen for the `order_by.start_from` value",
    "Cannot perform fusion": "Validation failed: cannot apply Fusion without prefetches",
}
"""What local mode says, by its first words, and the server's words for it."""


def check_name(name: str, *, rest: bool, strict: bool) -> None:
    """No characters that a name may not have; `strict` is for a name that is new."""
    bad = next((each for each in ('<>:"/\\|?*\0\x1f' if strict else "/\0") if each in name), None)
    if bad is not None:
        raise RefusedError(
            "invalid",
            f"Validation error in {'path parameters' if rest else 'body'}: "
            f'[collection_name: collection name cannot contain "{bad}" char]',
        )


def check_limits(body: Any, *, rest: bool) -> None:
    """No limit below 1."""
    for part in parts(body):
        limit = getattr(part, "limit", None)
        if isinstance(limit, int) and limit < 1:
            within = "scroll_request" if isinstance(part, models.ScrollRequest) else "internal"
            raise RefusedError(
                "invalid",
                f"Validation error in {'JSON body' if rest else 'body'}: "
                f"[{f'{within}.' if rest else ''}limit: value {limit} invalid, "
                "must be 1 or larger]",
            )


def check_ids(body: Any, *, rest: bool) -> None:
    """No id but unsigned integers and UUIDs."""
    for part in parts(body):
        for name in ("id", "ids", "points", "has_id", "offset"):
            given = getattr(part, name, None)
            for id in given if isinstance(given, list) else [given]:
                if isinstance(id, int | str) and not _is_id(id):
                    raise RefusedError(
                        "bad input",
                        f"Format error in JSON body: value {id} is not a valid point ID, "
                        "valid values are either an unsigned integer or a UUID"
                        if rest
                        else f"Unable to parse UUID: {id}",
                    )


def check_version(version: str, body: Any, *, rest: bool) -> None:
    """Nothing that the server has from 1.20 only."""
    if tuple(map(int, version.split(".")[:2])) >= (1, 20):
        return
    for part in parts(body):
        if isinstance(part, models.TextQuery | models.MatchSubstring):
            query = isinstance(part, models.TextQuery)
            if rest:
                text = "Format error in JSON body: " + (
                    "Expected some form of vector, id, or a type of query"
                    if query
                    else "data did not match any variant of untagged enum MatchInterface"
                )
            else:
                text = "Query variant is missing" if query else "Malformed Match condition"
            raise RefusedError("bad input", text)


def check_query(
    params: models.CollectionParams, part: models.QueryRequest | models.Prefetch
) -> None:
    """A vector that there is, and of its size: local mode looks only where there are points."""
    query, using = part.query, part.using or ""
    if query is None or isinstance(query, _OF_NO_VECTOR):
        return
    dense = params.vectors if isinstance(params.vectors, dict) else {"": params.vectors}
    sparse = params.sparse_vectors or {}
    if using not in dense and using not in sparse:
        raise RefusedError("bad input", f"Wrong input: Not existing vector name error: {using}")
    vector = query.nearest if isinstance(query, models.NearestQuery) else query
    expected = dense.get(using)
    if isinstance(vector, models.SparseVector if expected else list):
        raise RefusedError(
            "bad input", "Wrong input: Conversion between sparse and regular vectors failed"
        )
    if expected and isinstance(vector, list) and len(vector) != expected.size:
        raise RefusedError(
            "bad input",
            "Wrong input: Vector dimension error: "
            f"expected dim: {expected.size}, got {len(vector)}",
        )


def worded(text: str, *, rest: bool) -> str:
    """The server's words for an error of local mode."""
    text = text.removeprefix("Wrong input: ")
    if text == "Invalid path":
        return f"{'Format error in JSON body: ' if rest else ''}Invalid json path"
    if text == "Empty update request":
        return f"Bad request: {text}"
    for ours, theirs in _WORDS.items():
        if text.startswith(ours):
            return f"Wrong input: {theirs}"
    return f"Wrong input: {text}"


def _is_id(id: int | str) -> bool:
    if isinstance(id, int):
        return 0 <= id < 2**64
    try:
        UUID(id)
    except ValueError:
        return False
    return True
