"""Values and rules: chunks, filters, fields and errors. No I/O, no async."""

from soev_retrieval.domain._arguments import (
    check_alpha,
    check_limit,
    check_query,
    check_vector,
    finite_vector,
)
from soev_retrieval.domain._builder import field
from soev_retrieval.domain._errors import (
    InvalidQueryError,
    RetrievalError,
    SchemaViolationError,
    StoreUnavailable,
    Unconfigured,
)
from soev_retrieval.domain._fields import (
    DISTANCES,
    TYPES,
    Field,
    FieldSpec,
    check,
    check_order,
    check_record,
    operators_of,
)
from soev_retrieval.domain._filters import (
    MAX_DEPTH,
    NOTHING,
    AllOf,
    AnyOf,
    DeclaredFilter,
    Filter,
    Not,
    Nothing,
    check_filter,
    predicates,
)
from soev_retrieval.domain._hybrid import (
    HYBRID_DEPTH,
    best_first,
    fuse_hybrid,
    fused,
    hybrid_depth,
    scaled,
)
from soev_retrieval.domain._json import from_json, to_json
from soev_retrieval.domain._matches import matches
from soev_retrieval.domain._operators import OPERATORS
from soev_retrieval.domain._paths import ancestors, lies_under, normal_path
from soev_retrieval.domain._scope import SearchScope
from soev_retrieval.domain._simplify import EVERYTHING, simplify
from soev_retrieval.domain._text import parse
from soev_retrieval.domain._values import (
    MAX_INT,
    Chunk,
    Hit,
    Properties,
    Record,
    Scalar,
    Target,
    Value,
    portable,
    portable_name,
    vector_key,
)

__all__ = [
    "DISTANCES",
    "EVERYTHING",
    "HYBRID_DEPTH",
    "MAX_DEPTH",
    "MAX_INT",
    "NOTHING",
    "OPERATORS",
    "TYPES",
    "AllOf",
    "AnyOf",
    "Chunk",
    "DeclaredFilter",
    "Field",
    "FieldSpec",
    "Filter",
    "Hit",
    "InvalidQueryError",
    "Not",
    "Nothing",
    "Properties",
    "Record",
    "RetrievalError",
    "Scalar",
    "SchemaViolationError",
    "SearchScope",
    "StoreUnavailable",
    "Target",
    "Unconfigured",
    "Value",
    "ancestors",
    "best_first",
    "check",
    "check_alpha",
    "check_filter",
    "check_limit",
    "check_order",
    "check_query",
    "check_record",
    "check_vector",
    "field",
    "finite_vector",
    "from_json",
    "fuse_hybrid",
    "fused",
    "hybrid_depth",
    "lies_under",
    "matches",
    "normal_path",
    "operators_of",
    "parse",
    "portable",
    "portable_name",
    "predicates",
    "scaled",
    "simplify",
    "to_json",
    "vector_key",
]
