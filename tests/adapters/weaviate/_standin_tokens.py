"""The server's tokenizers and its stop words."""

import unicodedata
from collections.abc import Callable, Iterator

_ENGLISH = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with"
)
STOP_WORDS = {"en": frozenset(_ENGLISH.split()), "none": frozenset[str]()}
"""The words of each preset."""

_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)


def lower(text: str) -> str:
    """In lower case, letter by letter: no letter becomes two, and none looks at its neighbours."""
    return "".join(
        low if len(low := each.lower()) == 1 else ("i" if each == "İ" else each) for each in text
    )


def folded(text: str) -> str:
    """What two texts have in common that are equal but for case."""
    return "".join(fold if len(fold := each.casefold()) == 1 else lower(each) for each in text)


def tokens(tokenization: str, text: str, *, wild: bool = False) -> list[str]:
    """The tokens of a text in their order; `wild` keeps the wildcards of a like."""
    if tokenization == "field":
        return [text.strip(_SPACES)]
    if tokenization in ("lowercase", "whitespace"):
        words = list(_split(text, lambda each: each not in _SPACES))
        return words if tokenization == "whitespace" else list(map(lower, words))
    words = [lower(word) for word in _split(text, _wild_letter if wild else _letter)]
    if tokenization == "word":
        return words
    joined = "".join(words)
    return [joined[at : at + 3] for at in range(len(joined) - 2)]


def _letter(each: str) -> bool:
    return unicodedata.category(each)[0] in "LN"


def _wild_letter(each: str) -> bool:
    return each in "*?" or _letter(each)


def _split(text: str, inside: Callable[[str], bool]) -> Iterator[str]:
    word = ""
    for each in text:
        if inside(each):
            word += each
        elif word:
            yield word
            word = ""
    if word:
        yield word
