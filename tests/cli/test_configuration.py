"""`spillover config`: exit codes, one JSON document, lines that an editor can jump to, no secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import ROOT, spillover
from tests.config.deployments import FULL, line_of

FAL_KEY = {"FAL_KEY": "id:hunter2"}


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.yaml"
    path.write_text(FULL)
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.yaml"
    path.write_text(FULL.replace("rack: a", "rakc: a").replace("home: house", "home: 5"))
    return path


@pytest.fixture
def doubtful(tmp_path: Path) -> Path:
    path = tmp_path / "doubtful.yaml"
    path.write_text(FULL.replace("overflow: [fal]", "overflow: []"))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("dialect: fal", "dialect: fall"), 'pools.fal.settings: unknown dialect "fall"'),
        (("settings: {server: sglang}", "settings: {server: sglangg}"), "pools.house.settings: "),
    ],
)
def test_dialects_are_asked_as_well(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = tmp_path / "dialects.yaml"
    path.write_text(FULL.replace(*change))
    ran = spillover("config", "validate", path, env=FAL_KEY)
    assert ran.code == 1
    assert message in ran.out
    assert spillover("serve", path, env=FAL_KEY).code == 1


def test_a_good_file(good: Path) -> None:
    ran = spillover("config", "validate", good, env=FAL_KEY)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{good}: ok, ")


def test_a_bad_file_names_each_line(bad: Path) -> None:
    ran = spillover("config", "validate", bad, env=FAL_KEY)
    assert ran.code == 1
    first, second = ran.out.splitlines()
    line = line_of("rack: a")
    assert first == f"{bad}:{line}:5: nodes.node-1.rakc: unknown key (did you mean `rack`?)"
    assert second.startswith(f"{bad}:{line_of('home: house')}:5: models.flux.home: should be a text")
    assert "2 problems" in ran.err


def test_an_unset_variable_is_a_problem_at_its_line(good: Path) -> None:
    ran = spillover("config", "validate", good)
    assert ran.code == 1
    expected = "pools.fal.credential: the environment variable FAL_KEY is not set"
    assert ran.out == f"{good}:{line_of('${FAL_KEY}')}:17: {expected}\n"


def test_warnings_fail_only_when_strict(doubtful: Path) -> None:
    ran = spillover("config", "validate", doubtful, env=FAL_KEY)
    assert ran.code == 0
    assert ": warning: pools.fal: the pool is never used (name it in `overflow`)" in ran.out
    assert spillover("config", "validate", "--strict", doubtful, env=FAL_KEY).code == 1


@pytest.mark.parametrize("arguments", [[], ["--strict"]])
def test_json_is_one_document(good: Path, bad: Path, doubtful: Path, arguments: list[str]) -> None:
    fine = spillover("config", "validate", "--json", *arguments, good, env=FAL_KEY)
    assert (fine.code, fine.err, fine.document["ok"], fine.document["problems"]) == (0, "", True, [])
    wrong = spillover("config", "validate", "--json", *arguments, bad, env=FAL_KEY)
    assert (wrong.code, wrong.err, wrong.document["ok"]) == (1, "", False)
    assert wrong.document["problems"][0] == {
        "path": "nodes.node-1.rakc",
        "line": line_of("rack: a"),
        "column": 5,
        "message": "unknown key",
        "hint": "did you mean `rack`?",
    }
    warned = spillover("config", "validate", "--json", *arguments, doubtful, env=FAL_KEY)
    assert warned.document["ok"] is not bool(arguments)
    assert len(warned.document["warnings"]) == 1


def test_no_such_file_is_wrong_usage(tmp_path: Path) -> None:
    ran = spillover("config", "validate", tmp_path / "absent.yaml")
    assert (ran.code, ran.out) == (2, "")
    assert "set SPILLOVER_CONFIG" in ran.err


def test_the_file_is_found_by_environment_or_by_place(good: Path, tmp_path: Path) -> None:
    assert spillover("config", "validate", env=FAL_KEY | {"SPILLOVER_CONFIG": str(good)}).code == 0
    (tmp_path / "config").mkdir()
    good.rename(tmp_path / "config" / "spillover.yaml")
    ran = spillover("config", "validate", env=FAL_KEY, cwd=tmp_path)
    assert ran.out.startswith("config/spillover.yaml: ok")


def test_the_demo_is_valid() -> None:
    assert spillover("config", "validate", "--strict", "config/demo.yaml").code == 0


def test_the_schema_is_the_checked_in_one() -> None:
    ran = spillover("config", "schema")
    assert (ran.code, ran.out) == (0, (ROOT / "config" / "schema.json").read_text(encoding="utf-8"))


def test_explaining_a_key(good: Path) -> None:
    ran = spillover("config", "explain", "gateway.port", good, env=FAL_KEY)
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "gateway.port",
        "  The TCP port to listen on; 0 takes any free one.",
        "  type     integer, from 0 to 65535",
        "  default  8080",
        "  value    8080",
        f"  source   file, {good}:{line_of('port: 8080')}",
    ]


def test_explaining_as_json(good: Path) -> None:
    document = spillover("config", "explain", "--json", "pools.fal", good, env=FAL_KEY).document
    assert document["value"]["credential"] == "**********"
    assert document["value"]["concurrency"] == 10
    assert "credential" in document["keys"]


@pytest.mark.parametrize("arguments", [[], ["--json"]])
@pytest.mark.parametrize("key", ["pools", "pools.fal", "pools.fal.credential"])
def test_explaining_masks_secrets(good: Path, key: str, arguments: list[str]) -> None:
    ran = spillover("config", "explain", *arguments, key, good, env=FAL_KEY)
    assert ran.code == 0
    assert "hunter2" not in ran.out + ran.err


def test_explaining_what_is_not_there(good: Path) -> None:
    ran = spillover("config", "explain", "gateway.prot", good, env=FAL_KEY)
    assert (ran.code, ran.out) == (3, "")
    assert "did you mean `port`?" in ran.err


def test_explaining_without_a_usable_file(bad: Path, tmp_path: Path) -> None:
    for path in (bad, tmp_path / "absent.yaml"):
        ran = spillover("config", "explain", "gateway.port", path, env=FAL_KEY)
        assert ran.code == 0
        assert "  default  8080" in ran.out
        assert "cannot be used" in ran.err
