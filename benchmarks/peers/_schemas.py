"""Collections of Weaviate for stores that leave their making to the server, or to the user."""

from collections.abc import Iterable
from typing import Any


def guessed(name: str, texts: Iterable[str], numbers: Iterable[str]) -> dict[str, Any]:
    """The collection as the server itself makes it of the first objects, where it may.

    Any number is a `number`, any text is cut into words and searched.
    """
    properties = [
        *({"name": each, "dataType": ["text"]} for each in texts),
        *({"name": each, "dataType": ["number"]} for each in numbers),
    ]
    return {"class": name, "properties": properties}


def careful(name: str, *, text: str, id: str, kept: Iterable[str] = ()) -> dict[str, Any]:
    """As who knows it writes it: one searched text, an id as it is, the part as a whole number.

    Args:
        name: The name of the collection.
        text: The property that is searched.
        id: The property of the chunk's id.
        kept: Properties that are only brought back.
    """
    unasked = {"dataType": ["text"], "indexFilterable": False, "indexSearchable": False}
    properties = [
        {"name": text, "dataType": ["text"], "indexFilterable": False, "indexSearchable": True},
        {
            "name": id,
            "dataType": ["text"],
            "tokenization": "field",
            "indexFilterable": True,
            "indexSearchable": False,
        },
        {"name": "part", "dataType": ["int"], "indexFilterable": True},
        *({"name": each, **unasked} for each in kept),
    ]
    return {"class": name, "properties": properties}
