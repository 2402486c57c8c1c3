"""What the tests of the benchmarks share."""

from typing import Any

import pytest

from benchmarks import fusion, quality


@pytest.fixture
def without_ranx(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave ranx out, as where it is not installed: it compiles itself for a minute."""
    for module in (fusion, quality):
        monkeypatch.setattr(module, "installed", lambda package: False)


@pytest.fixture
def ranx(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The package ranx as plain Python, without its compiler."""
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    return pytest.importorskip("ranx")
