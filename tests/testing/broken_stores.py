"""Stores that are broken in one way each, and the law that is meant to catch it."""

import asyncio
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import attrs
import numpy as np

from soev_retrieval.domain import (
    NOTHING,
    OPERATORS,
    AllOf,
    AnyOf,
    Chunk,
    DeclaredFilter,
    Field,
    FieldSpec,
    Filter,
    Hit,
    InvalidQueryError,
    Not,
    Properties,
    Record,
    StoreUnavailable,
    check,
    matches,
    predicates,
)
from soev_retrieval.memory import MemoryStore
from soev_retrieval.memory._index import Index
from soev_retrieval.testing import corpus


@attrs.frozen
class Broken:
    """A store that is broken in one way.

    Args:
        name: What it does wrong.
        make: Makes it.
        law: The name of the law that is meant to catch it.
        spec: What it is filled by.
    """

    name: str
    make: Callable[[], Any]
    law: str
    spec: FieldSpec = attrs.field(factory=corpus.spec)


BROKEN: list[Broken] = []


def broken(law: str, name: str, spec: FieldSpec | None = None) -> Callable[[type], type]:
    """Register a store that breaks `law`."""

    def register(store: type) -> type:
        BROKEN.append(Broken(name, store, law, spec or corpus.spec()))
        return store

    return register


# Filters: a judge decides which chunks match, in the place of `matches`.

Judge = Callable[[Filter, Mapping[str, Any]], bool]


def judging(judge: Judge, *, checks: bool = True) -> Callable[[], MemoryStore]:
    """A MemoryStore whose filters are decided by `judge`."""

    class Judged(Index):
        def _mask(self, where: Filter | None) -> Any:
            if where is None:
                return None
            return np.array([judge(where, each) for each in self._properties], np.bool_)

    class Judging(MemoryStore):
        def _made(self, spec: FieldSpec) -> Index:
            made = super()._made(spec)
            made.__class__ = Judged
            return made

        @staticmethod
        def _filter(where: Filter | None, index: Index) -> Filter | None:
            if where is not None and checks:
                check(where, index.spec)
            return where

    return Judging


Terms = Callable[[DeclaredFilter, Any], bool | None]


def terms(holds: Terms) -> Judge:
    """A judge that is right but for the predicates that `holds` decides."""

    def judge(where: Filter, properties: Mapping[str, Any]) -> bool:
        match where:
            case DeclaredFilter():
                decided = holds(where, properties.get(where.field))
                return matches(where, properties) if decided is None else decided
            case AllOf(filters):
                return all(judge(one, properties) for one in filters)
            case AnyOf(filters):
                return any(judge(one, properties) for one in filters)
            case Not(inner):
                return not judge(inner, properties)
            case _:
                return False

    return judge


def through(convert: Callable[[Any], Any], *ops: str) -> Terms:
    """Compare converted values where both are there."""

    def holds(term: DeclaredFilter, value: Any) -> bool | None:
        if ops and term.op not in ops:
            return None
        if value is None or term.value is None:
            return None
        changed = Properties({term.field: _each(convert, value)})
        try:
            return matches(DeclaredFilter(term.field, term.op, _each(convert, term.value)), changed)
        except InvalidQueryError:
            return None

    return holds


def _each(convert: Callable[[Any], Any], value: Any) -> Any:
    return tuple(map(convert, value)) if isinstance(value, tuple) else convert(value)


def on(kind: type, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Change values of one type, leave the others."""
    return lambda value: change(value) if type(value) is kind else value


def term_store(law: str, name: str, holds: Terms, *, checks: bool = True) -> None:
    """Register a store whose predicates are decided by `holds`."""
    BROKEN.append(Broken(name, judging(terms(holds), checks=checks), law))


def _op(op: str, holds: Callable[[Any, Any], bool]) -> Terms:
    """Decide one operator."""
    return lambda term, value: holds(value, term.value) if term.op == op else None


def _like(pattern: str, value: str, wildcard: str) -> bool:
    """Whether `value` is like `pattern`, in which one character stands for any."""
    some = "." if wildcard in "_?" else ".*"
    parts = map(re.escape, pattern.split(wildcard))
    return re.fullmatch(some.join(parts), value, re.DOTALL) is not None


EXACT, TOLD, PARTED = "filters_are_exact", "values_are_told_apart", "predicates_are_exact"

BROKEN += [
    Broken("ignores filters", judging(lambda where, each: True), EXACT),
    Broken("matches nothing under a filter", judging(lambda where, each: False), EXACT),
]
for _ignored in OPERATORS[:-1]:  # the last is `under`, which MemoryStore does not serve
    term_store(TOLD, f"ignores {_ignored}", _op(_ignored, lambda value, wanted: True))


def _not_drops_missing(where: Filter, each: Mapping[str, Any]) -> bool:
    if isinstance(where, Not):
        there = all(term.field in each for term in predicates(where))
        return there and not _not_drops_missing(where.filter, each)
    if isinstance(where, AllOf):
        return all(_not_drops_missing(one, each) for one in where.filters)
    if isinstance(where, AnyOf):
        return any(_not_drops_missing(one, each) for one in where.filters)
    return matches(where, each)


def _not_goes_inside(where: Filter, each: Mapping[str, Any]) -> bool:
    match where:
        case Not(AnyOf(filters)):
            return any(not _not_goes_inside(one, each) for one in filters)
        case Not(inner):
            return not _not_goes_inside(inner, each)
        case AllOf(filters):
            return all(_not_goes_inside(one, each) for one in filters)
        case AnyOf(filters):
            return any(_not_goes_inside(one, each) for one in filters)
        case _:
            return matches(where, each)


BROKEN += [
    Broken("Not drops missing fields", judging(_not_drops_missing), PARTED),
    Broken("Not any is any Not", judging(_not_goes_inside), "de_morgan"),
]
term_store(TOLD, "ne drops missing", lambda t, v: False if t.op == "ne" and v is None else None)
term_store(
    TOLD, "not_in drops missing", lambda t, v: False if t.op == "not_in" and v is None else None
)
term_store(TOLD, "takes null for a value", _op("exists", lambda value, wanted: True))
term_store(
    TOLD,
    "takes the empty list for a value",
    lambda t, v: True if t.op == "exists" and t.field in ("labels", "times") else None,
)
term_store(
    TOLD,
    "takes the empty text for null",
    lambda t, v: v not in (None, "") if t.op == "exists" else None,
)
term_store(
    "values_of_another_type_are_refused",
    "values of any type are tried",
    lambda t, v: None,
    checks=False,
)


@broken("values_of_another_type_are_refused", "1 is True")
class OneIsTrue(MemoryStore):
    @staticmethod
    def _filter(where: Filter | None, index: Index) -> Filter | None:
        match where:
            case DeclaredFilter("flag", op, int(value)):
                where = DeclaredFilter("flag", op, bool(value))
        return MemoryStore._filter(where, index)


term_store(
    TOLD,
    "1 is not 1.0",
    lambda t, v: False if t.op == "eq" and type(t.value) is not type(v) else None,
)
term_store(
    TOLD,
    "text as numbers in gt",
    _op(
        "gt",
        lambda v, w: (
            v is not None
            and (float(v) > float(w) if str(v).isdigit() and str(w).isdigit() else v > w)
        ),
    ),
)


def _wild(op: str, wildcard: str) -> Terms:
    """One operator in whose value one character stands for any."""

    def holds(term: DeclaredFilter, value: Any) -> bool | None:
        if term.op != op or not isinstance(value, str):
            return None
        wanted = str(term.value)
        return _like(wanted, value if op == "eq" else value[: len(wanted)], wildcard)

    return holds


for _wildcard in "_%*?":
    for _wild_op in ("eq", "prefix"):
        term_store(TOLD, f"{_wildcard} is a wildcard in {_wild_op}", _wild(_wild_op, _wildcard))
term_store(
    TOLD,
    "text equal by words",
    lambda t, v: (
        set(v.split()) == set(str(t.value).split()) if t.op == "eq" and type(v) is str else None
    ),
)
term_store(TOLD, "text equal without case", through(on(str, str.casefold), "eq", "in"))
term_store(TOLD, "text trimmed", through(on(str, str.strip)))
term_store(
    TOLD, "text normalised", through(on(str, lambda text: unicodedata.normalize("NFC", text)))
)
term_store(
    "operators_agree",
    "in [] matches all",
    lambda t, v: True if t.op == "in" and t.value == () else None,
)
term_store(
    "operators_agree",
    "not_in looks at the first only",
    lambda t, v: not t.value or v != t.value[0] if t.op == "not_in" else None,  # type: ignore[index]
)
term_store(
    "operators_agree",
    "contains_any is contains_all",
    lambda t, v: (
        matches(DeclaredFilter(t.field, "contains_all", t.value), {t.field: v})
        if t.op == "contains_any"
        else None
    ),
)
term_store(
    TOLD,
    "list contains as substring",
    _op("contains", lambda v, w: v is not None and any(str(w) in str(one) for one in v)),
)


def _text(value: datetime) -> str:
    return value.isoformat().replace("+00:00", "Z")


term_store(TOLD, "dates as text", through(on(datetime, _text)))
term_store(TOLD, "dates to the second", through(on(datetime, lambda at: at.replace(microsecond=0))))
term_store(
    TOLD,
    "dates without their offset",
    lambda t, v: (
        matches(DeclaredFilter(t.field, t.op, t.value + timedelta(hours=1)), {t.field: v})
        if isinstance(t.value, datetime)
        else None
    ),
)
term_store(TOLD, "ints through float32", through(on(int, lambda n: float(np.float32(n)))))
term_store(TOLD, "floats through float32", through(on(float, lambda n: float(np.float32(n)))))
term_store(
    "twins_of_another_tenant_stay_away",
    "any tenant",
    lambda t, v: True if t.field == "tenant" else None,
)


@broken("nothing_finds_nothing", "takes NOTHING for no filter")
class NothingIsNone(MemoryStore):
    @staticmethod
    def _filter(where: Filter | None, index: Index) -> Filter | None:
        return None if where is NOTHING else MemoryStore._filter(where, index)


@broken("twins_of_another_tenant_stay_away", "a text is answered with its first twin")
class FirstTwin(MemoryStore):
    async def bm25(self, target, *, query, limit, where=None):  # type: ignore[no-untyped-def]
        hits = await super().bm25(target, query=query, limit=limit, where=where)
        every = await super().bm25(target, query=query, limit=10_000)
        first = {hit.properties["text"]: hit for hit in reversed(every)}
        return [
            Hit(first[text].id, hit.score, first[text].properties)
            for hit in hits
            if (text := hit.properties["text"])
        ]


# Searches and fetches.


@broken("filters_come_before_limits", "filters after the limit")
class FiltersLate(MemoryStore):
    async def near_vector(self, target, *, vector, limit, where=None):  # type: ignore[no-untyped-def]
        hits = await super().near_vector(target, vector=vector, limit=limit)
        return [hit for hit in hits if where is None or matches(where, hit.properties)]


@broken("limits_hold", "limit off by one")
class OneLess(MemoryStore):
    async def bm25(self, target, *, query, limit, where=None):  # type: ignore[no-untyped-def]
        hits = await super().bm25(target, query=query, limit=limit, where=where)
        return hits[: max(1, limit - 1)]


@broken("limits_hold", "limit ignored in fetch")
class NoLimit(MemoryStore):
    async def fetch(self, target, *, limit, **rest):  # type: ignore[no-untyped-def]
        return await super().fetch(
            target,
            limit=max(limit, 1_000)
            if limit is not True and isinstance(limit, int) and limit > 0
            else limit,
            **rest,
        )


@broken("a_fetch_brings_everything", "a chunk twice, across pages")
class Twice(MemoryStore):
    async def fetch(self, target, *, limit, **rest):  # type: ignore[no-untyped-def]
        chunks = list(await super().fetch(target, limit=limit, **rest))
        return [*chunks[:10], *chunks[9:]][:limit]


@broken("a_fetch_brings_everything", "the first page only")
class OnePage(MemoryStore):
    async def fetch(self, target, *, limit, **rest):  # type: ignore[no-untyped-def]
        return (await super().fetch(target, limit=limit, **rest))[:50]


@broken("limits_hold", "ties at the limit lost")
class LosesTies(MemoryStore):
    async def near_vector(self, target, *, vector, limit, where=None):  # type: ignore[no-untyped-def]
        hits = await super().near_vector(target, vector=vector, limit=limit + 1, where=where)
        if len(hits) > limit and hits[limit].score == hits[limit - 1].score:
            return [hit for hit in hits if hit.score > hits[limit].score]
        return hits[:limit]


@broken("order_is_kept", "ascending and descending swapped")
class Swapped(MemoryStore):
    async def fetch(self, target, *, descending=False, **rest):  # type: ignore[no-untyped-def]
        return await super().fetch(target, descending=not descending, **rest)


class _Reordered(MemoryStore):
    @staticmethod
    def key(chunk: Chunk, order_by: str) -> Any:
        raise AssertionError

    async def fetch(self, target, *, limit, order_by=None, where=None, descending=False):  # type: ignore[no-untyped-def]
        await super().fetch(target, limit=limit, order_by=order_by, where=where)
        if order_by is None:
            return await super().fetch(target, limit=limit, where=where)
        chunks = await super().fetch(
            target, limit=10_000, order_by=order_by, where=where, descending=descending
        )
        return self.reordered(list(chunks), order_by)[:limit]

    def reordered(self, chunks: list[Chunk], order_by: str) -> list[Chunk]:
        return chunks


@broken("order_is_kept", "missing first")
class MissingFirst(_Reordered):
    def reordered(self, chunks: list[Chunk], order_by: str) -> list[Chunk]:
        return sorted(chunks, key=lambda chunk: order_by in chunk.properties)


@broken("order_is_kept", "missing left out")
class MissingLeftOut(_Reordered):
    def reordered(self, chunks: list[Chunk], order_by: str) -> list[Chunk]:
        return [chunk for chunk in chunks if order_by in chunk.properties]


@broken("order_is_kept", "text ordered without case")
class OrderedWithoutCase(_Reordered):
    def reordered(self, chunks: list[Chunk], order_by: str) -> list[Chunk]:
        texts = [each for each in chunks if isinstance(each.properties.get(order_by), str)]
        texts.sort(key=lambda chunk: str(chunk.properties[order_by]).casefold())
        return [*texts, *(each for each in chunks if each not in texts)]


@broken("order_is_kept", "limit before order")
class LimitFirst(MemoryStore):
    async def fetch(self, target, *, limit, order_by=None, where=None, descending=False):  # type: ignore[no-untyped-def]
        some = {each.id for each in await super().fetch(target, limit=limit, where=where)}
        chunks = await super().fetch(
            target,
            limit=10_000 if some else limit,
            order_by=order_by,
            where=where,
            descending=descending,
        )
        return [chunk for chunk in chunks if chunk.id in some]


class _NearChanged(MemoryStore):
    def changed(self, hits: list[Hit]) -> list[Hit]:
        return hits

    async def near_vector(self, target, *, vector, limit, where=None):  # type: ignore[no-untyped-def]
        hits = await super().near_vector(target, vector=vector, limit=limit, where=where)
        return self.changed(list(hits))


@broken("near_vectors_come_first", "lower score better")
class LowerBetter(_NearChanged):
    def changed(self, hits: list[Hit]) -> list[Hit]:
        return [Hit(hit.id, 1 - hit.score, hit.properties) for hit in hits]


@broken("near_vectors_come_first", "farthest first")
class Farthest(MemoryStore):
    async def near_vector(self, target, *, vector, limit, where=None):  # type: ignore[no-untyped-def]
        return await super().near_vector(
            target, vector=[-number for number in vector], limit=limit, where=where
        )


@broken("near_vectors_come_first", "hits unsorted")
class Unsorted(_NearChanged):
    def changed(self, hits: list[Hit]) -> list[Hit]:
        return sorted(hits, key=lambda hit: hit.id)


@broken("near_vectors_come_first", "no scores")
class NoScores(_NearChanged):
    def changed(self, hits: list[Hit]) -> list[Hit]:
        return [Hit(hit.id, float("nan"), hit.properties) for hit in hits]


@broken("near_vectors_come_first", "the nearest one is missed")
class MissesOne(MemoryStore):
    async def near_vector(self, target, *, vector, limit, where=None):  # type: ignore[no-untyped-def]
        hits = await super().near_vector(target, vector=vector, limit=limit + 1, where=where)
        return hits[1:] if len(hits) > limit else hits


class _WordsChanged(MemoryStore):
    def changed(self, hits: list[Hit], query: str) -> list[Hit]:
        return hits

    async def bm25(self, target, *, query, limit, where=None):  # type: ignore[no-untyped-def]
        await super().bm25(target, query=query, limit=limit, where=where)
        hits = await super().bm25(target, query=query, limit=10_000, where=where)
        return self.changed(list(hits), query)[:limit]


@broken("keywords_find_their_words", "all words needed")
class AllWords(_WordsChanged):
    def changed(self, hits: list[Hit], query: str) -> list[Hit]:
        wanted = set(query.split())
        return [hit for hit in hits if wanted <= set(str(hit.properties["text"]).split())]


@broken("more_words_score_more", "fewer words score more")
class FewerWords(_WordsChanged):
    def changed(self, hits: list[Hit], query: str) -> list[Hit]:
        scored = [Hit(hit.id, 1 / hit.score, hit.properties) for hit in hits]
        return sorted(scored, key=lambda hit: -hit.score)


@broken("stop_words_find_nothing", "stop words are an error")
class StopWordsRaise(MemoryStore):
    async def bm25(self, target, *, query, limit, where=None):  # type: ignore[no-untyped-def]
        hits = await super().bm25(target, query=query, limit=limit, where=where)
        if not self._analysis.terms(query):
            raise InvalidQueryError("only stop words")
        return hits


@broken("searches_keep_the_filter", "filter dropped in the keyword leg of hybrid")
class LegUnfiltered(MemoryStore):
    async def hybrid(self, target, *, query, limit, where=None, **rest):  # type: ignore[no-untyped-def]
        hits = list(await super().hybrid(target, query=query, limit=limit, where=where, **rest))
        more = await super().bm25(target, query=query, limit=limit)
        known = {hit.id for hit in hits}
        return [*hits, *(Hit(hit.id, 0.0, hit.properties) for hit in more if hit.id not in known)][
            :limit
        ]


@broken("searches_keep_the_filter", "filter dropped in the vector leg of hybrid")
class VectorLegUnfiltered(MemoryStore):
    async def hybrid(self, target, *, vector=None, limit, where=None, **rest):  # type: ignore[no-untyped-def]
        hits = list(await super().hybrid(target, vector=vector, limit=limit, where=where, **rest))
        more = (
            [] if vector is None else await super().near_vector(target, vector=vector, limit=limit)
        )
        known = {hit.id for hit in hits}
        return [*hits, *(Hit(hit.id, 0.0, hit.properties) for hit in more if hit.id not in known)][
            :limit
        ]


@broken("hybrid_ends_in_its_legs", "alpha ignored")
class NoAlpha(MemoryStore):
    async def hybrid(self, target, *, alpha=None, **rest):  # type: ignore[no-untyped-def]
        return await super().hybrid(target, alpha=0.5, **rest)


@broken("hybrid_ends_in_its_legs", "alpha 0 taken for None")
class FalsyAlpha(MemoryStore):
    async def hybrid(self, target, *, alpha=None, **rest):  # type: ignore[no-untyped-def]
        return await super().hybrid(target, alpha=alpha or None, **rest)


@broken("hybrid_looks_at_vectors_by_default", "alpha None taken for 0")
class NoneIsZero(MemoryStore):
    async def hybrid(self, target, *, alpha=None, **rest):  # type: ignore[no-untyped-def]
        return await super().hybrid(target, alpha=alpha or 0, **rest)


@broken("hybrid_is_its_definition", "hybrid fuses by rank")
class RankHybrid(MemoryStore):
    async def hybrid(self, target, *, limit, **rest):  # type: ignore[no-untyped-def]
        hits = await super().hybrid(target, limit=limit, **rest)
        return [Hit(hit.id, 1 / (60 + rank), hit.properties) for rank, hit in enumerate(hits, 1)]


@broken("hybrid_is_its_definition", "hybrid weighs the wrong leg")
class WrongLeg(MemoryStore):
    async def hybrid(self, target, *, alpha=None, **rest):  # type: ignore[no-untyped-def]
        wrong = 1 - alpha if isinstance(alpha, float) and 0 < alpha < 1 else alpha
        return await super().hybrid(target, alpha=wrong, **rest)


@broken("hybrid_is_its_definition", "hybrid looks no deeper than its limit")
class Shallow(MemoryStore):
    async def hybrid(self, target, *, limit, **rest):  # type: ignore[no-untyped-def]
        self._depth = 1
        return await super().hybrid(target, limit=limit, **rest)


@broken("hybrid_needs_a_vector", "hybrid without a vector is keywords in silence")
class SilentKeywords(MemoryStore):
    async def hybrid(self, target, *, vector=None, alpha=None, **rest):  # type: ignore[no-untyped-def]
        return await super().hybrid(
            target, vector=vector, alpha=0 if vector is None else alpha, **rest
        )


class _ChunksChanged(MemoryStore):
    def changed(self, chunks: list[Chunk]) -> list[Chunk]:
        return chunks

    async def fetch(self, target, **rest):  # type: ignore[no-untyped-def]
        return self.changed(list(await super().fetch(target, **rest)))


@broken("a_fetch_brings_everything", "ids changed")
class IdsChanged(_ChunksChanged):
    def changed(self, chunks: list[Chunk]) -> list[Chunk]:
        return [Chunk(chunk.id.upper(), chunk.properties) for chunk in chunks]


@broken("properties_are_the_chunks_own", "properties of another chunk")
class OthersProperties(_ChunksChanged):
    def changed(self, chunks: list[Chunk]) -> list[Chunk]:
        return [
            Chunk(one.id, two.properties)
            for one, two in zip(chunks, chunks[1:] + chunks[:1], strict=True)
        ]


@broken("properties_are_the_chunks_own", "undeclared properties returned")
class Undeclared(_ChunksChanged):
    def changed(self, chunks: list[Chunk]) -> list[Chunk]:
        return [Chunk(chunk.id, {**chunk.properties, "_score": 1.0}) for chunk in chunks]


@broken("properties_are_the_chunks_own", "ints come back as floats")
class IntsAsFloats(_ChunksChanged):
    def changed(self, chunks: list[Chunk]) -> list[Chunk]:
        return [
            Chunk(
                chunk.id,
                {
                    name: float(value) if type(value) is int else value
                    for name, value in chunk.properties.items()
                },
            )
            for chunk in chunks
        ]


@broken("properties_are_the_chunks_own", "lists of floats come back as ints")
class FloatsAsInts(_ChunksChanged):
    def changed(self, chunks: list[Chunk]) -> list[Chunk]:
        return [Chunk(each.id, {**each.properties, **self.whole(each)}) for each in chunks]

    def whole(self, chunk: Chunk) -> dict[str, Any]:
        prices: Any = chunk.properties.get("prices", ())
        return {"prices": [int(one) if one.is_integer() else one for one in prices]}


@broken("properties_are_the_chunks_own", "hits without properties")
class Bare(_NearChanged):
    def changed(self, hits: list[Hit]) -> list[Hit]:
        return [Hit(hit.id, hit.score) for hit in hits]


# Refusals.


@broken("undeclared_fields_are_refused", "a bad field as an empty list")
class BadFieldEmpty(MemoryStore):
    async def bm25(self, target, *, where=None, **rest):  # type: ignore[no-untyped-def]
        spec = await self.fields(target)
        if where is not None and any(term.field not in spec for term in predicates(where)):
            return []
        return await super().bm25(target, where=where, **rest)


@broken("unserved_operators_are_refused", "operators not served are tried all the same")
class ServesAll(MemoryStore):
    @staticmethod
    def _filter(where: Filter | None, index: Index) -> Filter | None:
        if where is not None:
            for term in predicates(where):
                if term.field not in index.spec:
                    raise InvalidQueryError("no such field")
                if term.op not in index.spec[term.field].operators:
                    return NOTHING
        return MemoryStore._filter(where, index)


@broken("unsortable_fields_are_refused", "an unsortable order is no order")
class AnyOrder(MemoryStore):
    async def fetch(self, target, *, order_by=None, **rest):  # type: ignore[no-untyped-def]
        spec = await self.fields(target)
        known = order_by in spec and spec[order_by].sortable
        return await super().fetch(target, order_by=order_by if known else None, **rest)


WITHOUT_WORDS = FieldSpec([Field("label", "text")], dimension=3)
WITHOUT_VECTORS = FieldSpec([Field("text", "text", searchable=True)])


@broken("unserved_searches_are_unconfigured", "no searchable field is no hits", WITHOUT_WORDS)
class NoWordsNoHits(MemoryStore):
    async def bm25(self, target, **rest):  # type: ignore[no-untyped-def]
        spec = await self.fields(target)
        there = any(field.searchable for field in spec)
        return await super().bm25(target, **rest) if there else []


@broken("unserved_searches_are_unconfigured", "no vectors is no hits", WITHOUT_VECTORS)
class NoVectorsNoHits(MemoryStore):
    async def near_vector(self, target, **rest):  # type: ignore[no-untyped-def]
        spec = await self.fields(target)
        return [] if spec.dimension is None else await super().near_vector(target, **rest)


@broken("unserved_searches_are_unconfigured", "hybrid makes do with keywords", WITHOUT_VECTORS)
class MakesDo(MemoryStore):
    async def hybrid(self, target, *, query, limit, where=None, **rest):  # type: ignore[no-untyped-def]
        return await super().bm25(target, query=query, limit=limit, where=where)


@broken("unserved_operators_are_refused", "a field without operators takes any", WITHOUT_VECTORS)
class ServesWhatItLikes(MemoryStore):
    async def fields(self, target):  # type: ignore[no-untyped-def]
        [text] = (await super().fields(target)).fields
        return FieldSpec([attrs.evolve(text, operators=())])


@broken("unknown_targets_are_refused", "an unknown target is empty")
class EmptyTargets(MemoryStore):
    async def fetch(self, target, **rest):  # type: ignore[no-untyped-def]
        return await super().fetch(target, **rest) if target in self._indexes else []


@broken("bad_limits_are_refused", "a limit of 0 is no hits")
class ZeroLimit(MemoryStore):
    async def near_vector(self, target, *, vector, limit, where=None):  # type: ignore[no-untyped-def]
        return (
            []
            if limit == 0
            else await super().near_vector(target, vector=vector, limit=limit, where=where)
        )


@broken("bad_queries_are_refused", "a blank query is no hits")
class BlankQuery(MemoryStore):
    async def bm25(self, target, *, query, limit, where=None):  # type: ignore[no-untyped-def]
        return (
            [] if query == "" else await super().bm25(target, query=query, limit=limit, where=where)
        )


@broken("bad_vectors_are_refused", "NaN is answered")
class AnswersNan(MemoryStore):
    async def near_vector(self, target, *, vector, limit, where=None):  # type: ignore[no-untyped-def]
        numbers = [1.0 if number != number else number for number in vector]  # noqa: PLR0124
        return await super().near_vector(target, vector=numbers, limit=limit, where=where)


@broken("bad_alphas_are_refused", "alpha above 1 is 1")
class ClampedAlpha(MemoryStore):
    async def hybrid(self, target, *, alpha=None, **rest):  # type: ignore[no-untyped-def]
        clamped = 1.0 if isinstance(alpha, float) and alpha > 1 else alpha
        return await super().hybrid(target, alpha=clamped, **rest)


# Calls.


@broken("calls_do_not_see_each_other", "state shared between concurrent calls")
class SharedState(MemoryStore):
    async def bm25(self, target, *, query, limit, where=None):  # type: ignore[no-untyped-def]
        self.asked = (query, limit, where)
        await asyncio.sleep(0)
        query, limit, where = self.asked
        return await super().bm25(target, query=query, limit=limit, where=where)


@broken("calls_repeat", "answers change after they are given")
class ReusedAnswer(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.answer: list[Hit] = []

    async def near_vector(self, target, *, vector, limit, where=None):  # type: ignore[no-untyped-def]
        hits = await super().near_vector(target, vector=vector, limit=limit, where=where)
        self.answer.clear()
        self.answer.extend(hits)
        return self.answer

    async def fields(self, target):  # type: ignore[no-untyped-def]
        return await super().fields(target)


@broken("calls_repeat", "every other call answers less")
class Flaky(MemoryStore):
    odd = False

    async def fetch(self, target, **rest):  # type: ignore[no-untyped-def]
        chunks = await super().fetch(target, **rest)
        self.odd = not self.odd
        return chunks if self.odd else chunks[:-1]


@broken("arguments_are_left_alone", "changes the vector it was given")
class Normalising(MemoryStore):
    async def near_vector(self, target, *, vector, limit, where=None):  # type: ignore[no-untyped-def]
        hits = await super().near_vector(target, vector=vector, limit=limit, where=where)
        length = float(np.linalg.norm(vector))
        vector[:] = [number / (2 * length) for number in vector]
        return hits


@broken("cancellations_get_through", "a cancellation becomes unavailability")
class SwallowsCancellation(MemoryStore):
    async def fetch(self, target, **rest):  # type: ignore[no-untyped-def]
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError as cancelled:
            raise StoreUnavailable("cancelled") from cancelled
        return await super().fetch(target, **rest)


@broken("cancellations_get_through", "broken for good by a cancellation")
class StaysBroken(MemoryStore):
    busy = False

    async def fetch(self, target, **rest):  # type: ignore[no-untyped-def]
        if self.busy:
            raise StoreUnavailable("busy")
        self.busy = True
        await asyncio.sleep(0)
        self.busy = False
        return await super().fetch(target, **rest)


# Writes.


@broken("writes_are_seen", "writes are seen one search later")
class SeenLater(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[tuple[str, list[Record]]] = []

    async def upsert(self, target, records):  # type: ignore[no-untyped-def]
        if len(await super().fetch(target, limit=1)) == 0:
            return await super().upsert(target, records)
        self.waiting.append((target, list(records)))
        return None

    async def fetch(self, target, **rest):  # type: ignore[no-untyped-def]
        chunks = await super().fetch(target, **rest)
        for each in self.waiting:
            await super().upsert(*each)
        self.waiting.clear()
        return chunks


@broken("upserts_replace", "an upsert appends")
class Appends(_ChunksChanged):
    def __init__(self) -> None:
        super().__init__()
        self.old: list[Chunk] = []

    async def upsert(self, target, records):  # type: ignore[no-untyped-def]
        records = list(records)
        chunks = await super().fetch(target, limit=10_000)  # type: ignore[no-untyped-call]
        there = {chunk.id: chunk for chunk in chunks}
        self.old = [there[each.id] for each in records if each.id in there]
        await super().upsert(target, records)

    def changed(self, chunks: list[Chunk]) -> list[Chunk]:
        return [*chunks, *self.old]


@broken("upserts_replace", "an upsert keeps the old properties")
class Merges(MemoryStore):
    async def upsert(self, target, records):  # type: ignore[no-untyped-def]
        there = {chunk.id: chunk for chunk in await super().fetch(target, limit=10_000)}
        merged = [
            Record(
                each.id,
                {**each.properties, **there[each.id].properties}
                if each.id in there
                else each.properties,
                each.vector,
            )
            for each in records
        ]
        await super().upsert(target, merged)


@broken("upserts_replace", "an upsert keeps the old vector")
class KeepsVector(MemoryStore):
    async def upsert(self, target, records):  # type: ignore[no-untyped-def]
        held = self._index(target).saved()
        with_one = (chunk.id for chunk, there in zip(held.chunks, held.there, strict=True) if there)
        old = dict(zip(with_one, held.vectors, strict=True))
        await super().upsert(
            target,
            [
                Record(
                    each.id,
                    each.properties,
                    old.get(each.id) if each.vector is None else each.vector,
                )
                for each in records
            ],
        )


@broken("the_last_of_one_id_stays", "the first of one id stays")
class FirstStays(MemoryStore):
    async def upsert(self, target, records):  # type: ignore[no-untyped-def]
        await super().upsert(target, list(reversed(list(records))))


@broken("deletes_remove", "a delete leaves the vector behind")
class GhostVectors(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.ghosts: list[str] = []

    async def delete(self, target, ids):  # type: ignore[no-untyped-def]
        ids = list(ids)
        self.ghosts += ids
        await super().delete(target, ids)

    async def near_vector(self, target, **rest):  # type: ignore[no-untyped-def]
        hits = await super().near_vector(target, **rest)
        return [*hits, *(Hit(id, -1.0) for id in self.ghosts)]


@broken("deletes_remove", "an unknown id is an error")
class StrictDelete(MemoryStore):
    async def delete(self, target, ids):  # type: ignore[no-untyped-def]
        ids = list(ids)
        if any(id not in self._index(target)._row_of for id in ids):
            raise InvalidQueryError("no such chunk")
        await super().delete(target, ids)


@broken("bad_records_are_refused_whole", "what came before a bad record is written")
class HalfABatch(MemoryStore):
    async def upsert(self, target, records):  # type: ignore[no-untyped-def]
        for record in records:
            await super().upsert(target, [record])


@broken("targets_are_created_once", "created again is created empty")
class Recreates(MemoryStore):
    async def create(self, target, spec):  # type: ignore[no-untyped-def]
        await super().create(target, spec)
        await self.drop(target)
        await super().create(target, spec)


@broken("what_was_loaded_comes_back", "text is trimmed when loaded")
class TrimsText(MemoryStore):
    async def upsert(self, target, records):  # type: ignore[no-untyped-def]
        await super().upsert(
            target,
            [
                Record(
                    each.id,
                    {
                        name: value.strip() if isinstance(value, str) else value
                        for name, value in each.properties.items()
                    },
                    each.vector,
                )
                for each in records
            ],
        )


@broken("records_are_left_alone", "an upsert empties the list that it is given")
class Consumes(MemoryStore):
    async def upsert(self, target, records):  # type: ignore[no-untyped-def]
        await super().upsert(target, records)
        if isinstance(records, list):
            records.clear()


@broken("upserts_add_up", "the third record of a batch is lost")
class LosesThird(MemoryStore):
    async def upsert(self, target: str, records: Iterable[Record]) -> None:
        kept: list[Record] = list(records)
        if len(kept) == 3:
            kept = kept[:2]
        await super().upsert(target, kept)


@broken("outages_are_unavailable", "an outage as an empty list")
class OutageEmpty(MemoryStore):
    down = False

    async def fetch(self, target, **rest):  # type: ignore[no-untyped-def]
        return [] if self.down else await super().fetch(target, **rest)
