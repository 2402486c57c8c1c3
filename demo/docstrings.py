"""Read the docstrings of Python source files. Nothing is imported: the files are only parsed."""

import ast
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import attrs

SKIPPED_FOLDERS = frozenset(
    {"test", "tests", "idle_test", "idlelib", "lib2to3", "site-packages", "dist-packages"}
)
"""Folders of a standard library that nobody reads the documentation of."""

_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@attrs.frozen
class Docstring:
    """One docstring, and where it stands.

    Args:
        name: What it documents, such as `asyncio.tasks.Task.cancel`.
        kind: `module`, `class`, `function` or `method`.
        file: The file, relative to the root of the library.
        line: The line of the definition; of a module, that of the docstring itself.
        deprecated: Whether the docstring or a decorator says so.
        text: The docstring, its indentation taken away.
    """

    name: str
    kind: str
    file: str
    line: int
    deprecated: bool
    text: str

    @property
    def gist(self) -> str:
        """The name and the first paragraph: what it is about, in few words."""
        first, _, _ = self.text.partition("\n\n")
        return f"{self.name}: {first}"

    @property
    def id(self) -> str:
        """Its place, which it shares with no other: `asyncio/tasks.py:131`."""
        return f"{self.file}:{self.line}"

    @property
    def folder(self) -> str:
        """The path of its module: `asyncio/tasks`."""
        return folder_of(self.file)

    @property
    def module(self) -> str:
        """The name of its module: `asyncio.tasks`."""
        return self.folder.replace("/", ".")


def folder_of(file: str) -> str:
    """The path of the module in `file`: a package is its folder, a module lies in its package."""
    return file.removesuffix(".py").removesuffix("/__init__")


def source_files(root: Path) -> list[Path]:
    """The Python files below `root`, in order, without those of `SKIPPED_FOLDERS`."""
    found: list[Path] = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        found += [Path(folder, name) for name in files if name.endswith(".py")]
    return sorted(found)


def read(source: bytes, file: str) -> list[Docstring]:
    """The docstrings of one file's module, classes, functions and methods, in order.

    What is private (`_name`) and what is defined within a function is left out: nobody can call
    it by the name it would have here.

    Raises:
        SyntaxError: This Python cannot parse it.
    """
    with warnings.catch_warnings(action="ignore"):  # such as an escape that does not exist
        tree = ast.parse(source)
    module = folder_of(file).replace("/", ".")
    found = [_docstring(tree, module, "module", file), *_within(tree, module, "function", file)]
    return [each for each in found if each is not None]


def _within(node: ast.AST, owner: str, function_kind: str, file: str) -> Iterator[Docstring | None]:
    """What the body of `node` defines, also under `if`, `try` and `with`, and in nested classes."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _DEFINITIONS):
            if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
                yield from _within(child, owner, function_kind, file)
        elif _is_public(child.name):
            name = f"{owner}.{child.name}"
            if isinstance(child, ast.ClassDef):
                yield _docstring(child, name, "class", file)
                yield from _within(child, name, "method", file)
            else:
                yield _docstring(child, name, function_kind, file)


def _docstring(node: ast.Module | _Definition, name: str, kind: str, file: str) -> Docstring | None:
    text = _portable(ast.get_docstring(node) or "")
    if not text:
        return None
    line = node.body[0].lineno if isinstance(node, ast.Module) else node.lineno
    return Docstring(name, kind, file, line, _is_deprecated(node, text), text)


def _portable(text: str) -> str:
    """`text` without what an escape can put into a docstring and no store can keep."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode().strip()


def _is_public(name: str) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def _is_deprecated(node: ast.Module | _Definition, text: str) -> bool:
    decorators = [] if isinstance(node, ast.Module) else node.decorator_list
    return any("deprecat" in said.lower() for said in (text, *map(ast.unparse, decorators)))
