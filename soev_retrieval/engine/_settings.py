"""What a setting of a layer may be, checked when the layer is made."""

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import attrs


def at_least(least: int) -> Callable[[object, "attrs.Attribute[Any]", object], None]:
    """A validator of whole numbers: raises ValueError for anything but an int from `least` on."""

    def check(_: object, setting: "attrs.Attribute[Any]", value: object) -> None:
        if type(value) is not int or value < least:
            raise ValueError(f"{setting.name} must be an int of at least {least}, not {value!r}")

    return check


def above_zero(_: object, setting: "attrs.Attribute[Any]", value: object) -> None:
    """A validator of durations: raises ValueError for anything but a finite number above 0."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < math.inf:
        raise ValueError(f"{setting.name} must be a finite number above 0, not {value!r}")
