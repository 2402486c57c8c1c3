"""`python -m demo` asks a handful of questions, `python -m demo how do I copy a file` your own."""

import argparse
import asyncio
import sysconfig
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from demo import show
from demo.index import Library, build, embed_corpus, read_corpus
from demo.questions import QUESTIONS, Question, own
from demo.search import ask
from soev_retrieval.domain import InvalidQueryError, check_query
from soev_retrieval.embedders.wordllama import WordLlamaEmbedder


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the arguments, index the library of this Python, and ask."""
    parser = argparse.ArgumentParser(
        prog="python -m demo",
        description="Ask the docstrings of the standard library, through a stack of layers.",
    )
    parser.add_argument("question", nargs="*", help="your own question, instead of the demo's")
    words = parser.parse_args(arguments).question
    try:
        questions = [own(check_query(" ".join(words)))] if words else QUESTIONS
        asyncio.run(run(show.console(), Path(sysconfig.get_path("stdlib")), questions))
    except InvalidQueryError as error:
        parser.error(str(error))


async def run(console: Console, root: Path, questions: Sequence[Question]) -> None:
    """Index the docstrings below `root`, and ask each question."""
    started = time.perf_counter()
    show.title(console)
    library = await index(console, root)
    usual = ""
    for number, question in enumerate(questions, 1):
        answer = await ask(question, library)
        usual = usual or repr(answer.stack)
        with_stack = number == 1 or repr(answer.stack) != usual
        show.answer(console, number, answer, with_stack=with_stack)
    show.end(console, time.perf_counter() - started)


async def index(console: Console, root: Path) -> Library:
    """The docstrings below `root` as an index of two targets."""
    seconds: dict[str, float] = {}
    with show.progress(console) as progress:
        with _timed(seconds, "read"):
            corpus = read_corpus(root, progress)
        with _timed(seconds, "embedded"):
            embed = WordLlamaEmbedder()
            vectors = embed_corpus(corpus, embed, progress)
        with _timed(seconds, "indexed"):
            library = await build(corpus, vectors, embed, progress)
    show.indexed(console, corpus, seconds)
    return library


@contextmanager
def _timed(seconds: dict[str, float], what: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    seconds[what] = time.perf_counter() - started


if __name__ == "__main__":
    main()
