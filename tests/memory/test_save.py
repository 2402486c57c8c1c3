"""What is saved is what is loaded, and a save that fails leaves what was there."""

import os
import stat
from collections.abc import Awaitable, Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soev_retrieval.domain import Field, FieldSpec, Record
from soev_retrieval.memory import MemoryStore
from soev_retrieval.memory._vectors import Vectors
from soev_retrieval.testing import strategies

Fill = Callable[..., Awaitable[MemoryStore]]

SPEC = FieldSpec([Field("body", "text", searchable=True), Field("year", "int")], 2)


def _names(folder: Path) -> list[str]:
    """The files of a folder."""
    return sorted(path.name for path in folder.iterdir())


SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "alpha": st.floats(0, 1),
        "depth": st.integers(1, 5),
        "language": st.sampled_from(["english", "german", None]),
        "k1": st.floats(0, 3),
        "b": st.floats(0, 1),
    },
)


@attrs.frozen
class Filled:
    """What one target was made of: everything that was written, and what was deleted of it."""

    spec: FieldSpec
    records: list[Record]
    deleted: list[str]


@st.composite
def targets(draw: st.DrawFn) -> Filled:
    spec = draw(strategies.specs(max_fields=4))
    records = draw(strategies.corpora(spec, max_size=8))
    ids = st.lists(st.sampled_from([record.id for record in records])) if records else st.just([])
    return Filled(spec, records, draw(ids))


async def _answers(store: MemoryStore, target: str, query: str) -> list[str]:
    """All that one target answers, as text: so that -0.0 is not 0.0, nor 1 True."""
    spec = await store.fields(target)
    vector = [1.0] * (spec.dimension or 1)
    asked: dict[str, Any] = {"query": query, "limit": 99}
    chunks = await store.fetch(target, limit=99)
    answers: list[Any] = [spec, sorted(chunks, key=lambda chunk: chunk.id)]
    searchable = any(field.searchable for field in spec)
    if searchable:
        answers.append(await store.bm25(target, **asked))
    if spec.dimension:
        answers.append(await store.near_vector(target, vector=vector, limit=99))
    if searchable and spec.dimension:
        answers.append(await store.hybrid(target, vector=vector, **asked))
    answers += [
        await store.fetch(target, limit=99, order_by=field.name) for field in spec if field.sortable
    ]
    return list(map(repr, answers))


@given(
    st.dictionaries(strategies.names(), targets(), max_size=2),
    SETTINGS,
    strategies.queries(words=("a", "b", "ab", "10", "null")),
)
async def test_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory,
    filled: dict[str, Filled],
    chosen: dict[str, Any],
    query: str,
) -> None:
    """A loaded store answers every call as the saved one did, settings, types and all."""
    store = MemoryStore(**chosen)
    for target, each in filled.items():
        await store.create(target, each.spec)
        await store.upsert(target, each.records)
        await store.delete(target, each.deleted)
    path = tmp_path_factory.getbasetemp() / "round-trip"
    store.save(path)
    loaded = MemoryStore.load(path)
    assert repr(loaded) == repr(store)
    for target in filled:
        assert await _answers(loaded, target, query) == await _answers(store, target, query)


@pytest.mark.parametrize(
    "records",
    [
        [],
        [Record("a", {"body": "cat"})],
        [Record("a"), Record("b", {"year": 1}, [0.1, -0.0]), Record("c")],
    ],
)
@pytest.mark.parametrize("dimension", [2, None])
async def test_with_vectors_and_without(
    filled: Fill, tmp_path: Path, records: Sequence[Record], dimension: int | None
) -> None:
    """A target is saved with vectors, with some, with none, and with no chunk at all."""
    if dimension is None:
        records = [attrs.evolve(record, vector=None) for record in records]
    store = await filled(attrs.evolve(SPEC, dimension=dimension), records)
    store.save(tmp_path / "store")
    loaded = MemoryStore.load(tmp_path / "store")
    assert await _answers(loaded, "docs", "cat") == await _answers(store, "docs", "cat")


async def test_a_loaded_store_can_be_written(filled: Fill, tmp_path: Path) -> None:
    """A loaded store takes writes like any other, and does not write them back by itself."""
    store = await filled(SPEC, [Record("a", {"body": "cat"}, [1, 0]), Record("b")])
    path = tmp_path / "store"
    store.save(path)
    loaded = MemoryStore.load(path)
    await loaded.upsert("docs", [Record("b", {"body": "dog"}, [0, 1])])
    await loaded.delete("docs", ["a"])
    assert [hit.id for hit in await loaded.bm25("docs", query="cat dog", limit=9)] == ["b"]
    assert [hit.id for hit in await loaded.near_vector("docs", vector=[1, 0], limit=9)] == ["b"]
    assert repr(MemoryStore.load(path)) == "MemoryStore(docs: 2)"


async def test_vectors_are_loaded_as_a_whole(
    filled: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loaded matrix is taken as it is: no vector is written by itself."""
    records = [Record(str(number), {}, [number, -1]) for number in range(20)]
    store = await filled(SPEC, [*records, Record("none")])
    store.save(tmp_path / "store")
    with monkeypatch.context() as patched:
        patched.setattr(Vectors, "put", None)
        loaded = MemoryStore.load(tmp_path / "store")
    assert await _answers(loaded, "docs", "cat") == await _answers(store, "docs", "cat")


async def test_a_loaded_store_grows(filled: Fill, tmp_path: Path) -> None:
    """Chunks that are written after the loading are found beside those that were loaded."""
    store = await filled(SPEC, [Record(str(number), {}, [1, number]) for number in range(20)])
    store.save(tmp_path / "store")
    loaded = MemoryStore.load(tmp_path / "store")
    for each in (store, loaded):
        await each.upsert("docs", [Record(str(n), {}, [n, 1]) for n in range(15, 50)])
        await each.delete("docs", ["3", "19"])
    assert await _answers(loaded, "docs", "cat") == await _answers(store, "docs", "cat")


async def test_an_empty_store(tmp_path: Path) -> None:
    """A store without a target is saved and loaded too."""
    MemoryStore().save(tmp_path / "store")
    assert repr(MemoryStore.load(tmp_path / "store")) == "MemoryStore()"


async def test_a_path_is_taken_as_it_is(filled: Fill, tmp_path: Path) -> None:
    """The file has the very name that was given, as a str or as a path, with any ending or none."""
    store = await filled(SPEC, [Record("a")])
    for name in ("store", "store.npz", "a b", ".hidden", "naïve.日本"):
        store.save(str(tmp_path / name))
        assert repr(MemoryStore.load(str(tmp_path / name))) == "MemoryStore(docs: 1)"
    assert len(_names(tmp_path)) == 5


async def test_a_missing_file(tmp_path: Path) -> None:
    """To load a file that is not there is a FileNotFoundError."""
    with pytest.raises(FileNotFoundError):
        MemoryStore.load(tmp_path / "store")


async def test_a_missing_folder(filled: Fill, tmp_path: Path) -> None:
    """To save into a folder that is not there is an OSError, and makes none."""
    store = await filled(SPEC, [Record("a")])
    with pytest.raises(FileNotFoundError):
        store.save(tmp_path / "folder" / "store")
    assert not _names(tmp_path)


def _breaks(name: str) -> Any:
    """What stands in for one step of a save: it does half of its work, then the disk is full."""

    def write_half(file: Any, **arrays: Any) -> None:
        whole = BytesIO()
        np_savez(whole, **arrays)
        file.write(whole.getvalue()[: len(whole.getvalue()) // 2])
        raise OSError(28, "No space left on device")

    def fail(*_: Any) -> None:
        raise KeyboardInterrupt if name == "interrupt" else OSError(5, "Input/output error")

    np_savez = np.savez
    return write_half if name == "write" else fail


@pytest.mark.parametrize(
    ("name", "owner", "step", "error"),
    [
        ("write", np, "savez", OSError),
        ("sync", os, "fsync", OSError),
        ("replace", Path, "replace", OSError),
        ("interrupt", os, "fsync", KeyboardInterrupt),
    ],
)
async def test_a_failed_save_leaves_the_old_file(
    filled: Fill,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    owner: Any,
    step: str,
    error: type[BaseException],
) -> None:
    """A save that fails at any step leaves the old file as it was, and nothing beside it."""
    path = tmp_path / "store"
    store = await filled(SPEC, [Record("a", {"body": "cat"}, [1, 0])])
    store.save(path)
    old = path.read_bytes()
    await store.upsert("docs", [Record("b", {"body": "dog"}, [0, 1])])
    with monkeypatch.context() as patched:
        patched.setattr(owner, step, _breaks(name))
        with pytest.raises(error):
            store.save(path)
    assert path.read_bytes() == old
    assert _names(tmp_path) == ["store"]
    store.save(path)
    assert repr(MemoryStore.load(path)) == "MemoryStore(docs: 2)"


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    """Sets the umask for as long as the test runs."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
async def test_a_new_file_has_the_mode_of_any(
    filled: Fill, tmp_path: Path, umask: Callable[[int], int], mask: int, mode: int
) -> None:
    """A file that was not there has the mode that the umask gives to a file opened to write."""
    umask(mask)
    (await filled(SPEC, [Record("a")])).save(tmp_path / "store")
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == mode


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o644])
async def test_a_file_that_is_there_keeps_its_mode(
    filled: Fill, tmp_path: Path, umask: Callable[[int], int], mode: int
) -> None:
    """A file that was made private, or was shared, is so after another save, whatever the umask."""
    umask(0o022)
    store = await filled(SPEC, [Record("a")])
    store.save(tmp_path / "store")
    (tmp_path / "store").chmod(mode)
    store.save(tmp_path / "store")
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == mode


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
async def test_a_private_file_is_private_while_it_is_written(
    filled: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands beside a private file during a save is private before anything is in it."""
    store = await filled(SPEC, [Record("a")])
    store.save(tmp_path / "store")
    (tmp_path / "store").chmod(0o600)
    modes: list[int] = []
    savez = np.savez

    def watched(file: Any, **arrays: Any) -> None:
        modes.extend(stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir())
        savez(file, **arrays)

    monkeypatch.setattr(np, "savez", watched)
    store.save(tmp_path / "store")
    assert modes == [0o600, 0o600]


async def test_a_save_leaves_nothing_but_the_file(filled: Fill, tmp_path: Path) -> None:
    """A save puts a regular file in the place of the old one, and nothing beside it."""
    path = tmp_path / "store"
    path.write_text("something else")
    (await filled(SPEC, [Record("a")])).save(path)
    assert _names(tmp_path) == ["store"]
    assert stat.S_ISREG(path.stat().st_mode)
