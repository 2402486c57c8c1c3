"""WeaviateStore beside the stores of three frameworks, on one server and the same chunks."""

import asyncio
from collections.abc import Sequence

import attrs
from weaviate import WeaviateAsyncClient

from benchmarks.beside import CASES, Beside, missing, opened
from benchmarks.corpus import Corpus
from benchmarks.measure import Row, installed
from benchmarks.peers import WEAVIATE_PEERS
from soev_retrieval_weaviate import Collection, WeaviateStore
from tests.servers import Weaviate


async def beside_peers(
    beside: Beside, server: Weaviate, client: WeaviateAsyncClient, settle_seconds: float
) -> list[Row]:
    """Every peer that is there, in a collection of its own; of others that they lack.

    Args:
        beside: The races with WeaviateStore.
        server: The server of all of them.
        client: A client of it.
        settle_seconds: How long to wait once they are filled.
    """
    there = [name for name, peer in WEAVIATE_PEERS.items() if installed(peer.package)]
    lines = [missing(name, peer) for name, peer in WEAVIATE_PEERS.items() if name not in there]
    if not there:
        return lines
    try:
        for how in ("as documented", "tuned"):
            for name in there:
                await client.collections.delete(WEAVIATE_PEERS[name].collection)
                await _fill(name, server, beside.corpus, tuned=how == "tuned")
            await asyncio.sleep(settle_seconds)
            lines += await _raced(beside, there, server, how)
    finally:
        for name in there:
            await client.collections.delete(WEAVIATE_PEERS[name].collection)
    return lines


async def _raced(beside: Beside, names: Sequence[str], server: Weaviate, how: str) -> list[Row]:
    lines: list[Row] = []
    tuned = how == "tuned"
    made = {name: WEAVIATE_PEERS[name](server, beside.corpus, tuned=tuned) for name in names}
    async with opened(made) as peers, _over(server, names) as over:
        for case, limit in CASES:
            lines += await beside.nearest(peers, how, case, limit)
        for name, peer in peers.items():
            # Tuned, we ask the peer's own collection: the ranking is the same one.
            ours = attrs.evolve(beside, store=over, target=name) if tuned else beside
            for what, words in peer.words().items():
                lines.append(await ours.worded(f"{name}, {how}, {what}", words))
    return lines


def _over(server: Weaviate, names: Sequence[str]) -> WeaviateStore:
    """Our store over the collections of the peers."""
    peers = {name: WEAVIATE_PEERS[name] for name in names}
    return WeaviateStore(
        server.url,
        grpc_port=server.grpc_port,
        collections={
            name: Collection(peer.collection, id=peer.id, searchable=[peer.text])
            for name, peer in peers.items()
        },
    )


async def _fill(name: str, server: Weaviate, corpus: Corpus, *, tuned: bool) -> None:
    peer = WEAVIATE_PEERS[name](server, corpus, tuned=tuned)
    try:
        await peer.fill(corpus)
    finally:
        await peer.close()
