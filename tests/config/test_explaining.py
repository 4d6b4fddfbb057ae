"""A key is explained: what it is for, what it may be, what it is now, and why."""

from __future__ import annotations

import pytest

from config.explaining import Explanation, Unknown, explain
from config.outline import locate
from config.problems import written
from config.schema import Config
from tests.config.deployments import ENVIRON, FULL, line_of, loaded


def explained(key: str, text: str = FULL) -> Explanation:
    found = explain(key, loaded(text, ENVIRON | {"PORT": "9"}))
    assert isinstance(found, Explanation), found
    return found


def test_a_value_of_the_file() -> None:
    found = explained("gateway.port")
    assert found == Explanation(
        path="gateway.port",
        doc="The TCP port to listen on; 0 takes any free one.",
        type="integer, from 0 to 65535",
        default="8080",
        value="8080",
        source="file",
        line=line_of("port: 8080"),
    )


def test_where_a_value_comes_from() -> None:
    assert explained("gateway.host").source == "default"
    assert explained("gateway.port", FULL.replace("port: 8080", "port: ${PORT}")).source == "env"
    assert explained("gateway.port", FULL.replace("port: 8080", "port: ${X:-1}")).source == "file"


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("telemetry.log_level", "one of debug, info, warning, error"),
        ("pools.fal.place", "one of external"),
        ("pools.fal.daily_budget_usd", "number, from 0.0 to 1000000.0"),
        ("leases.lease_s", "number, more than 0 to 86400"),
        ("tenants.product.external", "boolean"),
        ("models.flux.aliases", "list"),
        ("models.flux.loras", "entries by name"),
        ("redis", "block of keys"),
        ("models.flux.home", "text, like ^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"),
    ],
)
def test_types(key: str, kind: str) -> None:
    assert explained(key).type == kind


def test_a_block_lists_its_keys() -> None:
    assert explained("redis").keys == ("url", "connect_timeout_s", "call_timeout_s")
    assert "credential" not in explained("pools.house").keys
    assert "workers" not in explained("pools.fal").keys
    assert explained("pools.fal").doc.startswith("A provider account")


def test_entries_of_lists_and_of_dialects_settings() -> None:
    assert explained("pools.house.workers[1].id").value == '"w-2"'
    assert explained("pools.house.settings.server").value == '"sglang"'
    assert explained("overflow[0]").value == '"fal"'


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("gateway.prot", "did you mean `port`?"),
        ("gatewai", "did you mean `gateway`?"),
        ("pools.fall.concurrency", "did you mean `fal`?"),
        ("pools.fall", "did you mean `fal`?"),
        ("pools.fal.workers", "known here: "),
        ("pools.house.workers[7].id", ""),
        ("pools.house.workers[7]", ""),
        ("gateway.port.deeper", ""),
        ("", "write it as in"),
        ("a..b", "write it as in"),
    ],
)
def test_keys_that_are_not_there(key: str, hint: str) -> None:
    found = explain(key, loaded(FULL))
    assert isinstance(found, Unknown)
    assert found.hint.startswith(hint)


def test_without_a_file_the_schema_still_answers() -> None:
    found = explain("pools.any.concurrency", None)
    assert isinstance(found, Explanation)
    assert (found.default, found.value, found.source) == ("10", "", "")


def test_every_key_of_the_schema_has_a_doc_and_a_type() -> None:
    found = loaded(FULL)
    data = found.config.model_dump(mode="json")

    def check(path: tuple[str | int, ...], value: object) -> None:
        if path and not any(part == "settings" for part in path[:-1]):
            told = explain(written(path), found)
            assert isinstance(told, Explanation)
            spot = locate(path, data)
            assert spot is not None
            assert spot.field is None or (told.doc and told.type), path
        if isinstance(value, dict):
            for key, inner in value.items():
                check((*path, key), inner)
        if isinstance(value, list):
            for index, inner in enumerate(value):
                check((*path, index), inner)

    check((), data)
    assert all(field.description for field in Config.model_fields.values())
