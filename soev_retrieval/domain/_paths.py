"""Folder paths: segments between slashes, and nothing else is special in them."""


def normal_path(path: str) -> str:
    """`path` without leading, trailing and double slashes. The root is the empty text.

    Dots, stars and backslashes are ordinary characters of a segment.
    """
    return "/".join(segment for segment in path.split("/") if segment)


def lies_under(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or below it: `a/b/c` is under `a/b`, `a/bc` is not."""
    path, folder = normal_path(path), normal_path(folder)
    return not folder or path == folder or path.startswith(folder + "/")


def ancestors(path: str) -> tuple[str, ...]:
    """`path` and every folder above it, the root left out: `a/b` gives `a` and `a/b`."""
    segments = normal_path(path).split("/")
    return tuple("/".join(segments[: count + 1]) for count in range(len(segments)) if segments[0])
