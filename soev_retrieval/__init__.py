"""Search over many vector stores through one small contract, with your own rules around it.

Names have one home each: values, filters and errors in `soev_retrieval.domain`, the contract in
`soev_retrieval.store`, calls and layers in `soev_retrieval.calls`, searching and the ready layers
in `soev_retrieval.engine`, the embedded store in `soev_retrieval.memory`.
"""
