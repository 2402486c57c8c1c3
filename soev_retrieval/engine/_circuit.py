"""Whether a circuit is closed, open or half-open, and what moves it from one to another."""

from collections.abc import Callable

import attrs


@attrs.define(eq=False)
class Period:
    """Closed where `opened` is None, else open, or half-open where `probing`."""

    opened: float | None = None
    probing: bool = False
    failed: int = 0


@attrs.define(eq=False)
class Circuit:
    """What the calls of one breaker share. A call decides nothing once its period is over."""

    failures: int
    seconds: float
    clock: Callable[[], float]
    _now: Period = attrs.field(init=False, factory=Period)

    def enter(self) -> Period | float:
        """The period of a call that goes through, or the seconds left for one that does not."""
        if (opened := self._now.opened) is not None:
            left = max(0.0, opened + self.seconds - self.clock())
            if left or self._now.probing:
                return left
            self._now = Period(opened, probing=True)
        return self._now

    def answered(self, period: Period) -> None:
        """An answer ends the row, and that of a probe closes the circuit."""
        period.failed = 0
        self._move(period, Period() if period.probing else period)

    def failed(self, period: Period) -> None:
        """The last failure of a row opens the circuit, and that of a probe opens it anew."""
        period.failed += 1
        over = period.probing or period.failed >= self.failures
        self._move(period, Period(self.clock()) if over else period)

    def undecided(self, period: Period) -> None:
        """A probe that found nothing out leaves its place to the next call."""
        self._move(period, Period(period.opened) if period.probing else period)

    def _move(self, period: Period, to: Period) -> None:
        self._now = to if period is self._now else self._now
