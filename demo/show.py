"""What the demo prints."""

from collections.abc import Iterator, Mapping
from platform import python_version

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from demo.docstrings import SKIPPED_FOLDERS
from demo.index import Corpus
from demo.search import Answer
from soev_retrieval.domain import Filter, Hit
from soev_retrieval.store import VectorStore

WIDTH = 100
"""The width of a page, in characters. A narrower terminal makes it narrower."""


def console() -> Console:
    """A console of at most `WIDTH` characters. A pipe or a file is as wide as that."""
    found = Console(highlight=False)
    found.width = min(WIDTH, found.width) if found.is_terminal else WIDTH
    return found


def progress(console: Console) -> Progress:
    """A bar for each thing that takes a while, gone when all are done; none in a file."""
    return Progress(
        TextColumn("    {task.description:<9}"),
        BarColumn(bar_width=40),
        MofNCompleteColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def title(console: Console) -> None:
    """What this is."""
    _heading(console, f"soev-retrieval asks the standard library of Python {python_version()}")


def indexed(console: Console, corpus: Corpus, seconds: Mapping[str, float]) -> None:
    """What was indexed, how many seconds each part took, and what was left out."""
    reference, guides = corpus.counts["reference"], corpus.counts["guides"]
    done = {
        "read": f"{len(corpus.docstrings):,} docstrings in {corpus.files:,} files",
        "embedded": "their names and first paragraphs, by a small model in this process",
        "indexed": f"{reference:,} functions and methods in reference,"
        f" {guides:,} modules and classes in guides",
    }
    table = Table.grid("", "", "", padding=(0, 2), expand=True)
    table.columns[1].ratio = 1
    table.columns[2].justify = "right"
    for what, detail in done.items():
        table.add_row(Text(what, "dim"), detail, Text(f"{seconds[what]:.1f} s", "dim"))
    skipped = ", ".join(sorted(SKIPPED_FOLDERS))
    table.add_row(Text("left out", "dim"), f"private names, and the folders {skipped}")
    if corpus.unreadable:
        table.add_row("", Text(f"what this Python cannot parse: {', '.join(corpus.unreadable)}"))
    _body(console, table)


def answer(console: Console, number: int, answer: Answer, *, with_stack: bool) -> None:
    """A question, where its answer was looked for, and what was found."""
    _heading(console, f"{number}  {answer.question.text}")
    _body(console, Text(answer.question.shows, "italic"))
    _body(console, _scopes(answer))
    if with_stack:
        _body(console, _stack(answer.stack))
    if answer.hits or answer.withholding.withheld:
        _body(console, _ranking(answer))
    _body(console, Text(" ".join(_remarks(answer)), "dim"))


def end(console: Console, seconds: float) -> None:
    """How long all of it took, and what to do next."""
    _heading(console, f"{seconds:.1f} s in all, the imports aside")
    _body(console, "Ask your own: python -m demo how do I …")


def _heading(console: Console, text: str) -> None:
    console.print(Rule(Text(text, "bold"), align="left", style="dim"))


def _body(console: Console, what: RenderableType) -> None:
    console.print(Padding(what, (0, 0, 0, 4), expand=False))
    console.print()


def _scopes(answer: Answer) -> Table:
    """The scopes as they were asked for, and the filters that a layer sent on as others."""
    table = Table.grid("", "", padding=(0, 2), expand=True)
    table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    for number, (search, scope) in enumerate(answer.question.scopes):
        table.add_row(_label("scopes", number), Text(search, "green"), _filter(scope.where))
    for number, (target, where) in enumerate(answer.rewritten):
        table.add_row(_label("sent", number), Text(target, "green"), _filter(where))
    return table


def _filter(where: Filter | None) -> Text:
    return Text("everything" if where is None else str(where))


def _stack(store: VectorStore) -> Table:
    """The repr of the layers around a store, one on a line, the outermost first."""
    table = Table.grid("", "", padding=(0, 2))
    for number, layer in enumerate(repr(store).split(" > ")):
        table.add_row(_label("stack", number), Text(layer if number == 0 else f"> {layer}"))
    return table


def _label(text: str, number: int) -> Text:
    """A label at the first of several lines."""
    return Text("" if number else f"{text:<6}", "dim")


def _ranking(answer: Answer) -> Table:
    """The hits in the order of the fused ranking, then what was withheld."""
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(justify="right")
    table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    table.add_column(justify="right", no_wrap=True, overflow="ellipsis")
    for rank, hit in enumerate(answer.hits[: answer.question.limit], 1):
        found_by = ", ".join(f"#{rank} {search}" for search, rank in answer.found_by(hit))
        table.add_row(str(rank), Text(_name(hit), "bold"), Text(found_by, "green"))
        table.add_row("", _summary(hit), Text(hit.id, "cyan"))
    for each in answer.withholding.withheld:
        was = f"withheld, was #{each.rank} {each.target}"
        # Assembled, so that the line goes through the name and not through the space after it.
        struck = Text.assemble((_name(each.hit), "dim strike"))
        table.add_row("–", struck, Text(was, "yellow"))
    return table


def _name(hit: Hit) -> str:
    return str(hit.properties["name"])


def _summary(hit: Hit) -> Text:
    """What it is, and the first line of its docstring."""
    kind = f"{'deprecated ' * bool(hit.properties['deprecated'])}{hit.properties['kind']}"
    return Text.assemble((f"{kind}: ", "dim"), str(hit.properties["text"]).partition("\n")[0])


def _remarks(answer: Answer) -> Iterator[str]:
    """How many hits, how fast, and what is worth knowing of the calls."""
    found, shown = len(answer.hits), min(len(answer.hits), answer.question.limit)
    number = f"The first {shown} of {found}" if shown < found else f"{found or 'No'}"
    yield f"{number} hit{'s' * (found != 1)}, in {answer.seconds * 1000:.0f} ms."
    answered, unanswered = len(answer.watched.answered), len(answer.watched.unanswered)
    if not answered + unanswered:
        yield "No call came to the store: the filter comes to nothing before it."
    if unanswered:
        yield (
            f"{answered + unanswered} calls came to the store for {answered} searches:"
            f" {unanswered} got no answer and was made again."
        )
