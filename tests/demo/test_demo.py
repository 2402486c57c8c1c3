"""The demo as a whole, over a small library."""

import asyncio
import io
import re
from collections.abc import Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import looptime
import pytest
from rich.console import Console

import demo.__main__
from demo.__main__ import main, run
from demo.questions import QUESTIONS, Question, own
from soev_retrieval.domain import SearchScope, field


def run_in_virtual_time(coroutine: Coroutine[Any, Any, None]) -> None:
    # asyncio.run would take away the loop that pytest-asyncio has set, and leave it open.
    with asyncio.Runner(loop_factory=looptime.new_event_loop) as runner:
        runner.run(coroutine)


def printed(root: Path, *questions: Question) -> str:
    console = Console(file=io.StringIO(), width=100, record=True, highlight=False)
    run_in_virtual_time(run(console, root, questions))
    return console.export_text()


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return printed(root, *QUESTIONS)


def part(page: str, question: str) -> str:
    """What is printed for one question."""
    headings = re.split(r"^(\S.*) ─+$", page, flags=re.MULTILINE)
    (found,) = [
        body
        for head, body in zip(headings[1::2], headings[2::2], strict=True)
        if head.endswith(question)
    ]
    return found


def ranked(part: str) -> list[tuple[str, str, str, str]]:
    """The hits as printed: the name, what found it, what it is, and where it stands."""
    return re.findall(r"^ +\d+  (\S+) {2,}(#.+)\n +(.+?) {2,}(\S+)$", part, flags=re.MULTILINE)


def names(part: str) -> list[str]:
    return [name for name, *_ in ranked(part)]


def test_the_index_is_described(page: str) -> None:
    """How much was read, where it went, how long it took, and what was left out and why."""
    assert re.search(r"read +18 docstrings in 9 files +\d+\.\d s", page)
    assert re.search(r"embedded .+ \d+\.\d s", page)
    assert re.search(r"indexed +11 functions .+ 7 modules .+ \d+\.\d s", page)
    assert "what this Python cannot parse: bad.py" in page
    assert re.search(r"left out +private names.*site-packages", page, flags=re.DOTALL)


@pytest.mark.parametrize(("number", "question"), list(enumerate(QUESTIONS, 1)))
def test_every_question_is_asked_explained_and_timed(
    page: str, number: int, question: Question
) -> None:
    """Each has its number, what it shows, its scopes, and its milliseconds."""
    assert f"\n{number}  {question.text} ─" in page
    asked = part(page, question.text)
    assert question.shows in asked
    for name, scope in question.scopes:
        where = "everything" if scope.where is None else str(scope.where)
        assert re.search(rf" {re.escape(name)} +{re.escape(where)}", asked)
    assert re.search(r"hits?, in \d+ ms\.", asked)


def test_a_hit_says_who_found_it_what_it_is_and_where_it_stands(page: str) -> None:
    """A plain question finds in both targets, and a hit has all it takes to look it up."""
    asked = part(page, "run a function later in another thread")
    assert (
        "asyncio.threads.to_thread",
        "#1 reference",
        "function: Run a function in another thread, later.",
        "asyncio/threads.py:2",
    ) in ranked(asked)
    assert {found_by.split()[1] for _, found_by, *_ in ranked(asked)} == {"reference", "guides"}


def test_the_stack_is_printed_outermost_first(page: str) -> None:
    """One layer on a line, once, and again where a question has another stack."""
    first, outage = part(page, QUESTIONS[0].text), part(page, "pick a random item")
    layers = r"PreFiltered.*> PostFiltered.*Blocklist.*> Retrying.*> Watched.*"
    assert re.search(layers + r"> MemoryStore\(reference: 11, guides: 7\)", first, re.DOTALL)
    assert re.search(layers + r"> FailsOnce\(\)\s+> MemoryStore", outage, re.DOTALL)
    assert page.count("PreFiltered(") == 2


def test_a_folder_is_sent_as_documents(page: str) -> None:
    """A filter that was rewritten is printed as asked and as sent; all hits lie in the folder."""
    asked = part(page, "what happens when a worker dies")
    assert 'folder under "concurrent"' in asked
    assert 'document_id in ["concurrent.futures", "concurrent.futures.thread"]' in asked
    assert "    sent  " in asked
    assert "    sent  " not in part(page, "wake up the threads that wait")
    assert len(ranked(asked)) == 3
    assert all(name.startswith("concurrent.") for name in names(asked))


def test_a_filter_leaves_out_what_would_be_found(page: str, root: Path) -> None:
    """The deprecated method and the function are the best hits, but for the filter."""
    question = "wake up the threads that wait"
    assert 'deprecated == false and kind in ["method", "module"]' in part(page, question)
    filtered = names(part(page, question))
    assert "threading.Condition.notify_all" in filtered
    assert not {"threading.Condition.notifyAll", "threading.wake"} & set(filtered)
    assert {what.split(":")[0] for *_, what, _ in ranked(part(page, question))} == {
        "method",
        "module",
    }
    unfiltered = part(printed(root, own(question)), question)
    assert {"threading.Condition.notifyAll", "threading.wake"} <= set(names(unfiltered)[:5])
    assert "deprecated method: Wake up the threads that wait." in unfiltered


def test_what_is_blocked_is_withheld_and_said_so(page: str) -> None:
    """A withdrawn module is no hit; its rank, and the search that found it, are told."""
    asked = part(page, "how do I copy a file")
    assert re.search(r"–  distutils\.file_util\.copy_file +withheld, was #1 reference\n", asked)
    assert "distutils.file_util.copy_file" not in names(asked)
    assert "shutil.copyfile" in names(asked)
    assert "withheld" not in part(page, "what happens when a worker dies")


def test_what_two_groups_find_moves_up(page: str) -> None:
    """A hit of the folder that is searched once more passes what stands before it elsewhere."""
    first, *others = ranked(part(page, "is it the same file"))
    assert first[:2] == ("pathlib.Path.samefile", "#2 reference, #1 reference (2)")
    assert ("filecmp.cmp", "#1 reference") in [other[:2] for other in others]


def test_an_outage_is_made_and_survived(page: str) -> None:
    """The call that got no answer is told, and the hits are all there."""
    asked = " ".join(part(page, "pick a random item").split())
    assert "3 calls came to the store for 2 searches: 1 got no answer and was made again." in asked
    assert "random.choice" in names(part(page, "pick a random item"))
    assert page.count("got no answer") == 1


def test_a_folder_that_nobody_knows_has_no_hits(page: str) -> None:
    """That no call came to the store is told, and told where it is so only."""
    asked = part(page, "multiply two matrices")
    assert re.search(r"No hits, in \d+ ms\. No call came to the store", asked)
    assert ranked(asked) == []
    assert page.count("No call came to the store") == 1


def test_a_question_without_hits_in_a_store_is_not_called_unasked(root: Path) -> None:
    """Where the store was asked and nothing matched, nothing else is said."""
    nowhere = field("name") == "nobody"
    page = printed(root, Question("where is it", "", [[SearchScope("guides", nowhere)]]))
    assert re.search(r"No hits, in \d+ ms\.\n", page)


def test_scopes_of_one_target_are_one_search(root: Path) -> None:
    """They are printed under its name, and a hit has one place in it."""
    places = [("reference", "random"), ("reference", "shutil"), ("guides", "shutil")]
    scopes = [SearchScope(target, field("folder").under(folder)) for target, folder in places]
    page = printed(root, Question("pick or copy", "", [scopes]))
    for target, folder in places:
        assert re.search(rf' {target} +folder under "{folder}" *\n', page)
    assert sorted(hit[:2] for hit in ranked(page)) == [
        ("random.choice", "#1 reference"),
        ("shutil", "#1 guides"),
        ("shutil.copyfile", "#2 reference"),
    ]


def test_square_brackets_are_text(root: Path) -> None:
    """Nothing that a docstring or a filter says is taken for markup."""
    only = field("deprecated").in_([False]) & (field("name") == "pathlib")
    page = printed(root, Question("paths", "", [[SearchScope("guides", only)]]))
    assert 'deprecated in [false] and name == "pathlib"' in page
    assert "module: Paths [as] objects." in page


def test_a_terminal_gets_a_bar_for_each_part_and_keeps_none(root: Path) -> None:
    """The bars are drawn while something takes its time, and taken away again."""
    screen = io.StringIO()
    console = Console(file=screen, width=100, force_terminal=True, legacy_windows=False)
    run_in_virtual_time(run(console, root, QUESTIONS[:1]))
    for doing in ("reading", "embedding", "indexing"):
        assert re.search(rf"{doing} .*━", screen.getvalue())
    *_, after = screen.getvalue().partition("docstrings in")
    assert re.search(r"━[^━]*\x1b\[1A\x1b\[2K[^━]*docstrings in", screen.getvalue())
    assert "━" not in after


def test_what_is_piped_is_plain_and_of_one_width(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One's own question replaces the others; a pipe gets no colours, no bar, and 100 columns."""
    monkeypatch.setattr(demo.__main__, "sysconfig", SimpleNamespace(get_path=lambda _: str(root)))
    monkeypatch.setattr(demo.__main__, "asyncio", SimpleNamespace(run=run_in_virtual_time))
    monkeypatch.setenv("COLUMNS", "40")
    main(["how", "do", "I", "copy", "a file"])
    page, errors = capsys.readouterr()
    assert re.findall(r"^\d.*(?= ─)", page, flags=re.MULTILINE)[0].startswith("1  how do I copy")
    assert "shutil.copyfile" in names(part(page, "how do I copy a file"))
    assert not any(question.shows in page for question in QUESTIONS)
    assert max(map(len, page.splitlines())) == 100
    assert re.match(r"soev-retrieval .* ─+\n    read ", page)
    assert "\x1b" not in page
    assert "━" not in page
    assert not errors


@pytest.mark.parametrize(
    ("words", "wrong"),
    [([""], "blank"), ([" ", "\t"], "blank"), (["a\ud800b"], "surrogate"), (["a\0b"], "NUL")],
)
def test_a_question_that_is_none_is_refused_before_anything_is_read(
    words: list[str],
    wrong: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The error says what is wrong, and the exit code is that of a wrong argument."""
    monkeypatch.delattr(demo.__main__, "asyncio")
    with pytest.raises(SystemExit) as exit:
        main(words)
    assert exit.value.code == 2
    page, errors = capsys.readouterr()
    assert not page
    assert wrong in errors
