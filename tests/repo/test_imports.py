"""Which part of the house may see which."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "soev_retrieval"

# What each part may import of the package, and of the world beside the standard library.
MAY_IMPORT: dict[str, tuple[set[str], set[str]]] = {
    "domain": (set(), {"attrs"}),
    "store": ({"domain"}, set()),
    "calls": ({"domain", "store"}, {"attrs"}),
    "together": (set(), set()),
    "targets": ({"domain"}, set()),
    "engine": ({"domain", "store", "calls", "together"}, {"attrs"}),
    "analysis": ({"domain"}, {"bm25s", "Stemmer"}),
    "memory": ({"domain", "store", "analysis"}, {"attrs", "numpy", "bm25s"}),
    "rag": ({"domain", "store", "calls", "engine", "together"}, {"attrs"}),
    "embedders": ({"domain", "together"}, {"attrs", "httpx", "numpy", "wordllama"}),
    "testing": ({"domain", "store", "calls", "memory", "rag"}, {"attrs", "hypothesis", "pytest"}),
}


def imports_of(file: Path) -> Iterator[str]:
    """The modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            yield str(node.module)


def part_of(file: Path) -> str:
    """The top-level part of the package that a file belongs to."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = sorted(file for file in PACKAGE.rglob("*.py") if file != PACKAGE / "__init__.py")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_point_one_way(file: Path) -> None:
    """A part imports only the parts and the libraries that it may."""
    parts, libraries = MAY_IMPORT[part_of(file)]
    for module in imports_of(file):
        top, _, rest = module.partition(".")
        if top == "soev_retrieval":
            assert rest.split(".")[0] in parts | {part_of(file)}, f"{file.name} imports {module}"
        else:
            assert top in sys.stdlib_module_names | libraries, f"{file.name} imports {module}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_private_files_stay_private(file: Path) -> None:
    """A part reaches another through its public name, never into its private files."""
    for module in imports_of(file):
        top, *rest = module.split(".")
        if top == "soev_retrieval" and rest[0] != part_of(file):
            assert not any(name.startswith("_") for name in rest[1:]), (
                f"{file.name} imports {module}"
            )


ADAPTERS = {
    "pgvector": {"psycopg", "psycopg_pool"},
    # And what its client is built on, for the errors that it lets through.
    "qdrant": {"qdrant_client", "qdrant_edge", "grpc", "google", "httpx", "pydantic", "urllib3"},
    "weaviate": {"weaviate", "grpc", "google", "httpx", "pydantic"},
}
"""What each adapter may import beside the standard library, attrs and the contract: its driver."""

CONTRACT = {
    f"soev_retrieval.{each}" for each in ("analysis", "domain", "store", "targets", "together")
}
"""What an adapter may import of the package."""

ADAPTER_FILES = sorted((ROOT / "adapters").rglob("*.py"))


@pytest.mark.parametrize("file", ADAPTER_FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_an_adapter_sees_the_contract_and_its_driver(file: Path) -> None:
    """An adapter imports the contract, its driver and itself."""
    name = file.relative_to(ROOT / "adapters").parts[0]
    own = f"soev_retrieval_{name}"
    for module in imports_of(file):
        top = module.partition(".")[0]
        allowed = top in sys.stdlib_module_names | ADAPTERS[name] | {"attrs", own}
        assert allowed or module in CONTRACT, module


def test_the_package_itself_holds_nothing() -> None:
    """`import soev_retrieval` imports none of its parts."""
    assert not list(imports_of(PACKAGE / "__init__.py"))


LAYERS = sorted(
    file for file in (PACKAGE / "engine").glob("*.py") if "(Layer):" in file.read_text()
)
SEED = {"_prefiltered.py", "_postfiltered.py"}
"""Half of them is the contract of a rule of the caller's."""


@pytest.mark.parametrize("file", LAYERS, ids=lambda file: file.name)
def test_a_layer_is_one_small_file(file: Path) -> None:
    """Each layer beyond the seed is a file of its own, under sixty lines."""
    text = file.read_text()
    assert text.count("(Layer):") == 1
    assert file.name in SEED or len(text.splitlines()) < 60
