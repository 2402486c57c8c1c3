"""Keywords: exactly BM25, over the lexemes that PostgreSQL itself makes."""

from collections.abc import Iterator, Sequence

import bm25s
import numpy as np
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soev_retrieval.domain import Field, FieldSpec, Hit, InvalidQueryError, Record, field
from soev_retrieval.testing import strategies
from soev_retrieval_pgvector import Making, PgvectorStore
from tests.adapters.docstrings import TARGET
from tests.adapters.pgvector.corpus import fill

QUERIES = (
    "how do I wait until a queue has room",
    "return the encoding of a message",
    "argument parser",
    "What happens when a thread is started twice?",
    "path file directory",
    "the timezone of a datetime object, in hours and minutes",
    "mock",
    "decimal rounding context",
    "sub-process pipes & sockets",
    "a b c d e f",
)


@pytest.fixture(scope="module")
def filled(database: str) -> str:
    """The address of a database that holds the docstrings."""
    fill(database)
    return database


class Lexemes:
    """bm25s over the lexemes that stand in the table, which is the definition."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        rows = self._connection.execute(
            f"SELECT chunk_id, ARRAY(SELECT u.lexeme FROM unnest(terms) AS u, unnest(u.positions))::text[]"
            f" FROM {TARGET} ORDER BY chunk_id"
        ).fetchall()
        self.ids = [row[0] for row in rows]
        numbers: dict[str, int] = {}
        texts = [[numbers.setdefault(each, len(numbers)) for each in row[1]] for row in rows]
        self._numbers = numbers
        self._index = bm25s.BM25(k1=1.2, b=0.75, method="lucene", dtype="float64")
        self._index.index((texts, numbers), create_empty_token=False, show_progress=False)

    def best(self, query: str, limit: int) -> list[tuple[str, float]]:
        made = self._connection.execute(
            "SELECT ARRAY(SELECT lexeme FROM unnest(to_tsvector('english', %s)))", [query]
        ).fetchone()
        assert made is not None
        known = [self._numbers[each] for each in sorted(made[0]) if each in self._numbers]
        if not known:
            return []
        scores = self._index.get_scores_from_ids(known)
        found = [(self.ids[row], float(scores[row])) for row in np.flatnonzero(scores > 0)]
        return sorted(found, key=lambda each: (-each[1], each[0]))[:limit]


@pytest.fixture(scope="module")
def lexemes(filled: str) -> Iterator[Lexemes]:
    """The definition."""
    with psycopg.connect(filled, autocommit=True) as connection:
        yield Lexemes(connection)


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.id for hit in hits]


@pytest.mark.parametrize("query", QUERIES)
async def test_it_is_bm25(filled: str, lexemes: Lexemes, query: str) -> None:
    """The ranking and the scores are those of bm25s over the same lexemes."""
    async with PgvectorStore(filled) as store:
        hits = await store.bm25(TARGET, query=query, limit=50)
    expected = lexemes.best(query, 50)
    assert [hit.score for hit in hits] == pytest.approx([score for _, score in expected])
    # Scores that differ in the last bit only may change places.
    rounded = sorted((-round(hit.score, 9), hit.id) for hit in hits)
    assert rounded == sorted((-round(score, 9), id) for id, score in expected)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(" ".join(QUERIES).split()), min_size=1, max_size=9))
def test_it_is_bm25_for_any_words(filled: str, lexemes: Lexemes, words: list[str]) -> None:
    """So it is for any words, in any order, however often each stands there."""
    query = " ".join(words)
    hits = answered(filled, query)
    expected = lexemes.best(query, 1_000)
    assert {hit.id: round(hit.score, 9) for hit in hits} == {
        id: round(score, 9) for id, score in expected
    }


def answered(address: str, query: str) -> Sequence[Hit]:
    import asyncio

    async def ask() -> Sequence[Hit]:
        async with PgvectorStore(address, max_connections=1) as store:
            return await store.bm25(TARGET, query=query, limit=1_000)

    return asyncio.run(ask())


async def test_a_filter_leaves_the_scores_alone(filled: str) -> None:
    """How rare a word is counts over the whole table; the filter takes hits away, nothing else."""
    where = field("kind") == "class"
    async with PgvectorStore(filled) as store:
        every = await store.bm25(TARGET, query="the name of a file", limit=1_000)
        some = await store.bm25(TARGET, query="the name of a file", limit=1_000, where=where)
    assert some == [hit for hit in every if hit.properties["kind"] == "class"]
    assert 0 < len(some) < len(every)


async def test_a_question_finds_what_holds_any_of_its_words(filled: str) -> None:
    """No text holds every word of a question; those that hold some are found."""
    async with PgvectorStore(filled) as store:
        hits = await store.bm25(TARGET, query="how may I please rotate my logging files", limit=5)
    assert len(hits) == 5


async def test_a_write_is_counted_at_once(store: PgvectorStore) -> None:
    """How rare a word is, and how long a text is on average, is as of the statement itself."""
    await store.create("live", FieldSpec([Field("text", "text", searchable=True)]))
    await store.upsert("live", [Record("1", {"text": "copper wire"}), Record("2", {"text": "tin"})])
    before = await store.bm25("live", query="copper", limit=1)
    await store.upsert("live", [Record(f"n{each}", {"text": "tin can"}) for each in range(50)])
    after = await store.bm25("live", query="copper", limit=1)
    assert after[0].score > before[0].score * 2


AWKWARD = (
    "dog,cat",
    "dog & cat | !bird",
    "'dog'",
    '"dog cat"',
    "dog <-> cat",
    "dog:* cat:A",
    "(dog",
    "\\dog\\",
    "dog\\'cat",
    "x?y=1&z=2",
    "https://example.org/dog?cat=1#bird",
    "dog@example.org",
    "-dog +cat ~bird^2",
    "%_dog*",
    "🐕 dog 日本",
    "dog\n\tcat",
    "; DROP TABLE words; --",
    "$1 %s %(dog)s {dog}",
)


@pytest.fixture
async def words(store: PgvectorStore) -> PgvectorStore:
    """A store with three texts."""
    await store.create("words", FieldSpec([Field("text", "text", searchable=True)]))
    texts = {"1": "the dog barks", "2": "a cat sleeps", "3": "some bird sings"}
    await store.upsert("words", [Record(id, {"text": text}) for id, text in texts.items()])
    return store


@pytest.mark.parametrize("query", AWKWARD)
async def test_no_character_is_an_operator(words: PgvectorStore, query: str) -> None:
    """Quotes, signs, URLs and emoji are text: what holds a word of the query is found."""
    found = set(ids(await words.bm25("words", query=query, limit=10)))
    named = {"1": "dog", "2": "cat", "3": "bird"}
    wanted = {id for id, word in named.items() if word in query}
    assert found <= wanted
    assert found >= {
        id for id in wanted if "://" not in query and "@" not in query and "=" not in query
    }


@settings(max_examples=300)
@given(strategies.queries())
def test_any_text_can_be_asked(filled: str, query: str) -> None:
    """No query text raises."""
    answered(filled, query)


async def test_a_comma_parts_words_as_a_space_does(words: PgvectorStore) -> None:
    """`dog,cat` asks what `dog cat` asks."""
    comma = await words.bm25("words", query="dog,cat", limit=10)
    assert comma == await words.bm25("words", query="dog cat", limit=10)
    assert ids(comma) == ["1", "2"]


async def test_nothing_is_stemmed_twice(store: PgvectorStore) -> None:
    """A lexeme that its own stemmer would shorten again is found as it is."""
    await store.create("stems", FieldSpec([Field("text", "text", searchable=True)]))
    # 'generalizations' → 'general', and so on: a lexeme run through the stemmer again may change.
    text = "possessednesses agreed universities skiings"
    await store.upsert("stems", [Record("1", {"text": text})])
    for word in text.split():
        assert ids(await store.bm25("stems", query=word, limit=1)) == ["1"], word


async def test_stop_words_alone_find_nothing(filled: str) -> None:
    """A query of stop words alone finds nothing, and is no error."""
    async with PgvectorStore(filled) as store:
        assert await store.bm25(TARGET, query="the of and", limit=5) == []


async def test_a_query_of_ten_thousand_words_is_answered(filled: str) -> None:
    """A query of 10,000 words is as good as any."""
    query = " ".join(f"word{each}" for each in range(9_990)) + " path file queue thread mock"
    async with PgvectorStore(filled) as store:
        assert len(await store.bm25(TARGET, query=query, limit=10)) == 10


async def test_a_query_of_megabytes_is_refused(filled: str) -> None:
    """A query too long for PostgreSQL is the caller's mistake, and says so."""
    query = " ".join(f"word{each}" for each in range(200_000))
    async with PgvectorStore(filled) as store:
        with pytest.raises(InvalidQueryError, match="too much"):
            await store.bm25(TARGET, query=query, limit=10)


async def test_words_of_every_searchable_field_count_as_one_text(database: str) -> None:
    """A text in several fields, lists among them, is one text, in columns and in a payload."""
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
    answers = []
    for layout in ("columns", "payload"):
        async with PgvectorStore(database, making=Making(layout=layout)) as store:
            await store.create(f"fields_{layout}", spec)
            await store.upsert(f"fields_{layout}", chunks)
            answers.append(await store.bm25(f"fields_{layout}", query="copper kettle", limit=9))
    assert set(ids(answers[0])) == {"both", "title", "tags"}
    assert answers[0] == answers[1]


@pytest.mark.parametrize("language", ["german", "simple"])
async def test_the_language_is_the_tables(database: str, language: str) -> None:
    """Words are stemmed as the text search configuration of the table says, on both sides."""
    async with PgvectorStore(database, making=Making(language=language)) as store:
        target = f"in_{language}"
        await store.create(target, FieldSpec([Field("text", "text", searchable=True)]))
        await store.upsert(target, [Record("1", {"text": "die Häuser"})])
        found = await store.bm25(target, query="Haus", limit=1)
        assert ids(found) == (["1"] if language == "german" else [])
