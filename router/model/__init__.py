"""Frozen dataclasses and closed unions: the nouns of the router.

May import: the standard library's data types and `providers.contract`.
Must never: read a clock, draw randomness, await, log, or do I/O.
"""
