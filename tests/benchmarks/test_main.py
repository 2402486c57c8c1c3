import pytest

from benchmarks import __main__ as command
from benchmarks.measure import Aim, Report, Row


async def _good() -> Report:
    return Report("The good", [Row("kept", 1.0, "×", Aim(1.5)), Row("plain", 7.0, "×")], "")


async def _bad() -> Report:
    return Report("The bad", [Row("broken", 2.0, "×", Aim(1.5))], "")


@pytest.fixture(autouse=True)
def _two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "BENCHMARKS", {"good": _good, "bad": _bad})


def test_without_a_name_all_run(capsys: pytest.CaptureFixture[str]) -> None:
    """The machine, a table for each benchmark, and how many aims were met."""
    command.main([])
    printed = capsys.readouterr().out
    assert printed.index("cores") < printed.index("The good") < printed.index("The bad")
    assert printed.endswith("1 of 2 aims met\n")


def test_a_name_picks_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Only what is named runs."""
    command.main(["bad"])
    printed = capsys.readouterr().out
    assert "The bad" in printed
    assert "The good" not in printed
    assert printed.endswith("0 of 1 aims met\n")


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The error names what there is, and nothing runs."""
    with pytest.raises(SystemExit):
        command.main(["good", "ugly"])
    captured = capsys.readouterr()
    assert "there is no benchmark 'ugly'; there are good, bad" in captured.err
    assert captured.out == ""
