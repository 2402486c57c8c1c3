"""Real text for the tests of every adapter: docstrings of the standard library."""

import sysconfig
from functools import cache
from pathlib import Path

import numpy as np

from demo.docstrings import read
from soev_retrieval.domain import Field, FieldSpec, Record

MODULES = (
    "argparse",
    "asyncio/queues",
    "datetime",
    "decimal",
    "email/message",
    "json/encoder",
    "logging/__init__",
    "pathlib",
    "shutil",
    "socket",
    "subprocess",
    "threading",
    "typing",
    "unittest/mock",
)
DIMENSION = 8
TARGET = "docstrings"
SPEC = FieldSpec(
    [Field("text", "text", searchable=True), Field("kind", "text"), Field("line", "int")],
    DIMENSION,
)


@cache
def records() -> list[Record]:
    """Some hundreds of docstrings, each with a vector that means nothing; every ninth has none."""
    root, random = Path(sysconfig.get_path("stdlib")), np.random.default_rng(7)
    made: list[Record] = []
    for module in MODULES:
        file = f"{module}.py"
        for each in read((root / file).read_bytes(), file):
            properties = {"text": each.text, "kind": each.kind, "line": each.line}
            vector = random.standard_normal(DIMENSION).tolist() if len(made) % 9 else None
            made.append(Record(f"{file}:{each.line:04}:{len(made)}", properties, vector))
    return made
