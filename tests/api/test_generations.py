"""From a body to a generation: defaults, limits, and a refusal that names the field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.contract import Generation, Lora
from router.api.catalogue import Catalogue
from router.api.generations import Wanted, wanted
from router.api.ignored import IGNORED
from router.api.refusals import TABLE, Refusal
from router.api.replies import refused
from router.api.wire import FIELDS
from tests.api.deployment import document, loaded

CATALOGUE = Catalogue(
    loaded(document("redis://nowhere:1/0", ["http://nowhere:1"], "http://nowhere:2")).config
)


def read(**fields: Any) -> Wanted:
    return wanted(json.dumps({"prompt": "a hill", **fields}).encode(), CATALOGUE)


def refusal(**fields: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        read(**fields)
    return caught.value


def test_a_prompt_is_enough() -> None:
    made = read().generation
    assert (made.model, made.width, made.height, made.steps, made.count) == ("krea", 64, 64, 4, 1)
    assert (made.seed, made.guidance_scale, made.negative_prompt, made.loras) == (None, None, None, ())
    assert made.output_format == "png"


def test_every_field_arrives() -> None:
    asked = read(
        model="dall-e-3",
        n=3,
        size="128x256",
        seed=2**63 - 3,
        num_inference_steps=9,
        guidance_scale=3,
        negative_prompt="fog",
        loras=[{"name": "ink", "weight": 0.5}],
        output_format="webp",
        response_format="b64_json",
        stream=False,
    )
    made = asked.generation
    assert (made.model, made.width, made.height, made.steps, made.count) == ("krea", 128, 256, 9, 3)
    assert (made.seed, made.guidance_scale, made.negative_prompt) == (2**63 - 3, 3.0, "fog")
    assert (made.loras, made.output_format, asked.ignored) == ((Lora("ink", 0.5),), "webp", ())


def test_null_is_the_same_as_left_out() -> None:
    assert read(**dict.fromkeys(FIELDS - {"prompt"})) == read()


@pytest.mark.parametrize(
    ("fields", "size"),
    [
        ({"size": "auto"}, (64, 64)),
        ({"width": 128, "height": 64}, (128, 64)),
        ({"width": 128, "height": 64, "size": "128x64"}, (128, 64)),
        ({"width": 128, "height": 64, "size": "auto"}, (128, 64)),
    ],
)
def test_size_can_be_said_in_two_ways(fields: dict[str, Any], size: tuple[int, int]) -> None:
    made = read(**fields).generation
    assert (made.width, made.height) == size


@pytest.mark.parametrize("name", sorted(IGNORED))
def test_fields_without_a_meaning_are_accepted_and_named(name: str) -> None:
    assert read(**{name: "whatever"}).ignored == (name,)


@pytest.mark.parametrize(
    ("fields", "steps", "ignored"),
    [
        ({"quality": "high"}, 20, ()),
        ({"quality": "auto"}, 4, ("quality",)),
        ({"quality": "high", "steps": 7}, 7, ("quality",)),
        ({"steps": 7, "num_inference_steps": 7}, 7, ()),
    ],
)
def test_quality_is_a_number_of_steps(fields: dict[str, Any], steps: int, ignored: tuple[str, ...]) -> None:
    asked = read(**fields)
    assert (asked.generation.steps, asked.ignored) == (steps, ignored)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"prompt": ""}, "prompt"),
        ({"prompt": " \n"}, "prompt"),
        ({"prompt": None}, "prompt"),
        ({"prompt": 7}, "prompt"),
        ({"prompt": "a\0b"}, "prompt"),
        ({"prompt": "a" * 20_001}, "prompt"),
        ({"negative_prompt": "a\0b"}, "negative_prompt"),
        ({"negative_prompt": "a" * 20_001}, "negative_prompt"),
        ({"n": 0}, "n"),
        ({"n": 11}, "n"),
        ({"n": 10**9}, "n"),
        ({"n": -1}, "n"),
        ({"n": 1.5}, "n"),
        ({"n": "2"}, "n"),
        ({"n": True}, "n"),
        ({"size": "64"}, "size"),
        ({"size": "64x64x64"}, "size"),
        ({"size": "-64x64"}, "size"),
        ({"size": "65x64"}, "size"),
        ({"size": "65536x65536"}, "size"),
        ({"size": "0x64"}, "size"),
        ({"size": "٦٤x64"}, "size"),
        ({"size": 64}, "size"),
        ({"width": 64}, "height"),
        ({"height": 64}, "width"),
        ({"width": 64, "height": 64, "size": "128x128"}, "size"),
        ({"width": 10**12, "height": 10**12}, "width"),
        ({"width": -64, "height": -64}, "width"),
        ({"steps": 0}, "steps"),
        ({"steps": 51}, "steps"),
        ({"num_inference_steps": 51}, "num_inference_steps"),
        ({"steps": 4, "num_inference_steps": 5}, "num_inference_steps"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"seed": 2**63 - 1, "n": 2}, "seed"),
        ({"guidance_scale": -0.1}, "guidance_scale"),
        ({"guidance_scale": 30.1}, "guidance_scale"),
        ({"output_format": "gif"}, "output_format"),
        ({"response_format": "png"}, "response_format"),
        ({"loras": {"name": "ink"}}, "loras"),
        ({"loras": [{"name": "inc"}]}, "loras[0].name"),
        ({"loras": [{"name": "ink"}, {"name": "ink"}]}, "loras[1].name"),
        ({"loras": [{"weight": 1}]}, "loras[0]"),
        ({"loras": [{"name": "ink", "scale": 1}]}, "loras[0]"),
        ({"loras": [{"name": "ink", "weight": 11}]}, "loras[0].weight"),
        ({"loras": [{"name": "ink"}] * 17}, "loras"),
        ({"stream": "yes"}, "stream"),
        ({"promt": "x"}, "promt"),
    ],
    ids=lambda value: json.dumps(value)[:40] if isinstance(value, dict) else value,
)
def test_a_wrong_value_is_refused_by_its_name(fields: dict[str, Any], param: str) -> None:
    found = refusal(**fields)
    assert (found.code, found.status, found.param) == ("validation_error", 422, param)


@pytest.mark.parametrize(
    ("fields", "hint"),
    [
        ({"promt": "x"}, "Did you mean `prompt`?"),
        ({"guidance": 1}, "guidance_scale"),
        ({"num_steps": 1}, "steps"),
        ({"loras": [{"name": "inc"}]}, "did you mean `ink`?"),
    ],
)
def test_a_refusal_names_the_nearest(fields: dict[str, Any], hint: str) -> None:
    assert hint in refusal(**fields).message


def test_a_field_that_looks_like_a_prompt_is_not_repeated() -> None:
    found = refusal(**{"a castle, oil on canvas": 1})
    assert "castle" not in found.message
    assert found.param is None


@pytest.mark.parametrize(
    ("fields", "param"), [({"stream": True}, "stream"), ({"response_format": "url"}, "response_format")]
)
def test_what_is_not_supported_is_said_so(fields: dict[str, Any], param: str) -> None:
    found = refusal(**fields)
    assert (found.code, found.status, found.param) == ("unsupported_parameter", 400, param)


@pytest.mark.parametrize(
    ("asked", "hint"), [("kria", "`krea`"), ("dall-e-2", "`dall-e-3`"), ("", None), ("zzz", "GET")]
)
def test_an_unknown_model_names_the_nearest(asked: str, hint: str | None) -> None:
    if hint is None:
        assert read(model=asked).generation.model == "krea"
        return
    found = refusal(model=asked)
    assert (found.code, found.status) == ("model_not_found", 404)
    assert hint in found.message


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
LIKELY = {
    "prompt": st.text(max_size=30),
    "n": st.integers(-3, 20),
    "size": st.from_regex(r"[0-9]{1,5}x[0-9]{1,5}", fullmatch=True),
    "seed": st.integers(-1, 2**64),
    "steps": st.integers(-1, 200),
    "guidance_scale": st.floats(-1, 40),
    "loras": st.lists(st.fixed_dictionaries({"name": st.sampled_from(["ink", "oil"])}), max_size=3),
    "model": st.sampled_from(["krea", "dall-e-3", "nothing"]),
    "output_format": st.sampled_from(["png", "jpeg", "gif"]),
}
BODIES = st.fixed_dictionaries(
    {}, optional={name: likely | VALUES for name, likely in LIKELY.items()}
) | st.dictionaries(st.sampled_from(sorted(FIELDS | IGNORED.keys())) | st.text(max_size=12), VALUES)


def outcome(body: dict[str, Any]) -> Generation | Refusal:
    try:
        return wanted(json.dumps(body).encode(), CATALOGUE).generation
    except Refusal as refusal:
        return refusal


@given(BODIES)
def test_any_body_is_a_generation_within_limits_or_a_refusal(body: dict[str, Any]) -> None:
    made = outcome(body)
    if isinstance(made, Refusal):
        assert made.code in TABLE
        assert 400 <= made.status < 500
        error = json.loads(b"".join(refused(made, "/v1/images/generations", "req_1").chunks))["error"]
        assert {"message", "type", "param", "code", "retryable", "request_id", "job_id"} == error.keys()
        return
    assert 1 <= made.count <= 10
    assert 1 <= made.steps <= 50
    assert made.width * made.height <= 4_194_304
    assert made.width % 16 == made.height % 16 == 0
    assert made.seed is None or (made.seed >= 0 and made.seed + made.count <= 2**63)
    assert made.prompt.strip()
