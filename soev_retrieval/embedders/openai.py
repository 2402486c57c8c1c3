"""An embedder behind HTTP, as OpenAI's `/v1/embeddings` and its many likes. Needs the extra `http`."""

import asyncio
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any

import httpx

from soev_retrieval.domain import (
    InvalidQueryError,
    RetrievalError,
    StoreUnavailable,
    Unconfigured,
    check_query,
    finite_vector,
    portable,
)
from soev_retrieval.embedders._clients import Clients
from soev_retrieval.together import together

_WHERE = {"store": "embedder", "operation": "embed"}
_HINTS = {404: "check the url and the model", 413: "give fewer texts at once: a smaller batch"}


class OpenAIEmbedder:
    """An Embed over a server that speaks OpenAI's `/v1/embeddings`: OpenAI, vLLM, TEI, Ollama.

    It sends texts and its key to `url` and nowhere else: it follows no redirect. Neither shows in
    its repr, in an error or in a log (but httpcore, at DEBUG, quotes a reply that is no HTTP).
    It may be shared by many tasks of one event loop; close it (`aclose`, or `async with`) when the
    last is done.

    Args:
        model: The name of the model, as the server knows it.
        url: What comes before `/embeddings`, without credentials, query or fragment.
        key: The key. None takes `OPENAI_API_KEY` of the environment, now; "" sends none.
        dimension: The length that every vector must have, or None for whatever the model gives.
            It is checked, not asked for.
        batch: How many texts go into one request at the most.
        at_most: How many requests run at once at the most, over all calls.
        seconds: How long one request may take, from connecting to the last byte.
        client: An httpx client to use, which stays the caller's to close, or None to make some.
            Its pool may keep connections of cancelled requests; ours do not.

    Raises:
        ValueError: When the instance is made: an argument is not one of the above.
    """

    def __init__(
        self,
        model: str,
        *,
        url: str = "https://api.openai.com/v1",
        key: str | None = None,
        dimension: int | None = None,
        batch: int = 32,
        at_most: int = 4,
        seconds: float = 30.0,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        if not isinstance(model, str) or not model:
            raise ValueError(f"model must be the name of a model, not {model!r}")
        for name, number in (("dimension", dimension), ("batch", batch), ("at_most", at_most)):
            if number is not None and (type(number) is not int or number < 1):
                raise ValueError(f"{name} must be an int of at least 1, not {number!r}")
        if not 0 < seconds < math.inf:
            raise ValueError(f"seconds must be a finite number above 0, not {seconds!r}")
        self.model = model
        self.dimension = dimension
        self._url = _checked_url(url)
        self._headers = _authorization(os.environ.get("OPENAI_API_KEY", "") if key is None else key)
        self._batch, self._at_most, self._seconds = batch, at_most, seconds
        self._turns = asyncio.Semaphore(at_most)
        self._clients = Clients(client)

    async def __call__(self, query: str) -> Sequence[float]:
        """The vector of one text. Raises as `embed` does."""
        return (await self.embed([check_query(query)]))[0]

    async def embed(self, texts: Iterable[str]) -> list[list[float]]:
        """The vector of each text, in their order, all of one length.

        Nothing is sent before every text has been checked. The first request that fails cancels
        the others, and its error is raised when they have ended.

        Raises:
            InvalidQueryError: A text is blank or not portable, or the server refuses the request.
            StoreUnavailable: The server gave no answer in time, or none that answers the request.
            Unconfigured: The server refuses the key, or the vectors are not as long as `dimension`.
        """
        checked = _checked_texts(texts)
        starts = range(0, len(checked), self._batch)
        batches = iter([(at, checked[at : at + self._batch]) for at in starts])
        vectors: list[list[float]] = [[] for _ in checked]

        async def work(batches: Iterator[tuple[int, list[str]]]) -> None:
            for at, batch in batches:
                vectors[at : at + len(batch)] = await self._embed(batch)

        await together([work(batches) for _ in starts[: self._at_most]])
        if len(set(map(len, vectors))) > 1:
            raise self._broken("holds vectors of different lengths")
        return vectors

    async def aclose(self) -> None:
        """Close the connections, unless they are of the caller's client. It answers no more."""
        await self._clients.aclose()

    async def __aenter__(self) -> "OpenAIEmbedder":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self.model!r}, url={self._url!r})"

    async def _embed(self, texts: list[str]) -> list[list[float]]:
        async with self._turns:
            response = await self._post(texts)
        self._check_status(response)
        return [self._vector(numbers) for numbers in self._in_order(response, len(texts))]

    async def _post(self, texts: list[str]) -> httpx.Response:
        try:
            # The client's own time-outs bound each read, which a server that dribbles passes.
            async with self._clients.one() as client, asyncio.timeout(self._seconds):
                return await client.post(
                    f"{self._url}/embeddings",
                    json={"model": self.model, "input": texts},
                    headers=self._headers,
                    follow_redirects=False,
                    timeout=None,
                )
        except TimeoutError as timeout:
            said = f"gave no answer in {self._seconds:g} seconds"
            failure = self._unavailable(said, cause=timeout)
        except httpx.RequestError as error:
            said = f"gave no answer: {type(error).__name__}"
            failure = self._unavailable(said, cause=self._bare(error))
        raise failure

    def _bare(self, error: httpx.RequestError) -> httpx.RequestError:
        """The driver's error without what was sent, and without quotes of what came."""
        request = httpx.Request("POST", f"{self._url}/embeddings")
        if isinstance(error, httpx.ProtocolError | httpx.DecodingError):
            return type(error)("the reply broke off, or is no HTTP", request=request)
        error.request = request
        return error

    def _check_status(self, response: httpx.Response) -> None:
        status = response.status_code
        said = f"answered {status}{_code(response)}"
        if 200 <= status < 300:
            return
        if status in (408, 429) or status >= 500:
            raise self._unavailable(said, retry_after=_retry_after(response.headers))
        if status in (401, 403):
            raise Unconfigured(f"{self!r} {said}; check the key", **_WHERE)
        if status < 400:
            raise Unconfigured(f"{self!r} {said}; give the url that it leads to", **_WHERE)
        hint = _HINTS.get(status, "check the model, and that no text is too long for it")
        raise InvalidQueryError(f"{self!r} {said}; {hint}")

    def _in_order(self, response: httpx.Response, count: int) -> list[Any]:
        """What the reply gives as the embedding of each text, by its index."""
        reply = _parsed(response.content)
        data = reply.get("data") if isinstance(reply, dict) else None
        if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
            raise self._broken("is not a JSON object with a list of embeddings as `data`")
        if len(data) != count:
            raise self._broken(f"holds {len(data)} embeddings for {count} texts")
        by_index = {at: item for item in data if type(at := item.get("index")) is int}
        if set(by_index) != set(range(count)):
            raise self._broken("does not give each index once")
        return [by_index[at].get("embedding") for at in range(count)]

    def _vector(self, numbers: Any) -> list[float]:
        if not isinstance(numbers, list) or not {*map(type, numbers)} <= {int, float}:
            raise self._broken("holds an embedding that is no list of numbers")
        try:
            finite_vector(numbers, what="an embedding of the reply")
        except InvalidQueryError as error:
            wrong = str(error)
        else:
            return self._fitting([float(number) for number in numbers])
        raise self._broken(f"is of no use: {wrong}")

    def _fitting(self, vector: list[float]) -> list[float]:
        if self.dimension in (None, len(vector)):
            return vector
        raise Unconfigured(
            f"{self!r} gives vectors of {len(vector)} numbers, not {self.dimension};"
            " give its dimension, or the model that the index was built with",
            **_WHERE,
        )

    def _broken(self, how: str) -> RetrievalError:
        return self._unavailable(f"gave no answer: the reply {how}")

    def _unavailable(
        self, said: str, *, cause: Exception | None = None, retry_after: float | None = None
    ) -> StoreUnavailable:
        return StoreUnavailable(f"{self!r} {said}", cause=cause, retry_after=retry_after, **_WHERE)


def _checked_url(url: str) -> str:
    """`url` without a slash at its end. The error does not repeat it: there may be a key in it."""
    try:
        parts = httpx.URL(url)
    except (httpx.InvalidURL, TypeError, ValueError):
        parts = httpx.URL("")
    if parts.scheme not in ("http", "https") or not parts.host:
        raise ValueError("url must be an address of http or https")
    if parts.userinfo or parts.query or parts.fragment:
        raise ValueError("url must have no credentials, query or fragment; give the key as `key`")
    return str(parts).rstrip("/")


def _authorization(key: str) -> dict[str, str]:
    """The header that carries `key`. The error does not repeat it."""
    key = key.strip()
    if not re.fullmatch(r"[!-~]*", key):
        raise ValueError("key must be of visible ASCII characters, without spaces")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _checked_texts(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, str):
        raise InvalidQueryError("texts must be several texts, not one; call the embedder with it")
    checked = list(texts)
    for at, text in enumerate(checked):
        if not isinstance(text, str) or not text.strip():
            raise InvalidQueryError(f"text {at} is blank or no text; leave it out")
        portable(text, f"text {at}")
    return checked


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _code(response: httpx.Response) -> str:
    """The server's own word for its refusal. Its sentences may repeat a text, or the key."""
    reply = _parsed(response.content)
    error = reply.get("error") if isinstance(reply, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    is_word = isinstance(code, str) and len(code) < 64 and re.fullmatch(r"[a-z]+(_[a-z]+)+", code)
    return f" ({code})" if is_word else ""


def _retry_after(headers: httpx.Headers) -> float | None:
    """The seconds that `Retry-After` asks for, which gives them or a date, by the server's clock."""
    asked = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", asked):
        return float(asked)
    if (due := _date(asked)) is None:
        return None
    now = _date(headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (due - now).total_seconds())


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
