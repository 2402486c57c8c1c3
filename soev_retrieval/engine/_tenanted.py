"""Show each caller the chunks of its own tenant, which is not the caller's to choose."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

import attrs

from soev_retrieval.calls import Call, Fields, Layer, R
from soev_retrieval.domain import DeclaredFilter, SchemaViolationError, portable_name, predicates
from soev_retrieval.engine._calls import narrowed

_TENANT: ContextVar[str | None] = ContextVar("tenant", default=None)


@contextmanager
def tenant_scope(tenant: str) -> Iterator[None]:
    """Make `tenant`, text that is not empty, the tenant of this block and of tasks begun in it."""
    token = _TENANT.set(portable_name(tenant, "the tenant"))
    try:
        yield
    finally:
        _TENANT.reset(token)


def current_tenant() -> str | None:
    """The tenant of the innermost `tenant_scope` around the caller, or None outside of one."""
    return _TENANT.get()


@attrs.frozen(repr=False, eq=False)
class Tenanted(Layer):
    """VectorStore over another, with `field == current_tenant()` ANDed to the filter of each call.

    A caller's own predicate on that field, wherever it sits, is refused with SchemaViolationError:
    not merged, not overridden, not dropped. So is every call outside a `tenant_scope`, of `fields`
    too, before anything is sent; within one, `fields` passes through. A filter that nests MAX_DEPTH
    deep and is no AllOf cannot be ANDed to, and is an InvalidQueryError.

    Args:
        inner: The store that answers each call.
        field: The text field that holds a chunk's tenant.
    """

    field: str = "tenant"

    async def send(self, call: Call[R]) -> R:
        """Perform `call` among the chunks of the current tenant."""
        if (tenant := current_tenant()) is None:
            raise SchemaViolationError("no tenant: call within tenant_scope(…)", target=call.target)
        if isinstance(call, Fields):
            return cast("R", await call.on(self.inner))
        own: Any = narrowed(call, DeclaredFilter(self.field, "eq", tenant), "Tenanted")
        if [term.field for term in predicates(own.where)].count(self.field) > 1:
            message = f"{self.field!r} is not the caller's to choose; leave it out of the filter"
            raise SchemaViolationError(message, target=call.target, field=self.field)
        return await cast("Call[R]", own).on(self.inner)
