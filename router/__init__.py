"""The gateway: from an HTTP request to a placement and back.

May import `providers` and `config`; nobody but `loadtests` may import it. Layers: docs/ARCHITECTURE.md.
"""
