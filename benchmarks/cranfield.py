"""The Cranfield collection: 1,400 abstracts, 225 questions, and what answers them.

The project does not carry it. It is read from the folder that `SOEV_CRANFIELD` names, or from
`../shared/data/cranfield` beside the project.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "cranfield"
"""Where it is looked for when `SOEV_CRANFIELD` says nothing."""

_YEAR = re.compile(r"\b19\d\d\b")


@attrs.frozen
class Document:
    """One abstract.

    Args:
        id: Its number, `1` to `1400`.
        title: Its title.
        author: Its author, or None where none is given.
        year: The year it appeared, or None where none is given.
        text: The title and the abstract; empty for two of them.
    """

    id: str
    title: str
    author: str | None
    year: int | None
    text: str


@attrs.frozen
class Collection:
    """Documents, questions and judgements.

    Args:
        documents: The documents, in the order of the file.
        questions: The text of each question by its place among them, `1` to `225`, which is what
            the judgements call it.
        relevant: The ids of the documents that answer each question.
    """

    documents: Sequence[Document]
    questions: Mapping[str, str]
    relevant: Mapping[str, frozenset[str]]


def place() -> Path:
    """Where the collection is looked for."""
    named = os.environ.get("SOEV_CRANFIELD")
    return Path(named) if named else FOLDER


def folder() -> Path | None:
    """The folder that holds the collection, or None where there is none."""
    return found if ((found := place()) / "cran.all.1400.xml").is_file() else None


def read(folder: Path) -> Collection:
    """The collection in `folder`.

    Raises:
        FileNotFoundError: One of its three files is not there.
    """
    return Collection(
        [_document(block) for block in _blocks(folder / "cran.all.1400.xml", "doc")],
        {
            str(place): _text(block, "title")
            for place, block in enumerate(_blocks(folder / "cran.qry.xml", "top"), 1)
        },
        _judgements(folder / "cranqrel.trec.txt"),
    )


def _blocks(path: Path, tag: str) -> list[str]:
    """What stands between `<tag>` and `</tag>`: the files are not XML as a whole."""
    return re.findall(rf"<{tag}>(.*?)</{tag}>", path.read_text("utf-8"), re.DOTALL)


def _text(block: str, tag: str) -> str:
    found = re.search(rf"<{tag}>(.*?)</{tag}>", block, re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def _document(block: str) -> Document:
    year = _YEAR.search(_text(block, "bib"))
    return Document(
        id=_text(block, "docno"),
        title=_text(block, "title"),
        author=_text(block, "author") or None,
        year=int(year[0]) if year else None,
        text=_text(block, "text"),
    )


def _judgements(path: Path) -> dict[str, frozenset[str]]:
    relevant: dict[str, set[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        question, _, document, grade = line.split()
        if int(grade) >= 1:
            relevant.setdefault(question, set()).add(document)
    return {question: frozenset(each) for question, each in relevant.items()}
