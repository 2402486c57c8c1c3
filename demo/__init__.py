"""The demo: questions about Python, answered from the docstrings of its standard library.

Read `search.py` first: it is the example of a stack of layers, and of one search over many scopes.
`watching.py` holds the smallest layer, keep and combine of one's own.
"""
