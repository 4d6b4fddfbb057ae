"""References to the environment and to files, and what type their text may become."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.interpolation import Expanded, Surroundings, Unresolved, expand, read_secret
from tests.config.deployments import ENVIRON, FULL, changed, line_of, loaded, only_problem, problems


def expanded(text: str, environ: dict[str, str] | None = None) -> Expanded:
    files = {"/run/key": "from-file\n", "/run/crlf": "x\r\n", "/run/inner": "a\nb\n\n"}
    found = expand(text, Surroundings(environ or {}, files.__getitem__))
    assert isinstance(found, Expanded)
    return found


def unresolved(text: str, environ: dict[str, str] | None = None) -> str:
    found = expand(text, Surroundings(environ or {}, read_secret))
    assert isinstance(found, Unresolved)
    return found.message


@pytest.mark.parametrize(
    ("text", "environ", "value", "whole", "sources"),
    [
        ("${A}", {"A": "1"}, "1", True, {"env"}),
        ("${A}", {"A": ""}, "", True, {"env"}),
        ("${A:-x}", {"A": "1"}, "1", True, {"env"}),
        ("${A:-x}", {"A": ""}, "x", True, {"default"}),
        ("${A:-x}", {}, "x", True, {"default"}),
        ("${A:-}", {}, "", True, {"default"}),
        ("${A:-http://h:1/p?q}", {}, "http://h:1/p?q", True, {"default"}),
        ("http://${H}:${P:-80}/", {"H": "h"}, "http://h:80/", False, {"env", "default"}),
        ("${A}${A}", {"A": "1"}, "11", False, {"env"}),
        ("$${A}", {"A": "1"}, "${A}", False, set()),
        ("$${A} ${A}", {"A": "1"}, "${A} 1", False, {"env"}),
        ("${A}", {"A": "${B}"}, "${B}", True, {"env"}),
        ("${file:/run/key}", {}, "from-file", True, {"secret"}),
        ("${file:/run/crlf}", {}, "x", True, {"secret"}),
        ("${file:/run/inner}", {}, "a\nb", True, {"secret"}),
        ("${file:/run/key}:${A}", {"A": "1"}, "from-file:1", False, {"secret", "env"}),
    ],
)
def test_forms(text: str, environ: dict[str, str], value: str, whole: bool, sources: set[str]) -> None:
    found = expanded(text, environ)
    assert (found.text, found.whole, found.sources) == (value, whole, sources)


@pytest.mark.parametrize("text", ["", "plain", "$", "$A", "{A}", "$$", "a$b{c}"])
def test_text_without_a_reference(text: str) -> None:
    assert expand(text, Surroundings({}, read_secret)) is None


@pytest.mark.parametrize(
    "text",
    ["${}", "${", "${A", "${1A}", "${A-x}", "${A:x}", "${file:}", "${file:relative}", "${A B}", "a ${é}"],
)
def test_a_malformed_reference(text: str) -> None:
    assert unresolved(text, {"A": "1"}).startswith("malformed reference")


def test_what_leads_nowhere(tmp_path: Path) -> None:
    assert unresolved("${NOWHERE}") == "the environment variable NOWHERE is not set"
    assert unresolved("${A}", {"A": "\udcff"}) == "the environment variable A is not UTF-8 text"
    assert "No such file" in unresolved(f"${{file:{tmp_path}/absent}}")
    assert "directory" in unresolved(f"${{file:{tmp_path}}}")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    assert "not UTF-8 text" in unresolved(f"${{file:{tmp_path}/binary}}")
    (tmp_path / "large").write_bytes(b"x" * 65_537)
    assert "larger than" in unresolved(f"${{file:{tmp_path}/large}}")


def test_an_unresolved_reference_stands_at_its_line_and_is_one_problem() -> None:
    problem = only_problem(FULL, {})
    assert problem.path == "pools.fal.credential"
    assert problem.line == line_of("${FAL_KEY}")
    assert problem.message == "the environment variable FAL_KEY is not set"
    text = FULL.replace("port: 8080", "port: ${PORT}")
    assert [found.path for found in problems(text, {})] == ["gateway.port", "pools.fal.credential"]


def test_other_problems_are_told_beside_an_unresolved_reference() -> None:
    text = FULL.replace("rack: a", "rakc: a")
    assert [found.path for found in problems(text, {})] == ["nodes.node-1.rakc", "pools.fal.credential"]


@pytest.mark.parametrize("written", ["${PORT}", '"${PORT}"', "${PORT:-1}", "${X:-9000}", '"${X:-9000}"'])
def test_a_whole_reference_becomes_a_number_where_one_is_wanted(written: str) -> None:
    text = FULL.replace("port: 8080", f"port: {written}")
    assert loaded(text, ENVIRON | {"PORT": "9000"}).config.gateway.port == 9000


def test_part_of_a_text_never_becomes_a_number() -> None:
    text = FULL.replace("port: 8080", "port: 80${PORT}")
    assert only_problem(text, ENVIRON | {"PORT": "80"}).path == "gateway.port"


def test_a_file_always_stays_text() -> None:
    text = FULL.replace("port: 8080", "port: ${file:/port}")
    assert only_problem(text).path == "gateway.port"  # no such file
    found = loaded(FULL.replace("${FAL_KEY}", "${file:/key}"), {}, {"/key": "12345\n"})
    assert found.config.pools["fal"].credential.get_secret_value() == "12345"  # type: ignore[union-attr]


@pytest.mark.parametrize("value", ["12345", "1e5", "true", "null", "~"])
def test_a_text_stays_text_whatever_the_variable_looks_like(value: str) -> None:
    found = loaded(FULL, {"FAL_KEY": value})
    assert found.config.pools["fal"].credential.get_secret_value() == value  # type: ignore[union-attr]


def test_switches_money_and_choices_by_reference() -> None:
    environ = ENVIRON | {"EXTERNAL": "false", "BUDGET": "12.5", "LEVEL": "debug", "DAY": "2026-02-01"}
    text = (
        FULL.replace("request_class: standard", "external: ${EXTERNAL}")
        .replace("daily_budget_usd: 50", "daily_budget_usd: ${BUDGET}")
        .replace("log_level: info", "log_level: ${LEVEL}")
        .replace("valid_from: 2026-01-01", "valid_from: ${DAY}")
    )
    config = loaded(text, environ).config
    assert config.tenants["product"].external is False
    assert str(config.pools["fal"].daily_budget_usd) == "12.5"  # type: ignore[union-attr]
    assert config.telemetry.log_level == "debug"


def test_a_dialects_own_settings_follow_the_quotes() -> None:
    text = FULL.replace("settings: {server: sglang}", 'settings:\n      a: ${N}\n      b: "${N}"')
    pool = loaded(text, ENVIRON | {"N": "7"}).config.pools["house"]
    assert pool.settings == {"a": 7, "b": "7"}


def test_the_escape_reaches_the_config() -> None:
    text = changed("keys[0].note", "$${HOME}")
    assert loaded(text).config.keys[0].note == "${HOME}"


def test_a_pool_may_say_its_place_by_reference() -> None:
    text = FULL.replace("place: external", "place: ${PLACE}").replace(
        "daily_budget_usd: 50", "daily_budget_usd: ${B}"
    )
    loaded(text, ENVIRON | {"PLACE": "external", "B": "5"})
