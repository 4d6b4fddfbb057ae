"""The fal queue dialect: submit, poll, fetch.

fal finds a request by its own id only; there is no client id and no idempotency key. So a submit whose
reply was lost can be neither looked up nor cancelled: it is AMBIGUOUS, with the money possibly spent. Its SDK
retries that submit up to ten times (fal-client 1.0.3) and is not used for that reason.

May import: standard library, aiohttp through `providers.http`, msgspec, pydantic, tenacity (GETs only).
Must never: know another dialect, retry a submit, follow a URL outside the allow-list, or log.
"""
