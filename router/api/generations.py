"""From a body to a `Generation`: names resolved, defaults filled in, every limit checked."""

from __future__ import annotations

import re
from dataclasses import dataclass

from config.problems import did_you_mean
from config.schema import Limits, Model
from providers.contract import Generation, Lora
from router.api.catalogue import Catalogue
from router.api.refusals import Refusal, invalid
from router.api.wire import LARGEST_SEED, GenerationBody, LoraBody, read

FORMATS = ("png", "jpeg", "webp")

_SIZE = re.compile(r"([1-9][0-9]{0,4})x([1-9][0-9]{0,4})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a body asks for. `ignored`: fields that were accepted and have no effect."""

    generation: Generation
    ignored: tuple[str, ...]


def wanted(body: bytes, catalogue: Catalogue) -> Wanted:
    """The generation in `body`; raises a `Refusal`."""
    asked, ignored = read(body)
    _check_supported(asked)
    name, model = catalogue.find(asked.model)
    limits = catalogue.limits
    width, height = _size(asked, model, limits)
    count = _count(asked, limits)
    steps, quality_used = _steps(asked, model, limits)
    generation = Generation(
        model=name,
        prompt=_prompt(asked, limits),
        width=width,
        height=height,
        steps=steps,
        count=count,
        seed=_seed(asked, count),
        guidance_scale=asked.guidance_scale,
        negative_prompt=_text("negative_prompt", asked.negative_prompt, limits) or None,
        loras=_loras(asked.loras or [], model),
        output_format=_format(asked),
    )
    if asked.quality is not None and not quality_used:
        ignored = [*ignored, "quality"]
    return Wanted(generation, tuple(ignored))


def _check_supported(asked: GenerationBody) -> None:
    if asked.stream:
        raise Refusal(
            "unsupported_parameter", "`stream` is not supported. Leave it out, or send false.", param="stream"
        )
    if asked.response_format == "url":
        message = "`response_format` url is not supported. Ask for b64_json, or leave it out."
        raise Refusal("unsupported_parameter", message, param="response_format")
    if asked.response_format not in (None, "b64_json"):
        raise invalid("response_format", "must be b64_json.")


def _prompt(asked: GenerationBody, limits: Limits) -> str:
    prompt = _text("prompt", asked.prompt, limits)
    if not prompt or prompt.isspace():
        raise invalid("prompt", "is empty.")
    return prompt


def _text(param: str, text: str | None, limits: Limits) -> str | None:
    if text is None:
        return None
    if len(text) > limits.prompt_chars:
        raise invalid(param, f"has more than {limits.prompt_chars} characters.")
    if "\0" in text:
        raise invalid(param, "holds a NUL character.")
    return text


def _size(asked: GenerationBody, model: Model, limits: Limits) -> tuple[int, int]:
    if asked.width is not None or asked.height is not None:
        if asked.width is None or asked.height is None:
            raise invalid("width" if asked.width is None else "height", "is missing: send both or neither.")
        if asked.size not in (None, "auto", f"{asked.width}x{asked.height}"):
            raise invalid("size", "contradicts `width` and `height`. Send only one of them.")
        return _checked_size(asked.width, asked.height, "width", model, limits)
    match = _SIZE.fullmatch(model.size if asked.size in (None, "auto") else asked.size or "")
    if match is None:
        raise invalid("size", f"must be WxH in pixels, such as {model.size}, or auto.")
    return _checked_size(int(match[1]), int(match[2]), "size", model, limits)


def _checked_size(width: int, height: int, param: str, model: Model, limits: Limits) -> tuple[int, int]:
    most = min(limits.pixels, model.max_pixels)
    if width * height > most:
        raise invalid(param, f"is too large: at most {most} pixels for this model.")
    if width % model.multiple_of or height % model.multiple_of:
        raise invalid(param, f"must have sides that are multiples of {model.multiple_of} for this model.")
    return width, height


def _count(asked: GenerationBody, limits: Limits) -> int:
    count = 1 if asked.n is None else asked.n
    if count > limits.count:
        raise invalid("n", f"must be from 1 to {limits.count}.")
    return count


def _steps(asked: GenerationBody, model: Model, limits: Limits) -> tuple[int, bool]:
    """The steps, and whether `quality` decided them: a number of steps is more exact, so it goes first."""
    most = min(limits.steps, model.max_steps)
    param = "steps" if asked.steps is not None else "num_inference_steps"
    steps = asked.steps if asked.steps is not None else asked.num_inference_steps
    if asked.num_inference_steps not in (None, steps):
        raise invalid("num_inference_steps", "contradicts `steps`. Send only one of them.")
    if steps is not None:
        if steps > most:
            raise invalid(param, f"must be from 1 to {most} for this model.")
        return steps, False
    mapped = {str(word): number for word, number in model.quality.items()}.get(asked.quality or "")
    return (model.steps, False) if mapped is None else (min(mapped, most), True)


def _seed(asked: GenerationBody, count: int) -> int | None:
    """Image `i` gets `seed + i`, so the last one has to fit as well."""
    if asked.seed is not None and asked.seed > LARGEST_SEED - count + 1:
        raise invalid("seed", f"must be at most {LARGEST_SEED - count + 1} for {count} images.")
    return asked.seed


def _format(asked: GenerationBody) -> str:
    chosen = asked.output_format or "png"
    if chosen not in FORMATS:
        raise invalid("output_format", f"must be one of {', '.join(FORMATS)}.")
    return chosen


def _loras(asked: list[LoraBody], model: Model) -> tuple[Lora, ...]:
    names = [lora.name for lora in asked]
    for place, name in enumerate(names):
        if name not in model.loras:
            hint = (
                did_you_mean(name, model.loras) or f"this model has {len(model.loras)}, see GET /v1/models."
            )
            raise invalid(f"loras[{place}].name", f"is no LoRA of this model: {hint}")
        if name in names[:place]:
            raise invalid(f"loras[{place}].name", "stands twice.")
    return tuple(Lora(lora.name, lora.weight) for lora in asked)
