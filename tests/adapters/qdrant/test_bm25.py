"""Keywords: BM25 by its formula, the same from local mode and from a server."""

import math
from collections import Counter
from collections.abc import Sequence

import pytest
import qdrant_edge

from soev_retrieval.domain import (
    Field,
    FieldSpec,
    Hit,
    InvalidQueryError,
    Record,
    field,
    matches,
)
from soev_retrieval_qdrant import Analysis, Making, QdrantStore
from tests.adapters.docstrings import SPEC, records
from tests.adapters.qdrant.stores import EVERYWHERE, REMOTE, RUN, opened, up

TARGET = f"{RUN}bm25"
QUERIES = (
    "how do I wait until a queue has room",
    "return the encoding of a message",
    "What happens when a thread is started twice?",
    "the timezone of a datetime object, in hours and minutes",
    "sub-process pipes & sockets",
    "mock mock mock",
)
TEXT = FieldSpec([Field("text", "text", searchable=True), Field("kind", "text")])


def with_text() -> list[Record]:
    """The docstrings, without their vectors."""
    return [Record(each.id, each.properties) for each in records()]


class Formula:
    """The scores that BM25's formula gives over the terms of the library that Qdrant uses."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._embed = qdrant_edge.Bm25(qdrant_edge.Bm25Config(language="english", k=1000.0, b=0.0))
        self._terms = {id: self._counted(text) for id, text in texts.items()}
        self._lengths = {id: sum(each.values()) for id, each in self._terms.items()}
        self._average = sum(self._lengths.values()) / sum(map(bool, self._lengths.values()))
        self._rows = Counter(term for each in self._terms.values() for term in each)
        self._size = sum(map(bool, self._lengths.values()))

    def _counted(self, text: str) -> dict[int, int]:
        """How often each term stands there: with b = 0 a weight tells it."""
        made = self._embed.embed_document(text)
        return {
            term: round(weight * 1000 / (1001 - weight))
            for term, weight in zip(made.indices, made.values, strict=True)
        }

    def scores(self, query: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for term in self._embed.embed_query(query).indices:
            rows = self._rows[term]
            rarity = math.log(1 + (self._size - rows + 0.5) / (rows + 0.5))
            for id, terms in self._terms.items():
                if count := terms.get(term):
                    length = 1 - 0.75 + 0.75 * self._lengths[id] / self._average
                    weight = count * 2.2 / (count + 1.2 * length)
                    found[id] = found.get(id, 0.0) + rarity * weight
        return found


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.id for hit in hits]


async def answers(place: str, limit: int = 40) -> list[Sequence[Hit]]:
    """What the queries find in the docstrings."""
    async with opened(place) as store:
        await store.create(TARGET, SPEC)
        await store.upsert(TARGET, with_text())
        found = [await store.bm25(TARGET, query=query, limit=limit) for query in QUERIES]
        await store.drop(TARGET)
    return found


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_it_is_bm25(place: str) -> None:
    """The scores are those of the formula, with the average length of all that was loaded."""
    formula = Formula({each.id: str(each.properties["text"]) for each in records()})
    for query, hits in zip(QUERIES, await answers(place), strict=True):
        scores = formula.scores(query)
        best = sorted(scores.values(), reverse=True)[:40]
        assert [hit.score for hit in hits] == pytest.approx(best, rel=1e-5)
        assert {hit.id: hit.score for hit in hits} == {
            hit.id: pytest.approx(scores[hit.id], rel=1e-5) for hit in hits
        }


@pytest.mark.parametrize("place", REMOTE)
async def test_local_mode_and_a_server_answer_alike(place: str) -> None:
    """The hits, their order and their scores are the same from local mode and over a wire."""
    every = len(records())
    for here, there in zip(await answers("local", every), await answers(place, every), strict=True):
        assert {hit.id: hit.score for hit in there} == {
            hit.id: pytest.approx(hit.score, rel=1e-5) for hit in here
        }
        # Scores that differ in the last bits only may change places.
        places = {hit.id: place for place, hit in enumerate(here)}
        moved = [here[places[hit.id]].score - here[at].score for at, hit in enumerate(there)]
        assert moved == pytest.approx([0.0] * len(moved), abs=1e-4)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_the_average_length_follows_what_is_loaded(place: str) -> None:
    """Texts that were loaded one by one score as those that were loaded at once."""
    texts = {f"{n}": "copper wire " * (1 + n % 3) + "tin " * n for n in range(40)}
    made = [Record(id, {"text": text}) for id, text in texts.items()]
    async with opened(place) as store:
        for at in range(0, 40, 5):
            await _loaded(store, f"{TARGET}_steps", made[at : at + 5])
        await _loaded(store, f"{TARGET}_once", made)
        steps = await store.bm25(f"{TARGET}_steps", query="copper", limit=40)
        once = await store.bm25(f"{TARGET}_once", query="copper", limit=40)
        for target in (f"{TARGET}_steps", f"{TARGET}_once"):
            await store.drop(target)
    assert {hit.id: hit.score for hit in steps} == {
        hit.id: pytest.approx(hit.score, rel=0.1) for hit in once
    }
    formula = Formula(texts).scores("copper")
    assert {hit.id: hit.score for hit in once} == {
        id: pytest.approx(score, rel=1e-5) for id, score in formula.items()
    }


async def _loaded(store: QdrantStore, target: str, made: Sequence[Record]) -> None:
    await store.create(target, TEXT)
    await store.upsert(target, made)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_the_average_length_stays_with_the_collection(place: str) -> None:
    """A store that opens the collection later goes on from what was counted."""
    target = f"{TARGET}_kept"
    first = [Record(f"a{n}", {"text": "copper wire and some more words"}) for n in range(30)]
    async with up(place) as where:
        async with where.store() as store:
            await _loaded(store, target, first)
            if place == "local":  # in memory it is that store's alone
                await store.drop(target)
                return
        async with where.store() as store:
            await _loaded(store, target, [Record("b", {"text": "copper"})])
            [hit] = await store.bm25(target, query="copper", limit=1)
            await store.drop(target)
    # Were the average that of the last record alone, its length would not count for it.
    average = (30 * 4 + 1) / 31
    weight = 2.2 / (1 + 1.2 * (0.25 + 0.75 / average))
    rarity = math.log(1 + 0.5 / 31.5)
    assert hit.id == "b"
    assert hit.score == pytest.approx(weight * rarity, rel=0.1)
    assert hit.score > rarity  # it is shorter than the average


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_filter_takes_hits_away_and_changes_no_score(place: str) -> None:
    """Under a filter of many, few and no chunks come the hits that match, with the same scores.

    Also where no chunk under it holds a word of the query, of which servers once brought all
    (https://github.com/qdrant/qdrant/issues/4937).
    """
    async with opened(place) as store:
        target = f"{TARGET}_filter"
        await store.create(target, SPEC)
        await store.upsert(target, records())
        for query in ("the name of a file", "mock", "timezone"):
            every = await store.bm25(target, query=query, limit=len(records()))
            for where in (
                field("kind") == "class",
                field("kind") != "class",
                field("line") < 30,
                field("line").in_([int(str(hit.properties["line"])) for hit in every[3:5]]),
                field("line") < 0,
            ):
                some = await store.bm25(target, query=query, limit=len(records()), where=where)
                assert some == [hit for hit in every if matches(where, hit.properties)]
        await store.drop(target)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_stop_words_alone_find_nothing(place: str) -> None:
    """A query of stop words alone finds nothing, and neither does one of signs."""
    async with opened(place) as store:
        target = f"{TARGET}_stop"
        await _loaded(store, target, [Record("1", {"text": "the wire of copper ..."})])
        for query in ("the of and", "...", "🐕", "- + ~"):
            assert await store.bm25(target, query=query, limit=5) == []
        await store.drop(target)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_no_character_is_an_operator(place: str) -> None:
    """Quotes, signs and other writing are text: what holds a word of the query is found."""
    texts = {"1": "the dog barks", "2": "a cat sleeps", "3": "some bird sings", "4": "日本 naïve"}
    async with opened(place) as store:
        target = f"{TARGET}_signs"
        await _loaded(store, target, [Record(id, {"text": text}) for id, text in texts.items()])
        for query, found in {
            "dog,cat": {"1", "2"},
            '"dog" AND (cat:* | !bird)': {"1", "2", "3"},
            "DOG user_dog": {"1"},
            "naïve": {"4"},
            "dog\n\tcat": {"1", "2"},
            "'; DROP TABLE dog; --": {"1"},
        }.items():
            assert set(ids(await store.bm25(target, query=query, limit=9))) == found, query
        await store.drop(target)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_text_of_several_fields_is_one_text(place: str) -> None:
    """Every searchable field counts, lists too, and no other one."""
    spec = FieldSpec(
        [
            Field("title", "text", searchable=True),
            Field("tags", "text", many=True, searchable=True),
            Field("note", "text"),
        ]
    )
    chunks = [
        Record("both", {"title": "copper kettle", "tags": ["kitchen", "copper"]}),
        Record("title", {"title": "copper kettle"}),
        Record("tags", {"tags": ["copper"], "note": "kettle"}),
        Record("none", {"note": "copper"}),
    ]
    async with opened(place) as store:
        target = f"{TARGET}_fields"
        await store.create(target, spec)
        await store.upsert(target, chunks)
        assert set(ids(await store.bm25(target, query="copper kettle", limit=9))) == {
            *("both", "title", "tags")
        }
        await store.drop(target)


@pytest.mark.parametrize("place", EVERYWHERE)
@pytest.mark.parametrize(
    ("making", "found"),
    [
        (Making(language="german"), {"1"}),
        (Making(language=None), set()),
        (Making(language=None, ascii_folding=True), set()),
    ],
)
async def test_words_are_stemmed_in_the_language(
    place: str, making: Making, found: set[str]
) -> None:
    """Words are stemmed in the language of the collection on both sides, or not at all."""
    async with opened(place, making=making) as store:
        target = f"{TARGET}_language"
        await _loaded(store, target, [Record("1", {"text": "die Häuser am Café"})])
        assert set(ids(await store.bm25(target, query="Haus", limit=1))) == found
        assert ids(await store.bm25(target, query="häuser", limit=1)) == ["1"]
        # Without a language no word is a stop word.
        die = ids(await store.bm25(target, query="die", limit=1))
        assert die == ([] if making.language else ["1"])
        folded = ids(await store.bm25(target, query="cafe", limit=1))
        assert folded == (["1"] if making.ascii_folding else [])
        await store.drop(target)


@pytest.mark.parametrize("language", ["none", "English", "klingon", "", 3])
def test_a_language_that_qdrant_does_not_know_is_refused(language: str) -> None:
    """The server would leave out stop words and stemming in silence; here it is an error."""
    with pytest.raises(InvalidQueryError, match="language"):
        Analysis(language)
    with pytest.raises(InvalidQueryError, match="language"):
        Making(language=language)


@pytest.mark.parametrize("text", ["", "the of", "one", "one one two", "word " * 5000, "日本 über"])
def test_the_length_of_a_text_is_the_number_of_its_terms(text: str) -> None:
    """Terms are counted as often as they stand there, stop words not."""
    words = [word for word in text.split() if word not in {"the", "of"}]
    assert Analysis().length(text) == len(words)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_equal_scores_come_in_id_order(place: str) -> None:
    """Of texts that are alike those with the least ids are found, whatever the limit."""
    async with opened(place) as store:
        target = f"{TARGET}_ties"
        made = [Record(f"{n * 37 % 100:03}", {"text": "copper wire"}) for n in range(100)]
        best = Record("zz", {"text": "copper copper wire"})
        await _loaded(store, target, [*made, best])
        for limit in (1, 2, 7, 100, 101, 102):
            found = ids(await store.bm25(target, query="copper", limit=limit))
            assert found == ["zz", *(f"{n:03}" for n in range(100))][:limit]
        where = field("text") == "copper wire"
        found = ids(await store.bm25(target, query="copper", limit=5, where=where))
        assert found == ["000", "001", "002", "003", "004"]
        await store.drop(target)
