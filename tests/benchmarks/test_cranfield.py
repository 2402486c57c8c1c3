from pathlib import Path

import pytest

from benchmarks import cranfield
from benchmarks.cranfield import Document

_DOCUMENTS = """
<doc>
<docno>1</docno>
<title>wings in
a slipstream .</title>
<author>brenckman,m.</author>
<bib>j. ae. scs. 25, 1958, 324.</bib>
<text>wings in
a slipstream .
  lift is < than drag .</text>
</doc>
<doc>
<docno>2</docno>
<title></title>
<author></author>
<bib>naca tn 19583</bib>
<text></text>
</doc>
"""
_QUESTIONS = "<?xml version='1.0'?>\r\n<xml>\r\n" + "".join(
    f"<top>\r\n<num> {number}</num>\r\n<title>\r\nwhat is\r\n{what} .\r\n</title>\r\n</top>\r\n"
    for number, what in ((1, "lift"), (4, "drag"))
)
_JUDGEMENTS = "1 0 1 1\r\n1 0 2 0\r\n2 0 2  3\r\n2 0 1 1\r\n"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    (tmp_path / "cran.all.1400.xml").write_text(_DOCUMENTS, "utf-8")
    (tmp_path / "cran.qry.xml").write_text(_QUESTIONS, "utf-8", newline="")
    (tmp_path / "cranqrel.trec.txt").write_text(_JUDGEMENTS, "utf-8", newline="")
    return tmp_path


@pytest.fixture
def whole() -> cranfield.Collection:
    folder = cranfield.folder()
    if folder is None:
        pytest.skip(f"there is no Cranfield in {cranfield.place()}")
    return cranfield.read(folder)


def test_documents_are_read_with_white_space_folded(small: Path) -> None:
    """An empty author and a number that only holds a year are no author and no year."""
    assert cranfield.read(small).documents == [
        Document(
            "1",
            "wings in a slipstream .",
            "brenckman,m.",
            1958,
            "wings in a slipstream . lift is < than drag .",
        ),
        Document("2", "", None, None, ""),
    ]


def test_questions_are_numbered_by_their_place(small: Path) -> None:
    """The second question is 2, whatever number stands with it."""
    assert cranfield.read(small).questions == {"1": "what is lift .", "2": "what is drag ."}


def test_relevance_of_1_or_more_is_relevant(small: Path) -> None:
    """A 0 is not."""
    assert cranfield.read(small).relevant == {"1": {"1"}, "2": {"1", "2"}}


def test_the_environment_names_the_folder(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`SOEV_CRANFIELD` goes before the usual place."""
    monkeypatch.setenv("SOEV_CRANFIELD", str(small))
    assert cranfield.folder() == small


def test_a_folder_without_the_collection_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty folder is no collection, and the usual place is not taken instead."""
    monkeypatch.setenv("SOEV_CRANFIELD", str(tmp_path))
    assert cranfield.folder() is None


def test_the_whole_collection_is_there(whole: cranfield.Collection) -> None:
    """1,400 documents, two of them empty, 225 questions and 1,612 relevant judgements."""
    assert [document.id for document in whole.documents] == [str(id) for id in range(1, 1401)]
    assert [document.id for document in whole.documents if not document.text] == ["471", "995"]
    assert list(whole.questions) == list(whole.relevant) == [str(id) for id in range(1, 226)]
    assert all(whole.questions.values())
    assert sum(map(len, whole.relevant.values())) == 1_612


def test_some_documents_lack_a_field(whole: cranfield.Collection) -> None:
    """Years are of the century, and about 1,200 documents have one."""
    years = [document.year for document in whole.documents if document.year is not None]
    assert 1_150 < len(years) < 1_250
    assert (min(years), max(years)) >= (1900, 1950)
    assert any(document.author is None for document in whole.documents)
