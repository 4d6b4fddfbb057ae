"""The body of `POST /v1/images/generations` as the on-prem servers read it.

Fields and clamps: sglang 0.5.23, openai/protocol.py and openai/image_api.py; vllm-omni 0.30.0,
protocol/images.py. Unknown keys are accepted. What a real server's pydantic model would refuse is refused
with 422 and FastAPI's list.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from loadtests.emulators.refusals import Refused, detail

Body = Mapping[str, Any]
DEFAULT_SEED = 42
LARGEST_SIDE = 8192


@dataclass(frozen=True)
class ImageOrder:
    """What is to be drawn, with every default filled in."""

    prompt: str
    width: int
    height: int
    steps: int
    seeds: tuple[int, ...]
    output_format: str
    response_format: str
    model: str | None
    lora: str | None

    @property
    def count(self) -> int:
        return len(self.seeds)


async def read_body(request: Request) -> Body:
    try:
        body = await request.json()
    except ValueError:
        raise invalid("body", "JSON decode error", "json_invalid") from None
    if not isinstance(body, dict):
        raise invalid("body", "Input should be a valid dictionary", "model_attributes_type")
    return body


def read_order(body: Body, *, default_steps: int, default_response_format: str) -> ImageOrder:
    count = max(1, min(_whole(body, "n", 1), 10))
    width, height = _size(body)
    return ImageOrder(
        prompt=_prompt(body),
        width=width,
        height=height,
        steps=_steps(body, default_steps),
        seeds=_seeds(body.get("seed"), count),
        output_format=_output_format(body),
        response_format=str(body.get("response_format") or default_response_format).lower(),
        model=body.get("model"),
        lora=_lora(body.get("lora")),
    )


def invalid(field: str, message: str, kind: str) -> Refused:
    place = [field] if field == "body" else ["body", field]
    return Refused(422, {"detail": [{"type": kind, "loc": place, "msg": message}]})


def _prompt(body: Body) -> str:
    prompt = body.get("prompt")
    if prompt is None:
        raise invalid("prompt", "Field required", "missing")
    if not isinstance(prompt, str):
        raise invalid("prompt", "Input should be a valid string", "string_type")
    return prompt


def _whole(body: Body, field: str, default: int) -> int:
    value = body.get(field)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        raise invalid(field, "Input should be a valid integer", "int_type")
    return value


def _steps(body: Body, default: int) -> int:
    steps = _whole(body, "num_inference_steps", default)
    if steps < 1:
        raise detail(400, f"num_inference_steps must be positive, got {steps}")
    return steps


def _size(body: Body) -> tuple[int, int]:
    """`width` and `height`, else `size` as "WxH", else 1024x1024."""
    width, height = 1024, 1024
    size = body.get("size")
    if isinstance(size, str) and size != "auto":
        parts = size.lower().replace(" ", "").split("x")
        if len(parts) != 2 or not all(part.isdigit() for part in parts):
            raise detail(400, f"Invalid size: {size}")
        width, height = int(parts[0]), int(parts[1])
    width, height = _whole(body, "width", width), _whole(body, "height", height)
    if not 1 <= min(width, height) <= max(width, height) <= LARGEST_SIDE:
        raise detail(400, f"Invalid size: {width}x{height}")
    return width, height


def _seeds(seed: object, count: int) -> tuple[int, ...]:
    """One seed per picture: a list is used as it is, a number is counted up."""
    if isinstance(seed, list) and seed and all(isinstance(part, int) for part in seed):
        return tuple(seed[k] if k < len(seed) else seed[-1] + k - len(seed) + 1 for k in range(count))
    if seed is None:
        seed = DEFAULT_SEED
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise invalid("seed", "Input should be a valid integer", "int_type")
    return tuple(seed + k for k in range(count))


def _output_format(body: Body) -> str:
    """JPEG unless a format or a transparent background is asked for (sglang openai/utils.py)."""
    wanted = str(body.get("output_format") or "").lower()
    if wanted in {"png", "webp", "jpeg"}:
        return wanted
    return "png" if body.get("background") == "transparent" else "jpeg"


def _lora(lora: object) -> str | None:
    return str(lora.get("name")) if isinstance(lora, dict) else None
