"""The benchmark of WeaviateStore at a tiny size: that it runs, and reports what it promises."""

from collections.abc import AsyncIterator, Sequence

import pytest

from benchmarks import corpus, weaviate, weaviate_beside
from benchmarks.beside import CASES
from benchmarks.measure import Report, Row, installed
from benchmarks.peers import WEAVIATE_PEERS
from benchmarks.peers import _schemas as schemas
from benchmarks.weaviate_bare import connect
from tests.adapters.weaviate.standin import StandIn
from tests.servers import Weaviate
from tests.servers import weaviate as real

_QUERIES = 3


@pytest.fixture
async def server() -> AsyncIterator[Weaviate]:
    """The stand-in of the adapter's tests."""
    async with StandIn() as stand_in:
        yield Weaviate(stand_in.url, stand_in.grpc_port)


async def _measured(server: Weaviate) -> Report:
    return await weaviate.measured(
        server=server,
        rounds=2,
        peer_rounds=2,
        rows=400,
        dimension=8,
        queries=_QUERIES,
        settle_seconds=0,
    )


async def test_without_a_server_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row without a figure names what is not set, and the stand-in is not measured instead."""
    monkeypatch.setattr(weaviate, "weaviate", lambda: None)
    [row] = (await weaviate.measured()).rows
    assert (row.what, row.figure) == ("not measured", None)
    assert "WEAVIATE_URL" in row.note
    assert "stand-in" in row.note


async def test_without_peers(server: Weaviate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading and every search beside bare weaviate-client; missing peers say so."""
    monkeypatch.setattr(weaviate_beside, "installed", lambda package: False)
    rows = (await _measured(server)).rows
    pairs, rest = rows[:-4], rows[-4:]
    assert [row.what for row in pairs[:2]] == ["bare, loading", "WeaviateStore, loading"]
    assert len(pairs) == 2 * (1 + 5 * 3 + 1)
    assert [row.what.removeprefix("bare, ") for row in pairs[::2]] == [
        row.what.removeprefix("WeaviateStore, ") for row in pairs[1::2]
    ]
    assert all(row.figure is not None and row.times for row in pairs)
    assert [row.what for row in rows if row.aim] == [row.what for row in pairs[3:-2:2]]
    assert "1.000 of the true best 10; all of them for 3 of 3" in pairs[-1].note
    assert rest[0].what == "the look at the shards"
    assert rest[0].times
    assert [row.what for row in rest[1:]] == list(WEAVIATE_PEERS)
    assert all(row.figure is None and "--group peers" in row.note for row in rest[1:])


async def test_it_takes_its_collections_away(
    server: Weaviate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it ends with an error."""

    async def fails(*given: object) -> list[Row]:
        raise RuntimeError("over")

    monkeypatch.setattr(weaviate, "_shards", fails)
    with pytest.raises(RuntimeError, match="over"):
        await _measured(server)
    client = await connect(server)
    try:
        assert not await client.collections.list_all()
    finally:
        await client.close()


@pytest.mark.skipif(real() is None, reason="no server: WEAVIATE_URL is not set")
@pytest.mark.parametrize("name", WEAVIATE_PEERS)
async def test_a_peer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is filled with the same rows and finds the same; tuned also by words."""
    if not installed(WEAVIATE_PEERS[name].package):
        pytest.skip(f"{WEAVIATE_PEERS[name].distribution} is not installed: --group peers")
    monkeypatch.setattr(weaviate_beside, "WEAVIATE_PEERS", {name: WEAVIATE_PEERS[name]})
    found = real()
    assert found is not None
    rows = [row for row in (await _measured(found)).rows if row.what.startswith(name)]
    nearest = [row for row in rows if "nearest" in row.what]
    assert len(nearest) == 2 * len(CASES)
    assert all("recall 1.000" in row.note for row in nearest)
    worded = [row for row in rows if "tuned, hybrid" in row.what or "tuned, keyword" in row.what]
    assert worded
    assert all("1.00 of our first 10" in row.note for row in worded)


def test_what_is_found_of_the_best() -> None:
    """The mean share over the questions that have any, and for how many it is all."""
    found: list[Sequence[str]] = ["ab", "ax", "", "c"]
    assert weaviate._found(found, ["ba", "ab", "", "cd"]) == (
        "0.667 of the true best 10; all of them for 2 of 4"
    )


def test_a_title_and_a_body_are_the_text() -> None:
    """Every word of a text stands in one of the two properties."""
    made = corpus.made(50, 8, 1)
    for row in range(50):
        properties = weaviate._titled(made, row).properties
        assert f"{properties['title']} {properties['body']}".strip() == made.texts[row]


def test_a_careful_schema_searches_one_text() -> None:
    """The id is one token, the part a whole number, and what is only kept has no index."""
    made = schemas.careful("BenchSome", text="text", id="chunk", kept=["more"])
    properties = {each["name"]: each for each in made["properties"]}
    searched = [name for name, each in properties.items() if each.get("indexSearchable")]
    assert searched == ["text"]
    assert properties["chunk"]["tokenization"] == "field"
    assert properties["part"]["dataType"] == ["int"]
    assert properties["more"]["indexFilterable"] is False
