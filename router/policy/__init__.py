"""Decisions as pure functions of their arguments; reasons are returned with them.

May import: `router.model`, `providers.contract`.
Must never: read a clock, draw randomness, await, log, or do I/O, so that each decision can be replayed.
"""
