"""Floats as whole numbers, and which of them decimal text carries."""

import json
from math import inf, nextafter
from sys import float_info

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from soev_retrieval_qdrant._floats import halves, of_ordinal, ordinal, survives

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(FLOATS)
@example(-0.0)
@example(5e-324)
@example(float_info.max)
def test_every_float_has_a_place_and_comes_back(value: float) -> None:
    """Both zeros have one place; every other float has its own, a signed int of 64 bits."""
    assert of_ordinal(ordinal(value)) == value
    assert -(2**63) <= ordinal(value) < 2**63


@given(FLOATS, FLOATS)
def test_places_are_in_the_order_of_floats(one: float, other: float) -> None:
    """One float is less than another where its place is."""
    assert (one < other) == (ordinal(one) < ordinal(other))
    assert (one == other) == (ordinal(one) == ordinal(other))


@given(FLOATS.filter(lambda value: abs(value) < float_info.max))
def test_neighbours_have_places_side_by_side(value: float) -> None:
    """Between two neighbouring floats there is no place."""
    assert ordinal(nextafter(value, inf)) == ordinal(value) + 1


@given(FLOATS, FLOATS)
def test_halves_are_in_the_order_of_places(one: float, other: float) -> None:
    """Two halves compare like the whole, and each is exact as a double."""
    first, second = halves(ordinal(one)), halves(ordinal(other))
    assert (first < second) == (one < other)
    assert all(0 <= half < 2**32 and float(half) == half for half in (*first, *second))


def _as_the_server_reads(text: str) -> float:
    """A decimal number as a whole number times or by a power of ten, each rounded to a double."""
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    power = int(exponent or 0) - len(fraction)
    digits = float(int(whole + fraction))
    return digits * float(10**power) if power >= 0 else digits / float(10**-power)


@given(st.integers(-(10**15) + 1, 10**15 - 1), st.integers(-22, 0))
def test_fifteen_digits_survive(digits: int, exponent: int) -> None:
    """What is written with up to 15 significant digits is, within reason, read back as it was."""
    value = float(f"{digits}e{exponent}")
    if abs(value) < 2**53 / 10:  # beyond, the digit after the point is one too many
        assert survives(value) or 0 < abs(value) < 1e-7


@given(FLOATS.filter(survives))
def test_what_survives_is_read_back(value: float) -> None:
    """One rounding of two exact numbers gives the float whose decimal form it is."""
    assert _as_the_server_reads(json.dumps(value)) == value


@pytest.mark.parametrize(
    "value",
    [0.1 + 0.2, 1.2345678901234567, 1e23, 1e-23, 2.0**53 + 2, 5e-324, float_info.max, 2**53 - 1],
)
def test_what_may_not_survive(value: float) -> None:
    """More digits than a double has, or a power of ten that is none: not to be relied on."""
    assert not survives(value)


@pytest.mark.parametrize("value", [0, -0.0, 1, 1.5, 0.1, 1e22, 123456789.123456, -2.5e-10])
def test_what_survives(value: float) -> None:
    """Usual numbers do."""
    assert survives(value)
