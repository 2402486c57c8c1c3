"""The benchmark of QdrantStore at a tiny size: that it runs, and reports what it promises."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from benchmarks import qdrant, qdrant_beside, qdrant_local
from benchmarks.beside import CASES
from benchmarks.measure import Report, installed
from benchmarks.peers import QDRANT_PEERS
from benchmarks.qdrant_bare import Rows
from benchmarks.searches import Search
from tests.adapters.qdrant.standin import StandIn
from tests.servers import Qdrant
from tests.servers import qdrant as real


@pytest.fixture
async def server() -> AsyncIterator[Qdrant]:
    """The stand-in of the adapter's tests."""
    async with StandIn() as stand_in:
        yield Qdrant(stand_in.url, stand_in.grpc_port)


async def _measured(server: Qdrant) -> Report:
    return await qdrant.measured(
        server=server, rounds=2, peer_rounds=2, rows=400, dimension=8, queries=3
    )


async def test_without_a_server_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row without a figure names what is not set."""
    monkeypatch.delenv("QDRANT_URL", raising=False)
    [row] = (await qdrant.measured()).rows
    assert row.figure is None
    assert "QDRANT_URL" in row.note


async def test_without_peers(server: Qdrant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every search over both transports beside bare qdrant-client; missing peers say so."""
    monkeypatch.setattr(qdrant_beside, "installed", lambda package: False)
    rows = (await _measured(server)).rows
    assert rows[0].what == "loading, rows a second"
    pairs = [row.what for row in rows[1:-3]]
    assert len(pairs) == 2 * 2 * 13
    assert [name.removeprefix("bare, ") for name in pairs[::2]] == [
        name.removeprefix("QdrantStore, ") for name in pairs[1::2]
    ]
    assert {name.split(", ")[1] for name in pairs} == {"grpc", "rest"}
    assert [row.what for row in rows if row.aim] == pairs[1::2]
    assert all(row.figure is not None for row in rows[:-3])
    assert [row.what for row in rows[-3:]] == list(QDRANT_PEERS)
    assert all(row.figure is None and "--group peers" in row.note for row in rows[-3:])


@pytest.mark.skipif(real() is None, reason="no server: QDRANT_URL is not set")
@pytest.mark.parametrize("name", QDRANT_PEERS)
async def test_a_peer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is filled with the same rows and finds the same, as documented and tuned."""
    if not installed(QDRANT_PEERS[name].package):
        pytest.skip(f"{QDRANT_PEERS[name].distribution} is not installed: --group peers")
    monkeypatch.setattr(qdrant_beside, "QDRANT_PEERS", {name: QDRANT_PEERS[name]})
    found = real()
    assert found is not None
    rows = [row for row in (await _measured(found)).rows if row.what.startswith(name)]
    nearest = [row for row in rows if "nearest" in row.what]
    assert len(nearest) == 2 * len(CASES)
    assert all("recall 1.000" in row.note for row in nearest)
    assert any("hybrid" in row.what for row in rows)


async def test_answers_that_differ_are_not_timed() -> None:
    """A tie at the end may be broken otherwise, and is counted; nothing else may differ."""
    rows: Rows = [("a", 3.0, "", 0), ("b", 2.0, "", 0), ("c", 1.0, "", 0)]

    async def theirs(at: int) -> Rows:
        return rows

    for ours, note in (("abc", ""), ("abd", "ends in a tie for 2 of 2 queries")):
        assert await qdrant.agreement("bm25", _finds(ours), theirs, 2) == note
    for ours in ("bac", "ab", "adc"):
        with pytest.raises(AssertionError, match="bm25, query 0"):
            await qdrant.agreement("bm25", _finds(ours), theirs, 2)


def _finds(ids: str) -> Search:
    async def search(at: int) -> Sequence[str]:
        return list(ids)

    return search


async def test_local_mode() -> None:
    """Every search beside the bare client, with how long each holds the loop."""
    report = await qdrant_local.measured(rounds=2, rows=200, dimension=8, queries=2)
    names = [row.what for row in report.rows]
    assert len(names) == 2 * 6
    assert [name.removeprefix("bare, ") for name in names[::2]] == [
        name.removeprefix("QdrantStore, ") for name in names[1::2]
    ]
    assert all(row.figure is not None and "holds the loop" in row.note for row in report.rows)


async def test_how_long_a_call_holds_the_loop() -> None:
    """All the while that it computes, and not while it waits."""

    async def computes() -> None:
        end = asyncio.get_running_loop().time() + 0.05
        while asyncio.get_running_loop().time() < end:
            pass

    async def waits() -> None:
        await asyncio.sleep(0.05)

    held, waited = [await qdrant_local._held(each, 3) for each in (computes, waits)]
    assert held >= 0.05
    assert waited < held
