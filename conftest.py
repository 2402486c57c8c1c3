"""Execute every example in README, docs and docstrings."""

from collections.abc import Iterator
from doctest import ELLIPSIS

import pytest
from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
from sybil.sybil import SybilCollection

from tests.servers import postgres

_PARSERS = [PythonCodeBlockParser(doctest_optionflags=ELLIPSIS), SkipParser()]
_ON_POSTGRES = ["docs/pgvector.md", "adapters/pgvector/README.md"]

pytest_collect_file = SybilCollection(
    [
        Sybil(parsers=_PARSERS, patterns=["README.md", "docs/*.md"], excludes=_ON_POSTGRES),
        Sybil(parsers=_PARSERS, patterns=_ON_POSTGRES, fixtures=["postgres_url"]),
        Sybil(
            parsers=_PARSERS,
            patterns=["soev_retrieval/**/*.py", "adapters/**/*.py"],
            document_types={".py": PythonDocStringDocument},
        ),
    ]
).pytest()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of a database for the examples."""
    with postgres().database("soev_examples") as address:
        yield address
