"""The server's tokenizers and its stop words."""

import re

_ENGLISH = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with"
)
STOP_WORDS = {"en": frozenset(_ENGLISH.split()), "none": frozenset[str]()}
"""The words of each preset."""

_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_NO_SPACES = re.compile(f"[^{_SPACES}]+")
_WORD, _WILD_WORD = re.compile(r"[^\W_]+"), re.compile(r"(?:[^\W_]|[*?])+")


def lower(text: str) -> str:
    """In lower case, letter by letter: no letter becomes two, and none looks at its neighbours."""
    if text.isascii():
        return text.lower()
    return "".join(
        low if len(low := each.lower()) == 1 else ("i" if each == "İ" else each) for each in text
    )


def folded(text: str) -> str:
    """What two texts have in common that are equal but for case."""
    if text.isascii():
        return text.lower()
    return "".join(fold if len(fold := each.casefold()) == 1 else lower(each) for each in text)


def tokens(tokenization: str, text: str, *, wild: bool = False) -> list[str]:
    """The tokens of a text in their order; `wild` keeps the wildcards of a like."""
    if tokenization == "field":
        return [text.strip(_SPACES)]
    if tokenization in ("lowercase", "whitespace"):
        words: list[str] = _NO_SPACES.findall(text)
        return words if tokenization == "whitespace" else list(map(lower, words))
    words = [lower(word) for word in (_WILD_WORD if wild else _WORD).findall(text)]
    if tokenization == "word":
        return words
    joined = "".join(words)
    return [joined[at : at + 3] for at in range(len(joined) - 2)]
