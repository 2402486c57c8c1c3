"""What a law is, what it is checked on, and how it says that it was broken."""

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias, cast

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from soev_retrieval.calls import Call
from soev_retrieval.domain import (
    Chunk,
    FieldSpec,
    Filter,
    Hit,
    Record,
    Target,
    check_record,
    matches,
)
from soev_retrieval.store import VectorStore


class LawBroken(AssertionError):
    """A store answered otherwise than the contract says."""


class Refused(Exception):
    """The store refused a filter that it may refuse: the law has nothing to compare."""


@attrs.frozen
class Held:
    """What a target holds: the laws compare a store's answers with it.

    Args:
        target: The target.
        spec: What the store says that it declares.
        records: Every chunk in it.
        stop_words: A query of words that the store's analysis leaves out, or None.
        may_refuse: Which filters the store may refuse although its spec serves them.
        terms: What the store's analysis makes of a text, or None where nobody says.
    """

    target: Target
    spec: FieldSpec
    records: Sequence[Record]
    stop_words: str | None = "the of and"
    may_refuse: Callable[[Filter], bool] = lambda where: False
    terms: Callable[[str], Iterable[str] | None] = str.split

    @cached_property
    def by_id(self) -> Mapping[str, Record]:
        """Every chunk by its id, as the store keeps it."""
        return {each.id: check_record(each, self.spec) for each in self.records}

    @property
    def limit(self) -> int:
        """A limit beyond all that there is."""
        return len(self.by_id) + 5

    @property
    def searchable(self) -> list[str]:
        """The fields that keyword searches look in."""
        return [field.name for field in self.spec if field.searchable]

    def matching(self, where: Filter | None) -> set[str]:
        """The ids of the chunks that match."""
        return {
            id
            for id, record in self.by_id.items()
            if where is None or matches(where, record.properties)
        }

    def with_vector(self, ids: Iterable[str]) -> set[str]:
        """Those of `ids` that have a vector."""
        return {id for id in ids if self.by_id[id].vector is not None}

    def terms_of(self, text: str) -> list[str]:
        """What the store's analysis makes of a text: nothing where nobody says."""
        return list(self.terms(text) or ())

    def texts(self, id: str) -> list[str]:
        """The searchable text of a chunk."""
        values = [self.by_id[id].properties.get(name, ()) for name in self.searchable]
        return [
            str(one) for value in values for one in (value if isinstance(value, tuple) else [value])
        ]


_LONG = 300  # characters of one value in a failure

NEAR = 1e-4
"""What float32 may do to a score of a few small numbers."""

Check: TypeAlias = Callable[..., Awaitable[None]]
Draw: TypeAlias = Callable[[Held], SearchStrategy[Any]]


@attrs.frozen
class Law:
    """One sentence that every store must keep to, and how it is checked.

    Args:
        check: `async check(store, held, **drawn)`; raises LawBroken. Its docstring is the law.
        draws: What is drawn for each check: a strategy for what is held, by argument.
        applies: Whether the law says anything about a target.
        writes: Whether the check fills a target of its own, through the store's Loader.
    """

    check: Check
    draws: Mapping[str, Draw]
    applies: Callable[[Held], bool]
    writes: bool

    @property
    def name(self) -> str:
        """The name of the law."""
        return self.check.__name__

    @property
    def sentence(self) -> str:
        """What the law says."""
        return (self.check.__doc__ or "").split("\n\n")[0]

    def drawn(self, held: Held) -> SearchStrategy[dict[str, Any]]:
        """What is drawn for one check."""
        return st.fixed_dictionaries({name: draw(held) for name, draw in self.draws.items()})

    async def __call__(self, store: VectorStore, held: Held, **drawn: Any) -> None:
        """Check the law once.

        Raises:
            LawBroken: The store does not keep to it.
        """
        try:
            await self.check(store, held, **drawn)
        except Refused:
            return
        except LawBroken as broken:
            raise LawBroken(self._told(str(broken), drawn)) from broken.__cause__
        except Exception as error:
            raise LawBroken(self._told(f"came     {error!r}", drawn)) from error

    def _told(self, facts: str, drawn: Mapping[str, Any]) -> str:
        """The law, the facts, and what was drawn where they do not say it already."""
        said = {name: shown(value) for name, value in drawn.items() if not _plain(value)}
        more = [f"{name:8} {text}" for name, text in said.items() if text not in facts]
        return "\n".join([f"{self.name}: {self.sentence}", facts, *more])


def law(
    *, applies: Callable[[Held], bool] = lambda held: True, writes: bool = False, **draws: Draw
) -> Callable[[Check], Law]:
    """Make a law of its check."""
    return lambda check: Law(check, draws, applies, writes)


def expect(came: object, expected: object, *facts: str) -> None:
    """Break the law unless what came is what was expected."""
    if came != expected:
        lines = [*facts, f"expected {_short(expected)}", f"came     {_short(came)}"]
        raise LawBroken("\n".join(lines))


def expect_properties(came: Mapping[str, Any], expected: Mapping[str, Any], told: str) -> None:
    """Break the law unless the properties are the same, types and all. It names those that differ."""
    for name in sorted({*came, *expected}):
        one, other = came.get(name), expected.get(name)
        if (name in came, _types(one), one) != (name in expected, _types(other), other):
            one, other = [
                _short(each[name]) if name in each else "none" for each in (came, expected)
            ]
            raise LawBroken(f"{told}\nfield    {name}\nexpected {other}\ncame     {one}")


def _types(value: object) -> list[type]:
    return [type(value), *map(type, value if isinstance(value, tuple) else ())]


def expect_ids(held: Held, results: Sequence[Hit | Chunk], expected: set[str], *facts: str) -> None:
    """Break the law unless exactly these chunks came, each once. It names those that differ."""
    ids = [result.id for result in results]
    if len(ids) == len(set(ids)) and set(ids) == expected:
        return
    lines = list(facts)
    lines += [f"missing  {_told(held, id)}" for id in sorted(expected - set(ids))[:3]]
    lines += [f"too much {_told(held, id)}" for id in sorted(set(ids) - expected)[:3]]
    lines += [f"came {ids.count(id)} times: {id!r}" for id in sorted({*ids}) if ids.count(id) > 1][
        :3
    ]
    lines.append(f"expected {len(expected)} chunks, came {len(ids)}")
    raise LawBroken("\n".join(lines))


def expect_same_ranking(came: Sequence[Hit], expected: Sequence[Hit], told: str) -> None:
    """The same hits with the same scores; equal scores in any order."""
    pairs = list(zip(came, expected, strict=False))
    same = len(came) == len(expected) and all(
        math.isclose(one.score, two.score, rel_tol=NEAR, abs_tol=NEAR) for one, two in pairs
    )
    scores = {hit.id: hit.score for hit in expected}
    known = all(
        math.isclose(scores.get(hit.id, hit.score), hit.score, rel_tol=NEAR, abs_tol=NEAR)
        for hit in came
    )
    last = expected[-1].score if expected else 0.0
    inside = all(hit.id in scores or hit.score <= last + NEAR for hit in came)
    if not (same and known and inside):
        expect(
            [(hit.id, round(hit.score, 6)) for hit in came],
            [(hit.id, round(hit.score, 6)) for hit in expected],
            told,
        )
        raise LawBroken(told)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}… ({len(text)} characters)"


def _plain(value: object) -> bool:
    """Whether the facts of every law that draws such a value say it in their own words."""
    return value is None or isinstance(value, bool | str | tuple)


def shown(value: Any) -> str:
    """A value as a failure shows it: a filter as text, and all that a call holds."""
    if isinstance(value, Call):
        fields = attrs.asdict(cast("Any", value), recurse=False)
        held = ", ".join(f"{name}={shown(field)}" for name, field in fields.items())
        return f"{type(value).__name__}({held})"
    if isinstance(value, Filter):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    return repr(value)


def _told(held: Held, id: str) -> str:
    record = held.by_id.get(id)
    if record is None:
        return f"{id!r}, which should not be there"
    short = {name: value for name, value in record.properties.items() if len(repr(value)) < 60}
    return f"{id!r} {short}" + ("" if record.vector is not None else " without a vector")
