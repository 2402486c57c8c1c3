"""The life of a store: when it connects, where it may be called, and what is left in the end."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from soev_retrieval.domain import Unconfigured
from soev_retrieval_qdrant import QdrantStore
from tests.adapters.asking import until
from tests.adapters.qdrant.outages import (
    METHODS,
    SEARCHES,
    TARGET,
    answers,
    filled,
    said,
)
from tests.adapters.qdrant.standin import Unanswered
from tests.adapters.qdrant.stores import EVERYWHERE, REMOTE, STAND_IN, opened, up
from tests.adapters.qdrant.test_failures_cancelled import held_up

EVERY_METHOD: dict[str, Callable[[Any], Awaitable[Any]]] = {
    **METHODS,
    "fields": lambda store: store.fields(TARGET),
}


def threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name.startswith("soev-qdrant")]


async def test_it_connects_when_it_is_called() -> None:
    """A store that was only made has no connection, no thread and no task, and needs no close."""
    before = threading.enumerate()
    QdrantStore(":memory:")
    QdrantStore("http://nowhere")
    assert threading.enumerate() == before
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_it_is_made_without_a_loop() -> None:
    """A store may be made where no event loop runs."""
    QdrantStore("http://nowhere")


@pytest.mark.parametrize("used", [True, False])
@pytest.mark.parametrize("place", EVERYWHERE)
async def test_it_is_closed_twice(place: str, used: bool) -> None:
    """Closing again does nothing, whether the store was used or not."""
    async with up(place) as where:
        store = where.store()
        if used:
            await filled(store)
            await answers(store)
        await store.close()
        await store.close()
        await until(lambda: not threads())


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_it_is_closed(place: str) -> None:
    """Every method of a closed store is Unconfigured, and says why."""
    async with opened(place) as store:
        await filled(store)
    for name, ask in EVERY_METHOD.items():
        if name == "fields":
            store._targets.forget(TARGET)  # what is kept needs no connection
        with pytest.raises(Unconfigured, match="the store is closed") as caught:
            await ask(store)
        said(caught.value, name)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("place", STAND_IN)
async def test_it_is_closed_meanwhile(place: str, method: str) -> None:
    """A call under way at a server is given up when the store is closed, and says why."""
    async with up(place) as where, where.store() as store:
        await filled(store)
        assert where.stand_in is not None
        where.stand_in.answer(Unanswered.SILENT)
        count = len(where.stand_in.requests)
        call = asyncio.ensure_future(METHODS[method](store))
        await until(lambda: len(where.stand_in.requests) > count)  # type: ignore[union-attr]
        await store.close()
        with pytest.raises(Unconfigured, match="closed") as caught:
            await call
        said(caught.value, method)
        assert not call.cancelled()


async def test_local_mode_is_closed_meanwhile(tmp_path: Path) -> None:
    """Local mode ends the call that it works on, begins none in the line, and frees its folder."""
    store = QdrantStore(str(tmp_path))
    await filled(store)
    with held_up() as gate:
        first = asyncio.ensure_future(SEARCHES["fetch"](store))
        await gate.busy()
        second = asyncio.ensure_future(SEARCHES["fetch"](store))
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(store.close())
        await asyncio.sleep(0)
        gate.opened.set()
        assert len(await first) == 2
        with pytest.raises(Unconfigured, match="closed") as caught:
            await second
        said(caught.value, "fetch")
        await closing
    async with QdrantStore(str(tmp_path)) as again:
        await answers(again)


async def test_local_mode_is_closed_during_its_first_call(tmp_path: Path) -> None:
    """A folder that is being opened when the store is closed is closed too."""
    store = QdrantStore(str(tmp_path))
    first = asyncio.ensure_future(store.drop("nothing"))
    await asyncio.sleep(0)
    await store.close()
    await asyncio.wait([first])
    assert isinstance(first.exception(), Unconfigured | None)
    async with QdrantStore(str(tmp_path)) as again:
        await filled(again)
        await answers(again)


@pytest.mark.parametrize("place", REMOTE)
def test_one_loop_after_another(place: str) -> None:
    """A store of a server serves the event loop that it was first called in, and says so elsewhere."""

    async def elsewhere(store: QdrantStore) -> None:
        for name, ask in METHODS.items():
            with pytest.raises(Unconfigured, match="another event loop") as caught:
                await ask(store)
            said(caught.value, name)
        with pytest.raises(Unconfigured, match="another event loop"):
            await store.close()

    async def first() -> None:
        async with opened(place) as store:
            await filled(store)
            await asyncio.to_thread(asyncio.run, elsewhere(store))
            await answers(store)

    asyncio.run(first())


def test_local_mode_in_one_loop_after_another() -> None:
    """Local mode serves every event loop: its thread is its own."""
    store = QdrantStore(":memory:")
    asyncio.run(filled(store))
    asyncio.run(answers(store))
    asyncio.run(store.close())


@pytest.mark.parametrize("place", EVERYWHERE)
async def test_a_hundred_at_once(place: str) -> None:
    """A hundred calls at once answer, the first ones of a store too."""
    async with up(place) as where, where.store() as filler:
        await filled(filler)
        async with where.store() as store:
            asked = filler if place == "local" else store
            asks = [*SEARCHES.values()] * 25
            found = await asyncio.gather(*(ask(asked) for ask in asks))
            assert [len(each) for each in found] == [2] * 100


async def test_local_mode_on_disk(tmp_path: Path) -> None:
    """What was written to a folder is there when it is opened again."""
    for write in True, False:
        async with QdrantStore(str(tmp_path)) as store:
            if write:
                await filled(store)
            await answers(store)


async def test_a_folder_that_is_in_use(tmp_path: Path) -> None:
    """A second store on a folder is Unconfigured and says why; when the first is closed it serves."""
    async with QdrantStore(str(tmp_path)) as first:
        await filled(first)
        second = QdrantStore(str(tmp_path))
        with pytest.raises(Unconfigured, match="already accessed by another instance") as caught:
            await SEARCHES["fetch"](second)
        said(caught.value, "fetch")
        await answers(first)
    await answers(second)
    await second.close()


@pytest.mark.parametrize(
    "meta", ["{", "{}", '{"collections": {"x": {"vectors": 7}}, "aliases": {}}']
)
async def test_a_folder_that_is_none(tmp_path: Path, meta: str) -> None:
    """A folder that local mode cannot read, and a file in its place, are the configuration's."""
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir()
    (folder / "meta.json").write_text(meta)
    file.write_text("no folder")
    for place in folder, file:
        async with QdrantStore(str(place)) as store:
            with pytest.raises(Unconfigured, match="the folder of local mode cannot be") as caught:
                await SEARCHES["fetch"](store)
            said(caught.value, "fetch")


@pytest.mark.parametrize("options", [{"no_such": 1}, {"verify": "/nowhere"}, {"pool_size": "x"}])
async def test_settings_that_make_no_client(options: dict[str, Any]) -> None:
    """What qdrant-client does not take for a setting is Unconfigured, when it is first called."""
    async with QdrantStore("http://127.0.0.1:1", options=options) as store:
        with pytest.raises(Unconfigured, match="no client can be made") as caught:
            await SEARCHES["fetch"](store)
        said(caught.value, "fetch")


@pytest.mark.parametrize("place", STAND_IN)
@pytest.mark.parametrize("seconds", [1e10, 1e300])
async def test_all_the_time_in_the_world(place: str, seconds: float) -> None:
    """A time limit of centuries is none, and not one that is over."""
    async with opened(place, timeout_seconds=seconds) as store:
        await filled(store)
        await answers(store)
