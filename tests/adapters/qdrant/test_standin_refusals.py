"""What the stand-in refuses as the server does, and what it misreads as the server does."""

import pytest
from qdrant_client import AsyncQdrantClient, models

from tests.adapters.qdrant._standin_client import ODD, Code, client_of, fill, is_, refusal, status
from tests.adapters.qdrant._standin_floats import kept, parsed
from tests.adapters.qdrant._standin_wrong import WRONG
from tests.adapters.qdrant.standin import StandIn


@pytest.mark.parametrize("what", WRONG)
async def test_refuses(client: AsyncQdrantClient, protocol: str, what: str) -> None:
    """What the server refuses has its status, and where a user may read it its text."""
    await fill(client)
    await client.create_payload_index("x", "i", models.PayloadSchemaType.INTEGER)
    call, number, code, text = WRONG[what]
    got, said = await refusal(call(client, "x"))
    assert got == status(protocol, number, code)
    assert text.format(name="x") in said


async def test_refuses_a_model_that_it_has_not(server: StandIn, protocol: str) -> None:
    """A document of any other model wants an inference service."""
    client = client_of(server, protocol, cloud_inference=True)
    await fill(client)
    other = models.Document(text="cat", model="other")
    got, said = await refusal(client.query_points("x", other, using="text"))
    assert got == status(protocol, 500, Code.INTERNAL)
    assert "InferenceService URL not configured" in said
    await client.close()


async def test_a_newer_version_takes_text_queries(protocol: str) -> None:
    """From 1.20 a text index that scores serves a text query."""
    async with StandIn("1.20.0") as server:
        client = client_of(server, protocol)
        await fill(client)
        scoring = models.TextIndexParams(type=models.TextIndexType.TEXT, scoring=True)
        await client.create_payload_index("x", "text", scoring)
        found = await client.query_points("x", models.TextQuery(text="dog"), using="text")
        assert [hit.id for hit in found.points] == [2]
        await client.close()


async def test_refuses_nan_over_rest(rest: AsyncQdrantClient) -> None:
    """NaN becomes null on its way, which is no number."""
    await fill(rest)
    code, _ = await refusal(rest.query_points("x", [float("nan"), 1.0], using="dense"))
    assert code == 400


def nested(levels: int) -> models.Filter:
    found = is_("tag", "a")
    for _ in range(levels):
        found = models.Filter(must=[found])
    return found


async def test_refuses_deep_filters_over_rest(rest: AsyncQdrantClient) -> None:
    """61 levels are answered, and 62 are too many for the server's parser."""
    await fill(rest)
    assert len((await rest.scroll("x", scroll_filter=nested(61)))[0]) == 1
    code, text = await refusal(rest.scroll("x", scroll_filter=nested(62)))
    assert (code, "recursion limit exceeded" in text) == (400, True)


async def test_takes_filters_of_48_levels_over_grpc(server: StandIn) -> None:
    """GRPC carries 48 levels."""
    client = client_of(server, "grpc")
    await fill(client)
    assert len((await client.scroll("x", scroll_filter=nested(48)))[0]) == 1
    await client.close()


def test_floats_are_misread() -> None:
    """A decimal of up to 15 digits is read right, some of 16 and 17 are not, ints always are."""
    assert kept({"a": [0.1, 1e300, -2.5, 2**60, True, None, "x"]}) == {
        "a": [0.1, 1e300, -2.5, 2**60, True, None, "x"]
    }
    assert kept(ODD) != ODD
    assert abs(kept(ODD) - ODD) < 2e-16
    assert parsed("9007199254740991.0") == 9007199254740990.0
    assert str(parsed("-0.0")) == "-0.0"


async def test_stored_floats_are_misread(client: AsyncQdrantClient) -> None:
    """A float comes back as the server reads it, and an int exactly, whatever the protocol."""
    await fill(client)
    point = models.PointStruct(id=9, vector={}, payload={"f": ODD, "i": 2**53 - 1})
    await client.upsert("x", [point])
    (back,) = await client.retrieve("x", [9])
    assert (back.payload or {})["f"] == pytest.approx(ODD, rel=1e-15)
    assert (back.payload or {})["f"] != ODD
    assert (back.payload or {})["i"] == 2**53 - 1
