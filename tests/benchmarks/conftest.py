"""What the tests of the benchmarks share."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks import fusion, quality
from tests.servers import postgres


@pytest.fixture
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an empty database of the test's own."""
    name = re.sub(r"\W", "_", f"soev_bench_{request.node.name}")[:63]
    with postgres().database(name) as address:
        yield address


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
