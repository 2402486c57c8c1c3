"""Embedders, one module for each: `wordllama` and `openai` (extra `http`), and `cached`.

An embedder is an `Embed`: an async function from one query text to one vector.
"""
