"""A file that is damaged or no saved store is refused, and nothing in it is executed."""

import asyncio
import json
import pickle
import zipfile
from collections.abc import Awaitable, Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from soev_retrieval.domain import Field, FieldSpec, Record, Unconfigured
from soev_retrieval.memory import MemoryStore

Fill = Callable[..., Awaitable[MemoryStore]]

SPEC = FieldSpec([Field("body", "text", searchable=True), Field("year", "int")], 2)


@pytest.fixture
async def path(filled: Fill, tmp_path: Path) -> Path:
    """A saved store."""
    records = [
        Record("a", {"body": "cat", "year": 1}, [1, 0]),
        Record("b", {"body": "dog"}, [3, 4]),
    ]
    (await filled(SPEC, records)).save(tmp_path / "store")
    return tmp_path / "store"


def _answers(path: Path) -> str:
    """All that the store in the file answers."""
    return asyncio.run(_asked(MemoryStore.load(path)))


async def _asked(store: MemoryStore) -> str:
    return repr(
        [
            await store.fields("docs"),
            await store.fetch("docs", limit=9),
            await store.hybrid("docs", query="cat", vector=[1, 0], limit=9),
        ]
    )


def _refused_or_whole(path: Path, whole: str) -> bool:
    """Whether loading is refused. Where it is not, the answers are the right ones."""
    try:
        answers = _answers(path)
    except Unconfigured:
        return True
    assert answers == whole
    return False


@pytest.mark.parametrize("flip", [0xFF, 0x01, 0x08])
def test_a_flipped_byte(path: Path, flip: int) -> None:
    """Whichever byte is damaged, a file is refused as Unconfigured or loads what was saved."""
    content, whole = path.read_bytes(), _answers(path)
    refused = 0
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= flip
        path.write_bytes(damaged)
        try:
            refused += _refused_or_whole(path, whole)
        except Exception as error:
            raise AssertionError(
                f"byte {place} of {len(content)}, ^ {flip:#x}: {error!r}"
            ) from error
    assert refused > len(content) / 2


def test_a_file_cut_short(path: Path) -> None:
    """A file that lacks its end, however much of it, is refused as Unconfigured."""
    content = path.read_bytes()
    for length in range(0, len(content), 11):
        path.write_bytes(content[:length])
        with pytest.raises(Unconfigured, match="damaged"):
            MemoryStore.load(path)


def _npz(**arrays: Any) -> bytes:
    file = BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _npy() -> bytes:
    file = BytesIO()
    np.save(file, np.arange(3))
    return file.getvalue()


def _zip(**files: bytes) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def _described(form: Any) -> bytes:
    return _npz(described=np.frombuffer(json.dumps(form).encode(), np.uint8))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a text of somebody\n",
        b'{"format": 1}',
        b"\x93NUMPY",
        b"PK\x03\x04",
        _npy(),
        _npz(),
        _npz(other=np.arange(3)),
        _npz(described=np.arange(3)),
        _npz(described=np.frombuffer(b"\xff\xfe", np.uint8)),
        _zip(described=b'{"format": 1}'),
        _zip(**{"described.npy": b"no array"}),
        *map(_described, ([], 3, None, {}, {"format": 1}, {"format": 1, "settings": {}})),
        pickle.dumps({"format": 1}),
    ],
)
def test_foreign_files(tmp_path: Path, content: bytes) -> None:
    """A file that is something else is refused as Unconfigured, and the error names it."""
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(Unconfigured, match="other is no saved MemoryStore, or it is damaged"):
        MemoryStore.load(path)


def test_a_later_format(tmp_path: Path) -> None:
    """A file of a later format is refused, and the error says which this version reads."""
    path = tmp_path / "later"
    path.write_bytes(_described({"format": 2, "settings": {}, "targets": {}}))
    with pytest.raises(Unconfigured, match="it has format 2, this version reads 1"):
        MemoryStore.load(path)


def _changed(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> None:
    """Write the file again with its description or its arrays changed, checksums and all."""
    with np.load(path) as loaded:
        arrays = dict(loaded)
    form = json.loads(arrays["described"].tobytes())
    change(form, arrays)
    arrays["described"] = np.frombuffer(json.dumps(form).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)


def test_an_unchanged_file_still_loads(path: Path) -> None:
    """A file that was taken apart and put together again is a saved store."""
    whole = _answers(path)
    _changed(path, lambda form, arrays: None)
    assert _answers(path) == whole


@pytest.mark.parametrize(
    "change",
    [
        lambda form, arrays: form["settings"].update(mood=1),
        lambda form, arrays: form["settings"].update(language="klingon"),
        lambda form, arrays: form["settings"].update(alpha="x"),
        lambda form, arrays: form["targets"]["docs"].pop("spec"),
        lambda form, arrays: form["targets"]["docs"]["spec"].update(dimension=0),
        lambda form, arrays: form["targets"]["docs"]["spec"].update(dimension=3),
        lambda form, arrays: form["targets"]["docs"]["spec"]["fields"][0].update(type="blob"),
        lambda form, arrays: form["targets"]["docs"]["spec"]["fields"].pop(),
        lambda form, arrays: form["targets"]["docs"]["records"].pop(),
        lambda form, arrays: form["targets"]["docs"]["records"][0].pop(),
        lambda form, arrays: form["targets"]["docs"]["records"][0][1].update(year="x"),
        lambda form, arrays: arrays.pop("vectors0"),
        lambda form, arrays: arrays.pop("there0"),
        lambda form, arrays: arrays.update(vectors0=arrays["vectors0"][:1]),
        lambda form, arrays: arrays.update(vectors0=arrays["vectors0"].repeat(2, axis=0)),
        lambda form, arrays: arrays.update(vectors0=arrays["vectors0"][:, :1]),
        lambda form, arrays: arrays.update(vectors0=arrays["vectors0"].astype(np.float64)),
        lambda form, arrays: arrays.update(vectors0=arrays["vectors0"] * np.float32("nan")),
        lambda form, arrays: arrays.update(vectors0=arrays["vectors0"] + np.float32("inf")),
        lambda form, arrays: arrays.update(vectors0=arrays["vectors0"] * np.float32(0)),
        lambda form, arrays: arrays.update(there0=arrays["there0"].reshape(1, 2)),
        lambda form, arrays: arrays.update(there0=arrays["there0"].astype(np.int64)),
        lambda form, arrays: form["targets"]["docs"]["records"][1].__setitem__(0, "a"),
    ],
    ids=[
        *("another setting", "another language", "a setting of another type"),
        *("no spec", "a bad dimension", "another dimension", "another type"),
        *("a field less", "a record less", "half a record", "a property of another type"),
        *("no vectors", "no mask", "a vector less", "vectors too many", "shorter vectors"),
        *("vectors of another type", "NaN", "an infinity", "zeros"),
        *("a mask of another shape", "a mask of another type", "a record twice"),
    ],
)
def test_a_file_that_contradicts_itself(
    path: Path, change: Callable[[dict[str, Any], dict[str, Any]], object]
) -> None:
    """A file whose parts do not fit together, or into this version, is refused as Unconfigured."""
    _changed(path, change)
    with pytest.raises(Unconfigured, match="store is no saved MemoryStore, or it is damaged"):
        MemoryStore.load(path)


class Bomb:
    """An object whose pickle, when it is read, makes a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


@pytest.mark.parametrize("name", ["described", "vectors0", "there0"])
def test_no_pickle_is_read(path: Path, tmp_path: Path, name: str) -> None:
    """A file with a pickled array of objects is refused, and what is pickled is not executed."""
    mark = tmp_path / "executed"
    with np.load(path) as loaded:
        arrays = dict(loaded)
    arrays[name] = np.array([Bomb(mark)], dtype=object)
    path.write_bytes(_npz(**arrays))
    with pytest.raises(Unconfigured, match="allow_pickle"):
        MemoryStore.load(path)
    path.write_bytes(pickle.dumps(Bomb(mark)))
    with pytest.raises(Unconfigured, match="damaged"):
        MemoryStore.load(path)
    assert not mark.exists()
