"""What to search: a target, and perhaps a part of it."""

import attrs

from soev_retrieval.domain._filters import Filter, check_filter
from soev_retrieval.domain._values import Target, portable_name


@attrs.frozen
class SearchScope:
    """One target of a store, restricted by a filter.

    Args:
        target: The target to search.
        where: The filter that restricts the candidates, or None for the whole target.

    Raises:
        InvalidQueryError: The target is no name, or `where` is no filter.
    """

    target: Target
    where: Filter | None = None

    def __attrs_post_init__(self) -> None:
        portable_name(self.target, "the target of a scope")
        if self.where is not None:
            check_filter(self.where, "the filter of a scope")
