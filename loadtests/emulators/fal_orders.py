"""The input of text-to-image apps on fal, as a runner reads it, and which apps there are.

Source: fal model pages (FLUX.1 [dev], FLUX.1 with LoRAs) and docs.fal.ai, errors. The queue takes any JSON;
it is the runner that finds an input invalid, so those errors appear in the result and not in the reply to
the submit.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Input = Mapping[str, Any]

SIZES: Mapping[str, tuple[int, int]] = {
    "square_hd": (1024, 1024),
    "square": (512, 512),
    "portrait_4_3": (768, 1024),
    "portrait_16_9": (576, 1024),
    "landscape_4_3": (1024, 768),
    "landscape_16_9": (1024, 576),
}
MOST_IMAGES = 4
LARGEST_SIDE = 2048


@dataclass(frozen=True)
class App:
    """One endpoint: its full id, its defaults and the unit it is billed in."""

    id: str
    steps: int = 28
    most_steps: int = 50
    unit: Literal["megapixels", "images"] = "megapixels"
    takes_loras: bool = False

    @property
    def short_id(self) -> str:
        """`owner/alias`: all that status, result and cancel URLs keep of the id."""
        return "/".join(self.id.split("/")[:2])

    def units(self, order: "FalOrder") -> float:
        """Megapixels are rounded up, image by image."""
        each = math.ceil(order.width * order.height / 1e6) if self.unit == "megapixels" else 1
        return float(each * order.count)


DEFAULT_APPS = (
    App("fal-ai/krea-2/turbo", steps=8, most_steps=12),
    App("fal-ai/flux/dev"),
    App("fal-ai/flux-lora", takes_loras=True),
)


@dataclass(frozen=True)
class FalOrder:
    prompt: str
    width: int
    height: int
    steps: int
    count: int
    seed: int
    output_format: str
    checks_safety: bool
    loras: tuple[str, ...]


class InvalidInput(Exception):
    """What the runner answers with 422: one entry of `detail`."""

    def __init__(self, field: str, message: str, kind: str) -> None:
        super().__init__(message)
        self.entry = {"loc": ["body", field], "msg": message, "type": kind}


def read_order(app: App, body: Input, fallback_seed: int) -> FalOrder:
    prompt = body.get("prompt")
    if not isinstance(prompt, str):
        raise InvalidInput("prompt", "Field required", "missing")
    width, height = _size(body.get("image_size"))
    return FalOrder(
        prompt=prompt,
        width=width,
        height=height,
        steps=_within(body, "num_inference_steps", app.steps, app.most_steps),
        count=_within(body, "num_images", 1, MOST_IMAGES),
        seed=_seed(body.get("seed"), fallback_seed),
        output_format=_output_format(body.get("output_format")),
        checks_safety=bool(body.get("enable_safety_checker", True)),
        loras=_loras(body.get("loras")) if app.takes_loras else (),
    )


def prompt_of(body: Input) -> str:
    """The prompt for matching faults, before anything is known to be valid."""
    return str(body.get("prompt") or "")


def _size(wanted: object) -> tuple[int, int]:
    if wanted is None:
        return SIZES["landscape_4_3"]
    if isinstance(wanted, str) and wanted in SIZES:
        return SIZES[wanted]
    if isinstance(wanted, dict):
        width, height = wanted.get("width", 512), wanted.get("height", 512)
        if isinstance(width, int) and isinstance(height, int) and min(width, height) > 0:
            if max(width, height) > LARGEST_SIDE:
                raise InvalidInput("image_size", f"Image is larger than {LARGEST_SIDE}", "image_too_large")
            return width, height
    raise InvalidInput("image_size", "Input should be a known size or {width, height}", "value_error")


def _within(body: Input, field: str, default: int, most: int) -> int:
    value = body.get(field, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(field, "Input should be a valid integer", "int_type")
    if not 1 <= value <= most:
        raise InvalidInput(field, f"Input should be between 1 and {most}", "less_than_equal")
    return value


def _seed(seed: object, fallback: int) -> int:
    if seed is None:
        return fallback
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise InvalidInput("seed", "Input should be a valid integer", "int_type")
    return seed


def _output_format(wanted: object) -> str:
    if wanted is None:
        return "jpeg"
    if wanted in {"jpeg", "png"}:
        return str(wanted)
    raise InvalidInput("output_format", "Input should be 'jpeg' or 'png'", "literal_error")


def _loras(loras: object) -> tuple[str, ...]:
    if loras is None:
        return ()
    if isinstance(loras, list) and all(isinstance(lora, dict) and "path" in lora for lora in loras):
        return tuple(str(lora["path"]) for lora in loras)
    raise InvalidInput("loras", "Input should be a list of {path, scale}", "list_type")
