"""What servers of before do otherwise in filters, as far as it changes an answer."""

NOT = (1, 33)
"""The first version with a negation."""

_KEEP_STOP_WORDS: dict[tuple[int, ...], int] = {(1, 31): 19, (1, 32): 16, (1, 33): 4}


def drops_stop_words(version: tuple[int, ...]) -> bool:
    """Whether stop words are dropped from what is asked, however text is cut.

    https://github.com/weaviate/weaviate/pull/9541
    """
    minor, patch = version[:2], version[2:]
    return minor < (1, 34) and patch < (_KEEP_STOP_WORDS.get(minor, 2**31),)


def ranks_exactly(version: tuple[int, ...]) -> bool:
    """Whether the best hits of a keyword search are the same at every limit.

    Older servers pass over some where the list is full
    (https://github.com/weaviate/weaviate/pull/12018).
    """
    return version >= (1, 38, 3) or (1, 37, 12) <= version < (1, 38)
