"""From a `Call` to the bytes of `POST /v1/images/generations`."""

from __future__ import annotations

import msgspec

from providers.contract import Call, Generation
from providers.openai_images.settings import Settings

PATH = "/v1/images/generations"


def request_body(call: Call, settings: Settings) -> bytes:
    """The JSON body in the flavour of `settings.server`."""
    generation = call.generation
    fields: dict[str, object] = {
        "model": call.target,
        "prompt": generation.prompt,
        "n": generation.count,
        "size": f"{generation.width}x{generation.height}",
        "output_format": generation.output_format,
    }
    if settings.server != "openai":  # whose image models always answer base64 and know no steps
        fields |= _extensions(generation)
    if settings.loras == "request" and generation.loras:
        lora = generation.loras[0]
        fields["lora"] = {"name": lora.name, "path": call.loras[lora.name], "scale": lora.weight}
    return msgspec.json.encode(fields)


def request_headers(call: Call, credential: str | None) -> dict[str, str]:
    """Who asks, and for which attempt."""
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Spillover-Attempt": f"{call.attempt};fence={call.fence}",
    }
    if call.traceparent is not None:
        headers["traceparent"] = call.traceparent
    return headers | authorization(credential)


def authorization(credential: str | None) -> dict[str, str]:
    """The header that carries the credential, where there is one."""
    return {} if credential is None else {"Authorization": f"Bearer {credential}"}


def _extensions(generation: Generation) -> dict[str, object]:
    optional = {
        "guidance_scale": generation.guidance_scale,
        "negative_prompt": generation.negative_prompt,
        "seed": generation.seed,  # both servers count it up: image `i` has `seed + i`
    }
    # SGLang's default is `url`, which is a 400 there when outputs are not persisted (0.5.23)
    fixed = {"response_format": "b64_json", "num_inference_steps": generation.steps}
    return fixed | {name: value for name, value in optional.items() if value is not None}
