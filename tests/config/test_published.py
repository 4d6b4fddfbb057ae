"""The published JSON Schema is the model's, and says of the example files what the loader says."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import jsonschema
import pytest
import yaml

from config.published import json_schema, schema_text
from tests.config.deployments import CONFIG, FULL


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads((CONFIG / "schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def data_of(text: str) -> Any:
    """YAML 1.2's idea of it: dates stay text."""

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers: ClassVar = {
            first: [(tag, regexp) for tag, regexp in found if tag != "tag:yaml.org,2002:timestamp"]
            for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }

    return yaml.load(text, Loader)  # noqa: S506 - a safe loader but for dates


def test_the_checked_in_schema_is_the_models() -> None:
    checked_in = (CONFIG / "schema.json").read_text(encoding="utf-8")
    assert checked_in == schema_text(), "run: spillover config schema > config/schema.json"


@pytest.mark.parametrize("name", ["spillover.yaml", "demo.yaml"])
def test_an_editor_finds_nothing_wrong_with_the_examples(
    validator: jsonschema.Draft202012Validator, name: str
) -> None:
    text = (CONFIG / name).read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=./schema.json\n")
    assert [error.message for error in validator.iter_errors(data_of(text))] == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("port: 8080", "prot: 8080"),
        ("port: 8080", "port: true"),
        ("port: 8080", "port: '8080'"),
        ("place: external", "place: outside"),
        ("daily_budget_usd: 50", "region: us"),
        ("log_level: info", "log_level: loud"),
    ],
)
def test_an_editor_sees_what_the_loader_sees(
    validator: jsonschema.Draft202012Validator, before: str, after: str
) -> None:
    assert validator.is_valid(data_of(FULL))
    assert not validator.is_valid(data_of(FULL.replace(before, after)))


def test_every_property_is_described() -> None:
    schema = json_schema()
    blocks = [schema, *(block for block in schema["$defs"].values() if "properties" in block)]
    silent = [
        f"{block['title']}.{name}"
        for block in blocks
        for name, value in block["properties"].items()
        if not value.get("description") and "$ref" not in value
    ]
    assert silent == []
