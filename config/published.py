"""The schema as JSON Schema, for editors (`# yaml-language-server: $schema=./schema.json`) and checks."""

from __future__ import annotations

import json
from typing import Any

from config.schema import Config

_REFERENCE = {
    "type": "string",
    "pattern": r"^[^$]*\$\{[^}]+\}.*$",
    "description": "A reference such as `${PORT:-8080}`.",
}
_ABOUT = ("title", "description", "default")


def schema_text() -> str:
    """The text of `config/schema.json`."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def json_schema() -> dict[str, Any]:
    """JSON Schema, draft 2020-12, of a configuration file."""
    schema = Config.model_json_schema()
    for block in (schema, *schema["$defs"].values()):
        block["properties"] = {name: _open(value) for name, value in block["properties"].items()}
    schema["$defs"]["Reference"] = _REFERENCE
    schema["title"] = "Spillover configuration"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


def _open(value: dict[str, Any]) -> dict[str, Any]:
    """`value`, or a reference to one: an editor must not underline `port: ${PORT}`, no integer yet."""
    kinds = {option.get("type") for option in value.get("anyOf", [value])}
    narrow = kinds & {"integer", "number", "boolean"} or "pattern" in value or "enum" in value
    if not narrow:
        return value
    about = {key: value.pop(key) for key in _ABOUT if key in value}
    return about | {"anyOf": [*value.get("anyOf", [value]), {"$ref": "#/$defs/Reference"}]}
