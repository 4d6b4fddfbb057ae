"""HTTP: the only package that knows status codes, JSON bodies, OpenAI's names and FastAPI.

May import: everything below it in the router.
Must never: decide where a request runs, or talk to Redis itself.
"""
