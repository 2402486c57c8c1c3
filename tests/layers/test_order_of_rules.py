"""The order of layers that look at filters and results: a pair one way round and the other.

What docs/order-of-layers.md says of them is asserted here.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.calls import Bm25, Call, Fields, Layer
from soev_retrieval.domain import (
    DeclaredFilter,
    Filter,
    Hit,
    Record,
    SchemaViolationError,
    field,
)
from soev_retrieval.engine import (
    Blocklist,
    Cached,
    Deduplicated,
    FolderScope,
    MappingCatalog,
    PostFiltered,
    PreFiltered,
    Rechecked,
    Recorded,
    Recording,
    Renamed,
    Replaying,
    Replenished,
    ScoreFloor,
    Tenanted,
    tenant_scope,
)
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.faults import Scripted

CALL: Call[Any] = Bm25("docs", "cat", 3, None)
HITS = [
    Hit("a1", 4.0, {"document": "a", "year": 1, "tenant": "ours"}),
    Hit("a2", 3.0, {"document": "a", "year": 2, "tenant": "theirs"}),
    Hit("b1", 2.0, {"document": "b", "year": 1, "tenant": "ours"}),
]


@attrs.frozen(repr=False, eq=False)
class Ignoring(Layer):
    """A store that ignores filters."""

    async def send(self, call: Any) -> Any:
        return await (call if isinstance(call, Fields) else call.filtered(None)).on(self.inner)


def now() -> float:
    return asyncio.get_running_loop().time()


def ids(results: Sequence[Any]) -> list[str]:
    return [each.id for each in results]


@pytest.mark.parametrize("outside", ["cached", "tenanted"])
async def test_cached_and_tenanted_are_right_both_ways(outside: str) -> None:
    """No tenant gets another's answer, and a repeated call of one asks the store once."""
    store = Scripted(["ours"], ["theirs"])
    stack = Cached(Tenanted(store), 10) if outside == "cached" else Tenanted(Cached(store, 10))
    for tenant in ("ours", "theirs", "ours", "theirs"):
        with tenant_scope(tenant):
            assert list(await CALL.on(stack)) == [tenant]
    with pytest.raises(SchemaViolationError):
        await CALL.on(stack)
    assert [call.where for call in store.calls] == [  # type: ignore[attr-defined]
        field("tenant") == "ours",
        field("tenant") == "theirs",
    ]


async def test_postfiltered_outside_cached_sees_a_revocation_at_once() -> None:
    """The rule runs over what is kept, at each call."""
    revoked: set[str] = set()
    stack = PostFiltered(Cached(Scripted(HITS), 10), Blocklist(revoked))
    assert ids(await CALL.on(stack)) == ["a1", "a2", "b1"]
    revoked.add("a2")
    assert ids(await CALL.on(stack)) == ["a1", "b1"]


@pytest.mark.looptime
async def test_postfiltered_inside_cached_sees_a_revocation_when_the_answer_is_old() -> None:
    """A revoked chunk is shown until `seconds` have passed."""
    revoked: set[str] = set()
    stack = Cached(PostFiltered(Scripted(HITS), Blocklist(revoked)), 10, 60.0, now)
    assert ids(await CALL.on(stack)) == ["a1", "a2", "b1"]
    revoked.add("a2")
    await asyncio.sleep(59)
    assert ids(await CALL.on(stack)) == ["a1", "a2", "b1"]
    await asyncio.sleep(1)
    assert ids(await CALL.on(stack)) == ["a1", "b1"]


@pytest.mark.parametrize(("outside", "asked_for"), [("prefiltered", ["a", "b"]), ("cached", ["a"])])
async def test_a_document_that_moves(outside: str, asked_for: list[str]) -> None:
    """PreFiltered outside Cached asks for what is in the folder now, inside for what was."""
    folders, store = {"a": "staff"}, Scripted(HITS)
    scope = FolderScope(MappingCatalog(folders), document="document")
    if outside == "prefiltered":
        stack: VectorStore = PreFiltered(Cached(store, 10), scope)
    else:
        stack = Cached(PreFiltered(store, scope), 10)
    for document in ("a", "b"):
        folders.clear()
        folders[document] = "staff"
        await stack.fetch("docs", where=field("folder").under("staff"), limit=3)
    sent: list[Any] = list(store.calls)
    assert [call.where for call in sent] == [field("document").in_([one]) for one in asked_for]


async def test_rechecked_outside_a_renaming_drops_everything() -> None:
    """It looks for the callers' names in chunks that carry the index's."""
    reports: list[tuple[str, int]] = []
    renaming = PreFiltered(Scripted(HITS[:1]), Renamed({"jaar": "year"}))
    stack = Rechecked(renaming, lambda *report: reports.append(report))
    assert await stack.bm25("docs", query="cat", limit=3, where=field("jaar") == 1) == []
    assert reports == [("docs", 1)]


async def test_rechecked_inside_a_renaming_checks_what_was_asked() -> None:
    """It sees the filter that the store saw, and the names that the chunks carry."""
    reports: list[tuple[str, int]] = []
    rechecked = Rechecked(Scripted(HITS), lambda *report: reports.append(report))
    stack = PreFiltered(rechecked, Renamed({"jaar": "year"}))
    hits = await stack.bm25("docs", query="cat", limit=3, where=field("jaar") == 1)
    assert (ids(hits), reports) == (["a1", "b1"], [("docs", 1)])


async def test_rechecked_inside_tenanted_checks_the_tenant() -> None:
    """A store that ignores filters shows nobody a foreign chunk."""
    stack = Tenanted(Rechecked(Ignoring(Scripted(HITS)), lambda target, dropped: None))
    with tenant_scope("ours"):
        assert ids(await CALL.on(stack)) == ["a1", "b1"]


async def test_rechecked_outside_tenanted_does_not() -> None:
    """It sees the caller's filter only, which is none."""
    stack = Rechecked(Tenanted(Ignoring(Scripted(HITS))), lambda target, dropped: None)
    with tenant_scope("ours"):
        assert ids(await CALL.on(stack)) == ["a1", "a2", "b1"]


@pytest.mark.parametrize("outside", ["tenanted", "prefiltered"])
async def test_tenanted_and_a_rewrite_onto_its_field(outside: str) -> None:
    """Inside it refuses what a rewrite makes of it; outside the two are ANDed and find nothing."""
    store, owner = Scripted(HITS), Renamed({"owner": "tenant"})
    if outside == "tenanted":
        stack: VectorStore = Tenanted(PreFiltered(store, owner))
    else:
        stack = PreFiltered(Tenanted(store), owner)
    with tenant_scope("ours"):
        asking = stack.fetch("docs", where=field("owner") == "theirs", limit=3)
        if outside == "prefiltered":
            with pytest.raises(SchemaViolationError):
                await asking
            assert store.calls == []
        else:
            await asking
            [call] = store.calls
            assert call.where == (field("tenant") == "ours") & (field("tenant") == "theirs")  # type: ignore[attr-defined]


async def test_tenanted_outside_prefiltered_is_at_the_mercy_of_the_rewrite() -> None:
    """A rewrite that puts something else in the place of the tenant's predicate is obeyed."""

    async def careless(target: str, term: DeclaredFilter) -> Filter:
        return DeclaredFilter(term.field, "exists")

    sent = []
    for stack in (
        Tenanted(PreFiltered(store := Scripted(HITS), careless)),
        PreFiltered(Tenanted(store), careless),
    ):
        with tenant_scope("ours"):
            await stack.fetch("docs", where=field("year") == 1, limit=3)
        sent.append(str(store.calls[-1].where))  # type: ignore[attr-defined]
    assert sent == ["tenant exists and year exists", 'tenant == "ours" and year exists']


async def test_tenanted_outside_prefiltered_refuses_before_a_rewrite_is_asked() -> None:
    """Inside, a catalog is asked, or has answered with nothing, before the scope is missed."""
    asked: list[str] = []

    async def catalog(target: str, term: DeclaredFilter) -> Filter:
        asked.append(term.field)
        return term

    where = field("folder").under("a")
    for stack, expected in (
        (Tenanted(PreFiltered(Scripted(HITS), catalog)), []),
        (PreFiltered(Tenanted(Scripted(HITS)), catalog), ["folder"]),
    ):
        with pytest.raises(SchemaViolationError):
            await stack.fetch("docs", where=where, limit=3)
        assert asked == expected


async def test_replenished_outside_what_drops_believes_there_is_no_more() -> None:
    """Of 20 hits with an even number it finds 2 of 5: a shortened answer looks like the end."""
    ranking = [Hit(f"{rank:02}", -rank, {"odd": rank % 2}) for rank in range(40)]
    odd, first = Blocklist({1}, "odd"), Blocklist({"00"})
    call: Call[Any] = Bm25("docs", "cat", 5, None)
    store = Scripted(lambda call: ranking[: call.limit])
    assert ids(await call.on(Replenished(PostFiltered(store, odd), first, 40))) == ["02", "04"]
    assert len(store.calls) == 1
    five = await call.on(Replenished(Replenished(store, odd, 40), first, 40))
    assert ids(five) == ["02", "04", "06", "08", "10"]


@pytest.mark.parametrize(
    ("errs", "found", "dropped"),
    [(True, ["02", "04"], [("docs", 2)]), (False, ["02", "04", "06", "08", "10"], [])],
    ids=["careless", "right"],
)
async def test_rechecked_inside_replenished_shortens_where_the_store_errs(
    errs: bool, found: list[str], dropped: list[tuple[str, int]]
) -> None:
    """What it drops looks like the end of the store, and is reported; a right store loses nothing."""
    reports: list[tuple[str, int]] = []
    ranking = [Hit(f"{rank:02}", -rank, {"odd": rank % 2}) for rank in range(40)]
    fitting = [hit for hit in ranking if errs or not hit.properties["odd"]]
    store = Rechecked(
        Scripted(lambda call: fitting[: call.limit]), lambda *report: reports.append(report)
    )
    stack = Replenished(store, Blocklist({"00"}), 40)
    hits = await stack.bm25("docs", query="cat", limit=5, where=field("odd") == 0)
    assert (ids(hits), reports) == (found, dropped)


async def test_replenished_inside_postfiltered_brings_it_enough() -> None:
    """Each rule that drops much is one Replenished; what is outside drops from its answer."""
    store = Scripted(lambda call: HITS[: call.limit])
    stack = PostFiltered(Replenished(store, Blocklist({"a1"}), 100), ScoreFloor(2.5))
    assert ids(await stack.bm25("docs", query="cat", limit=2)) == ["a2"]
    assert [call.limit for call in store.calls] == [2, 4]  # type: ignore[attr-defined]


async def test_deduplicated_and_a_blocklist_do_not_commute() -> None:
    """Deduplicated inside keeps a1 for its document, and with a1 blocked the document is gone."""
    blocked, once = Blocklist({"a1"}), Deduplicated("document")
    outside = PostFiltered(PostFiltered(Scripted(HITS), blocked), once)
    inside = PostFiltered(PostFiltered(Scripted(HITS), once), blocked)
    assert ids(await CALL.on(outside)) == ["a2", "b1"]
    assert ids(await CALL.on(inside)) == ["b1"]


@given(
    st.permutations([ScoreFloor(0.5), Blocklist({"a", "c"}), Blocklist({"x"}, "kind")]),
    st.lists(
        st.builds(
            Hit,
            st.sampled_from("abcdef"),
            st.sampled_from([0.1, 0.5, 0.9]),
            st.sampled_from([{}, {"kind": "x"}, {"kind": "y"}]),
        )
    ),
)
def test_keeps_that_judge_each_result_by_itself_commute(
    virtual: Any, keeps: list[Any], hits: list[Hit]
) -> None:
    """A score floor and blocklists keep the same in every order."""

    async def main() -> None:
        stack: VectorStore = Scripted(hits)
        for keep in keeps:
            stack = PostFiltered(stack, keep)
        assert list(await CALL.on(stack)) == [
            hit
            for hit in hits
            if hit.score >= 0.5 and hit.id not in "ac" and hit.properties.get("kind") == "y"
        ]

    virtual(main())


def test_prefiltered_and_postfiltered_commute(worlds: Any, virtual: Any, outcome: Any) -> None:
    """Filters on the way in and results on the way out do not meet."""

    @given(worlds.records(), worlds.calls() | worlds.wrong_calls())
    def law(records: Sequence[Record], call: Call[Any]) -> None:
        async def main() -> None:
            store = await worlds.store(records)
            swapped, blocked = Renamed({"kind": "body", "body": "kind"}), Blocklist({"a", "b", "c"})
            one = PreFiltered(PostFiltered(store, blocked), swapped)
            other = PostFiltered(PreFiltered(store, swapped), blocked)
            assert await outcome(call, one) == await outcome(call, other)

        virtual(main())

    law()


async def test_recording_inside_tenanted_says_whose_a_call_was() -> None:
    """So it replays to each its own; outside, equal calls of two tenants are one call."""
    inside, outside = list[Recorded](), list[Recorded]()
    for tenant in ("ours", "theirs"):
        store = Scripted([tenant])
        with tenant_scope(tenant):
            await CALL.on(Tenanted(Recording(store, inside)))
            await CALL.on(Recording(Tenanted(store), outside))
    with tenant_scope("theirs"):
        assert list(await CALL.on(Tenanted(Replaying(inside)))) == ["theirs"]
        assert list(await CALL.on(Replaying(outside))) == ["ours"]
