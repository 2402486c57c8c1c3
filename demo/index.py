"""From a folder of Python files to an index of two targets, in memory."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import attrs
from rich.progress import Progress

from demo.docstrings import Docstring, read, source_files
from soev_retrieval.domain import Field, FieldSpec, Record, lies_under
from soev_retrieval.embedders.wordllama import WordLlamaEmbedder
from soev_retrieval.engine import MappingCatalog
from soev_retrieval.memory import MemoryStore

Vector: TypeAlias = Sequence[float] | None
"""What the embedder makes of a text: None where it has no token."""

TARGET_OF = {
    "function": "reference",
    "method": "reference",
    "module": "guides",
    "class": "guides",
}
"""The target that each kind of docstring goes to."""

TARGETS = tuple(dict.fromkeys(TARGET_OF.values()))

SPEC = FieldSpec(
    [
        Field("name", "text", searchable=True),
        Field("text", "text", searchable=True),
        Field("kind", "text"),
        Field("document_id", "text"),
        Field("folder", "text"),
        Field("line", "int"),
        Field("deprecated", "bool"),
    ],
    dimension=WordLlamaEmbedder.dimension,
)
"""What both targets declare. No field serves `under`: that is the work of a layer."""

WITHDRAWN = (  # noqa: SIM905  (one a line is a page of names)
    "aifc asynchat asyncore audioop cgi cgitb chunk crypt distutils imghdr imp mailcap msilib nis"
    " nntplib ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib tkinter/tix uu xdrlib"
).split()
"""The folders of what Python 3.12 and 3.13 took out of the library, most of it by PEP 594."""

_BATCH = 256


@attrs.frozen
class Corpus:
    """What was read: the docstrings of how many files, and the files that could not be parsed."""

    docstrings: Sequence[Docstring]
    files: int
    unreadable: Sequence[str]

    @property
    def counts(self) -> Counter[str]:
        """How many docstrings go to each target."""
        return Counter(map(_target, self.docstrings))


@attrs.frozen
class Library:
    """The index, and what the rules around it know.

    Args:
        store: The two targets.
        embed: What they were embedded with.
        catalog: Which module lies in which folder.
        withdrawn: The modules that an answer must not name, though the index has them.
    """

    store: MemoryStore
    embed: WordLlamaEmbedder
    catalog: MappingCatalog
    withdrawn: frozenset[str]


def read_corpus(root: Path, progress: Progress) -> Corpus:
    """Read every docstring below `root`; a file that this Python cannot parse is noted."""
    docstrings: list[Docstring] = []
    unreadable: list[str] = []
    files = source_files(root)
    for path in progress.track(files, description="reading"):
        file = path.relative_to(root).as_posix()
        try:
            docstrings += read(path.read_bytes(), file)
        except (SyntaxError, ValueError):  # ValueError: a NUL in the source, before Python 3.12
            unreadable.append(file)
    return Corpus(docstrings, len(files) - len(unreadable), unreadable)


def embed_corpus(corpus: Corpus, embed: WordLlamaEmbedder, progress: Progress) -> list[Vector]:
    """The vector of each docstring, in order."""
    gists = [each.gist for each in corpus.docstrings]
    batches = [gists[start : start + _BATCH] for start in range(0, len(gists), _BATCH)]
    return [
        vector
        for batch in progress.track(batches, description="embedding")
        for vector in embed.embed(batch)
    ]


async def build(
    corpus: Corpus, vectors: Sequence[Vector], embed: WordLlamaEmbedder, progress: Progress
) -> Library:
    """Fill the two targets."""
    store = MemoryStore()
    pairs = list(zip(corpus.docstrings, vectors, strict=True))
    for target in progress.track(TARGETS, description="indexing"):
        await store.create(target, SPEC)
        await store.upsert(target, [_record(*pair) for pair in pairs if _target(pair[0]) == target])
        # The first search after a write counts the words: let it be this one, not a question.
        await store.bm25(target, query="return", limit=1)
    folders = {each.module: each.folder for each in corpus.docstrings}
    return Library(store, embed, MappingCatalog(folders), _withdrawn(folders))


def _record(docstring: Docstring, vector: Vector) -> Record:
    properties = {
        "name": docstring.name,
        "text": docstring.text,
        "kind": docstring.kind,
        "document_id": docstring.module,
        "folder": docstring.folder,
        "line": docstring.line,
        "deprecated": docstring.deprecated,
    }
    return Record(docstring.id, properties, vector)


def _target(docstring: Docstring) -> str:
    return TARGET_OF[docstring.kind]


def _withdrawn(folders: Mapping[str, str]) -> frozenset[str]:
    return frozenset(
        module
        for module, folder in folders.items()
        if any(lies_under(folder, withdrawn) for withdrawn in WITHDRAWN)
    )
