"""What answers, as far as it decides what is asked of it."""

import attrs

NEWEST = (99, 0)
PREFIX = (1, 19)
CORPUS = (1, 19)
SCORING = (1, 20)


@attrs.frozen
class Server:
    """What answers.

    As it stands by default it is a server of the newest version, over gRPC.

    Args:
        version: Its version, as far as two numbers go.
        is_local: Whether it is local mode.
        over_rest: Whether requests travel as JSON.
    """

    version: tuple[int, int] = NEWEST
    is_local: bool = False
    over_rest: bool = False

    @property
    def has_prefix(self) -> bool:
        """Whether it knows MatchPrefix."""
        return self.version >= PREFIX
