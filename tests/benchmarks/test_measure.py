import gc
from collections.abc import Callable

import pytest
from rich.console import Console

from benchmarks.measure import Aim, Contender, Report, Row, Times, installed, machine, race, shown


class Clock:
    """A clock that only contenders move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.log: list[str] = []

    def __call__(self) -> float:
        return self.now

    def contender(self, name: str, seconds: Callable[[], float]) -> Contender:
        async def call() -> None:
            self.log.append(name)
            self.now += seconds()

        return call


async def test_each_number_is_the_seconds_of_one_call() -> None:
    """A round of four calls of a quarter second is a quarter second."""
    clock = Clock()
    times = await race({"a": clock.contender("a", lambda: 0.25)}, rounds=3, calls=4, clock=clock)
    assert times == {"a": Times((0.25, 0.25, 0.25))}


async def test_the_first_round_is_not_counted() -> None:
    """What is slow only at first leaves no trace."""
    clock = Clock()
    seconds = iter([60.0, 0.5, 0.5])
    times = await race({"a": clock.contender("a", lambda: next(seconds))}, rounds=2, clock=clock)
    assert times["a"].seconds == (0.5, 0.5)


async def test_contenders_take_turns_and_each_is_first() -> None:
    """Every round holds every contender once, and starts with the next one."""
    clock = Clock()
    contenders = {name: clock.contender(name, lambda: 1.0) for name in "abc"}
    await race(contenders, rounds=3, clock=clock)
    rounds = ["".join(clock.log[start : start + 3]) for start in range(0, 12, 3)]
    assert rounds == ["cab", "abc", "bca", "cab"]


async def test_the_collector_runs_again_after_a_failure() -> None:
    """A contender that raises does not leave the process without garbage collection."""

    async def failing() -> None:
        assert not gc.isenabled()
        raise LookupError

    assert gc.isenabled()
    with pytest.raises(LookupError):
        await race({"a": failing}, rounds=2)
    assert gc.isenabled()


def test_a_ratio_is_taken_within_each_round() -> None:
    """A spell that slows both sides of a round ten times does not move their ratio."""
    slow, quick = Times((2.0, 20.0, 2.2)), Times((1.0, 10.0, 1.0))
    assert slow.over(quick) == 2.0
    assert slow.beyond(quick) == pytest.approx(1.2)


def test_median_and_p90() -> None:
    """Of the numbers 0 to 100 they are 50 and 90."""
    times = Times(tuple(map(float, range(101))))
    assert (times.median, times.p90) == (50.0, 90.0)


@pytest.mark.parametrize(
    ("aim", "figure", "met"),
    [
        (Aim(1.5), 1.5, True),
        (Aim(1.5), 1.51, False),
        (Aim(0.37, least=True), 0.37, True),
        (Aim(0.37, least=True), 0.369, False),
        (None, 7.0, None),
        (Aim(1.5), None, None),
    ],
)
def test_a_row_knows_whether_its_aim_was_met(
    aim: Aim | None, figure: float | None, met: bool | None
) -> None:
    """The bound itself is met; without an aim or a figure there is nothing to meet."""
    assert Row("what", figure, "×", aim).met is met


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.5, "2.5 s"), (0.0123, "12.3 ms"), (1e-3, "1 ms"), (4.5e-7, "0.45 µs"), (0.0, "0 µs")],
)
def test_times_are_shown_in_the_unit_that_reads_best(seconds: float, text: str) -> None:
    """Seconds, milliseconds or microseconds, three digits."""
    assert shown(seconds) == text


def test_a_table_shows_every_row_and_its_verdict() -> None:
    """Figure, aim, verdict, times and note of each row stand in the printed table."""
    rows = [
        Row("kept", 1.25, "×", Aim(1.5), Times((0.01, 0.01))),
        Row("missed", 0.25, "", Aim(0.37, least=True)),
        Row("left out", None, "×", note="not installed"),
    ]
    console = Console(width=120)
    with console.capture() as printed:
        console.print(Report("A title", rows, "a caption").table())
    lines = [" ".join(line.split()) for line in printed.get().splitlines()]
    assert "kept 10 ms 10 ms 1.25 × ≤ 1.5 yes" in lines
    assert "missed 0.25 ≥ 0.37 no" in lines
    assert "left out not installed" in lines
    assert {"A title", "a caption"} <= set(lines)


def test_the_machine_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cores, Python, numpy, and a setting of the linear algebra that changes its speed."""
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    told = "\n".join(machine())
    assert all(word in told for word in ("cores", "Python", "numpy", "OPENBLAS_CORETYPE=Prescott"))


@pytest.mark.parametrize(
    ("package", "there"),
    [("json", True), ("json.decoder", True), ("json.nothing", False), ("nothing.at.all", False)],
)
def test_a_package_is_there_or_not(package: str, there: bool) -> None:
    """A name with dots is looked for too, also where what it would be in is missing."""
    assert installed(package) is there
