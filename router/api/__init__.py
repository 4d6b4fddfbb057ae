"""The edge: HTTP in, HTTP out. OpenAI images, models, the operators' paths, probes, one table of refusals.

May import: everything below in the router. The only package that knows HTTP and FastAPI.
Must never: decide where a generation runs, talk to Redis by itself, or put a prompt, key or image into an
error.
"""
