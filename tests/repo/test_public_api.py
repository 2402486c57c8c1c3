"""What the packages say they hold, and that the seed's names are where the seed has them."""

import dataclasses
import importlib
import inspect
import types
from typing import Any

import attrs
import pytest

import soev_retrieval.calls
import soev_retrieval.store
from soev_retrieval import engine

PACKAGES = [
    *("soev_retrieval.domain", "soev_retrieval.engine", "soev_retrieval.memory"),
    "soev_retrieval.rag",
    *("soev_retrieval.testing", "soev_retrieval.testing.faults", "soev_retrieval_pgvector"),
    *("soev_retrieval_qdrant", "soev_retrieval_weaviate"),
]
MODULES = [
    f"soev_retrieval.{each}" for each in ("analysis", "calls", "store", "targets", "together")
]


@pytest.mark.parametrize("name", PACKAGES)
def test_all_is_what_can_be_imported(name: str) -> None:
    """`__all__` is sorted, and equals the public names that are not modules."""
    module = importlib.import_module(name)
    public = {
        each
        for each, value in vars(module).items()
        if not each.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert set(module.__all__) == public
    assert sorted(module.__all__, key=_isort_key) == module.__all__


def _isort_key(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


SIGNATURES = {
    engine.search_scopes: "(groups, query, *, limit, combine, alpha=None)",
    engine.hybrid_search: (
        "(store, target, query, *, limit, alpha=None, vector=None, where=None, embed=None)"
    ),
    engine.SearchGroup: "(store, scopes, embed=None)",
    engine.Rrf: "(k=60)",
    engine.Retrying: "(inner, attempts, backoff=1.0, sleep=<function sleep>)",
    engine.PreFiltered: "(inner, rewrite)",
    engine.PostFiltered: "(inner, keep)",
    engine.Combine.__call__: "(self, query, ranked, /)",
    engine.Rewrite.__call__: "(self, target, term, /)",
    engine.Keep.__call__: "(self, target, results, /)",
}
for _each in (
    soev_retrieval.store.VectorStore,
    engine.Retrying,
    engine.PreFiltered,
    engine.PostFiltered,
):
    SIGNATURES |= {
        _each.hybrid: "(self, target, *, query, vector=None, limit, where=None, alpha=None)",
        _each.near_vector: "(self, target, *, vector, limit, where=None)",
        _each.bm25: "(self, target, *, query, limit, where=None)",
        _each.fetch: "(self, target, *, where=None, limit, order_by=None, descending=False)",
        _each.fields: "(self, target)",
    }


@pytest.mark.parametrize("of", SIGNATURES, ids=lambda of: of.__qualname__)
def test_signatures_are_the_seeds(of: Any) -> None:
    """Names, order, kinds and defaults of every parameter are the specification's."""
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in inspect.signature(of).parameters.values()
    ]
    text = str(inspect.Signature(bare))
    assert text.partition(" at 0x")[0].removesuffix(">") == SIGNATURES[of].removesuffix(">)") or (
        text == SIGNATURES[of]
    )


def test_embed_is_the_seeds_alias() -> None:
    """`Embed` is a callable from text to an awaitable vector."""
    assert "Callable[[str], collections.abc.Awaitable" in str(engine.Embed)


@pytest.mark.parametrize("name", [*PACKAGES, *MODULES])
def test_public_names_are_documented(name: str) -> None:
    """Every public class and function, and every public method, has a docstring."""
    module = importlib.import_module(name)
    for each in module.__all__:
        value = getattr(module, each)
        if not inspect.isclass(value) and not inspect.isfunction(value):
            continue
        assert inspect.getdoc(value), each
        for method, function in vars(value).items() if inspect.isclass(value) else ():
            if not method.startswith("_") and inspect.isfunction(function):
                assert function.__doc__, f"{each}.{method}"


def test_values_are_frozen() -> None:
    """Every attrs class of the public packages refuses to be changed."""
    for name in PACKAGES:
        module = importlib.import_module(name)
        for each in module.__all__:
            value = getattr(module, each)
            assert not dataclasses.is_dataclass(value)
            if inspect.isclass(value) and attrs.has(value):
                assert value.__setattr__ is not object.__setattr__, each
