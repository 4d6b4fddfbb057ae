"""Every name leads somewhere and to one thing only; each finding has its path, its line and a way out."""

from __future__ import annotations

import pytest
import yaml

from tests.config.deployments import FULL, changed, line_of, loaded, only_problem, problems


@pytest.mark.parametrize(
    ("key", "value", "message", "hint"),
    [
        ("default_model", "fulx", "no model is named `fulx`", "did you mean `flux`?"),
        ("default_model", "zzz", "no model is named `zzz`", "one of: flux"),
        ("models.flux.home", "hosue", "no pool is named `hosue`", "did you mean `house`?"),
        ("models.flux.home", "fal", "`fal` is external", "one of: annex, house"),
        ("models.flux.also[0]", "anex", "no pool is named `anex`", "did you mean `annex`?"),
        ("models.flux.also[0]", "fal", "`fal` is external", "one of: annex, house"),
        ("models.flux.also[0]", "house", "the same pool stands at models.flux.home", ""),
        ("models.flux.aliases[0]", "flux", "the same name of a model stands at models.flux", ""),
        (
            "models.flux.aliases[1]",
            "flux-dev",
            "the same name of a model stands at models.flux.aliases[0]",
            "",
        ),
        ("pools.house.models.floox", "x", "no model is named `floox`", "did you mean `flux`?"),
        ("pools.house.workers[0].node", "node-2", "no node is named `node-2`", "did you mean `node-1`?"),
        ("pools.house.workers[1].id", "w-1", "the same worker id stands at pools.house.workers[0].id", ""),
        ("pools.annex.workers[0].id", "w-1", "the same worker id stands at pools.house.workers[0].id", ""),
        ("pools.annex.workers[0].url", "http://W1:8000/", "the same worker url stands at pools.house.w", ""),
        (
            "pools.house.workers[0].loras[0]",
            "inc",
            "no LoRA of the pool's models is named `inc`",
            "did you mean `ink`?",
        ),
        ("pools.fal.models.flux.loras.inc", "x", "no LoRA of `flux` is named `inc`", "did you mean `ink`?"),
        ("overflow[0]", "fall", "no pool is named `fall`", "did you mean `fal`?"),
        ("overflow[0]", "house", "`house` is on-prem", "one of: fal"),
        ("overflow[1]", "fal", "the same pool stands at overflow[0]", ""),
        ("keys[0].tenant", "prodct", "no tenant is named `prodct`", "did you mean `product`?"),
        ("keys[1].id", "abcdefghijkl", "the same key id stands at keys[0].id", ""),
        (
            "tenants.product.request_class",
            "standart",
            "no class is named `standart`",
            "did you mean `standard`?",
        ),
    ],
)
def test_a_name_that_leads_nowhere_or_twice(key: str, value: object, message: str, hint: str) -> None:
    problem = only_problem(changed(key, value))
    assert problem.path == key
    assert problem.message.startswith(message)
    assert problem.hint == hint


def test_a_finding_stands_at_its_line() -> None:
    text = FULL.replace("default_model: flux", "default_model: fulx")
    assert only_problem(text).line == line_of("default_model", text)


def test_a_home_must_serve_the_model() -> None:
    data = yaml.safe_load(FULL)
    data["models"]["other"] = data["models"]["flux"] | {
        "home": "house",
        "also": [],
        "aliases": [],
        "loras": {},
    }
    problem = only_problem(yaml.safe_dump(data))
    assert (problem.path, problem.message) == (
        "models.other.home",
        "the pool `house` does not serve `other`",
    )


def test_an_offer_for_an_unknown_model() -> None:
    data = yaml.safe_load(FULL)
    data["pools"]["fal"]["models"]["fluxx"] = data["pools"]["fal"]["models"]["flux"]
    problem = only_problem(yaml.safe_dump(data))
    assert (problem.path, problem.hint) == ("pools.fal.models.fluxx", "did you mean `flux`?")


def test_an_alias_may_not_be_shared() -> None:
    data = yaml.safe_load(FULL)
    data["models"]["other"] = data["models"]["flux"] | {"also": [], "aliases": ["flux-dev"], "loras": {}}
    data["pools"]["house"]["models"]["other"] = "other"
    found = problems(yaml.safe_dump(data, sort_keys=False))
    assert [problem.path for problem in found] == ["models.other.aliases[0]"]


def test_two_prices_of_one_day_contradict_each_other() -> None:
    price = {"per_image_usd": 1, "valid_from": "2026-01-01"}
    problem = only_problem(changed("pools.fal.models.flux.prices[1]", price))
    assert problem.path == "pools.fal.models.flux.prices[1].valid_from"


@pytest.mark.parametrize("environ", [{"FAL_KEY": ""}])
def test_an_empty_credential_is_a_mistake(environ: dict[str, str]) -> None:
    problem = only_problem(FULL, environ)
    assert (problem.path, problem.message) == ("pools.fal.credential", "is empty")


def test_a_pool_may_have_a_dialect_of_any_name() -> None:
    loaded(changed("pools.house.dialect", "something-new"))


def test_the_name_of_the_overflow_switch_is_taken() -> None:
    found = problems(FULL.replace("  annex:", "  overflow:", 1).replace("[annex]", "[overflow]"))
    assert any(problem.path == "pools.overflow" and "switch" in problem.message for problem in found)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("redis.url", "http://x", "is no address of Redis"),
        ("redis.url", "localhost:6379", "is no address of Redis"),
        ("pools.fal.url", "http://fal:940000", "has no host, or a port that is none"),
        ("pools.house.workers[0].url", "http://w1:99999", "has no host, or a port that is none"),
    ],
)
def test_an_address_that_is_none(key: str, value: str, message: str) -> None:
    problem = only_problem(changed(key, value))
    assert (problem.path, problem.message.startswith(message)) == (key, True)
