"""No text, value, vector or key of a caller stands in what we say of an error."""

import logging
import warnings

import grpc
import pytest
from qdrant_client.http.exceptions import UnexpectedResponse

from soev_retrieval.domain import InvalidQueryError, RetrievalError, StoreUnavailable
from soev_retrieval_qdrant import Collection, QdrantStore
from soev_retrieval_qdrant._errors import ours
from tests.adapters.qdrant.outages import KEY, METHODS, SECRETS, filled, of_code, of_status, said
from tests.adapters.qdrant.standin import RefusedError, Unanswered
from tests.adapters.qdrant.stores import STAND_IN, opened, up

# Whatever the server repeats: a filter, a text, a vector, and a key.
REPEATED = 'Wrong input: sesame in {"gte": 987654321} near [0.1234567] for hunter2'
KINDS = ["bad input", "invalid", "not found", "exists", "forbidden", "timeout", "internal"]

keyed = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")


@keyed
@pytest.mark.parametrize("kind", [*KINDS, "shard unavailable", "no space"])
@pytest.mark.parametrize("place", STAND_IN)
async def test_what_the_server_repeats(
    place: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What a server repeats of a request stands neither in our errors nor in a log."""
    caplog.set_level(logging.DEBUG)
    async with up(place) as where, where.store(api_key=KEY) as store:
        await filled(store)
        assert where.stand_in is not None
        where.stand_in.answer(RefusedError(kind, REPEATED))
        for name, ask in METHODS.items():
            with pytest.raises(RetrievalError) as caught:
                await ask(store)
            said(caught.value, name)
        assert where.stand_in.requests[-1].headers["api-key"] == KEY
        assert KEY not in repr(store)
    ours_ = [each.getMessage() for each in caplog.records if each.name.startswith("soev")]
    theirs = [each.getMessage() for each in caplog.records if each.name.startswith("http")]
    assert not ours_
    assert not any(secret in each for each in theirs for secret in SECRETS)


@keyed
@pytest.mark.parametrize("place", STAND_IN)
async def test_no_answer(place: str) -> None:
    """Nor where there is none."""
    async with up(place) as where, where.store(api_key=KEY) as store:
        await filled(store)
        assert where.stand_in is not None
        where.stand_in.answer(Unanswered.CLOSED)
        for name, ask in METHODS.items():
            with pytest.raises(StoreUnavailable) as caught:
                await ask(store)
            said(caught.value, name)


async def test_what_local_mode_repeats() -> None:
    """Nor what local mode says: the dimension, and not the vector."""
    async with opened("local") as store:
        await filled(store)
        for call in (
            store.near_vector("nothing", vector=[0.1234567], limit=1),
            store.bm25("nothing", query="sesame", limit=1),
        ):
            with pytest.raises(InvalidQueryError) as caught:
                await call
            said(caught.value, "bm25")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Not found: Collection `rules` doesn't exist!", "Collection `rules` doesn't exist"),
        (
            "Wrong input: Vector dimension error: expected dim: 3, got 2",
            "Vector dimension error: expected dim: 3, got 2",
        ),
        (
            'Bad request: Index required but not found for "year" of one of the types: [integer]',
            'Index required but not found for "year" of one of the types: [integer]',
        ),
        ("Service internal error: panicked at 'sesame' (bytes 1..3)", ""),
        ("Format error in JSON body: unknown variant `sesame`", ""),
        ("Wrong input: Unable to parse UUID: sesame", ""),
    ],
)
def test_what_is_told(text: str, shown: str) -> None:
    """Told is what has a known form, whose blanks are names and numbers."""
    for error in of_status(400, text), of_code(grpc.StatusCode.INVALID_ARGUMENT, text):
        message = str(ours(error, "fetch"))
        assert message.endswith(f"{shown})")
        assert "sesame" not in message


def test_a_body_that_is_anything() -> None:
    """A body of any form is told nothing of, and does not raise something else."""
    for body in b"", b"[]", b"7", b'{"status": "sesame"}', b"[" * 100_000, b'{"status": {}}':
        error = UnexpectedResponse(400, "", body, None)  # type: ignore[arg-type]
        assert str(ours(error, "fetch")).endswith("(UnexpectedResponse: 400)")


@pytest.mark.parametrize("key", ["hunter2\n", "hunter2…", "\x00hunter2", 7, b"hunter2"])
def test_a_key_that_no_header_can_hold(key: object) -> None:
    """A key that cannot be sent is refused at once, and not repeated as the drivers would."""
    with pytest.raises(InvalidQueryError, match="api_key") as caught:
        QdrantStore("http://nowhere", api_key=key)  # type: ignore[arg-type]
    assert "hunter2" not in str(caught.value)
    assert caught.value.__context__ is None


def test_reprs() -> None:
    """A store's repr holds neither its address nor its key, its headers or its token."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store = QdrantStore(
            "http://me:hunter2@nowhere",
            api_key=KEY,
            options={"headers": {"x": KEY}, "auth_token_provider": lambda: KEY},
            collections={"rules": Collection("rules", id=None)},
        )
    for each in store, store._connection, store._connection._address, store._targets:
        assert KEY not in repr(each)
