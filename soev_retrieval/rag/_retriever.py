"""One question by several branches, and what became of each."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from soev_retrieval.domain import (
    MAX_DEPTH,
    Filter,
    Hit,
    InvalidQueryError,
    RetrievalDegradedError,
    RetrievalError,
    SchemaViolationError,
    StoreUnavailable,
    Unconfigured,
    check_count,
    check_filter,
    check_query,
    check_seconds,
    predicates,
)
from soev_retrieval.engine import Embed, current_tenant
from soev_retrieval.rag._fusion import Fusion, ReciprocalRankFusion
from soev_retrieval.rag._index import IndexQuery, SearchIndex, StoreIndex
from soev_retrieval.rag._values import (
    Branch,
    BranchScore,
    RetrievalScope,
    Retrieved,
    RetrievedHit,
)
from soev_retrieval.store import VectorStore
from soev_retrieval.together import OverdueError, together, within

_logger = logging.getLogger("soev_retrieval.rag")


class IndexRetriever:
    """One branch: an index, asked in one way.

    Args:
        index: The index, or a store of which each collection is a target and whose chunks have
            their tenant in the text field `tenant`, as `StoreIndex` has it.
        branch: How it is asked.
        embedder: Makes the vector of a question; a semantic branch needs one.
        k: How many hits the branch is asked for; None is as many as the retrieval returns.
        timeout_seconds: How long the branch may take, embedding included; None for the retriever's
            own.

    Raises:
        InvalidQueryError: A setting is none of the above.
        Unconfigured: The index does not serve the branch, or nothing embeds for it.
    """

    def __init__(
        self,
        index: SearchIndex | VectorStore,
        *,
        branch: Branch,
        embedder: Embed | None = None,
        k: int | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        if not isinstance(branch, Branch):
            raise InvalidQueryError(
                f"there is no branch {branch!r}; the branches are {', '.join(Branch)}"
            )
        if isinstance(index, VectorStore):
            index = StoreIndex(index, name=type(index).__name__)
        name = index.name
        if not index.supports(branch):
            raise Unconfigured(f"the index {name!r} has no {branch} branch", store=name)
        if branch is Branch.SEMANTIC and embedder is None:
            raise Unconfigured(
                f"the {branch} branch of the index {name!r} needs an embedder", store=name
            )
        self.index: SearchIndex = index
        self.branch = branch
        self.k = None if k is None else check_count(k, "k")
        self.timeout_seconds = (
            None if timeout_seconds is None else check_seconds(timeout_seconds, "timeout_seconds")
        )
        self._embedder = embedder

    async def search(
        self, query: str, *, tenant: str, scope: RetrievalScope, k: int, where: Filter | None
    ) -> Sequence[Hit]:
        """The hits of the branch, best first: at most its own k, or else that of the call."""
        vector = None
        if self._embedder is not None and self.branch is Branch.SEMANTIC:
            vector = await self._embedder(query)
        return await self.index.search(
            IndexQuery(
                tenant=tenant,
                collection=scope.collection,
                branch=self.branch,
                k=self.k or k,
                text=query,
                vector=vector,
                where=where,
            )
        )

    def __repr__(self) -> str:
        return f"IndexRetriever({self.index.name!r}, branch={self.branch})"


class HybridRetriever:
    """Several branches, one ranking, and a result that says which of them it comes from.

    Args:
        retrievers: The branches, one of each kind.
        fusion: How their rankings become one.
        require: The branches without which there is no answer.
        timeout_seconds: How long a branch may take that has no bound of its own; None is as long
            as it takes.
        tenant_field: The field that a caller's filter may not name.

    Raises:
        InvalidQueryError: There is no branch, one stands twice, or one is required that is not
            there.
    """

    def __init__(
        self,
        *retrievers: IndexRetriever,
        fusion: Fusion | None = None,
        require: Iterable[Branch] = (),
        timeout_seconds: float | None = None,
        tenant_field: str = "tenant",
    ) -> None:
        self.branches = tuple(each.branch for each in retrievers)
        if not retrievers:
            raise InvalidQueryError("a HybridRetriever needs a branch at the least")
        if len({*self.branches}) < len(self.branches):
            raise InvalidQueryError(
                f"a branch stands twice: {', '.join(self.branches)}; give one retriever for each"
            )
        self.require = tuple(require)
        for branch in self.require:
            if branch not in self.branches:
                raise InvalidQueryError(
                    f"require names {branch!r}, and the branches are {', '.join(self.branches)}"
                )
        self._fusion = ReciprocalRankFusion() if fusion is None else fusion
        self._fusion.combine(self.branches)  # refuses what it cannot combine
        self._seconds = (
            None if timeout_seconds is None else check_seconds(timeout_seconds, "timeout_seconds")
        )
        self._retrievers = retrievers
        self._tenant_field = tenant_field

    async def retrieve(
        self, query: str, *, scope: RetrievalScope, k: int, where: Filter | None = None
    ) -> Retrieved:
        """At most `k` chunks of the current tenant, fused, and the branches they come from.

        A branch that gives no answer, or none in time, is missing in the result, with the reason.
        What is wrong with the call is raised before a branch runs; a branch that finds more of it
        ends the others, and is raised too.

        Args:
            query: The question.
            scope: What is searched.
            k: The maximum number of hits, at least 1.
            where: A filter that restricts the candidates of every branch, or None.

        Raises:
            InvalidQueryError: The call is wrong.
            SchemaViolationError: It is outside of a `tenant_scope`, or its filter names the tenant.
            RetrievalDegradedError: No branch answered, or one that is required did not.
        """
        query, k = check_query(query), check_count(k, "k")
        tenant = self._settled(scope, where)

        async def outcome(retriever: IndexRetriever) -> Sequence[Hit] | RetrievalError:
            seconds = retriever.timeout_seconds or self._seconds
            asked = retriever.search(query, tenant=tenant, scope=scope, k=k, where=where)
            try:
                return await (asked if seconds is None else within(seconds, asked))
            except OverdueError:
                return StoreUnavailable(f"no answer within {seconds} s", store=retriever.index.name)
            except (StoreUnavailable, Unconfigured) as error:
                return error

        outcomes = await together([outcome(each) for each in self._retrievers])
        found: dict[Branch, Sequence[Hit]] = {}
        missing: dict[Branch, RetrievalError] = {}
        for retriever, came in zip(self._retrievers, outcomes, strict=True):
            if isinstance(came, RetrievalError):
                missing[retriever.branch] = came
                _logger.warning(
                    "the %s branch of %r did not answer: %s",
                    retriever.branch,
                    retriever.index.name,
                    type(came).__name__,
                )
            else:
                found[retriever.branch] = came
        self._refuse_degraded(found, missing)
        ranked = list(found.values())
        fused = await self._fusion.combine(tuple(found))(query, ranked)
        places = {branch: _places(hits) for branch, hits in found.items()}
        hits = [
            RetrievedHit(
                hit.id,
                hit.score,
                hit.properties,
                tuple(
                    BranchScore(branch, *held[hit.id])
                    for branch, held in places.items()
                    if hit.id in held
                ),
            )
            for hit in fused[:k]
        ]
        return Retrieved(hits, tuple(found), missing)

    def _settled(self, scope: RetrievalScope, where: Filter | None) -> str:
        """The tenant that asks, where the call is right."""
        if not isinstance(scope, RetrievalScope):
            raise InvalidQueryError(f"scope must be a RetrievalScope, not {type(scope).__name__}")
        if (tenant := current_tenant()) is None:
            raise SchemaViolationError("no tenant: retrieve within tenant_scope(…)")
        if where is not None:
            check_filter(where, "where")
            if where.depth >= MAX_DEPTH:  # the tenant's predicate goes around it
                raise InvalidQueryError(
                    f"the filter nests {where.depth} deep; keep to {MAX_DEPTH - 1}: AllOf and AnyOf"
                    " take any number of filters"
                )
            if any(term.field == self._tenant_field for term in predicates(where)):
                raise SchemaViolationError(
                    f"{self._tenant_field!r} is not the caller's to choose; leave it out of the"
                    " filter",
                    field=self._tenant_field,
                )
        return tenant

    def _refuse_degraded(
        self, found: dict[Branch, Any], missing: dict[Branch, RetrievalError]
    ) -> None:
        lacking = [branch for branch in self.require if branch in missing]
        if found and not lacking:
            return
        names = ", ".join(lacking or missing)
        answered = ", ".join(found) or "none"
        raise RetrievalDegradedError(
            f"no answer from {names}; answered: {answered}",
            missing=tuple(missing),
            answered=tuple(found),
            reasons={str(branch): error for branch, error in missing.items()},
        ) from next(iter(missing.values()))

    def __repr__(self) -> str:
        return f"HybridRetriever({', '.join(map(repr, self._retrievers))})"


def _places(hits: Sequence[Hit]) -> dict[str, tuple[int, float]]:
    """The rank and the score of each hit of a branch: of one that stands twice the first."""
    places: dict[str, tuple[int, float]] = {}
    for rank, hit in enumerate(hits, 1):
        places.setdefault(hit.id, (rank, hit.score))
    return places
