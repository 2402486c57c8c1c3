"""The id of a chunk: that of its point, or one in the payload."""

from uuid import UUID

import pytest

from soev_retrieval.domain import Field, field
from tests.adapters.qdrant.existing import TARGET, existing, point, points, refusal
from tests.adapters.qdrant.stores import EVERYWHERE

everywhere = pytest.mark.parametrize("place", EVERYWHERE)
_UUID = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"


@everywhere
async def test_the_id_of_a_point_is_the_chunks(place: str) -> None:
    """Ints come back as their digits, UUIDs in their usual form, from every search."""
    stored = [point(2**63, {}), point(7, {}), point(str(UUID(_UUID)).upper(), {})]
    async with existing(place, stored) as there:
        expected = sorted([str(2**63), "7", _UUID])
        assert await there.ids() == expected
        hits = await there.store.near_vector(TARGET, vector=[1, 0], limit=3)
        assert [hit.id for hit in hits] == expected


@everywhere
async def test_an_id_in_the_payload(place: str) -> None:
    """It may be nested, an int, and a field as well."""
    stored = points({"m": {"the id": "b"}}, {"m": {"the id": 12}}, {"m": {"the id": "a"}})
    fields = [Field("key", "text")]
    async with existing(
        place, stored, id='m."the id"', fields=fields, keys={"key": 'm."the id"'}
    ) as there:
        assert await there.ids() == ["12", "a", "b"]
        assert await there.ids(field("key").in_(["a", "b"])) == ["a", "b"]
        hits = await there.store.near_vector(TARGET, vector=[1, 0], limit=2)
        assert [hit.id for hit in hits] == ["12", "a"]


@everywhere
@pytest.mark.parametrize("held", [None, "", True, 1.5, ["a"], {"a": 1}], ids=repr)
async def test_a_point_without_an_id_is_said(place: str, held: object) -> None:
    """The error names the point and the key."""
    async with existing(place, points({"k": "a"}, {"k": held}), id="k") as there:
        said = await refusal(there.fetch())
        assert "Unconfigured" in said
        assert 'point 1 without a chunk id at "k"' in said


@everywhere
async def test_an_id_that_is_indexed_is_no_field(place: str) -> None:
    """It is one only where the configuration says so."""
    async with existing(place, points({"k": "a"}), id="k", indexes={"k": "keyword"}) as there:
        assert list(await there.store.fields(TARGET)) == []
        [chunk] = await there.fetch()
        assert (chunk.id, chunk.properties) == ("a", {})
