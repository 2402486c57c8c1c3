"""The floats that Qdrant 1.19 misreads: its JSON parser does not round exactly.

It keeps payloads as JSON text, so what a point holds is what this parser makes of the shortest
text of the number. The parser is serde_json without its feature `float_roundtrip`.
"""

from typing import Any


def parsed(text: str) -> float:
    """What the server reads in a JSON number that is not an integer."""
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits, power = int(whole + fraction), int(exponent or 0) - len(fraction)
    if abs(digits) >= 2**64 or abs(power) > 308:
        return float(text)  # the parser goes other ways there, which are not imitated
    scale = float(f"1e{abs(power)}")
    # Two roundings, of the digits and of the quotient: exact up to 2**53 and 10**22 only.
    value = digits * scale if power >= 0 else digits / scale
    return -0.0 if value == 0 and text.startswith("-") else float(value)


def kept(value: Any) -> Any:
    """A payload as the server has it after it was stored."""
    if isinstance(value, float):
        text = repr(value)
        return parsed(text) if text[-1].isdigit() else value
    if isinstance(value, dict):
        return {key: kept(each) for key, each in value.items()}
    return [kept(each) for each in value] if isinstance(value, list) else value
