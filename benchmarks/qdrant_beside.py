"""QdrantStore beside the stores of three frameworks, on one server and the same chunks."""

from collections.abc import Sequence

from qdrant_client import AsyncQdrantClient, models

from benchmarks.beside import CASES, Beside, missing, opened
from benchmarks.corpus import Corpus
from benchmarks.measure import Row, installed
from benchmarks.peers import QDRANT_PEERS
from benchmarks.servers import settled
from tests.servers import Qdrant


async def beside_peers(beside: Beside, server: Qdrant, client: AsyncQdrantClient) -> list[Row]:
    """Every peer that is there, in a collection of its own; of others that they lack.

    Args:
        beside: The races with QdrantStore.
        server: The server of all of them.
        client: A client of it.
    """
    there = [name for name, peer in QDRANT_PEERS.items() if installed(peer.package)]
    lines = [missing(name, peer) for name, peer in QDRANT_PEERS.items() if name not in there]
    if not there:
        return lines
    corpus = beside.corpus
    try:
        for name in there:
            await _fill(name, server, client, corpus)
        lines += await _raced(beside, there, server, "as documented")
        await _tune(client, there)
        lines += await _raced(beside, there, server, "tuned")
    finally:
        for name in there:
            await client.delete_collection(QDRANT_PEERS[name].collection)
    return lines


async def _raced(beside: Beside, names: Sequence[str], server: Qdrant, how: str) -> list[Row]:
    lines: list[Row] = []
    made = {
        name: QDRANT_PEERS[name](server, beside.corpus, over_grpc=how == "tuned") for name in names
    }
    async with opened(made) as peers:
        for case, limit in CASES:
            lines += await beside.nearest(peers, how, case, limit)
        for name, peer in peers.items():
            for what, words in peer.words().items():
                lines.append(await beside.worded(f"{name}, {how}, {what}", words))
    return lines


async def _fill(name: str, server: Qdrant, client: AsyncQdrantClient, corpus: Corpus) -> None:
    await client.delete_collection(QDRANT_PEERS[name].collection)
    peer = QDRANT_PEERS[name](server, corpus, over_grpc=False)
    await peer.fill(corpus)
    await peer.close()
    await settled(client, QDRANT_PEERS[name].collection)


async def _tune(client: AsyncQdrantClient, names: Sequence[str]) -> None:
    """What a careful user would do: gRPC, and an index on what is filtered by."""
    for name in names:
        peer = QDRANT_PEERS[name]
        kind = models.PayloadSchemaType.INTEGER
        await client.create_payload_index(peer.collection, peer.part, kind, wait=True)
        await settled(client, peer.collection)
