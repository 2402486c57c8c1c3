"""A MemoryStore as one file: a zip of arrays, without pickle."""

import json
import os
import tempfile
from collections.abc import Iterable
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from soev_retrieval.domain import Field, FieldSpec, Properties, Record, check_record

_FORMAT = 1


@attrs.frozen
class Saved:
    """What a file holds: the settings of a store, and the records of each target."""

    settings: dict[str, Any]
    targets: dict[str, tuple[FieldSpec, list[Record]]]


def write(path: Path, saved: Saved) -> None:
    """Write `saved` beside `path` and then put it in its place: a killed write leaves the old file."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            _write(file, saved)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _write(file: Any, saved: Saved) -> None:
    arrays: dict[str, Any] = {}
    described = {}
    for number, (target, (spec, records)) in enumerate(saved.targets.items()):
        described[target] = {
            "number": number,
            "spec": attrs.asdict(spec),
            "records": [[record.id, _plain(record.properties)] for record in records],
        }
        given = [record.vector for record in records if record.vector is not None]
        arrays[f"vectors{number}"] = np.asarray(given, np.float32).reshape(
            len(given), spec.dimension or 0
        )
        arrays[f"there{number}"] = np.array(
            [record.vector is not None for record in records], np.bool_
        )
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


def _read_target(described: dict[str, Any], arrays: Any) -> tuple[FieldSpec, list[Record]]:
    form = described["spec"]
    spec = FieldSpec(**{**form, "fields": [Field(**field) for field in form["fields"]]})
    there = arrays[f"there{described['number']}"].astype(bool, casting="equiv").tolist()
    vectors = arrays[f"vectors{described['number']}"]
    if len(vectors) != sum(there):
        raise ValueError(f"it holds {len(vectors)} vectors for {sum(there)} records")
    waiting = iter(vectors)
    records = [
        Record(id, _read_properties(properties, spec), next(waiting) if has else None)
        for (id, properties), has in zip(described["records"], there, strict=True)
    ]
    return spec, [check_record(record, spec) for record in records]


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
