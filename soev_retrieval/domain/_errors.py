"""What can go wrong, as one tree."""

import pickle
from collections.abc import Mapping, Sequence
from typing import Any


class RetrievalError(Exception):
    """The base of every error that soev_retrieval raises on purpose.

    ```text
    RetrievalError
    ├── InvalidQueryError   the caller's mistake: the same call will fail again
    │   └── SchemaViolationError   it names what is not the caller's to choose: the tenant
    ├── Unconfigured        the store cannot serve this kind of call, or refuses these credentials
    ├── StoreUnavailable    no answer: the only one worth a retry
    └── RetrievalDegradedError   a part of the answer is missing, and it was required
    ```

    The message comes first, everything else is by keyword and may be left out. All of them pickle.
    """

    __module__ = "soev_retrieval.domain"

    def __init__(self, message: str) -> None:
        super().__init__(message)


class InvalidQueryError(RetrievalError):
    """The call, the filter or the record is wrong, and calling again would get the same answer.

    Args:
        message: What is wrong, and what would do.
        target: The target that the call named.
        field: The field that the filter or the record named.
    """

    __module__ = "soev_retrieval.domain"

    def __init__(
        self, message: str, *, target: str | None = None, field: str | None = None
    ) -> None:
        super().__init__(message)
        self.target = target
        self.field = field


class SchemaViolationError(InvalidQueryError):
    """The call names what is not the caller's to choose, such as the tenant, or has none."""

    __module__ = "soev_retrieval.domain"


class Unconfigured(RetrievalError):
    """The store cannot serve this kind of call as it is set up, or refuses its credentials.

    Args:
        message: What is missing, and what would do.
        store: The name of the store.
        operation: The method that was called: `hybrid`, `fetch`, …
    """

    __module__ = "soev_retrieval.domain"

    def __init__(
        self, message: str, *, store: str | None = None, operation: str | None = None
    ) -> None:
        super().__init__(message)
        self.store = store
        self.operation = operation


class StoreUnavailable(RetrievalError):
    """The store gave no answer. It says nothing about what the store holds.

    Args:
        message: What happened.
        store: The name of the store.
        operation: The method that was called: `hybrid`, `fetch`, …
        cause: What the driver raised. It also becomes `__cause__`. A pickled copy goes without
            it where it does not pickle.
        retry_after: The seconds after which the server asked to be called again, 0 or more.
    """

    __module__ = "soev_retrieval.domain"

    def __init__(
        self,
        message: str,
        *,
        store: str | None = None,
        operation: str | None = None,
        cause: BaseException | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.store = store
        self.operation = operation
        self.retry_after = retry_after
        if cause is not None:
            self.__cause__ = cause

    @property
    def cause(self) -> BaseException | None:
        """What the driver raised, given by keyword or with `raise … from`."""
        return self.__cause__

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__, _if_it_pickles(self.cause))


class RetrievalDegradedError(RetrievalError):
    """A retrieval lacks a branch that it must not lack, or all of them.

    Args:
        message: What is missing, and what answered.
        missing: The branches that did not answer.
        answered: Those that did.
        reasons: Why each of the first did not, by its name. A pickled copy goes without.
    """

    __module__ = "soev_retrieval.domain"

    def __init__(
        self,
        message: str,
        *,
        missing: Sequence[str] = (),
        answered: Sequence[str] = (),
        reasons: Mapping[str, RetrievalError] | None = None,
    ) -> None:
        super().__init__(message)
        self.missing = tuple(missing)
        self.answered = tuple(answered)
        self.reasons = dict(reasons or {})

    def __reduce__(self) -> tuple[Any, ...]:
        return _degraded, (self.args[0], self.missing, self.answered)


def _degraded(
    message: str, missing: tuple[str, ...], answered: tuple[str, ...]
) -> RetrievalDegradedError:
    return RetrievalDegradedError(message, missing=missing, answered=answered)


def _restored(
    kind: type[StoreUnavailable],
    args: tuple[str],
    state: dict[str, Any],
    cause: BaseException | None,
) -> StoreUnavailable:
    error = kind(*args)
    error.__dict__.update(state)
    error.__cause__ = cause
    return error


def _if_it_pickles(cause: BaseException | None) -> BaseException | None:
    try:
        pickle.loads(pickle.dumps(cause))  # noqa: S301  (our own bytes)
    except (pickle.PickleError, TypeError, AttributeError):
        return None
    return cause
