"""The table of dialects, and what is said about settings that do not fit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from providers.contract import Provider
from providers.fal.dialect import FalQueue
from providers.http import Http
from providers.openai_images.dialect import OpenAIImages
from providers.registry import check_settings, connect


def test_known_dialects_connect(http: Http) -> None:
    worker: Provider = connect("openai_images", {"server": "sglang"}, http, "http://w:30000", None)
    account: Provider = connect("fal", {}, http, "https://queue.fal.run", "id:secret")
    assert isinstance(worker, OpenAIImages)
    assert isinstance(account, FalQueue)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("openai_images", {"server": "sglang"}),
        ("openai_images", {"server": "vllm_omni", "lora_scope": "none", "health_path": "/ready"}),
        ("openai_images", {"server": "openai"}),
        ("fal", {}),
        ("fal", {"hosts": ["fal.run"], "loras": True, "poll_first_s": 1, "media_hosts": ["10.0.0.1:9000"]}),
    ],
)
def test_good_settings_have_no_problems(kind: str, settings: dict[str, object]) -> None:
    assert check_settings(kind, settings) == []


@pytest.mark.parametrize(
    ("kind", "settings", "said"),
    [
        ("comfyui", {}, 'unknown dialect "comfyui"; known are fal, openai_images'),
        ("openai_images", {}, "server: Field required"),
        ("openai_images", {"server": "tgi"}, "server: Input should be"),
        ("openai_images", {"server": "sglang", "lora_scope": "request"}, "lora_scope of sglang is one of"),
        ("openai_images", {"server": "openai", "lora_scope": "server"}, "lora_scope of openai is one of"),
        ("openai_images", {"server": "sglang", "typo": "sk-secret"}, "typo: Extra inputs"),
        ("openai_images", {"server": "sglang", "health_path": "health"}, "health_path: String should match"),
        ("fal", {"max_count": "4"}, "max_count: Input should be a valid integer"),
        ("fal", {"hosts": ["https://fal.run"]}, "hosts.0: String should match"),
        ("fal", {"poll_first_s": 0}, "poll_first_s: Input should be greater than 0"),
    ],
)
def test_problems_are_named_without_values(kind: str, settings: dict[str, object], said: str) -> None:
    problems = check_settings(kind, settings)
    assert any(said in problem for problem in problems), problems
    assert "sk-secret" not in " ".join(problems)


def test_what_has_problems_does_not_connect(http: Http) -> None:
    with pytest.raises(LookupError):
        connect("comfyui", {}, http, "http://w", None)
    with pytest.raises(ValueError, match="server"):
        connect("openai_images", {}, http, "http://w", None)


THIRD_PARTY = """
from pydantic import BaseModel
from providers.registry import Dialect

class Settings(BaseModel):
    level: int

class Acme:
    def __init__(self, settings, http, base_url, credential, clock):
        self.level = settings.level

DIALECT = Dialect(Settings, Acme)
NOT_ONE = object()
"""


@pytest.fixture
def third_party(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An installed distribution with entry points, as another vendor would ship it."""
    module = f"acme_{tmp_path.name}"
    installed = tmp_path / f"{module}-1.0.dist-info"
    installed.mkdir()
    (tmp_path / f"{module}.py").write_text(THIRD_PARTY)
    (installed / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(
        f"[spillover.providers]\nacme = {module}:DIALECT\nbroken = {module}:NOT_ONE\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return module


def test_a_third_party_adds_a_dialect(http: Http, third_party: str) -> None:
    assert third_party not in sys.modules
    assert check_settings("openai_images", {"server": "sglang"}) == []
    assert "acme" in check_settings("comfyui", {})[0]
    assert third_party not in sys.modules  # loaded only when it is named
    assert check_settings("acme", {"level": "x"}) != []
    acme: Any = connect("acme", {"level": 3}, http, "http://acme", None)
    assert acme.level == 3


def test_an_entry_point_that_is_no_dialect_is_said_so(third_party: str) -> None:
    with pytest.raises(TypeError, match="not a Dialect"):
        check_settings("broken", {})


def test_a_credential_is_not_printed(http: Http) -> None:
    account = connect("fal", {}, http, "https://queue.fal.run", "id:secret")
    assert isinstance(account, FalQueue)
    assert "secret" not in repr(account) + repr(account._queue)
