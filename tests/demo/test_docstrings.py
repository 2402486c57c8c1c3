"""Reading docstrings out of source files, without importing them."""

from pathlib import Path
from textwrap import dedent

import pytest
from rich.progress import Progress

from demo.docstrings import Docstring, folder_of, read, source_files
from demo.index import read_corpus

MODULE = '''\
# A comment before it.
"""The module.

More of it.
"""
import functools

class Outer:
    """An outer class."""

    class Inner:
        """An inner class."""

        async def fetch(self):
            """An inner method."""

    @property
    @functools.cache
    def size(self):
        """A property."""

    def __len__(self):
        """A method of the language."""

def top():
    """A function."""

    def local():
        """Local to it."""
'''


def of(source: str, file: str = "pkg/mod.py") -> list[Docstring]:
    return read(dedent(source).encode(), file)


def only(source: str) -> Docstring:
    (found,) = of(source)
    return found


def write(root: Path, files: dict[str, bytes]) -> None:
    for name, source in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source)


def test_each_definition_has_its_name_its_kind_and_its_line() -> None:
    """Nested classes are named by all that holds them; a decorated one is where its `def` is."""
    assert [(each.name, each.kind, each.line) for each in of(MODULE)] == [
        ("pkg.mod", "module", 2),
        ("pkg.mod.Outer", "class", 8),
        ("pkg.mod.Outer.Inner", "class", 11),
        ("pkg.mod.Outer.Inner.fetch", "method", 14),
        ("pkg.mod.Outer.size", "method", 19),
        ("pkg.mod.Outer.__len__", "method", 22),
        ("pkg.mod.top", "function", 25),
    ]


def test_a_docstring_knows_its_file_its_folder_and_its_module() -> None:
    """The id is the file and the line, the folder is the module's path."""
    module = of(MODULE)[0]
    assert (module.id, module.folder, module.module) == ("pkg/mod.py:2", "pkg/mod", "pkg.mod")
    assert module.text == "The module.\n\nMore of it."
    assert module.gist == "pkg.mod: The module."


@pytest.mark.parametrize(
    ("file", "folder"),
    [
        ("shutil.py", "shutil"),
        ("asyncio/tasks.py", "asyncio/tasks"),
        ("asyncio/__init__.py", "asyncio"),
        ("py.py", "py"),
        ("my__init__.py", "my__init__"),
    ],
)
def test_a_package_is_its_folder(file: str, folder: str) -> None:
    """`__init__.py` is the package itself, any other file a folder of its own name."""
    assert folder_of(file) == folder


def test_definitions_under_a_condition_are_found_each() -> None:
    """What `if`, `try`, `with` and `match` hold counts, and two of one name are told by line."""
    found = of(
        '''
        import sys
        if sys.platform == "win32":
            def one():
                """On Windows."""
        else:
            def one():
                """Elsewhere."""
        try:
            import fast
        except ImportError:
            class Slow:
                """Without fast."""
                if True:
                    def work(self):
                        """Slowly."""
        match sys.platform:
            case "linux":
                def two():
                    """On Linux."""
        '''
    )
    assert [(each.name.removeprefix("pkg.mod."), each.kind) for each in found] == [
        ("one", "function"),
        ("one", "function"),
        ("Slow", "class"),
        ("Slow.work", "method"),
        ("two", "function"),
    ]
    assert len({each.id for each in found}) == 5


def test_what_is_private_is_left_out_with_all_it_holds() -> None:
    """A name that begins with one underscore is not documented, nor is what it holds."""
    found = of(
        '''
        def _helper():
            """Private."""
        class _Hidden:
            """Private."""
            def method(self):
                """Within it."""
        def __getattr__(name):
            """Of the language."""
        '''
    )
    assert [each.name for each in found] == ["pkg.mod.__getattr__"]


@pytest.mark.parametrize(
    "source",
    [
        'def old():\n    """Do it.\n\n    Deprecated since version 3.9.\n    """',
        'class Old:\n    """A class that is DEPRECATED."""',
        '@warnings.deprecated("use new")\ndef old():\n    """Do it."""',
        '@_deprecated\nclass Old:\n    """A class."""',
        '"""This module is deprecated."""',
    ],
)
def test_a_docstring_or_a_decorator_says_deprecated(source: str) -> None:
    """Either of them is enough, in any case."""
    assert only(source).deprecated


@pytest.mark.parametrize(
    "source",
    [
        'def new():\n    """Do it."""\n    warn("deprecated")',
        '@functools.cache\ndef new():\n    """Do it."""',
    ],
)
def test_nothing_else_says_deprecated(source: str) -> None:
    """The body of a function and other decorators do not."""
    assert not only(source).deprecated


def test_what_no_store_can_keep_is_replaced() -> None:
    """NUL and lone surrogates come out of a docstring's escapes, and are not left in it."""
    assert only('"""NUL \\0 and \\ud800."""').text == "NUL \N{REPLACEMENT CHARACTER} and ?."


@pytest.mark.parametrize("source", ['""', '"   "', "x = 1", 'f"not {a} docstring"', 'b"bytes"'])
def test_no_docstring_is_none(source: str) -> None:
    """An empty one counts for none, and neither do other expressions."""
    assert of(source) == []


def test_a_file_is_read_in_its_own_encoding() -> None:
    """A coding comment is honoured."""
    source = '# -*- coding: latin-1 -*-\n"""Größe"""'.encode("latin-1")
    assert read(source, "mod.py")[0].text == "Größe"


def test_a_warning_of_the_parser_is_none_of_ours() -> None:
    """Source with an escape that does not exist is read without a warning."""
    assert only('"""A \\d escape."""').text == "A \\d escape."


def test_tests_and_installed_packages_are_no_source_files(tmp_path: Path) -> None:
    """Whole folders are left out, wherever they lie; files of such a name are not."""
    names = ["a.py", "b/c.py", "test.py", "test/d.py", "b/tests/e.py", "site-packages/f/g.py"]
    write(tmp_path, dict.fromkeys([*names, "lib2to3/h.py", "idlelib/i.py", "b/notes.txt"], b""))
    found = [path.relative_to(tmp_path).as_posix() for path in source_files(tmp_path)]
    assert found == ["a.py", "b/c.py", "test.py"]


def test_files_that_do_not_parse_are_skipped_and_counted(tmp_path: Path) -> None:
    """One bad file takes nothing from the others, and is named."""
    write(
        tmp_path,
        {
            "good.py": b'"""Good."""',
            "bad/syntax.py": b'"""Bad."""\nprint "two"',
            "bad/nul.py": b'"""Bad."""\0',
            "bad/coding.py": b"# coding: none-such\n",
            "bad/bytes.py": b'"""\xff"""',
            "quiet.py": b"x = 1",
        },
    )
    corpus = read_corpus(tmp_path, Progress(disable=True))
    assert [each.name for each in corpus.docstrings] == ["good"]
    assert corpus.files == 2
    bad = ["bad/bytes.py", "bad/coding.py", "bad/nul.py", "bad/syntax.py"]
    assert list(corpus.unreadable) == bad
    assert corpus.counts == {"guides": 1}
