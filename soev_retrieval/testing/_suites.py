"""What a suite is given by the class that inherits it."""

import inspect
from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any


def given_by(suite: type[Any], name: str) -> Any:
    """What a suite gives, as it stands in the class: a plain function is not bound."""
    found = inspect.getattr_static(suite, name)
    bound = isinstance(found, staticmethod | classmethod)
    return found.__get__(None, suite) if bound else found


async def made(given: Any, opened: AsyncExitStack) -> Any:
    """What was made: as it is, or awaited, or entered until all that is opened is closed."""
    if isinstance(given, AbstractAsyncContextManager):
        return await opened.enter_async_context(given)
    return await given if isinstance(given, Awaitable) else given
