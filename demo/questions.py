"""The questions of the demo. Each shows something else."""

from collections import Counter
from collections.abc import Sequence

import attrs

from demo.index import TARGETS
from soev_retrieval.domain import Filter, SearchScope, field


def everywhere(where: Filter | None = None) -> list[SearchScope]:
    """Every target, each restricted by the same filter."""
    return [SearchScope(target, where) for target in TARGETS]


@attrs.frozen
class Question:
    """A question, and where to look for its answer.

    Args:
        text: The question.
        shows: What it is an example of.
        groups: The scopes to search, in one group or more.
        limit: The maximum number of hits of each search, and of hits to print.
        outage: Whether the first call that comes to the store gets no answer.
    """

    text: str
    shows: str
    groups: Sequence[Sequence[SearchScope]] = attrs.field(factory=lambda: [everywhere()])
    limit: int = 5
    outage: bool = False

    @property
    def scopes(self) -> list[tuple[str, SearchScope]]:
        """Each scope with the name of its search, in the order of the searches' lists.

        The name is the target's, numbered where an earlier group searches the same target.
        """
        times: Counter[str] = Counter()
        named = []
        for group in self.groups:
            times.update({scope.target for scope in group})
            for scope in group:
                again = f" ({times[scope.target]})" if times[scope.target] > 1 else ""
                named.append((f"{scope.target}{again}", scope))
        return named

    @property
    def searches(self) -> list[str]:
        """The name of each search, in order: scopes of one target in one group are one search."""
        return list(dict.fromkeys(name for name, _ in self.scopes))


QUESTIONS = (
    Question(
        "run a function later in another thread",
        "Two targets, a search in each, fused by rank. Each hit says who found it, at which rank.",
    ),
    Question(
        "what happens when a worker dies",
        "A folder. No target serves `under`: a layer asks a catalog, and sends the documents in it.",
        [everywhere(field("folder").under("concurrent"))],
    ),
    Question(
        "wake up the threads that wait",
        "A filter. Without it Condition.notifyAll, which is deprecated, would be among the first.",
        [everywhere(field("deprecated").is_(False) & field("kind").in_(["method", "module"]))],
    ),
    Question(
        "how do I copy a file",
        "A blocklist. What Python 3.12 and 3.13 took out may be in the index, but in no answer.",
    ),
    Question(
        "is it the same file",
        "Two groups: everything, and one folder once more. What both of them find moves up.",
        [everywhere(), [SearchScope("reference", field("folder").under("pathlib"))]],
    ),
    Question(
        "pick a random item",
        "An outage, made by the demo: the first call to the store fails, and is made again.",
        outage=True,
    ),
    Question(
        "multiply two matrices",
        "A folder that the catalog does not know is nothing; it is not everything.",
        [everywhere(field("folder").under("numpy"))],
    ),
)


def own(text: str) -> Question:
    """A question of one's own, asked of everything."""
    return Question(text, "Your question: two targets, no filter.", limit=10)
