"""The targets of an adapter: where everything is in each of them, read once and kept."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

from soev_retrieval.domain import (
    InvalidQueryError,
    RetrievalError,
    StoreUnavailable,
    Target,
    Unconfigured,
)

__all__ = ["Targets"]

L = TypeVar("L")
M = TypeVar("M")
R = TypeVar("R")


class Targets(ABC, Generic[L, M]):
    """The indexes of a configuration, which are only read, and those that `create` made.

    What an adapter knows of a target, its layout, is read from the server once and kept. Where the
    server then refuses what it is asked by it, it is read again, and if it has changed the work is
    done once more: so nobody has to tell a store that a table or a collection was changed.

    An adapter says how a layout is read, and which errors one that is out of date would give.

    Args:
        configured: What the configuration has, by target. Its values show in the repr.
        store: The name of the store, for errors.
        what: What a target is to the server, such as `table`.
    """

    looks_before_writing: ClassVar[bool] = False
    """Whether a layout is read anew before each write: a server takes whatever it is sent."""

    def __init__(self, configured: Mapping[Target, Any], *, store: str, what: str) -> None:
        # A mapping of another kind may know a target only when it is asked for it.
        self._configured = dict(configured) if isinstance(configured, dict) else configured
        self._store, self._what = store, what
        self._layouts: dict[Target, L] = {}
        self._mades: dict[Target, M] = {}

    @abstractmethod
    async def read(self, target: Target, operation: str) -> tuple[L, M | None] | None:
        """The layout of a target, and what `create` made where it is one of its own.

        None where there is no such target: neither the configuration has it, nor did `create` make
        it.

        Raises:
            RetrievalError: It is not as its configuration says, or the server gave no answer.
        """
        ...

    @abstractmethod
    def may_be_outdated(self, error: RetrievalError) -> bool:
        """Whether a layout that is out of date would give this error."""
        ...

    def is_over_when_asked_again(self, error: RetrievalError) -> bool:
        """Whether the error is gone when it is asked again, whatever the layout is."""
        return False

    def refuse_configured(self, target: Target, operation: str) -> None:
        """Refuse to write what the configuration has.

        Raises:
            Unconfigured: The target is of it.
        """
        if isinstance(target, str) and target in self._configured:
            raise Unconfigured(
                f"target {target!r} is a {self._what} that was there before, which this store only"
                " reads",
                store=self._store,
                operation=operation,
            )

    async def layout(self, target: Target, operation: str) -> L:
        """Where everything of a target is, read once and kept.

        Raises:
            InvalidQueryError: There is no such target.
            Unconfigured: It is not there, or not as its configuration says.
            StoreUnavailable: The server gave no answer.
        """
        if isinstance(target, str) and target in self._layouts:
            return self._layouts[target]
        if (found := await self._found(target, operation)) is None:
            known = ", ".join({**self._configured, **self._layouts}) or "none yet"
            raise InvalidQueryError(
                f"there is no target {target!r}; there is {known}", target=str(target)
            )
        return found

    async def made(self, target: Target, operation: str) -> M | None:
        """What `create` made for a target, read anew; None where it made none."""
        self.forget(target)
        await self._found(target, operation)
        return self._mades.get(target)

    def forget(self, target: Target) -> None:
        """Keep nothing of a target: it is not there any more, or not the same."""
        self._layouts.pop(target, None)
        self._mades.pop(target, None)

    async def on(self, target: Target, work: Callable[[L], Awaitable[R]], *, operation: str) -> R:
        """What `work` makes of a target's layout; once more if it was changed meanwhile."""
        known = isinstance(target, str) and target in self._layouts
        layout = await self.layout(target, operation)
        try:
            return await work(layout)
        except RetrievalError as error:
            again = self.is_over_when_asked_again(error)
            if not again and not (known and self.may_be_outdated(error)):
                raise
            refused = error
        if self._layouts.get(target) is layout:
            self.forget(target)
        try:
            fresh = await self.layout(target, operation)
        except StoreUnavailable:
            raise refused from refused.__cause__
        if fresh == layout and not again:
            raise refused
        return await work(fresh)

    async def on_made(
        self, target: Target, work: Callable[[M, L], Awaitable[R]], *, operation: str
    ) -> R:
        """What `work` makes of what `create` made, and of its layout, as `on`.

        Raises:
            InvalidQueryError: It made none.
        """
        if self.looks_before_writing:
            self.forget(target)
        return await self.on(
            target, lambda layout: work(self._mades[target], layout), operation=operation
        )

    async def _found(self, target: Target, operation: str) -> L | None:
        found = await self.read(target, operation) if isinstance(target, str) else None
        if found is None:
            return None
        self._layouts[target], made = found
        if made is not None:
            self._mades[target] = made
        return self._layouts[target]

    def __repr__(self) -> str:
        return ", ".join(f"{name}: {of}" for name, of in self._configured.items())
