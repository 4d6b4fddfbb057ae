"""The body of `POST /v1/images/generations` as clients write it. OpenAI's names stand here and nowhere else.

Extensions stand at the top level, where the official SDK's `extra_body` puts them. An unknown field is an
error that names the nearest known one; an OpenAI field without a meaning here is accepted, and said to be
ignored.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from config.problems import did_you_mean
from router.api.ignored import IGNORED
from router.api.refusals import Refusal, invalid
from router.api.strict_json import decode

LARGEST_SEED = 2**63 - 1


class LoraBody(msgspec.Struct, forbid_unknown_fields=True):
    """One LoRA of the model, by its configured name."""

    name: Annotated[str, Meta(min_length=1, max_length=63)]
    weight: Annotated[float, Meta(ge=-10, le=10)] = 1.0


Loras = Annotated[list[LoraBody], Meta(max_length=16)]


class GenerationBody(msgspec.Struct, forbid_unknown_fields=True):
    """What has a meaning here. `null` is the same as leaving a field out."""

    prompt: Annotated[str, Meta(description="What the images show.")]
    model: Annotated[str | None, Meta(description="A model or alias; without it, the default model.")] = None
    n: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="How many images.")] = None
    size: Annotated[str | None, Meta(description="`WxH` in pixels, or `auto`.")] = None
    width: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="With `height`, for `size`.")] = None
    height: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="With `width`, for `size`.")] = None
    seed: Annotated[
        Annotated[int, Meta(ge=0, le=LARGEST_SEED)] | None, Meta(description="Image `i` gets `seed + i`.")
    ] = None
    steps: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="Denoising steps.")] = None
    num_inference_steps: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="Another name of `steps`.")
    ] = None
    guidance_scale: Annotated[
        Annotated[float, Meta(ge=0, le=30)] | None, Meta(description="How closely the prompt is followed.")
    ] = None
    negative_prompt: Annotated[str | None, Meta(description="What the images do not show.")] = None
    loras: Annotated[Loras | None, Meta(description="LoRAs of the model, at most 16.")] = None
    output_format: Annotated[str | None, Meta(description="`png`, `jpeg` or `webp`.")] = None
    response_format: Annotated[str | None, Meta(description="`b64_json`; `url` is not supported.")] = None
    quality: Annotated[str | None, Meta(description="A number of steps, where the model maps it.")] = None
    stream: Annotated[bool | None, Meta(description="`true` is not supported.")] = None


FIELDS = frozenset(GenerationBody.__struct_fields__)

_PLACE = re.compile(r" - at `\$\.?(.*)`$")


def read(body: bytes) -> tuple[GenerationBody, list[str]]:
    """The body, and the fields in it that are ignored; raises a `Refusal`."""
    given = {name: value for name, value in decode(body).items() if value is not None}
    unknown = given.keys() - FIELDS - IGNORED.keys()
    if unknown:
        raise _unknown(min(unknown))
    ignored = [name for name in IGNORED if name in given]
    meant = {name: value for name, value in given.items() if name in FIELDS}
    if "prompt" not in meant:
        raise invalid("prompt", "is required.")
    try:
        return msgspec.convert(meant, GenerationBody), ignored
    except msgspec.ValidationError as error:
        raise _mistyped(str(error)) from None


def schema() -> tuple[dict[str, Any], dict[str, Any]]:
    """The body as JSON Schema for the OpenAPI document, and what it refers to."""
    (_,), parts = msgspec.json.schema_components([GenerationBody], ref_template="#/components/schemas/{name}")
    top = parts["GenerationBody"]
    top["properties"] |= {name: {"description": f"Ignored: {why}."} for name, why in IGNORED.items()}
    return {"$ref": "#/components/schemas/GenerationBody"}, parts


def _unknown(name: str) -> Refusal:
    """Names the field only if it looks like one: a client may have put a prompt where a name should be."""
    shown = name if re.fullmatch(r"[A-Za-z0-9_.\[\]-]{1,64}", name) else None
    hint = did_you_mean(name, FIELDS) if shown else ""
    advice = f"{hint[0].upper()}{hint[1:]}" if hint else "Leave it out."
    return Refusal(
        "validation_error", f"Unknown field{f' `{shown}`' if shown else ''}. {advice}", param=shown
    )


def _mistyped(said: str) -> Refusal:
    """From msgspec's words, which hold types and bounds; values and names of the client are cut off."""
    place = _PLACE.search(said)
    param = place[1] if place else ""
    words = said[: place.start()] if place else said
    if words.startswith("Object contains unknown field"):
        words = "has an unknown field; LoRAs have `name` and `weight`"
    words = words.replace(" | null", "").replace("Expected", "must be", 1)
    return invalid(param or "body", f"{words}.")
