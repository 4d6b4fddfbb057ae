"""The load tests against two real gateways: they pass where all is well, and fail where it is not."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request, urlopen

import pytest

from loadtests.emulators import Speed
from tests.journeys import rawstore
from tests.journeys.deployment import ADMIN, HOUSE
from tests.journeys.stack import Stack, stack
from tests.k6.k6run import PROFILES, SUITE, THRESHOLDS_BROKEN, Run, k6, needs_k6, run_profile, started_profile

pytestmark = needs_k6

STEADY = Speed(fixed_s=1.0, per_step_mp_s=0.05)
CLAIM = {"RATE": 6, "DURATION": "13s", "CLAIM_AT": "3s", "CLAIM_FOR": "5s", "GRACE": "1s", "DEADLINE": "4s"}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Two gateways; eight workers on four nodes, which make eight images a second."""
    with stack(tmp_path_factory.mktemp("k6"), gateways=2, workers=8, speed=STEADY) as all_of_it:
        yield all_of_it


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_can_be_read(profile: str) -> None:
    shown = k6("inspect", str(SUITE / "profiles" / f"{profile}.ts"))
    assert shown.returncode == 0, shown.stderr
    options = json.loads(shown.stdout)
    kinds = {name: scenario["executor"] for name, scenario in options["scenarios"].items()}
    assert kinds.pop("traffic") == "constant-arrival-rate"
    assert set(kinds.values()) == {"shared-iterations"}  # acts, not load
    promised = set(options["thresholds"])
    assert {"checks", "dropped_iterations", "lost_requests", "duplicate_generations"} <= promised


def test_smoke(running: Stack) -> None:
    run = run_profile("smoke", running, RATE=5, DURATION="4s")
    assert run.exit_code == 0, run.output
    assert run.verdict["metrics"]["iterations{scenario:traffic}"]["count"] >= 19
    all_files_agree(run)


def test_a_claim_in_the_middle_loses_nothing(running: Stack) -> None:
    run = run_profile("claim-midrun", running, NODES="node-1,node-2,node-3", **CLAIM)
    assert run.exit_code == 0, run.output
    metrics = run.verdict["metrics"]
    assert metrics["spilled{phase:before}"]["rate"] <= 0.1
    assert metrics["spilled{phase:claimed}"]["rate"] > 0
    assert run.count("time_to_held") == 1
    all_files_agree(run)
    everything_is_given_back(running)


@pytest.mark.chaos
def test_a_broken_promise_is_a_failed_run(running: Stack) -> None:
    """All workers and the provider fail, and training claims everything all the same."""
    with failing(running.worker_urls, {"kind": "error503"}), failing([running.fal_url], {"kind": "error503"}):
        short = {**CLAIM, "DURATION": "7s", "CLAIM_AT": "1s", "CLAIM_FOR": "4s"}
        run = run_profile("claim-midrun", running, NODES="node-1,node-2,node-3,node-4", **short)
    assert run.exit_code == THRESHOLDS_BROKEN, run.output
    assert {"answered_well", "answered_well{phase:claimed}"} <= run.broken
    # Every request had an answer, and the books are balanced: it is the answers that are bad.
    assert not {"lost_requests", "answers_unaccounted", "images_unaccounted", "checks"} & run.broken
    all_files_agree(run)
    everything_is_given_back(running)


def test_an_interrupted_run_gives_its_nodes_back(running: Stack) -> None:
    process = started_profile("claim-midrun", running, **{**CLAIM, "RATE": 1, "CLAIM_AT": "1s"})
    try:
        process.soon(lambda: running.gateways[0].get("/admin/state")[1]["claims"] or None)
        process.send(signal.SIGINT)
        process.wait()
    finally:
        process.end()
    everything_is_given_back(running)


def test_a_gateway_that_is_not_there_is_no_success(running: Stack) -> None:
    run = run_profile("smoke", running, BASE_URL="http://127.0.0.1:9", DURATION="2s")
    assert run.exit_code not in (0, THRESHOLDS_BROKEN), run.output
    assert "takes no traffic" in run.output


@contextmanager
def failing(urls: list[str], fault: dict[str, Any]) -> Iterator[None]:
    """For a scope, every emulator at these addresses fails like this."""
    set_faults(urls, {"times": -1, **fault})
    try:
        yield
    finally:
        set_faults(urls)


def set_faults(urls: list[str], *specs: dict[str, Any]) -> None:
    for url in urls:
        request = Request(f"{url}/_emulator/faults", json.dumps(specs).encode(), method="POST")
        with urlopen(request, timeout=5) as reply:
            assert reply.status == 200


def all_files_agree(run: Run) -> None:
    """JSON, JUnit and Markdown tell of the same promises, and none of them tells a key."""
    verdict = run.verdict
    assert verdict["passed"] is (run.exit_code == 0)
    cases = run.cases()
    assert len(cases) == len(verdict["promises"]) + len(verdict["checks"]) > 10
    failed = [case for case in cases if case.find("failure") is not None]
    assert len(failed) == sum(not promise["kept"] for promise in verdict["promises"]) + sum(
        bool(check["fails"]) for check in verdict["checks"]
    )
    page = (run.results / f"{run.profile}.md").read_text()
    assert page.startswith(f"# k6 {run.profile}: {'passed' if verdict['passed'] else 'FAILED'}")
    assert page in run.output
    everything = run.output + "".join(path.read_text() for path in run.results.iterdir())
    assert HOUSE.secret not in everything
    assert ADMIN.secret not in everything


def everything_is_given_back(running: Stack) -> None:
    for gateway in running.gateways:
        state = gateway.get("/admin/state")[1]
        assert state["claims"] == []
        assert {node["state"] for node in state["nodes"]} == {"open"}
    assert rawstore.leases(running.store.url) == {}
    assert rawstore.waiting(running.store.url) == 0
