"""The dialects: how a back end is spoken to, whatever place it stands in.

May import: standard library, HTTP libraries, pydantic. Knows neither the router nor the config.
Must never: retry, cache, keep a breaker, count metrics, or know whether a back end is on-prem or paid.
"""
