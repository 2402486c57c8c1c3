"""What the tests of the Qdrant adapter share."""

from collections.abc import Iterator

import pytest

from tests.adapters.qdrant.stores import cleared


@pytest.fixture(scope="session", autouse=True)
def _cleared() -> Iterator[None]:
    """The server is left as it was found."""
    with cleared():
        yield
