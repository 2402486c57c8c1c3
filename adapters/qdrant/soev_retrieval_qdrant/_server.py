"""What answers, as far as it decides what is asked of it."""

import attrs

PREFIX = (1, 19)
CORPUS = (1, 19)
SCORING = (1, 20)


@attrs.frozen
class Server:
    """What answers.

    Args:
        version: Its version, as far as two numbers go.
        is_local: Whether it is local mode.
        over_rest: Whether requests travel as JSON.
    """

    version: tuple[int, int]
    is_local: bool
    over_rest: bool

    @property
    def has_prefix(self) -> bool:
        """Whether it knows MatchPrefix."""
        return self.version >= PREFIX
