"""The OpenAI images dialect, as SGLang-Diffusion, vLLM-Omni and plain OpenAI-compatible servers speak it.

May import: standard library, aiohttp through `providers.http`, msgspec, pydantic, the rest of `providers`.
Must never: know another dialect, retry a submit, or log.
"""
