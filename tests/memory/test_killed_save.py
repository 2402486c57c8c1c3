"""A process that is killed while it saves leaves a file that loads: the old one or the new."""

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from soev_retrieval.domain import Field, FieldSpec, Record
from soev_retrieval.memory import MemoryStore

Fill = Callable[..., Awaitable[MemoryStore]]

SPEC = FieldSpec([Field("version", "int"), Field("body", "text", searchable=True)], 8)
SIZE = 300

# Saves version after version, and says so before each save; or stops within the second one.
_WRITER = """
import asyncio, io, os, pathlib, sys
import numpy as np
from soev_retrieval.domain import Record
from soev_retrieval.memory import MemoryStore

path, moment, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = MemoryStore.load(path)
savez = np.savez

def stop(*_):
    print("stopped", flush=True)
    sys.stdin.read()

def write_half(file, **arrays):
    whole = io.BytesIO()
    savez(whole, **arrays)
    file.write(whole.getvalue()[: len(whole.getvalue()) // 2])
    file.flush()
    stop()

def write_all(file, **arrays):
    savez(file, **arrays)
    stop()

async def write(version):
    body = f"version {version} " * (version % 7)
    await store.upsert(
        "docs",
        [Record(str(n), {"version": version, "body": body}, [version] * 8) for n in range(size)],
    )

for version in range(1, 1_000):
    asyncio.run(write(version))
    if version == 2:
        match moment:
            case "half written": np.savez = write_half
            case "all written": np.savez = write_all
            case "before the sync": os.fsync = stop
            case "before the replacement": pathlib.Path.replace = stop
    print("saving", version, flush=True)
    store.save(path)
print("done", flush=True)
"""


@pytest.fixture
async def path(filled: Fill, tmp_path: Path) -> Path:
    """A file that holds version 0."""
    records = [Record(str(n), {"version": 0, "body": "version 0"}, [1] * 8) for n in range(SIZE)]
    (await filled(SPEC, records)).save(tmp_path / "store")
    return tmp_path / "store"


def _killed(path: Path, moment: str, *, until: str) -> None:
    """Let a writer run until it says `until`, and kill it."""
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path), moment, str(SIZE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        said = iter(writer.stdout.readline, "")
        try:
            assert until in map(str.strip, said), f"the writer ended and never said {until!r}"
        finally:
            writer.kill()


async def _version(path: Path) -> int:
    """The one version of all chunks in the file."""
    store = MemoryStore.load(path)
    chunks = await store.fetch("docs", limit=SIZE + 1)
    assert len(chunks) == SIZE
    [version] = {chunk.properties["version"] for chunk in chunks}
    assert isinstance(version, int)
    hits = await store.near_vector("docs", vector=[1] * 8, limit=SIZE + 1)
    assert len(hits) == SIZE
    return version


@pytest.mark.parametrize("saves", [1, 2, 3, 5, 8])
async def test_killed_anywhere(path: Path, saves: int) -> None:
    """Killed in the middle of a loop of saves, the file holds one whole version of the last two."""
    _killed(path, "anywhere", until=f"saving {saves}")
    assert await _version(path) >= saves - 1


@pytest.mark.parametrize(
    "moment", ["half written", "all written", "before the sync", "before the replacement"]
)
async def test_killed_within_a_save(path: Path, moment: str) -> None:
    """Killed at any step of a save, the file holds the version before it."""
    _killed(path, moment, until="stopped")
    assert await _version(path) == 1


async def test_what_a_killed_save_leaves_does_not_matter(path: Path) -> None:
    """After a killed save the next one goes through."""
    _killed(path, "half written", until="stopped")
    store = MemoryStore.load(path)
    await store.upsert("docs", [Record(str(n), {"version": 7}, [1] * 8) for n in range(SIZE)])
    store.save(path)
    assert await _version(path) == 7
