"""Laws of results: whose they are, how many, in which order."""

import math
from collections import Counter
from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from soev_retrieval.domain import Filter, Hit, Unconfigured, fuse_hybrid, hybrid_depth
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.laws._asking import (
    allowed,
    ask_all,
    filters_of,
    has_both,
    has_terms,
    has_vectors,
    has_words,
    limits_of,
    vectors_of,
    words_of,
)
from soev_retrieval.testing.laws._law import (
    NEAR,
    Held,
    LawBroken,
    expect,
    expect_ids,
    expect_properties,
    expect_same_ranking,
    law,
)


@law(limit=limits_of, vector=vectors_of, query=words_of)
async def limits_hold(
    store: VectorStore, held: Held, *, limit: int, vector: Sequence[float], query: str
) -> None:
    """No method brings more than `limit`, nor less where there is more, nor a chunk twice."""
    whole = await ask_all(store, held, where=None, limit=held.limit, vector=vector, query=query)
    cut = await ask_all(store, held, where=None, limit=limit, vector=vector, query=query)
    for method, results in cut.items():
        found = {result.id for result in whole[method]}
        told = f"{method} of {query!r} with limit {limit}, {len(found)} without"
        expect(len(results), min(limit, len(found)), told)
        expect_ids(held, results, {result.id for result in results} & found, told)


@law()
async def a_fetch_brings_everything(store: VectorStore, held: Held) -> None:
    """A fetch without a filter brings every chunk once, under the id it was loaded with."""
    expect_ids(held, await store.fetch(held.target, limit=held.limit), set(held.by_id))


@law(limit=limits_of, vector=vectors_of, query=words_of)
async def properties_are_the_chunks_own(
    store: VectorStore, held: Held, *, limit: int, vector: Sequence[float], query: str
) -> None:
    """Every result carries the properties of its chunk: all that were loaded, and no other."""
    answers = await ask_all(store, held, where=None, limit=limit, vector=vector, query=query)
    for method, results in answers.items():
        for result in results:
            if result.id not in held.by_id:
                raise LawBroken(f"{method} brought {result.id!r}, which was never loaded")
            own = held.by_id[result.id].properties
            expect_properties(
                result.properties, own, f"{method} of {query!r} brought {result.id!r}"
            )


def similarity(one: Sequence[float], two: Sequence[float], distance: str) -> float:
    """How near two vectors are, as `FieldSpec.distance` scores it."""
    if distance == "euclidean":
        return -math.dist(one, two)
    if distance == "manhattan":
        return -math.fsum(abs(a - b) for a, b in zip(one, two, strict=True))
    product = math.fsum(a * b for a, b in zip(one, two, strict=True))
    return product if distance == "dot" else product / (math.hypot(*one) * math.hypot(*two))


def _expect_falling(hits: Sequence[Hit], told: str) -> None:
    scores = [hit.score for hit in hits]
    expect(all(map(math.isfinite, scores)), True, f"{told}\nscores   {scores}")
    expect(scores, sorted(scores, reverse=True), told)


@law(applies=has_vectors, vector=vectors_of, limit=limits_of)
async def near_vectors_come_first(
    store: VectorStore, held: Held, *, vector: Sequence[float], limit: int
) -> None:
    """near_vector brings the chunks with the nearest vectors, best first, higher scores better."""
    hits = await store.near_vector(held.target, vector=vector, limit=limit)
    nearness = {
        id: similarity(vector, record.vector, held.spec.distance)
        for id, record in held.by_id.items()
        if record.vector is not None
    }
    told = f"near_vector of {list(vector)} with limit {limit}"
    _expect_falling(hits, told)
    expect_ids(held, hits, {hit.id for hit in hits} & set(nearness), told)
    best = sorted(nearness.values(), reverse=True)[:limit]
    expect(len(hits), len(best), told)
    scale = max(1.0, *map(abs, best)) if best else 1.0
    for place, (hit, expected) in enumerate(zip(hits, best, strict=True), 1):
        if abs(nearness[hit.id] - expected) > NEAR * scale:
            raise LawBroken(
                f"{told}\nplace {place} is {hit.id!r}, as near as {nearness[hit.id]:.6g};"
                f" the chunk that belongs there is as near as {expected:.6g}"
            )


def _terms(held: Held, id: str) -> Counter[str]:
    return Counter(term for text in held.texts(id) for term in held.terms_of(text))


@law(applies=has_terms, query=words_of)
async def keywords_find_their_words(store: VectorStore, held: Held, *, query: str) -> None:
    """bm25 brings exactly the chunks that hold a word of the query, in falling score."""
    hits = await store.bm25(held.target, query=query, limit=held.limit)
    wanted = set(held.terms_of(query))
    expected = {id for id in held.by_id if wanted & _terms(held, id).keys()}
    expect_ids(held, hits, expected, f"bm25 of {query!r}")
    _expect_falling(hits, f"bm25 of {query!r}")


def _in_one_field(held: Held) -> bool:
    """A store may weigh several fields as it likes."""
    return has_terms(held) and len(held.searchable) == 1


@law(applies=_in_one_field, query=words_of)
async def more_words_score_more(store: VectorStore, held: Held, *, query: str) -> None:
    """A chunk with each word of a query as often as another, in no more words, is not behind it."""
    hits = await store.bm25(held.target, query=query, limit=held.limit)
    wanted = set(held.terms_of(query))
    told = [(hit, _terms(held, hit.id)) for hit in hits if hit.id in held.by_id]
    for one, words in told:
        for other, fewer in told:
            as_often = all(words[word] >= fewer[word] for word in wanted)
            as_short = words.total() <= fewer.total()
            if as_often and as_short and one.score < other.score - NEAR * abs(other.score):
                raise LawBroken(
                    f"bm25 of {query!r}\n{one.id!r} {[*words.elements()]} scores {one.score},\n"
                    f"less than {other.id!r} {[*fewer.elements()]} with {other.score}"
                )


@law(applies=lambda held: has_words(held) and held.stop_words is not None)
async def stop_words_find_nothing(store: VectorStore, held: Held) -> None:
    """A query of stop words alone finds nothing by keyword, and is no error."""
    query = str(held.stop_words)
    hits = await store.bm25(held.target, query=query, limit=held.limit)
    expect_ids(held, hits, set(), f"bm25 of {query!r}")


def _alphas(held: Held) -> SearchStrategy[float]:
    return st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9])


def _filters_or_none(held: Held) -> SearchStrategy[Filter | None]:
    return st.none() | filters_of(held)


@law(
    applies=has_both,
    where=_filters_or_none,
    vector=vectors_of,
    query=words_of,
    alpha=_alphas,
    limit=limits_of,
)
async def hybrid_is_its_definition(
    store: VectorStore,
    held: Held,
    *,
    where: Filter | None,
    vector: Sequence[float],
    query: str,
    alpha: float,
    limit: int,
) -> None:
    """Hybrid is `fuse_hybrid` of near_vector and bm25, each as deep as `hybrid_depth` says."""
    depth = hybrid_depth(limit)
    near = await allowed(
        store.near_vector(held.target, vector=vector, limit=depth, where=where), held, where
    )
    keyword = await allowed(
        store.bm25(held.target, query=query, limit=depth, where=where), held, where
    )
    came = await allowed(
        store.hybrid(
            held.target, query=query, vector=vector, limit=limit, where=where, alpha=alpha
        ),
        held,
        where,
    )
    told = f"hybrid of {query!r} and {list(vector)}, alpha {alpha}, limit {limit}, where {where}"
    _expect_falling(came, told)
    expect_same_ranking(came, fuse_hybrid(near, keyword, alpha=alpha, limit=limit), told)


@law(applies=has_both, vector=vectors_of, query=words_of, limit=limits_of)
async def hybrid_ends_in_its_legs(
    store: VectorStore, held: Held, *, vector: Sequence[float], query: str, limit: int
) -> None:
    """Hybrid with alpha 1 is near_vector, and with alpha 0 bm25, hit for hit."""
    near = await store.near_vector(held.target, vector=vector, limit=limit)
    keyword = await store.bm25(held.target, query=query, limit=limit)
    for alpha, leg in ((1.0, near), (0.0, keyword), (1, near), (0, keyword)):
        came = await store.hybrid(held.target, query=query, vector=vector, limit=limit, alpha=alpha)
        expect_same_ranking(came, leg, f"hybrid of {query!r} with alpha {alpha}, limit {limit}")


@law(applies=has_both, vector=vectors_of)
async def hybrid_looks_at_vectors_by_default(
    store: VectorStore, held: Held, *, vector: Sequence[float]
) -> None:
    """Hybrid without an alpha finds by meaning where the words find nothing."""
    near = await store.near_vector(held.target, vector=vector, limit=held.limit)
    came = await store.hybrid(held.target, query="xylophone", vector=vector, limit=held.limit)
    expect_ids(held, came, {hit.id for hit in near}, "hybrid of an unknown word, alpha None")


@law(applies=has_both, query=words_of)
async def hybrid_needs_a_vector(store: VectorStore, held: Held, *, query: str) -> None:
    """Hybrid without a vector is bm25 where alpha is 0, else Unconfigured, unless the store embeds."""
    keyword = await store.bm25(held.target, query=query, limit=held.limit)
    came = await store.hybrid(held.target, query=query, limit=held.limit, alpha=0)
    expect_same_ranking(came, keyword, f"hybrid of {query!r} without a vector, alpha 0")
    if held.spec.embeds:
        return
    for alpha in (None, 0.5, 1):
        try:
            came = await store.hybrid(held.target, query=query, limit=held.limit, alpha=alpha)
        except Unconfigured:
            continue
        raise LawBroken(
            f"hybrid without a vector, alpha {alpha}: expected Unconfigured, came {came!r}"
        )
