"""bm25 is the textbook formula over all searchable text of a chunk, ties by id."""

import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soev_retrieval.analysis import Analysis
from soev_retrieval.domain import Field, FieldSpec, Record, best_first, field
from soev_retrieval.memory import MemoryStore
from soev_retrieval.testing import strategies

Fill = Callable[..., Awaitable[MemoryStore]]

WORDS = ("cat", "cats", "dog", "wing", "the", "of", "naïve", "C3PO", "10", "dog,cat", "x", "Wing's")
SPEC = FieldSpec(
    [
        Field("title", "text", searchable=True),
        Field("tags", "text", many=True, searchable=True),
        Field("note", "text"),
        Field("year", "int"),
    ]
)
TITLE = FieldSpec([Field("title", "text", searchable=True), Field("year", "int")])


def textbook(
    texts: Mapping[str, Sequence[str]],
    query: str,
    analysis: Analysis,
    k1: float = 1.2,
    b: float = 0.75,
) -> dict[str, float]:
    """BM25 in Lucene's form of each chunk that holds a word of the query, by id."""
    terms = {id: [t for text in each for t in analysis.terms(text)] for id, each in texts.items()}
    average = sum(map(len, terms.values())) / max(1, len(terms))
    scores: dict[str, float] = {}
    for wanted in set(analysis.terms(query)):
        holders = [id for id, held in terms.items() if wanted in held]
        rarity = math.log(1 + (len(terms) - len(holders) + 0.5) / (len(holders) + 0.5))
        for id in holders:
            count, length = terms[id].count(wanted), len(terms[id])
            part = rarity * count / (count + k1 * (1 - b + b * length / average))
            scores[id] = scores.get(id, 0.0) + part
    return scores


def corpora() -> st.SearchStrategy[list[Record]]:
    """Chunks with words in a title, in tags, in both or in neither."""
    texts = strategies.queries(words=WORDS) | st.just("")
    properties = st.fixed_dictionaries(
        {"year": st.integers(0, 2)},
        optional={"title": texts, "tags": st.lists(texts, max_size=3), "note": texts},
    )
    return st.lists(
        st.builds(Record, st.integers(0, 99).map(str), properties),
        max_size=12,
        unique_by=lambda record: record.id,
    )


def _texts(records: Sequence[Record]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for record in records:
        title, tags = record.properties.get("title"), record.properties.get("tags", ())
        assert isinstance(tags, tuple)
        texts[record.id] = [*([] if title is None else [str(title)]), *map(str, tags)]
    return texts


@settings(max_examples=300)
@given(
    corpora(),
    strategies.queries(words=WORDS),
    st.sampled_from(["english", "french", None]),
    st.floats(0, 3),
    st.floats(0, 1),
)
async def test_scores_are_the_textbook_ones(
    filled: Fill, records: list[Record], query: str, language: str | None, k1: float, b: float
) -> None:
    """Exactly the chunks that hold a word of the query are found, each with its BM25 score."""
    store = await filled(SPEC, records, language=language, k1=k1, b=b)
    hits = await store.bm25("docs", query=query, limit=99)
    expected = textbook(_texts(records), query, Analysis(language), k1, b)
    assert {hit.id: hit.score for hit in hits} == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert hits == best_first(hits)
    assert len(hits) == len(expected)


@given(corpora(), strategies.queries(words=WORDS), st.integers(1, 12), st.integers(0, 2))
async def test_a_filter_leaves_the_statistics_alone(
    filled: Fill, records: list[Record], query: str, limit: int, year: int
) -> None:
    """A filtered chunk keeps the score that the statistics of the whole target give it."""
    store = await filled(SPEC, records)
    hits = await store.bm25("docs", query=query, limit=limit, where=field("year") == year)
    kept = {record.id for record in records if record.properties["year"] == year}
    expected = textbook(_texts(records), query, Analysis("english"))
    assert len(hits) == min(limit, len(kept & set(expected)))
    assert {hit.id for hit in hits} <= kept
    for hit in hits:
        assert hit.score == pytest.approx(expected[hit.id], rel=1e-9)


@given(corpora(), st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), st.randoms())
async def test_order_and_repeats_in_the_query_do_not_matter(
    filled: Fill, records: list[Record], words: list[str], random: Random
) -> None:
    """The words of a query in another order, and some of them twice, ask the same."""
    store = await filled(SPEC, records)
    again = [*words, *random.choices(words, k=3)]
    random.shuffle(again)
    assert await store.bm25("docs", query=" ".join(again), limit=99) == await store.bm25(
        "docs", query=" ".join(words), limit=99
    )


@given(st.data())
async def test_the_order_of_loading_does_not_matter(filled: Fill, data: st.DataObject) -> None:
    """The same chunks loaded in another order have the same scores, to the last bit."""
    words = st.lists(st.sampled_from("bcdfghjkl"), min_size=1, max_size=9).map(" ".join)
    texts = data.draw(st.lists(words, min_size=1, max_size=12))
    records = [Record(f"{n:02}", {"title": text}) for n, text in enumerate(texts)]
    store = await filled(TITLE, records)
    other = await filled(TITLE, data.draw(st.permutations(records)))
    query = "b c d f g h j"
    assert await store.bm25("docs", query=query, limit=99) == await other.bm25(
        "docs", query=query, limit=99
    )


@given(st.lists(st.sampled_from(["cat", "dog", "wing"]), min_size=2, max_size=6), st.data())
async def test_chunks_of_the_same_words_tie(
    filled: Fill, words: list[str], data: st.DataObject
) -> None:
    """Chunks with the same words in another order have one score and come in the order of ids."""
    shuffled = [" ".join(data.draw(st.permutations(words))) for _ in range(4)]
    ids = data.draw(st.permutations("abcd"))
    store = await filled(
        TITLE, [Record(id, {"title": text}) for id, text in zip(ids, shuffled, strict=True)]
    )
    hits = await store.bm25("docs", query="wing cat dog", limit=3)
    assert [hit.id for hit in hits] == ["a", "b", "c"]
    assert len({hit.score for hit in hits}) == 1


@pytest.fixture
async def store(filled: Fill) -> MemoryStore:
    titles = {"1": "a dog", "2": "the cat", "3": "dog,cat", "4": "wings of a bird", "5": "of the"}
    return await filled(TITLE, [Record(id, {"title": title}) for id, title in titles.items()])


async def _ids(store: MemoryStore, query: str) -> list[str]:
    return [hit.id for hit in await store.bm25("docs", query=query, limit=9)]


@pytest.mark.parametrize(
    "query",
    [
        "dog,cat",
        "dog-cat",
        "dog_cat",
        "dog/cat",
        "cat&dog",
        '"dog cat"',
        "+dog -cat",
        "dog:cat*",
        "(dog) | cat",
        "dog^9 cat~",
        "DOG Cat",
        "dogs' cats",
        "the dog of the cat",
        "dog 😀 cat",
        "dog\ncat\t",
        "dog\u200b cat",
        "%dog% cat;--",
        "dog\\ cat!",
        "<dog/>cat",
    ],
)
async def test_no_character_is_an_operator(store: MemoryStore, query: str) -> None:
    """A query asks for its words, whatever stands between them."""
    assert await store.bm25("docs", query=query, limit=9) == await store.bm25(
        "docs", query="dog cat", limit=9
    )
    assert await _ids(store, query) == ["3", "1", "2"]


@pytest.mark.parametrize("query", ["the", "of the", "The, OF!", "a", "  is  "])
async def test_stop_words_alone_find_nothing(store: MemoryStore, query: str) -> None:
    """A query of stop words alone finds nothing, also where a chunk is made of them."""
    assert await _ids(store, query) == []


@pytest.mark.parametrize("query", ["zebra", "😀", "...", "%", '"', "-", "\u200b", "___", "∑ ∞ ☃"])
async def test_what_nobody_has_finds_nothing(store: MemoryStore, query: str) -> None:
    """A word that no chunk holds, and a text that holds no word, find nothing."""
    assert await _ids(store, query) == []


async def test_a_word_that_nobody_has_adds_nothing(store: MemoryStore) -> None:
    """A word that no chunk holds leaves the scores of the others as they are."""
    assert await store.bm25("docs", query="dog zebra", limit=9) == await store.bm25(
        "docs", query="dog", limit=9
    )


async def test_very_long_queries(store: MemoryStore) -> None:
    """Ten thousand words are a query like any other, and the same one ten thousand times is one."""
    dog = await store.bm25("docs", query="dog", limit=9)
    assert await store.bm25("docs", query="dog " * 10_000, limit=9) == dog
    others = " ".join(f"word{number}" for number in range(10_000))
    assert await store.bm25("docs", query=f"{others} dog", limit=9) == dog
    assert await _ids(store, "x" * 100_000) == []


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("running", "he runs"),
        ("STRASSE", "die Straße"),
        ("nai\u0308ve", "naïve"),
        ("c3po", "C3PO"),
        ("日本", "日本"),
        ("wing", "the wing's tip"),
    ],
)
async def test_words_are_found_in_other_forms(filled: Fill, query: str, text: str) -> None:
    """Endings, case and the composition of accents do not keep a word from being found."""
    store = await filled(TITLE, [Record("a", {"title": text}), Record("b", {"title": "other"})])
    assert await _ids(store, query) == ["a"]


async def test_other_languages(filled: Fill) -> None:
    """The store's language decides what a stop word and what an ending is."""
    records = [Record("a", {"title": "die Hunde"}), Record("b", {"title": "the cats"})]
    german = await filled(TITLE, records, language="german")
    assert await _ids(german, "Hund") == ["a"]
    assert await _ids(german, "die") == []
    assert await _ids(german, "the") == ["b"]


async def test_no_language_keeps_every_word(filled: Fill) -> None:
    """Without a language no word is left out, and none is shortened."""
    records = [Record("a", {"title": "The Cats"}), Record("b", {"title": "a cat"})]
    store = await filled(TITLE, records, language=None)
    assert await _ids(store, "the") == ["a"]
    assert await _ids(store, "CAT") == ["b"]


async def test_all_searchable_fields_are_one_text(filled: Fill) -> None:
    """Words spread over fields and lists count as if they stood in one text."""
    spread = [
        Record("a", {"title": "cat", "tags": ["dog", "cat bird"]}),
        Record("b", {"tags": ["bird", "fish"]}),
        Record("c", {"title": "fish fish"}),
    ]
    joined = [
        Record("a", {"title": "cat dog cat bird"}),
        Record("b", {"title": "bird fish"}),
        Record("c", {"title": "fish fish"}),
    ]
    store, one = await filled(SPEC, spread), await filled(SPEC, joined)
    for query in ("cat", "bird", "dog fish", "cat bird dog"):
        hits = await store.bm25("docs", query=query, limit=9)
        expected = await one.bm25("docs", query=query, limit=9)
        assert [(hit.id, hit.score) for hit in hits] == [(hit.id, hit.score) for hit in expected]


async def test_text_that_is_not_searchable_is_not_searched(filled: Fill) -> None:
    """A text field that is not declared searchable is not found by its words, nor does it count."""
    plain, noted = Record("a", {"title": "cat"}), Record("a", {"title": "cat", "note": "dog " * 9})
    store, other = await filled(SPEC, [noted]), await filled(SPEC, [plain])
    assert await _ids(store, "dog") == []
    [hit], [expected] = [await each.bm25("docs", query="cat", limit=9) for each in (store, other)]
    assert hit.score == expected.score


async def test_words_that_are_no_longer_there(filled: Fill) -> None:
    """A word whose chunks were all deleted or replaced finds nothing, also when nothing is left."""
    store = await filled(TITLE, [Record("a", {"title": "cat"}), Record("b", {"title": "dog"})])
    await store.upsert("docs", [Record("a", {"year": 1})])
    assert await _ids(store, "cat") == []
    await store.upsert("docs", [Record("b", {})])
    assert await _ids(store, "dog") == []
    await store.delete("docs", ["a", "b"])
    assert await _ids(store, "cat dog") == []


def test_the_log_level_of_bm25s_is_left_alone() -> None:
    """To import the store does not turn on the debug log of the library below it."""
    assert logging.getLogger("bm25s").level == logging.NOTSET


async def test_a_word_is_stemmed_once(filled: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many chunks hold a word, and however often they are written, it is stemmed once."""
    stemmed: list[str] = []
    term = Analysis.term

    def counted(self: Analysis, word: str) -> str | None:
        stemmed.append(word)
        return term(self, word)

    monkeypatch.setattr(Analysis, "term", counted)
    records = [Record(id, {"body": "Cats and the cat, cats"}) for id in "abc"]
    store = await filled(FieldSpec([Field("body", "text", searchable=True)]), records)
    await store.upsert("docs", records)
    assert sorted(stemmed) == ["and", "cat", "cats", "the"]
