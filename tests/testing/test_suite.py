"""StoreConformance itself: what it makes of a suite, and what it says."""

from typing import Any

import pytest
from hypothesis import given

from soev_retrieval.domain import FieldSpec, InvalidQueryError, StoreUnavailable, check_record
from soev_retrieval.memory import MemoryStore
from soev_retrieval.testing import StoreConformance, corpus, strategies
from soev_retrieval.testing.laws import LAWS, LawBroken
from tests.testing.broken_stores import BROKEN

BY_NAME = {law.name: law for law in LAWS}
STORES = {broken.name: broken.make for broken in BROKEN}


def outcome_of(suite: type[StoreConformance], law: str) -> BaseException | None:
    """What the test of a law raises, as pytest would see it."""
    suite.setup_class()
    try:
        getattr(suite(), f"test_{law}")()
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
        return error
    finally:
        suite.teardown_class()
    return None


def suite_of(make: Any, **settings: Any) -> type[StoreConformance]:
    return type("Suite", (StoreConformance,), {"make_store": make, **settings})


@pytest.mark.parametrize(
    ("store", "law", "lines"),
    [
        (
            "ne drops missing",
            "values_are_told_apart",
            ["where    text != ", "missing  'north-14'", "missing  ", "missing  ", "expected "],
        ),
        (
            "not_in drops missing",
            "operators_agree",
            [
                "where    ",
                "is other than where ",
                *["missing  'north-"] * 3,
                "expected ",
            ],
        ),
        (
            "properties of another chunk",
            "properties_are_the_chunks_own",
            [
                "fetch of 'blanket' brought 'north-0'",
                "field    ",
                "expected ",
                "came  ",
                "limit",
                "vec",
            ],
        ),
        (
            "limit before order",
            "order_is_kept",
            ["fetch by ", "expected ['", "came     ['"],
        ),
        (
            "state shared between concurrent calls",
            "calls_do_not_see_each_other",
            ["at once with Bm25(", "call     Bm25(", "expected [", "came     ["],
        ),
    ],
)
def test_a_failure_is_a_few_lines(store: str, law: str, lines: list[str]) -> None:
    """The law, then what was asked, what was expected and what came, shrunk; no traceback."""
    failed = outcome_of(suite_of(STORES[store]), law)
    assert isinstance(failed, pytest.fail.Exception)
    assert failed.pytrace is False
    said = str(failed).splitlines()
    assert said[0] == f"{law}: {BY_NAME[law].sentence}"
    assert len(said) == 1 + len(lines)
    for line, beginning in zip(said[1:], lines, strict=True):
        assert line.startswith(beginning)
        assert len(line) < 420


def test_an_error_of_the_store_keeps_its_traceback() -> None:
    """Where the store itself raised it is worth more than few lines."""

    class Down(MemoryStore):
        async def bm25(self, target: str, **rest: Any) -> Any:
            raise StoreUnavailable("down")

    failed = outcome_of(suite_of(Down), "stop_words_find_nothing")
    assert isinstance(failed, LawBroken)
    assert isinstance(failed.__cause__, StoreUnavailable)
    assert str(failed).startswith("stop_words_find_nothing: A query of stop words")


def test_a_failure_that_does_not_come_again_says_so() -> None:
    """A store that answers otherwise the second time is told apart from one that is always wrong."""

    class Once(MemoryStore):
        asked = 0

        async def fetch(self, target: str, **rest: Any) -> Any:
            self.asked += 1
            found = await super().fetch(target, **rest)
            return found[1:] if self.asked == 1 else found

    failed = outcome_of(suite_of(Once), "a_fetch_brings_everything")
    assert isinstance(failed, pytest.fail.Exception)
    assert str(failed).endswith("expected 72 chunks, came 71\nasked again, it held")


async def plain(store: MemoryStore, target: str, spec: FieldSpec, records: Any) -> None:
    await store.create(target, spec)
    await store.upsert(target, records)


async def bound(cls: type, store: MemoryStore, target: str, spec: FieldSpec, records: Any) -> None:
    assert issubclass(cls, StoreConformance)
    await plain(store, target, spec, records)


@pytest.mark.parametrize("fill", [plain, staticmethod(plain), classmethod(bound)])
def test_a_filling_function_may_be_plain(fill: Any) -> None:
    """It is called with the store, the target, the spec and the records, and spares the writes."""
    suite = suite_of(MemoryStore, fill=fill)
    assert outcome_of(suite, "a_fetch_brings_everything") is None
    assert isinstance(outcome_of(suite, "writes_are_seen"), pytest.skip.Exception)


@pytest.mark.parametrize(
    "make", [MemoryStore, staticmethod(MemoryStore), classmethod(lambda cls: MemoryStore())]
)
def test_what_makes_the_store_may_be_plain(make: Any) -> None:
    """A class, a function, static or of the class: each is called without more."""
    assert outcome_of(suite_of(make), "a_fetch_brings_everything") is None


def test_a_read_only_store_is_spared_what_it_cannot_answer() -> None:
    """Writes are skipped, and the two laws of keywords where nobody says what its words are."""
    records = corpus.records(corpus.spec())

    async def loaded() -> MemoryStore:
        store = MemoryStore()
        await StoreConformance.fill(store, "Conformance", corpus.spec(), records)
        return store

    silent = suite_of(loaded, records=records)
    telling = suite_of(loaded, records=records, terms=str.split)
    for law, skipped in [
        ("writes_are_seen", (True, True)),
        ("keywords_find_their_words", (True, False)),
        ("more_words_score_more", (True, False)),
        ("filters_are_exact", (False, False)),
    ]:
        outcomes = outcome_of(silent, law), outcome_of(telling, law)
        assert tuple(isinstance(each, pytest.skip.Exception) for each in outcomes) == skipped


def test_terms_are_believed() -> None:
    """A store that finds by other words than its suite says breaks the law of keywords."""
    failed = outcome_of(suite_of(MemoryStore, terms=lambda text: []), "keywords_find_their_words")
    assert isinstance(failed, pytest.fail.Exception)


@given(strategies.specs())
def test_the_corpus_fills_any_spec(spec: FieldSpec) -> None:
    """Each field has values in some chunks and none in others, whatever its name and type."""
    records = corpus.records(spec)
    for record in records:
        check_record(record, spec)
    for field in spec:
        having = sum(field.name in record.properties for record in records)
        assert having == len(records) if field.name == "tenant" else 0 < having < len(records)


def test_a_refusal_of_the_filling_is_an_error() -> None:
    """A store that cannot be filled fails in the making, and is closed."""

    class Full(MemoryStore):
        async def create(self, target: str, spec: FieldSpec) -> None:
            raise InvalidQueryError("full")

    with pytest.raises(InvalidQueryError, match="full"):
        suite_of(Full).setup_class()
