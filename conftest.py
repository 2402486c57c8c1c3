"""Execute every example in README, docs and docstrings."""

from doctest import ELLIPSIS

from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

_PARSERS = [PythonCodeBlockParser(doctest_optionflags=ELLIPSIS), SkipParser()]

pytest_collect_file = (
    Sybil(parsers=_PARSERS, patterns=["README.md", "docs/*.md"])
    + Sybil(
        parsers=_PARSERS,
        patterns=["soev_retrieval/*.py", "soev_retrieval/**/*.py"],
        document_types={".py": PythonDocStringDocument},
    )
).pytest()
