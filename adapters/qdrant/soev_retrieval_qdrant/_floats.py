"""Floats where the server keeps decimal text: which survive, and how all others are kept.

Qdrant keeps a payload as JSON and reads numbers back without exact rounding, so one double in ten
comes back as its neighbour (https://github.com/qdrant/qdrant/issues/8617). Whole numbers are exact.
"""

import struct
from decimal import Decimal

_TOP = 1 << 63
_LOW = (1 << 32) - 1


def survives(value: float) -> bool:
    """Whether the server reads the shortest decimal form of `value` back as `value`.

    It does where that form is a whole number up to 2**53 times a power of ten up to 10**22: both
    are exact as doubles, and so one rounding is all there is.
    """
    _, digits, exponent = Decimal(repr(float(value))).as_tuple()
    significand = int("".join(map(str, digits)))
    return significand <= 2**53 and isinstance(exponent, int) and abs(exponent) <= 22


def ordinal(value: float) -> int:
    """The place of `value` among all doubles, as a signed int of 64 bits: in the same order.

    The bits of a double sort as an unsigned int once the negative ones are inverted and the
    others have their sign set. Both zeros are one value and have one place.
    """
    bits: int = struct.unpack(">Q", struct.pack(">d", value + 0.0))[0]  # -0.0 + 0.0 is 0.0
    return (~bits & (_TOP * 2 - 1) if bits & _TOP else bits | _TOP) - _TOP


def of_ordinal(place: int) -> float:
    """The double at that place.

    Raises:
        struct.error: There is no such place.
    """
    unsigned = place + _TOP
    bits = unsigned ^ _TOP if unsigned & _TOP else ~unsigned & (_TOP * 2 - 1)
    value: float = struct.unpack(">d", struct.pack(">Q", bits))[0]
    return value


def halves(place: int) -> tuple[int, int]:
    """The high and the low 32 bits of a place, neither of them negative.

    The server compares whole numbers as doubles where they are ordered: halves are exact there.
    """
    unsigned = place + _TOP
    return unsigned >> 32, unsigned & _LOW
