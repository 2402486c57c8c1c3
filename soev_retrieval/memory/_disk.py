"""A MemoryStore as one file: a zip of arrays, without pickle."""

import json
import os
import secrets
import stat
from collections.abc import Iterable, Sequence
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from soev_retrieval.domain import Chunk, Field, FieldSpec, Properties, Record, check_record

_FORMAT = 1


@attrs.frozen(eq=False)
class SavedTarget:
    """What a file holds of one target."""

    spec: FieldSpec
    chunks: Sequence[Chunk]
    there: NDArray[np.bool_]
    """Of each chunk, whether it has a vector."""
    vectors: NDArray[np.float32]
    """The vectors of those that have one, in their order: one matrix, and not one by one."""


@attrs.frozen
class Saved:
    """What a file holds: the settings of a store, and its targets."""

    settings: dict[str, Any]
    targets: dict[str, SavedTarget]


def write(path: Path, saved: Saved) -> None:
    """Write `saved` beside `path` and then put it in its place: a killed write leaves the old file."""
    beside = path.parent / f".{path.name}.{secrets.token_hex(8)}"
    try:
        with beside.open("xb") as file:
            if path.exists():  # as if it were written to, and a private file stays private
                beside.chmod(stat.S_IMODE(path.stat().st_mode))
            _write(file, saved)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _write(file: Any, saved: Saved) -> None:
    arrays: dict[str, Any] = {}
    described = {}
    for number, (target, each) in enumerate(saved.targets.items()):
        described[target] = {
            "number": number,
            "spec": attrs.asdict(each.spec),
            "records": [[chunk.id, _plain(chunk.properties)] for chunk in each.chunks],
        }
        arrays[f"vectors{number}"] = each.vectors
        arrays[f"there{number}"] = each.there
    described_all = {"format": _FORMAT, "settings": saved.settings, "targets": described}
    arrays["described"] = np.frombuffer(json.dumps(described_all).encode(), np.uint8)
    np.savez(file, **arrays)


def read(content: bytes) -> Saved:
    """What `write` wrote. What is no such file, or a damaged one, raises anything at all."""
    with np.load(BytesIO(content), allow_pickle=False) as arrays:
        described = json.loads(arrays["described"].tobytes())
        if described["format"] != _FORMAT:
            raise ValueError(f"it has format {described['format']!r}, this version reads {_FORMAT}")
        targets = {
            target: _read_target(each, arrays) for target, each in described["targets"].items()
        }
        return Saved(described["settings"], targets)


def _read_target(described: dict[str, Any], arrays: Any) -> SavedTarget:
    form, number = described["spec"], described["number"]
    spec = FieldSpec(**{**form, "fields": [Field(**field) for field in form["fields"]]})
    there = arrays[f"there{number}"].astype(np.bool_, casting="equiv")
    vectors = arrays[f"vectors{number}"].astype(np.float32, casting="equiv", copy=False)
    chunks = [_read_chunk(id, properties, spec) for id, properties in described["records"]]
    if len({chunk.id for chunk in chunks}) < len(chunks):
        raise ValueError("a record stands in it twice")
    if there.shape != (len(chunks),):
        raise ValueError(f"it holds {len(chunks)} records, and says of {len(there)} what they have")
    _check_vectors(vectors, int(there.sum()), spec)
    return SavedTarget(spec, chunks, there, vectors)


def _read_chunk(id: str, properties: dict[str, Any], spec: FieldSpec) -> Chunk:
    record = check_record(Record(id, _read_properties(properties, spec)), spec)
    return Chunk(record.id, record.properties)


def _check_vectors(vectors: NDArray[np.float32], count: int, spec: FieldSpec) -> None:
    """What `check_vector` refuses of one, of all of them at once."""
    if vectors.shape != (count, spec.dimension or 0):
        raise ValueError(f"it holds vectors of shape {vectors.shape} for {count} records")
    if not np.isfinite(vectors).all():
        raise ValueError("a vector holds NaN or an infinity")
    if spec.distance == "cosine" and not vectors.any(axis=1).all():
        raise ValueError("a vector is all zeros, which has no direction to compare by")


def _plain(properties: Any) -> dict[str, Any]:
    return {name: _plain_value(value) for name, value in properties.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain_value(one) for one in value]
    return value.isoformat() if isinstance(value, datetime) else value


def _read_properties(form: dict[str, Any], spec: FieldSpec) -> Properties:
    times = {field.name for field in spec if field.type == "datetime"}
    return Properties(
        {name: _times(value) if name in times else value for name, value in form.items()}
    )


def _times(value: str | Iterable[str]) -> Any:
    if isinstance(value, str):
        return datetime.fromisoformat(value)
    return [datetime.fromisoformat(one) for one in value]
