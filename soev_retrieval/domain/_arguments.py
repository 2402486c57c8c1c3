"""The arguments of a call: each refused by name before anything is sent."""

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from soev_retrieval.domain._errors import InvalidQueryError, Unconfigured
from soev_retrieval.domain._values import portable_name, portable_text


def check_limit(limit: object) -> int:
    """`limit` as an int.

    Raises:
        InvalidQueryError: It is not a whole number of at least 1.
    """
    if isinstance(limit, Integral) and not isinstance(limit, bool) and int(limit) >= 1:
        return int(limit)
    raise InvalidQueryError(f"limit must be an int of at least 1, not {limit!r}")


def check_number(value: object, what: str, *, most: float = math.inf) -> float:
    """A setting of a store that is a finite number from 0 on, as a float.

    Args:
        value: The setting.
        what: Its name, for the error.
        most: The greatest that it may be.

    Raises:
        InvalidQueryError: It is not.
    """
    if isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)
        if math.isfinite(number) and 0 <= number <= most:
            return number
    up = "" if most == math.inf else f" to {most:,g}"
    raise InvalidQueryError(f"{what} must be a finite number from 0{up}, not {value!r}")


def check_seconds(value: object, what: str, *, most: float = math.inf) -> float:
    """A setting of a store that is a time in seconds, above 0.

    Raises:
        InvalidQueryError: It is not.
    """
    if (given := check_number(value, what, most=most)) == 0:
        raise InvalidQueryError(f"{what} must be above 0")
    return given


def check_count(value: object, what: str, *, most: float = math.inf) -> int:
    """A setting of a store that is a whole number from 1 on.

    Raises:
        InvalidQueryError: It is not.
    """
    if isinstance(value, Integral) and not isinstance(value, bool) and 1 <= int(value) <= most:
        return int(value)
    up = "" if most == math.inf else f" to {most:,}"
    raise InvalidQueryError(f"{what} must be an int from 1{up}, not {value!r}")


def check_query(query: object) -> str:
    """`query` as it is. The error does not repeat it.

    Raises:
        InvalidQueryError: It is no text, blank, or holds NUL or a lone surrogate.
    """
    if not isinstance(query, str):
        raise InvalidQueryError(f"the query must be text, not {type(query).__name__}")
    if not query.strip():
        raise InvalidQueryError("the query is blank; give at least one word")
    return portable_text(query, "the query")


def check_alpha(alpha: object) -> float | None:
    """`alpha` as a float, or None for the store's own default.

    Raises:
        InvalidQueryError: It is not a number from 0 (keywords only) to 1 (vectors only).
    """
    if alpha is None:
        return None
    if isinstance(alpha, Real) and not isinstance(alpha, bool) and 0 <= float(alpha) <= 1:
        return float(alpha)
    raise InvalidQueryError(
        f"alpha must be a number from 0 (keywords only) to 1 (vectors only), not {alpha!r}"
    )


def default_alpha(alpha: object) -> float:
    """The alpha that a store uses where a call names none.

    Raises:
        InvalidQueryError: It is not a number from 0 to 1.
    """
    if (checked := check_alpha(alpha)) is None:
        raise InvalidQueryError("alpha is the store's own default; give a number from 0 to 1")
    return checked


def check_hybrid(
    alpha: object, vector: object, *, default: float, store: str, embeds: bool = False
) -> tuple[float, Sequence[float] | None]:
    """What a hybrid search goes by.

    Args:
        alpha: What the call names, or None for the store's default.
        vector: The query embedding, or None where the call brings none.
        default: The store's default, 0 to 1.
        store: The name of the store, for the error.
        embeds: Whether the store makes a vector of the query where the call brings none.

    Returns:
        The weight of the vector side, 0 to 1: at 0 the search is bm25, at 1 it is near_vector.
        And the vector in float32, of any length; None only where the weight is 0 or the store
        embeds.

    Raises:
        InvalidQueryError: `alpha` is not a number from 0 to 1, or `vector` no finite numbers.
        Unconfigured: There is no vector, its weight is not 0, and the store does not embed.
    """
    weight = default if (checked := check_alpha(alpha)) is None else checked
    if vector is not None:
        return weight, finite_vector(vector, what="the query vector")
    if weight > 0 and not embeds:
        raise Unconfigured(
            f"{store} does not embed queries; give a vector (or an embedder), or alpha=0",
            store=store,
            operation="hybrid",
        )
    return weight, None


def listed(given: Any, what: str) -> list[Any]:
    """`given` as a list: what can be gone through once may be needed twice.

    Args:
        given: What a Loader was given: several of something.
        what: What one of them is, for the error.

    Raises:
        InvalidQueryError: It is not several, but one or none.
    """
    if isinstance(given, Iterable) and not isinstance(given, str):
        return list(given)
    raise InvalidQueryError(
        f"{what}s must be a list or another iterable, not {type(given).__name__}; give [{what}]"
    )


def check_ids(ids: Iterable[str]) -> list[str]:
    """The ids that a Loader was given, as a list.

    Raises:
        InvalidQueryError: They are not several, or one is no text, or empty.
    """
    return [portable_name(id, "the id of a chunk") for id in listed(ids, "id")]


def check_vector(
    vector: object,
    dimension: int | None,
    distance: str = "cosine",
    *,
    what: str = "the query vector",
) -> Sequence[float]:
    """`vector` in float32, the precision that every store keeps.

    Args:
        vector: A sequence of numbers, or an array of one dimension.
        dimension: The length it must have.
        distance: Under `cosine` a vector of zeros is refused: it has no direction.
        what: What it is, for the error.

    Raises:
        InvalidQueryError: It is no sequence of finite numbers of that length, each within the
            range of float32.
        Unconfigured: `dimension` is None: the target has no vectors.
    """
    numbers = finite_vector(vector, what=what)
    if dimension is None:
        raise Unconfigured(f"{what} cannot be used: the target declares no dimension")
    if len(numbers) != dimension:
        raise InvalidQueryError(f"{what} has {len(numbers)} numbers, the target's have {dimension}")
    if distance == "cosine" and not any(numbers):
        raise InvalidQueryError(f"{what} is all zeros, which has no direction to compare by")
    return numbers


def finite_vector(vector: Any, *, what: str) -> Sequence[float]:
    """`vector` in float32, of any length but 0.

    Raises:
        InvalidQueryError: It is no sequence of finite numbers.
    """
    if isinstance(vector, array) and vector.typecode == "f":  # as this function returns them
        return _finite(vector, what)
    values = vector.tolist() if hasattr(vector, "tolist") else vector
    if not isinstance(values, Sequence) or isinstance(values, str | bytes | bytearray | Mapping):
        raise InvalidQueryError(f"{what} must be a sequence of floats, not {_name(vector)}")
    try:
        numbers = array("f", values)
    except (TypeError, OverflowError):
        raise InvalidQueryError(f"{what} must hold plain numbers only") from None
    return _finite(numbers, what)


def _finite(numbers: "array[float]", what: str) -> Sequence[float]:
    if not numbers:
        raise InvalidQueryError(f"{what} is empty")
    if not math.isfinite(sum(numbers)):  # of float32 in float64: it cannot overflow by itself
        raise InvalidQueryError(f"{what} holds NaN, an infinity or a number beyond float32")
    return numbers


def _name(value: object) -> str:
    return "None" if value is None else type(value).__name__
