"""Embedders: one module for each, each with an extra of its name.

An embedder is an `Embed`: an async function from one query text to one vector.
"""
