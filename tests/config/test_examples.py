"""The files an operator starts from load as they are, and say what their comments say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from config.keys import find, parse
from config.loading import Loaded, Refused, load
from config.schema import ExternalPool, OnPremPool
from tests.config.deployments import CONFIG


def deployment(environ: dict[str, str], folder: Path) -> Loaded:
    """The example deployment with its secret file in `folder` instead of /run/secrets."""
    text = (CONFIG / "spillover.yaml").read_text(encoding="utf-8")
    (folder / "fal_key").write_text("id:secret\n")
    path = folder / "spillover.yaml"
    path.write_text(text.replace("/run/secrets/", f"{folder}/"), encoding="utf-8")
    found = load(path, environ)
    assert isinstance(found, Loaded), found
    return found


def demo(environ: dict[str, str]) -> Loaded:
    found = load(CONFIG / "demo.yaml", environ)
    assert isinstance(found, Loaded), found
    return found


def test_the_deployment_loads_without_a_warning(tmp_path: Path) -> None:
    found = deployment({"SPILLOVER_REDIS_URL": "redis://store:6379/0"}, tmp_path)
    assert found.warnings == ()
    assert found.config.redis.url == "redis://store:6379/0"
    assert all(key.disabled for key in found.config.keys)
    fal = found.config.pools["fal"]
    assert isinstance(fal, ExternalPool)
    assert fal.credential.get_secret_value() == "id:secret"
    assert not found.config.tenants["internal"].external


def test_the_deployment_has_six_nodes_in_two_racks_and_three_domains(tmp_path: Path) -> None:
    nodes = deployment({"SPILLOVER_REDIS_URL": "redis://store"}, tmp_path).config.nodes.values()
    assert sum(node.gpus for node in nodes) == 48
    assert len({node.rack for node in nodes}) == 2
    assert len({node.nvlink_domain for node in nodes}) == 3


def test_the_deployment_asks_for_what_it_needs() -> None:
    found = load(CONFIG / "spillover.yaml", {})
    assert isinstance(found, Refused)
    assert {problem.path for problem in found.problems} >= {"redis.url"}


def test_the_demo_needs_no_environment() -> None:
    found = demo({})
    assert found.warnings == ()
    config = found.config
    krea = config.pools["krea"]
    assert isinstance(krea, OnPremPool)
    assert [worker.url for worker in krea.workers] == [f"http://127.0.0.1:{9101 + i}" for i in range(8)]
    assert [worker.id for worker in krea.workers] == [
        f"node-{i}-{half}" for i in range(1, 5) for half in "ab"
    ]
    assert (config.redis.url, config.gateway.port, config.overflow) == ("embedded", 8080, ("fal",))


def test_the_demo_takes_other_ports() -> None:
    environ = {
        "SPILLOVER_PORT": "18080",
        "SPILLOVER_DEMO_WORKER_PORT_3": "19103",
        "SPILLOVER_REDIS_URL": "redis://h",
    }
    config = demo(environ | {"SPILLOVER_DEMO_FAL_URL": "http://127.0.0.1:19200"}).config
    assert config.gateway.port == 18080
    assert config.pools["krea"].workers[2].url == "http://127.0.0.1:19103"  # type: ignore[union-attr]
    assert config.pools["fal"].url == "http://127.0.0.1:19200"  # type: ignore[union-attr]
    assert config.redis.url == "redis://h"


def test_one_image_of_the_demo_takes_about_1_4_seconds() -> None:
    model = demo({}).config.models["krea-2-turbo"]
    width, height = map(int, model.size.split("x"))
    profile = model.profile
    seconds = profile.fixed_s + profile.per_step_mp_s * model.steps * width * height / 1e6
    assert seconds == pytest.approx(1.4, abs=0.01)


def test_the_keys_in_the_comment_of_the_demo_are_its_keys() -> None:
    text = (CONFIG / "demo.yaml").read_text(encoding="utf-8")
    keys = {key.id: key for key in demo({}).config.keys}
    shown = re.findall(r"^#.*(spk_\S+)$", text, re.MULTILINE)
    scopes = {key.scopes for presented in shown if parse(presented) and (key := find(keys, presented))}
    assert scopes == {("generate",), ("admin", "metrics")}
