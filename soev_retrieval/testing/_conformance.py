"""The suite that a store is tested with, in two lines."""

import asyncio
import inspect
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import FlakyFailure

from soev_retrieval.domain import FieldSpec, Filter, Record, Target
from soev_retrieval.store import Loader, VectorStore
from soev_retrieval.testing import corpus
from soev_retrieval.testing._suites import given_by, made
from soev_retrieval.testing.laws import LAWS, Held, Law, LawBroken, outages_are_unavailable

# A store may be slow, and a law may filter: what is checked is the store.
_UNMINDED = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)


class StoreConformance:
    """Every law of `soev_retrieval.testing.laws` as a test, for pytest to collect.

    ```python
    from soev_retrieval.memory import MemoryStore
    from soev_retrieval.testing import StoreConformance

    class TestMemoryStore(StoreConformance):
        make_store = MemoryStore
    ```

    The suite fills a target through the store's Loader, reads its FieldSpec, and asks what the
    spec declares; what it does not declare must be refused. One store serves all tests of a class,
    in one event loop.

    A store that is filled in another way overrides `fill`; one that is read-only sets `records`
    to what it holds, and `target` to where. Both are spared the laws of writes. What is overridden
    may be a plain function: nothing is bound to an instance.
    """

    target: ClassVar[Target] = "Conformance"
    """The target that is filled and asked. The laws of writes use it with `Writes` behind."""

    examples: ClassVar[int] = 60
    """How many times a law that draws something is checked."""

    stop_words: ClassVar[str | None] = "the of and"
    """A query of words that the store's analysis leaves out, or None where it leaves out none."""

    make_store: ClassVar[Callable[[], Any]]
    """Makes the store: a function that returns it, an awaitable of it, or an async context."""

    records: ClassVar[Sequence[Record] | None] = None
    """What a read-only store holds, or None for one that is filled."""

    @classmethod
    def spec(cls) -> FieldSpec:
        """What the target is created with."""
        return corpus.spec()

    @classmethod
    async def fill(
        cls, store: Any, target: Target, spec: FieldSpec, records: Sequence[Record]
    ) -> None:
        """Create the target and fill it. Through the store's Loader, unless overridden."""
        await store.drop(target)
        await store.create(target, spec)
        await store.upsert(target, records)

    @classmethod
    def may_refuse(cls, where: Filter) -> bool:
        """Whether the store may refuse a filter that its spec serves. Say why where you say yes."""
        return False

    @classmethod
    def terms(cls, text: str) -> Iterable[str] | None:
        """What the store's keyword analysis makes of a text. None skips two laws of keywords.

        Unless overridden, the words of our own corpus stand for themselves, and of `records`
        nobody knows.
        """
        return text.split() if cls.records is None else None

    outage: ClassVar[Callable[[], AbstractAsyncContextManager[object]] | None] = None
    """A context in which the server does not answer, or None where it cannot be taken down."""

    _session: ClassVar["_Session | None"] = None

    @classmethod
    def setup_class(cls) -> None:
        """Make the store and fill it."""
        if "make_store" not in {name for each in cls.__mro__ for name in vars(each)}:
            pytest.skip("StoreConformance is a base: give make_store")
        cls._session = _Session(cls)

    @classmethod
    def teardown_class(cls) -> None:
        """Close the store."""
        if cls._session is not None:
            cls._session.close()
            cls._session = None

    def check(self, law: Law) -> None:
        """Check one law, as many times as it draws something and `examples` says."""
        session = self._session
        if session is None:
            raise RuntimeError("the store is made in setup_class; call it first")
        held = session.held_for(law)
        if held is None:
            pytest.skip("the store is read-only, or filled by a function of its own")
        if not law.applies(held):
            pytest.skip("what the law is about is not declared")
        session.check(law, held, self.examples if law.draws else 1)

    def test_outages_are_unavailable(self) -> None:
        """While the server does not answer every method raises StoreUnavailable."""
        outage, session = given_by(type(self), "outage"), self._session
        if outage is None or session is None:
            pytest.skip("no outage is given")
        law = outages_are_unavailable
        _plainly(lambda: session.run(law(session.store, session.held, outage=outage)))


class _Session:
    """One store in one event loop, for all tests of a class."""

    def __init__(self, suite: type[StoreConformance]) -> None:
        self._suite = suite
        self._runner = asyncio.Runner()
        self._open = AsyncExitStack()
        try:
            self.store: VectorStore = self.run(self._made())
            self.held: Held = self.run(self._filled())
        except BaseException:
            self.close()
            raise

    def run(self, coroutine: Any) -> Any:
        return self._runner.run(coroutine)

    def close(self) -> None:
        try:
            self.run(self._open.aclose())
        finally:
            self._runner.close()

    async def _made(self) -> Any:
        return await made(given_by(self._suite, "make_store")(), self._open)

    async def _filled(self) -> Held:
        suite, spec = self._suite, self._suite.spec()
        records = suite.records
        if records is None:
            records = corpus.records(spec)
            await suite.fill(self.store, suite.target, spec, records)
        declared = await self.store.fields(suite.target)
        return self._held(suite.target, declared, records)

    def _held(self, target: Target, spec: FieldSpec, records: Sequence[Record]) -> Held:
        suite = self._suite
        return Held(target, spec, records, suite.stop_words, suite.may_refuse, suite.terms)

    def held_for(self, law: Law) -> Held | None:
        """What the law is checked on; None for a law of writes where nothing can be written."""
        if not law.writes:
            return self.held
        own = inspect.getattr_static(self._suite, "fill") is not vars(StoreConformance)["fill"]
        if self._suite.records is not None or own or not isinstance(self.store, Loader):
            return None
        return self._held(f"{self._suite.target}Writes", self._suite.spec(), ())

    def check(self, law: Law, held: Held, examples: int) -> None:
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            report_multiple_bugs=False,
            suppress_health_check=_UNMINDED,
        )
        @given(law.drawn(held))
        def checked(drawn: dict[str, Any]) -> None:
            self.run(law(self.store, held, **drawn))

        try:
            checked()
        except FlakyFailure as flaky:
            # The store remembers something between calls.
            if not (said := [each for each in flaky.exceptions if isinstance(each, LawBroken)]):
                raise
            raise LawBroken(f"{said[0]}\nasked again, it held") from flaky


def _plainly(checked: Callable[[], None]) -> None:
    """Let a broken law say what it has to say, without our own frames around it."""
    try:
        return checked()
    except LawBroken as broken:
        if broken.__cause__ is not None and not isinstance(broken.__cause__, FlakyFailure):
            raise  # where the store raised it is in the traceback
        said = str(broken)
    pytest.fail(said, pytrace=False)


def _as_test(law: Law) -> Callable[[StoreConformance], None]:
    def test(self: StoreConformance) -> None:
        _plainly(lambda: self.check(law))

    test.__name__ = f"test_{law.name}"
    test.__qualname__ = f"StoreConformance.{test.__name__}"
    test.__doc__ = law.sentence
    return test


for _law in LAWS:
    setattr(StoreConformance, f"test_{_law.name}", _as_test(_law))
