"""The example: rules around a store, and one search over many scopes."""

import time
from collections.abc import Sequence

import attrs

from demo.index import Library
from demo.questions import Question
from demo.watching import FailsOnce, Provenance, Watched, Withholding
from soev_retrieval.calls import Hybrid
from soev_retrieval.domain import Filter, Hit, Target
from soev_retrieval.engine import (
    Blocklist,
    FolderScope,
    PostFiltered,
    PreFiltered,
    Retrying,
    Rrf,
    SearchGroup,
    search_scopes,
)
from soev_retrieval.store import VectorStore


@attrs.frozen
class Answer:
    """The hits for a question, and what was seen on the way to them."""

    question: Question
    hits: Sequence[Hit]
    seconds: float
    stack: VectorStore
    watched: Watched
    withholding: Withholding
    provenance: Provenance

    @property
    def rewritten(self) -> list[tuple[Target, Filter | None]]:
        """The filters that came to the store as others than they were asked for."""
        asked = {scope.where for _, scope in self.question.scopes}
        sent = [call for call in self.watched.answered if isinstance(call, Hybrid)]
        return [(call.target, call.where) for call in sent if call.where not in asked]

    def found_by(self, hit: Hit) -> list[tuple[str, int]]:
        """The searches that found `hit`, by name, and its rank in each."""
        searches = self.question.searches
        return [(searches[number], rank) for number, rank in self.provenance.places(hit)]


async def ask(question: Question, library: Library) -> Answer:
    """Answer `question` from `library`, through a stack of layers."""
    started = time.perf_counter()

    watched = Watched(FailsOnce(library.store) if question.outage else library.store)
    not_withdrawn = Withholding(Blocklist(library.withdrawn, field="document_id"))
    by_rank = Provenance(Rrf())

    # A layer is a store around a store: calls go in from the top, results come out from below.
    # Retrying stands next to the store, so that it repeats the search and nothing else.
    stack = PreFiltered(
        PostFiltered(
            Retrying(watched, attempts=3, backoff=0.05),
            keep=not_withdrawn,
        ),
        rewrite=FolderScope(library.catalog),
    )
    groups = [SearchGroup(stack, scopes, library.embed) for scopes in question.groups]
    hits = await search_scopes(groups, question.text, limit=question.limit, combine=by_rank)

    seconds = time.perf_counter() - started
    return Answer(question, hits, seconds, stack, watched, not_withdrawn, by_rank)
