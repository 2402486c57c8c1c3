"""Times taken side by side, and the tables they are printed in."""

import gc
import os
import platform
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median, quantiles
from typing import TypeAlias

import attrs
import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

Contender: TypeAlias = Callable[[], Awaitable[object]]
"""What is timed: an async function, called again for each measurement."""


@attrs.frozen
class Times:
    """How long one call took, in seconds, in each round of a race."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The seconds of the middle round."""
        return median(self.seconds)

    @property
    def p90(self) -> float:
        """The seconds that nine rounds of ten stay within."""
        return quantiles(self.seconds, n=10, method="inclusive")[-1]

    def over(self, other: "Times") -> float:
        """How many times as long as `other`: the median of the ratios within each round.

        A slow spell of the machine hits both sides of a round, and so not their ratio.
        """
        return median(a / b for a, b in zip(self.seconds, other.seconds, strict=True))

    def beyond(self, other: "Times") -> float:
        """How many seconds more than `other`: the median of the differences within each round."""
        return median(a - b for a, b in zip(self.seconds, other.seconds, strict=True))


async def race(
    contenders: Mapping[str, Contender],
    *,
    rounds: int,
    calls: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Times]:
    """Time every contender in every round, after one round that is not counted.

    Each round starts with the next contender, so that none always runs behind the same one. The
    garbage collector rests meanwhile: when it would run is chance.

    Args:
        contenders: What to time, by name.
        rounds: How many numbers to take of each, at least 2.
        calls: How many calls make one number: more for what is too short for the clock.
        clock: What tells the time, in seconds. Where all the work is in this thread,
            `time.thread_time` leaves out what other programs took of the processor.
    """
    names = list(contenders)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    collects = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for turn in range(-1, rounds):
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                taken = await _timed(contenders[name], calls, clock)
                if turn >= 0:
                    seconds[name].append(taken)
    finally:
        if collects:
            gc.enable()
    return {name: Times(tuple(each)) for name, each in seconds.items()}


async def _timed(contender: Contender, calls: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(calls):
        await contender()
    return (clock() - start) / calls


@attrs.frozen
class Aim:
    """What a figure should keep to: at most `bound`, or at least it."""

    bound: float
    least: bool = False

    def met(self, figure: float) -> bool:
        """Whether `figure` keeps to it."""
        return figure >= self.bound if self.least else figure <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.least else '≤'} {self.bound:g}"


@attrs.frozen
class Row:
    """One line of a report.

    Args:
        what: What was measured.
        figure: The number that says it, or None where there is none: the note says why.
        unit: What the figure counts.
        aim: What the figure should keep to, or None.
        times: How long one call took, or None where that is not the point.
        note: What else to know.
    """

    what: str
    figure: float | None
    unit: str
    aim: Aim | None = None
    times: Times | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the aim was met, or None where there is no aim or no figure."""
        if self.aim is None or self.figure is None:
            return None
        return self.aim.met(self.figure)


@attrs.frozen
class Report:
    """What one benchmark found.

    Args:
        title: What it was about.
        rows: What it found, in order.
        caption: How to read the figures.
    """

    title: str
    rows: Sequence[Row]
    caption: str

    def table(self) -> Table:
        """The report as a table to print."""
        table = Table(title=self.title, caption=self.caption, box=box.SIMPLE_HEAD)
        table.title_justify = table.caption_justify = "left"
        table.add_column("what", overflow="fold")
        for name in ("median", "p90", "figure", "aim", "met"):
            table.add_column(name, justify="right", no_wrap=True)
        if any(row.note for row in self.rows):
            table.add_column("note", overflow="fold")
        for row in self.rows:
            table.add_row(*_cells(row)[: len(table.columns)])
        return table


def _cells(row: Row) -> tuple[str | Text, ...]:
    taken = row.times
    met = {True: Text("yes", "green"), False: Text("no", "bold red"), None: Text("")}[row.met]
    return (
        row.what,
        shown(taken.median) if taken else "",
        shown(taken.p90) if taken else "",
        "" if row.figure is None else f"{row.figure:.4g} {row.unit}",
        "" if row.aim is None else str(row.aim),
        met,
        row.note,
    )


def shown(seconds: float) -> str:
    """A time to read: `12.3 ms`."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def installed(package: str) -> bool:
    """Whether a package that is only compared with is there. Its name may have dots."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # what it would be in is not there
        return False


def machine() -> list[str]:
    """What the numbers depend on, a line for each."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    settings = [f"{name}={value}" for name, value in os.environ.items() if "BLAS" in name]
    return [
        f"{os.cpu_count()} cores ({_processor()}), load {os.getloadavg()[0]:.1f}",
        f"Python {platform.python_version()} on {sys.platform}",
        f"numpy {np.__version__}, {blas['name']} {blas['version']} ({', '.join(settings) or 'as it is'})",
    ]


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    lines = described.read_text().splitlines() if described.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
