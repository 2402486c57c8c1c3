"""Keywords: BM25 over stems in our own collections, and the true best of several properties."""

import math
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from weaviate.classes.config import DataType, Property, Tokenization
from weaviate.classes.data import DataObject
from weaviate.classes.query import MetadataQuery

from soev_retrieval.analysis import Analysis
from soev_retrieval.domain import (
    Field,
    FieldSpec,
    Hit,
    Record,
    Unconfigured,
    field,
    matches,
)
from soev_retrieval_weaviate import Making, WeaviateStore, _legs
from tests.adapters.docstrings import SPEC, records
from tests.adapters.weaviate.existing import TARGET as OF_OTHERS
from tests.adapters.weaviate.existing import existing, number_id, objects
from tests.adapters.weaviate.stores import EVERYWHERE, RUN, opened, up

TARGET = f"{RUN}Bm25"
QUERIES = (
    "how do I wait until a queue has room",
    "return the encoding of a message",
    "What happens when a thread is started twice?",
    "the timezone of a datetime object, in hours and minutes",
    "sub-process pipes & sockets",
    "mock mock mock",
)
TEXT = FieldSpec([Field("text", "text", searchable=True), Field("kind", "text")])


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.id for hit in hits]


async def _loaded(store: WeaviateStore, target: str, made: Sequence[Record]) -> None:
    await store.create(target, TEXT)
    await store.upsert(target, made)


class Formula:
    """The scores that BM25's formula gives over terms."""

    def __init__(self, texts: dict[str, str], k1: float = 1.2, b: float = 0.75) -> None:
        self._analysis = Analysis("english")
        self._terms = {id: Counter(self._analysis.terms(text)) for id, text in texts.items()}
        self._lengths = {id: sum(each.values()) for id, each in self._terms.items()}
        self._average = sum(self._lengths.values()) / sum(map(bool, self._lengths.values()))
        self._rows = Counter(term for each in self._terms.values() for term in each)
        self._k1, self._b = k1, b

    def scores(self, query: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for term in set(self._analysis.terms(query)):
            rows = self._rows[term]
            rarity = math.log(1 + (len(self._terms) - rows + 0.5) / (rows + 0.5))
            for id, terms in self._terms.items():
                if count := terms.get(term):
                    length = 1 - self._b + self._b * self._lengths[id] / self._average
                    weight = count * (self._k1 + 1) / (count + self._k1 * length)
                    found[id] = found.get(id, 0.0) + rarity * weight
        return found


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_it_is_bm25_over_stems(place: str) -> None:
    """The order is that of the formula, and so are the scores, but for a factor of the server's."""
    formula = Formula({each.id: str(each.properties["text"]) for each in records()})
    async with opened(place) as store:
        await store.create(TARGET, SPEC)
        await store.upsert(TARGET, records())
        for query in QUERIES:
            hits = await store.bm25(TARGET, query=query, limit=40)
            scores = formula.scores(query)
            best = sorted(scores.values(), reverse=True)[:40]
            factor = best[0] / hits[0].score
            assert [hit.score * factor for hit in hits] == pytest.approx(best, rel=0.02)
            assert [scores[hit.id] for hit in hits] == pytest.approx(best, rel=0.02)
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_filter_takes_hits_away_and_changes_no_score(place: str) -> None:
    """Under a filter of many, few and no chunks come the hits that match, with the same scores."""
    async with opened(place) as store:
        await store.create(TARGET, SPEC)
        await store.upsert(TARGET, records())
        for query in ("the name of a file", "mock", "timezone"):
            every = await store.bm25(TARGET, query=query, limit=len(records()))
            for where in (
                field("kind") == "class",
                field("kind") != "class",
                field("line") < 30,
                field("line").in_([int(str(hit.properties["line"])) for hit in every[3:5]]),
                field("line") < 0,
            ):
                some = await store.bm25(TARGET, query=query, limit=len(records()), where=where)
                assert some == [hit for hit in every if matches(where, hit.properties)]
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_stop_words_alone_find_nothing(place: str) -> None:
    """A query of stop words alone finds nothing, and neither does one of signs."""
    async with opened(place) as store:
        await _loaded(store, TARGET, [Record("1", {"text": "the wire of copper ..."})])
        for query in ("the of and", "...", "\U0001f415", "- + ~"):
            assert await store.bm25(TARGET, query=query, limit=5) == []
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_no_character_is_an_operator(place: str) -> None:
    """Quotes, signs, weights and other writing are text: what holds a word of it is found."""
    texts = {"1": "the dog barks", "2": "a cat sleeps", "3": "some bird sings", "4": "日本 naïve"}
    async with opened(place) as store:
        await _loaded(store, TARGET, [Record(id, {"text": text}) for id, text in texts.items()])
        for query, found in {
            "dog,cat": {"1", "2"},
            '"dog" AND (cat:* | !bird)': {"1", "2", "3"},
            "dog^0 cat^9": {"1", "2"},
            "DOG user_dog": {"1"},
            "naïve": {"4"},
            "dog\n\tcat": {"1", "2"},
            "'; DROP TABLE dog; --": {"1"},
        }.items():
            assert set(ids(await store.bm25(TARGET, query=query, limit=9))) == found, query
        await store.drop(TARGET)


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
        await store.create(TARGET, spec)
        await store.upsert(TARGET, chunks)
        assert set(ids(await store.bm25(TARGET, query="copper kettle", limit=9))) == {
            *("both", "title", "tags")
        }
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
@pytest.mark.parametrize(
    ("language", "found"), [("german", {"1"}), (None, set()), ("english", set())]
)
async def test_words_are_stemmed_in_the_language(
    place: str, language: str | None, found: set[str]
) -> None:
    """Words are stemmed in the language of the collection on both sides, or not at all."""
    async with opened(place, making=Making(language=language)) as store:
        await _loaded(store, TARGET, [Record("1", {"text": "die Häuser am Café"})])
        # Who opens it later, with another setting, asks as it was filled.
        async with opened(place) as other:
            for each in [store, *([other] if place == "server" else [])]:
                assert set(ids(await each.bm25(TARGET, query="Hauses", limit=1))) == found
                assert ids(await each.bm25(TARGET, query="häuser", limit=1)) == ["1"]
                die = ids(await each.bm25(TARGET, query="die", limit=1))
                assert die == ([] if language == "german" else ["1"])
        await store.drop(TARGET)


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_equal_scores_come_in_id_order(place: str) -> None:
    """Of texts that are alike those with the least ids are found, whatever the limit."""
    async with opened(place) as store:
        made = [Record(f"{n * 37 % 100:03}", {"text": "copper wire"}) for n in range(100)]
        best = Record("zz", {"text": "copper copper wire"})
        await _loaded(store, TARGET, [*made, best])
        for limit in (1, 2, 7, 100, 101, 102):
            found = ids(await store.bm25(TARGET, query="copper", limit=limit))
            assert found == ["zz", *(f"{n:03}" for n in range(100))][:limit]
        where = field("text") == "copper wire"
        found = ids(await store.bm25(TARGET, query="copper", limit=5, where=where))
        assert found == ["000", "001", "002", "003", "004"]
        await store.drop(TARGET)


VOCABULARY = [f"w{n}" for n in range(300)]
WEIGHTS = [1 / (n + 1) for n in range(300)]
TWO = [
    Property(name=name, data_type=DataType.TEXT, tokenization=Tokenization.WHITESPACE)
    for name in ("title", "body")
]


def library(count: int = 1500) -> list[DataObject[Any, Any]]:
    """Objects with a short text and a long one, of words as rare as in a language."""
    random = Random(3)
    return [
        DataObject(
            properties={
                "title": " ".join(random.choices(VOCABULARY, WEIGHTS, k=random.randint(2, 12))),
                "body": " ".join(random.choices(VOCABULARY, WEIGHTS, k=random.randint(20, 90))),
            },
            uuid=number_id(n),
        )
        for n in range(count)
    ]


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_the_true_best_of_several_properties_are_found(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server sums what is left of each property's list; here come the ten that are best."""
    monkeypatch.setattr(_legs, "_DEEP", 40)
    random, lost = Random(5), 0
    async with existing(place, TWO, library()) as there:
        query = there.client.collections.use(there.name).query
        for _ in range(25):
            words = " ".join(f"w{int(300 ** random.random())}" for _ in range(3))
            asked: Any = {"query": words, "query_properties": ["title", "body"]}
            every = await query.bm25(
                **asked, limit=10_000, return_metadata=MetadataQuery(score=True)
            )
            scores = {str(each.uuid): each.metadata.score for each in every.objects}
            some = await query.bm25(**asked, limit=10)
            hits = await there.store.bm25(OF_OTHERS, query=words, limit=10)
            best = sorted((score or 0.0 for score in scores.values()), reverse=True)[:10]
            assert [hit.score for hit in hits] == pytest.approx(best, rel=1e-5)
            assert [scores[hit.id] for hit in hits] == pytest.approx(best, rel=1e-5)
            last = best[-1] * (1 - 1e-5)
            lost += sum((scores[str(each.uuid)] or 0.0) < last for each in some.objects)
    assert lost > 20  # of 250: it is why the server is not simply asked


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_words_of_others_are_as_the_server_cuts_them(place: str) -> None:
    """A question to a collection of others is cut by its own tokenization, stop words as it says."""
    words = [Property(name="text", data_type=DataType.TEXT, tokenization=Tokenization.WORD)]
    several = objects({"text": "Copper wires, the best"}, {"text": "tin"}, {})
    async with existing(place, words, several) as there:
        assert ids(await there.store.bm25(OF_OTHERS, query="COPPER", limit=9)) == [number_id(0)]
        assert await there.store.bm25(OF_OTHERS, query="wire", limit=9) == []
        assert await there.store.bm25(OF_OTHERS, query="the", limit=9) == []
        assert await there.store.bm25(OF_OTHERS, query="!!!", limit=9) == []


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_without_an_index_of_words_it_is_unconfigured(place: str) -> None:
    """A collection that nobody can search for words says so, and one that is not named is not."""
    silent = [Property(name="text", data_type=DataType.TEXT, index_searchable=False)]
    async with existing(place, silent, objects({"text": "copper"})) as there:
        with pytest.raises(Unconfigured, match="index of words"):
            await there.store.bm25(OF_OTHERS, query="copper", limit=1)
    async with existing(place, TWO, library(20), searchable=["title"]) as there:
        spec = await there.store.fields(OF_OTHERS)
        assert (spec["title"].searchable, spec["body"].searchable) == (True, False)
    async with up(place) as where, where.store() as store:
        await store.create(TARGET, FieldSpec([Field("text", "text")]))
        with pytest.raises(Unconfigured, match="no searchable field"):
            await store.bm25(TARGET, query="copper", limit=1)
        await store.drop(TARGET)


@pytest.mark.parametrize(
    ("version", "is_exact"),
    [("1.36.0", False), ("1.37.11", False), ("1.37.12", True), ("1.38.2", False), ("1.38.3", True)],
)
async def test_a_server_that_passes_over_the_best_is_asked_for_all(
    version: str, is_exact: bool
) -> None:
    """Where the best depend on the limit all that match are ranked, and hybrid is fused here."""
    async with up("standin", version=version) as where, where.store() as store:
        assert where.stand_in is not None
        await store.create(TARGET, FieldSpec(TEXT.fields, 2))
        several = [Record(f"{n}", {"text": "copper " * (n + 1)}, [1.0, n]) for n in range(9)]
        await store.upsert(TARGET, several)
        hits = await store.bm25(TARGET, query="copper", limit=3)
        assert len(hits) == 3
        assert all("copper" in str(hit.properties["text"]) for hit in hits)
        await store.hybrid(TARGET, query="copper", vector=[1.0, 0.0], limit=3)
        sent: list[Any] = [each.message for each in where.stand_in.sent("search")]
        limits = [each.limit for each in sent if each.HasField("bm25_search")]
        one_more = 4
        assert set(limits) == {one_more if is_exact else 10_000}
        assert len(limits) == (1 if is_exact else 2)
