"""The truth about capacity, claims and money, in Redis. The only package that knows Redis.

May import: `router.model`, `router.policy`, redis-py.
Must never: decide (scripts check preconditions and move members between sets), or answer "allowed" after an
error.
"""
