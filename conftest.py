"""Execute every example in README, docs and docstrings."""

from collections.abc import Iterator
from doctest import ELLIPSIS

import pytest
from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
from sybil.sybil import SybilCollection

from tests.servers import Weaviate, postgres, weaviate_or_stand_in

_PARSERS = [PythonCodeBlockParser(doctest_optionflags=ELLIPSIS), SkipParser()]
_ON_POSTGRES = ["docs/pgvector.md", "adapters/pgvector/README.md"]
_ON_WEAVIATE = ["docs/weaviate.md", "adapters/weaviate/README.md"]

pytest_collect_file = SybilCollection(
    [
        Sybil(
            parsers=_PARSERS,
            patterns=["README.md", "docs/*.md"],
            excludes=[*_ON_POSTGRES, *_ON_WEAVIATE],
        ),
        Sybil(parsers=_PARSERS, patterns=_ON_POSTGRES, fixtures=["postgres_url"]),
        Sybil(
            parsers=_PARSERS,
            patterns=_ON_WEAVIATE,
            fixtures=["weaviate_url", "weaviate_grpc_port"],
        ),
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


@pytest.fixture(scope="session")
def _weaviate() -> Iterator[Weaviate]:
    """A server for the examples, else the stand-in."""
    with weaviate_or_stand_in() as server:
        yield server


@pytest.fixture(scope="session")
def weaviate_url(_weaviate: Weaviate) -> str:
    """Its address."""
    return _weaviate.url


@pytest.fixture(scope="session")
def weaviate_grpc_port(_weaviate: Weaviate) -> int:
    """Its port for gRPC."""
    return _weaviate.grpc_port
