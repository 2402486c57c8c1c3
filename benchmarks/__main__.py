"""Run the benchmarks that are named, or all: `python -m benchmarks [name ...]`."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from rich.console import Console

from benchmarks import (
    filters,
    fusion,
    layers,
    pgvector,
    qdrant,
    qdrant_local,
    quality,
    retriever,
    scopes,
    vectors,
    weaviate,
)
from benchmarks.measure import Report, machine

BENCHMARKS: Mapping[str, Callable[[], Awaitable[Report]]] = {
    "layers": layers.measured,
    "scopes": scopes.measured,
    "fusion": fusion.measured,
    "retriever": retriever.measured,
    "vectors": vectors.measured,
    "filters": filters.measured,
    "quality": quality.measured,
    "pgvector": pgvector.measured,
    "qdrant": qdrant.measured,
    "qdrant-local": qdrant_local.measured,
    "weaviate": weaviate.measured,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run and print them one after the other, and at the end how many aims were met."""
    names = _names(arguments)
    console = Console()
    for line in machine():
        console.print(line, highlight=False)
    asyncio.run(_run(names, console))


def _names(arguments: Sequence[str] | None) -> Sequence[str]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHMARKS))
    names: list[str] = parser.parse_args(arguments).names
    for name in names:
        if name not in BENCHMARKS:
            parser.error(f"there is no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    return names or list(BENCHMARKS)


async def _run(names: Sequence[str], console: Console) -> None:
    met: list[bool] = []
    for name in names:
        with console.status(f"{name} …"):
            report = await BENCHMARKS[name]()
        console.print()
        console.print(report.table())
        met += [row.met for row in report.rows if row.met is not None]
    console.print()
    console.print(f"{sum(met)} of {len(met)} aims met", highlight=False)


if __name__ == "__main__":
    main()
