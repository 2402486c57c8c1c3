"""The answers that were used last, for as long as they are good."""

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

import attrs


@attrs.frozen(eq=False)
class Answers:
    """At most `size` answers by key, each good for `seconds`, or for ever where that is None."""

    size: int
    seconds: float | None
    clock: Callable[[], float]
    _kept: OrderedDict[Hashable, tuple[float, Any]] = attrs.field(init=False, factory=OrderedDict)

    def get(self, key: Hashable) -> Any:
        """The answer kept under `key`, which is used by this, or None."""
        until, answer = self._kept.get(key, (-math.inf, None))
        if until <= self.clock():
            return None
        self._kept.move_to_end(key)
        return answer

    def keep(self, key: Hashable, answer: Any) -> None:
        """Keep `answer`, and forget the one that was not used for longest where it is too many."""
        until = math.inf if self.seconds is None else self.clock() + self.seconds
        self._kept[key] = (until, answer)
        self._kept.move_to_end(key)
        if len(self._kept) > self.size:
            self._kept.popitem(last=False)
