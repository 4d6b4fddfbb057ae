"""A file becomes a Config, or a list of everything that is wrong with it, each with its line."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from pathlib import Path

import pytest

from config.loading import LARGEST_FILE, Loaded, Refused, load
from tests.config.deployments import ENVIRON, FULL, changed, line_of, loaded, only_problem, problems, without


def test_a_full_deployment_loads_without_a_warning() -> None:
    found = loaded(FULL)
    assert found.warnings == ()
    assert found.config.models["flux"].also == ("annex",)
    price = found.config.pools["fal"].models["flux"].prices[0]  # type: ignore[union-attr]
    assert price.per_image_usd == Decimal("0.03")


def test_the_hash_is_of_the_text_and_not_of_what_references_lead_to() -> None:
    expected = hashlib.sha256(FULL.encode()).hexdigest()
    assert loaded(FULL).text_hash == expected
    assert loaded(FULL, {"FAL_KEY": "other"}).text_hash == expected


def test_an_unknown_key_names_its_line_and_the_nearest_known_key() -> None:
    text = FULL.replace("daily_budget_usd: 50", "daily_budget_usd: 50\n    daily_buget_usd: 60")
    problem = only_problem(text)
    assert (problem.path, problem.message) == ("pools.fal.daily_buget_usd", "unknown key")
    assert problem.line == line_of("daily_buget_usd", text)
    assert problem.column == 5
    assert problem.hint == "did you mean `daily_budget_usd`?"


def test_a_key_that_resembles_nothing_has_no_hint() -> None:
    assert only_problem(changed("gateway.zzzzzz", 1)).hint == ""


def test_the_hint_knows_only_the_keys_of_that_place() -> None:
    assert only_problem(changed("pools.house.creditial", 1)).hint == ""
    assert only_problem(changed("pools.fal.creditial", 1)).hint == "did you mean `credential`?"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("gateway.port", "8080", "should be a whole number"),
        ("gateway.port", 80.5, "should be a whole number"),
        ("gateway.port", True, "should be a whole number"),
        ("gateway.port", 65_536, "should be less than or equal to 65535"),
        ("gateway.port", None, "should be a whole number"),
        ("gateway.port", [8080], "should be a whole number"),
        ("gateway", [], "should be a block of keys"),
        ("gateway", None, "should be a block of keys"),
        ("nodes", "node-1", "should be a block of keys"),
        ("overflow", "fal", "should be a list"),
        ("leases.lease_s", "15", "should be a number"),
        ("leases.lease_s", 0, "should be greater than 0"),
        ("telemetry.log_level", "inof", "should be 'debug', 'info', 'warning' or 'error'"),
        ("telemetry.service_name", 7, "should be a text"),
        ("tenants.product.external", "yes", "should be true or false"),
        ("pools.fal.daily_budget_usd", "much", "should be a number"),
        ("pools.fal.daily_budget_usd", -1, "should be greater than or equal to 0"),
        ("pools.fal.models.flux.prices", [], "should have at least 1 entry"),
        (
            "pools.fal.models.flux.prices[0].per_image_usd",
            0.0000001,
            "should have no more than 6 decimal places",
        ),
        (
            "pools.fal.models.flux.prices[0].per_image_usd",
            0,
            "needs per_image_usd or per_megapixel_usd above zero",
        ),
        ("pools.fal.models.flux.prices[0].valid_from", "soon", "should be a date such as 2026-01-31"),
        ("pools.fal.url", "queue.example", "should match"),
        ("pools.house.workers[1].slots", 0, "should be greater than or equal to 1"),
        ("keys[0].id", "short", "should match"),
    ],
)
def test_a_value_of_the_wrong_kind(key: str, value: object, message: str) -> None:
    problem = only_problem(changed(key, value))
    assert key.startswith(problem.path)
    assert message in problem.message


def test_hints_for_quotes_and_choices() -> None:
    assert only_problem(changed("gateway.port", "8080")).hint == "take away the quotes"
    assert only_problem(changed("telemetry.service_name", 7)).hint == "put it in quotes"
    assert only_problem(changed("telemetry.log_level", "inof")).hint == "did you mean `info`?"


def test_whole_numbers_stand_for_numbers_and_money() -> None:
    assert loaded(changed("leases.lease_s", 20)).config.leases.lease_s == 20.0
    pool = loaded(changed("pools.fal.daily_budget_usd", "12.50")).config.pools["fal"]
    assert pool.daily_budget_usd == Decimal("12.50")  # type: ignore[union-attr]


def test_a_missing_key_stands_at_the_block_that_lacks_it() -> None:
    text = without("pools.fal.daily_budget_usd")
    problem = only_problem(text)
    assert (problem.path, problem.message) == ("pools.fal.daily_budget_usd", "is required")
    assert problem.line == line_of("  fal:", text)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (without("pools.fal.place"), "is required: `onprem` or `external`", ""),
        (
            changed("pools.fal.place", "extrenal"),
            "should be `onprem` or `external`",
            "did you mean `external`?",
        ),
    ],
)
def test_a_pool_must_say_its_place(text: str, message: str, hint: str) -> None:
    problem = only_problem(text)
    assert (problem.path, problem.message, problem.hint) == ("pools.fal.place", message, hint)


def test_locations_carry_no_union_tag_even_where_a_key_has_its_name() -> None:
    text = changed("pools.fal.external", {"external": 1})
    assert only_problem(text).path == "pools.fal.external"
    text = changed("pools.fal.models.flux.prices[0].valid_from", 5)
    assert only_problem(text).path == "pools.fal.models.flux.prices[0].valid_from"


def test_a_name_of_a_pool_must_be_a_name() -> None:
    problem = only_problem(changed("nodes.bad!", {}).replace("bad!", "bad name"))
    assert problem.path == 'nodes."bad name"'


def test_all_problems_are_told_at_once_in_the_order_of_the_file() -> None:
    text = changed("gateway.prot", 1).replace("steps: 28", "steps: many").replace("rack: a", "rack: 7")
    found = problems(text)
    assert [problem.path for problem in found] == ["gateway.prot", "nodes.node-1.rack", "models.flux.steps"]
    assert [problem.line for problem in found] == sorted(problem.line for problem in found)


@pytest.mark.parametrize("text", ["- a\n- b\n", "hello\n", "7\n"])
def test_something_else_than_a_block_of_keys(text: str) -> None:
    assert only_problem(text).message == "should be a block of keys"


def test_origins_tell_line_and_kind() -> None:
    found = loaded(FULL)
    assert found.origins["gateway", "port"].line == line_of("port: 8080")
    assert found.origins["gateway", "port"].sources == frozenset()
    assert found.origins["pools", "fal", "credential"].sources == {"env"}
    assert ("gateway", "host") not in found.origins


def test_a_key_in_the_file_itself_is_worth_a_warning() -> None:
    (warning,) = loaded(FULL.replace("${FAL_KEY}", "abc:def")).warnings
    assert warning.path == "pools.fal.credential"
    assert "abc" not in str(warning)


def test_reading_a_file(tmp_path: Path) -> None:
    path = tmp_path / "spillover.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + FULL.replace("\n", "\r\n").encode())
    assert isinstance(load(path, ENVIRON), Loaded)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff\xfe\x00", "the file is not UTF-8 text"),
        (b"#" * LARGEST_FILE, "the file is 10 MiB or larger"),
        (b"", "the file is empty"),
        (b"# nothing but a comment\n", "the file is empty"),
        (b"~\n", "the file is empty"),
    ],
)
def test_a_file_that_cannot_be_read_as_one(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "spillover.yaml"
    path.write_bytes(data)
    found = load(path, {})
    assert isinstance(found, Refused)
    assert [problem.message for problem in found.problems] == [message]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.yaml", tmp_path):
        found = load(path, {})
        assert isinstance(found, Refused)
        assert found.problems[0].message.startswith("cannot read the file: ")


def test_the_environment_of_the_process_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "spillover.yaml"
    path.write_text(FULL)
    monkeypatch.setenv("FAL_KEY", "from-the-process")
    assert isinstance(load(path), Loaded)
    monkeypatch.delenv("FAL_KEY")
    assert isinstance(load(path), Refused)
